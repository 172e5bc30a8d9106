"""A check: a scorer put to work, or a group of checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bridge.model.panel import Judges
from bridge.model.values import EMPTY, Flag, JsonObject, Model, Name, Number, clean_text

GROUP = "all"
"""Scorer name of a group of checks (promptfoo's ``assert-set`` and test threshold)."""

COMMON = ("metric", "threshold", "weight", "negate", "judge", "judges", "gate", "extras")
"""Keys that every check takes beside its scorer's own parameters."""

MAX_GROUPS = 10
"""Most groups within each other."""


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
        judges: Several of them in its place: a panel.
        gate: False keeps the metric out of the gate's decision.
        checks: The members of a group.
    """

    scorer: Name
    params: JsonObject = EMPTY
    metric: Name = ""
    threshold: Number | None = Field(default=None, ge=0, le=1)
    weight: Number = Field(default=1.0, ge=0)
    negate: Flag = False
    judge: Name | None = None
    judges: Judges = None
    gate: Flag = True
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
        if data.get("metric") in (None, ""):
            name = data["scorer"]
            data = {**data, "metric": f"not_{name}" if data.get("negate") else name}
        return data

    @model_validator(mode="after")
    def _is_a_group_or_not(self) -> Check:
        if (self.scorer == GROUP) != bool(self.checks):
            raise ValueError("a group is written {all: [checks]} and has at least one member")
        if self.checks and self.params:
            raise ValueError(f"a group takes no {', '.join(self.params)}")
        if self.checks and not any(check.weight for check in self.checks):
            raise ValueError("no member of the group has a weight above 0")
        if self.judge is not None and self.judges is not None:
            raise ValueError("judge and judges; keep one")
        if self.depth > MAX_GROUPS:
            raise ValueError(f"groups within groups, more than {MAX_GROUPS} deep")
        return self

    @property
    def judge_name(self) -> str | None:
        """Who judges, as a score says it: a judge, or those of a panel joined."""
        return self.judge if self.judges is None else "+".join(self.judges.names)

    @property
    def depth(self) -> int:
        """Groups within each other: 0 for a single check."""
        return 1 + max(check.depth for check in self.checks) if self.checks else 0

    @model_serializer
    def short_form(self) -> Any:
        """The check as it is written in a file: a name, or a name with parameters."""
        common = {key: getattr(self, key) for key in COMMON if self._differs(key)}
        if self.checks:
            return {GROUP: [check.short_form() for check in self.checks], **common}
        if self.scorer == "scorer" or not set(COMMON).isdisjoint(self.params):
            return {"scorer": self.scorer, "params": self.params, **common}
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
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        fields: dict[str, JsonSchemaValue] = schema.pop("properties")
        schema.clear()
        schema.update(_spellings(fields))
        return reference


def _spellings(fields: Mapping[str, JsonSchemaValue]) -> JsonSchemaValue:
    """JSON Schema of the four spellings, from that of the fields."""
    left_out = [{"type": "null"}, {"const": ""}]
    fields = {**fields, "metric": {"anyOf": [fields["metric"], *left_out]}}
    common = {key: fields[key] for key in COMMON}
    group = {GROUP: {**fields["checks"], "minItems": 1}, **common}
    either = {"anyOf": [{"required": [GROUP]}, {"required": ["scorer"]}]}
    return {
        "title": "Check",
        "description": "a scorer's name, {name: parameters}, {all: [checks]}, or by its fields",
        "anyOf": [
            {"type": "string", "pattern": "\\S"},
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "not": either,
                "additionalProperties": {
                    "if": {"type": "object"},
                    "then": {"type": "object", "properties": common},
                },
            },
            {
                "type": "object",
                "properties": group,
                "required": [GROUP],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": fields,
                "required": ["scorer"],
                "additionalProperties": False,
            },
        ],
    }


def _expand(data: Mapping[str, Any]) -> dict[str, Any]:
    if GROUP in data:
        members = data[GROUP]
        if not isinstance(members, list | tuple):
            raise ValueError("all takes a list of checks")
        rest = {key: value for key, value in data.items() if key != GROUP}
        return {"scorer": GROUP, "checks": members, **rest}
    if len(data) != 1:
        raise ValueError(_several(data))
    name, body = next(iter(data.items()))
    if body is None:
        body = {}
    elif not isinstance(body, Mapping):
        body = {"value": body}
    common = {key: value for key, value in body.items() if key in COMMON}
    params = {key: value for key, value in body.items() if key not in COMMON}
    return {"scorer": name, "params": params, **common}


def _several(data: Mapping[str, Any]) -> str:
    names = ", ".join(clean_text(str(key)) for key in data) or "none"
    hint = " (indent a check's parameters below its name)" if set(COMMON) & set(data) else ""
    return f"a check names one scorer, here: {names}{hint}"


def resolve_checks(suite: Iterable[Check], case: Iterable[Check]) -> tuple[Check, ...]:
    """The checks of one case: the suite's, each replaced by the case's of the same metric."""
    merged = {check.metric: check for check in suite}
    merged.update((check.metric, check) for check in case)
    return tuple(merged.values())


def judges_named(check: Check) -> Iterator[str]:
    """The judges that a check and its members name."""
    if check.judge is not None:
        yield check.judge
    if check.judges is not None:
        yield from check.judges.names
    for member in check.checks:
        yield from judges_named(member)


def _metrics_differ(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    counts = Counter(check.metric for check in checks)
    twice = next((metric for metric, count in counts.items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"metric {twice} stands twice; give one of them another name (metric:)")
    return checks


Checks = Annotated[tuple[Check, ...], AfterValidator(_metrics_differ)]
"""Checks side by side, each with a metric of its own."""
