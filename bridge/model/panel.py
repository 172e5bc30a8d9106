"""Several judges on one check, and how their votes become one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_serializer, model_validator

from bridge.model.spelling import AlsoWritten
from bridge.model.values import Model, Name, Whole


class Panel(Model):
    """Judges who vote; written as a list of their names where the rest is as by default.

    Attributes:
        names: Judges of the suite, two at least.
        combine: ``mean`` of their values; or ``majority``, 1 if more than half of them pass the
            check's threshold, else 0.
        quorum: Votes that are enough; without it the failure of one judge is an error.
    """

    names: tuple[Name, ...] = Field(min_length=2, json_schema_extra={"uniqueItems": True})
    combine: Literal["mean", "majority"] = "mean"
    quorum: Whole | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _votes_once_each(self) -> Panel:
        if len(set(self.names)) != len(self.names):
            raise ValueError("a judge stands twice in a panel")
        if self.quorum is not None and self.quorum > len(self.names):
            raise ValueError(f"a quorum of {self.quorum} among {len(self.names)} judges")
        return self

    @model_serializer
    def short_form(self) -> Any:
        """The panel as it is written in a file: a list, or an object."""
        if self.combine == "mean" and self.quorum is None:
            return list(self.names)
        quorum = {} if self.quorum is None else {"quorum": self.quorum}
        return {"names": list(self.names), "combine": self.combine, **quorum}


def _read_names(value: Any) -> Any:
    return {"names": value} if isinstance(value, list | tuple) else value


_LIST = {
    "type": "array",
    "items": {"type": "string", "pattern": "\\S"},
    "minItems": 2,
    "uniqueItems": True,
}
Judges = Annotated[Panel | None, BeforeValidator(_read_names), AlsoWritten((_LIST,))]
"""A panel, the list of its judges, or none."""
