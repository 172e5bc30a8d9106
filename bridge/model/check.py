"""A check: a scorer put to work, or a group of checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field, GetJsonSchemaHandler, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bridge.model.values import EMPTY, JsonObject, Model, Name

GROUP = "all"
"""Scorer name of a group of checks (promptfoo's ``assert-set`` and test threshold)."""

COMMON = ("metric", "threshold", "weight", "negate", "judge", "gate", "extras")
"""Keys that every check takes beside its scorer's own parameters."""


class Check(Model):
    """A scorer with its parameters, threshold and weight.

    Written as a name (``equals``), as a name with parameters (``{contains: {value: refund}}``; a
    text, number or list alone is the parameter ``value``), or as a group (``{all: [...]}``).

    Attributes:
        scorer: Name in the scorer registry, ``module:function``, or ``all`` for a group.
        params: The scorer's own parameters.
        metric: Name under which measurements are compared; the scorer's name if left out,
            with ``not_`` before it where ``negate`` is set.
        threshold: Value in [0, 1] from which a measurement passes; the scorer's default if null.
        weight: Share in a weighted group or case score, not negative.
        negate: Score 1 - value.
        judge: Name of a judge of the suite.
        gate: False keeps the metric out of the gate's decision.
        checks: The members of a group.
    """

    scorer: Name
    params: JsonObject = EMPTY
    metric: Name = ""
    threshold: float | None = Field(default=None, ge=0, le=1)
    weight: float = Field(default=1.0, ge=0)
    negate: bool = False
    judge: Name | None = None
    gate: bool = True
    checks: tuple[Check, ...] = ()
    extras: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"scorer": data}
        if not isinstance(data, Mapping):
            raise ValueError("a check is a name, or a name with parameters")
        if "scorer" not in data:
            data = _expand(data)
        if not data.get("metric"):
            name = data["scorer"]
            data = {**data, "metric": f"not_{name}" if data.get("negate") else name}
        return data

    @model_validator(mode="after")
    def _group_has_members(self) -> Check:
        if (self.scorer == GROUP) != bool(self.checks):
            raise ValueError("a group is written {all: [checks]} and has at least one member")
        return self

    @model_serializer
    def short_form(self) -> Any:
        """The check as it is written in a file: a name, or a name with parameters."""
        common = {key: getattr(self, key) for key in COMMON if self._differs(key)}
        if self.scorer == GROUP:
            return {GROUP: [check.short_form() for check in self.checks], **common}
        body = {**self.params, **common}
        return {self.scorer: body} if body else self.scorer

    def _differs(self, key: str) -> bool:
        if key == "metric":
            return self.metric != (f"not_{self.scorer}" if self.negate else self.scorer)
        return bool(getattr(self, key) != type(self).model_fields[key].default)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "description": "a scorer's name, {name: parameters}, or {all: [checks]}",
            "oneOf": [{"type": "string", "minLength": 1}, {"type": "object", "minProperties": 1}],
        }


def _expand(data: Mapping[str, Any]) -> dict[str, Any]:
    if GROUP in data:
        members = data[GROUP]
        if not isinstance(members, list | tuple):
            raise ValueError("all takes a list of checks")
        rest = {key: value for key, value in data.items() if key != GROUP}
        return {"scorer": GROUP, "checks": members, **rest}
    if len(data) != 1:
        raise ValueError(f"a check names one scorer, here: {', '.join(map(str, data)) or 'none'}")
    name, body = next(iter(data.items()))
    if body is None:
        body = {}
    elif not isinstance(body, Mapping):
        body = {"value": body}
    common = {key: value for key, value in body.items() if key in COMMON}
    params = {key: value for key, value in body.items() if key not in COMMON}
    return {"scorer": name, "params": params, **common}


def resolve_checks(suite: Iterable[Check], case: Iterable[Check]) -> tuple[Check, ...]:
    """The checks of one case: the suite's, each replaced by the case's of the same metric."""
    merged = {check.metric: check for check in suite}
    merged.update((check.metric, check) for check in case)
    return tuple(merged.values())
