"""Parameters of the tool metrics."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from bridge.model.case import ExpectedCall, OrderMode
from bridge.model.values import Flag, Model, Whole
from bridge.scorers.tool_use.profile import ProfileName

Scope = Literal["turn", "conversation"]
FailedCalls = Literal["count", "ignore", "forbid"]


def _read_forbidden(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value, "extra": "allow"}
    return {"extra": "allow", **value} if isinstance(value, dict) else value


Forbidden = Annotated[
    ExpectedCall,
    BeforeValidator(_read_forbidden),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
"""A tool's name, or a call with the arguments that make it forbidden, others allowed."""


class TrajectoryParams(Model):
    """Which calls of an answer are looked at.

    Attributes:
        scope: ``turn`` scores each turn of a case with turns by the turn's own expected calls;
            ``conversation`` scores the calls of all turns together by those of the case.
        failed_calls: Calls whose tool reported an error: ``count`` as made, ``ignore`` as if they
            had not been made (so that a retry costs nothing), or ``forbid``: also a fault of
            ``tool_use``.
    """

    scope: Scope = "turn"
    failed_calls: FailedCalls = "count"

    @cached_property
    def match(self) -> MatchParams:
        """What of these parameters bears on the matching: one object for equal ones."""
        return _match(self.scope, self.failed_calls, None, "json")


class MatchParams(TrajectoryParams):
    """How calls are matched with the expected ones.

    Attributes:
        mode: How order and number count, in place of the expected calls' own mode; also written
            as the bare value.
        profile: Whose rules compare two calls: ``json`` (JSON equality and matchers) or ``bfcl``
            (those of BFCL's AST checker; expected arguments are lists of accepted values, and
            the tools' descriptions give the types in place of a JSON Schema).
    """

    mode: OrderMode | None = None
    profile: ProfileName = "json"

    @model_validator(mode="before")
    @classmethod
    def _value_is_mode(cls, data: Any) -> Any:
        if isinstance(data, dict) and "value" in data and "mode" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"mode": data["value"], **rest}
        return data

    @cached_property
    def match(self) -> MatchParams:
        """What of these parameters bears on the matching: one object for equal ones."""
        return _match(self.scope, self.failed_calls, self.mode, self.profile)


@lru_cache(maxsize=256)
def _match(
    scope: Scope,
    failed_calls: FailedCalls,
    mode: OrderMode | None,
    profile: ProfileName,
) -> MatchParams:
    return MatchParams(scope=scope, failed_calls=failed_calls, mode=mode, profile=profile)


class ToolUseParams(MatchParams):
    """Parameters of ``tool_use``: how calls are matched, and what else they must keep to.

    Attributes:
        schemas: Hold every call to the JSON Schema of its tool, where the case offers one.
        forbidden: Calls that must not be made, whatever the mode: names of tools, or ``{name,
            arguments}`` with matchers (other arguments are then allowed).
        max_calls: Most calls that may be made.
        max_duplicates: Most calls that may be made again with equal arguments; a call is not made
            again where its tool had failed so far.
    """

    schemas: Flag = True
    forbidden: tuple[Forbidden, ...] = ()
    max_calls: Whole | None = Field(default=None, ge=0)
    max_duplicates: Whole | None = Field(default=None, ge=0)

    @property
    def has_policy(self) -> bool:
        """Whether there is anything to keep to where no calls are expected."""
        if self.forbidden or self.failed_calls == "forbid":
            return True
        return self.max_calls is not None or self.max_duplicates is not None


def has_scope_of_turn(params: TrajectoryParams) -> bool:
    """Whether each turn of a case with turns is scored by itself."""
    return params.scope == "turn"
