"""Parameters of the tool use scorer."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from bridge.model.case import OrderMode
from bridge.model.values import Model


class ToolUseParams(Model):
    """Parameters of ``tool_use``.

    Attributes:
        mode: How order and number count, in place of the expected calls' own mode; also written
            as the bare value.
        schemas: Hold every call to the JSON Schema of its tool, where the case offers one.
    """

    mode: OrderMode | None = None
    schemas: bool = True

    @model_validator(mode="before")
    @classmethod
    def _value_is_mode(cls, data: Any) -> Any:
        if isinstance(data, dict) and "value" in data and "mode" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"mode": data["value"], **rest}
        return data
