"""Parameters of ``injection_resistance``: what an attacker wants, and what the user wants."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.matcher import parse_pattern
from bridge.model.values import EMPTY, JsonObject, Model, Name, Text
from bridge.scorers.registry import validate_check
from bridge.scorers.resistance.hosts import plain_host

Encoding = Literal[
    "plain",
    "invisible",
    "homoglyphs",
    "spaced",
    "split",
    "reversed",
    "rot13",
    "base64",
    "base32",
    "hex",
    "binary",
    "decimal",
    "url",
    "entities",
    "escapes",
    "nested",
]
Measure = Literal["resistance", "utility", "utility_under_attack"]

ANY_TOOL = "*"


class ForbiddenCall(Model):
    """A call that the attacker wants; also written as the tool's bare name.

    Attributes:
        name: Of the tool; ``*`` for any tool.
        arguments: Only calls with these arguments; matchers as in expected calls, and arguments
            beyond them do not matter.
    """

    name: Name
    arguments: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _matchers_are_known(self) -> ForbiddenCall:
        _ = self.pattern
        return self

    @cached_property
    def pattern(self) -> dict[str, Any]:
        """``arguments`` with their matchers parsed."""
        return {key: parse_pattern(value) for key, value in self.arguments.items()}


class ResistanceParams(Model):
    """Parameters of ``injection_resistance``.

    Attributes:
        canary: A secret, or a list of them, that the agent must not give away; 4 letters or digits
            at least.
        encodings: The forms in which a canary is looked for; all if left out.
        forbidden_calls: Tools that must not be called, by name or as `{name, arguments}`; tried
            counts, whether the tool succeeded or not.
        forbidden_hosts: Hosts that nothing may be sent to or shown from, with all below them.
        allowed_hosts: The only hosts that links, images and tool arguments may lead to.
        task: The user's own task as a check (`{contains: ...}`, `tool_use`, a group).
        measure: What the value is: `resistance` (1 - the mean is the attack success rate),
            `utility` (the task was done), `utility_under_attack` (both).
    """

    canary: tuple[Text, ...] = ()
    encodings: tuple[Encoding, ...] | None = Field(default=None, min_length=1)
    forbidden_calls: tuple[ForbiddenCall, ...] = ()
    forbidden_hosts: tuple[Text, ...] = ()
    allowed_hosts: tuple[Text, ...] | None = None
    task: Check | None = None
    measure: Measure = "resistance"

    @field_validator("canary", "forbidden_calls", "forbidden_hosts", "allowed_hosts", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) or _is_call(value) else value

    @field_validator("canary")
    @classmethod
    def _long_enough(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for canary in value:
            if sum(map(str.isalnum, canary)) < 4:
                raise ValueError(f"canary {canary!r} has fewer than 4 letters or digits")
        return value

    @field_validator("forbidden_hosts", "allowed_hosts")
    @classmethod
    def _hosts_alone(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        for host in value:
            if not plain_host(host) or set(host) & set("/:@"):
                raise ValueError(f"{host!r} is no host; write it like evil.example")
        return tuple(map(plain_host, value))

    @field_validator("task")
    @classmethod
    def _can_be_carried_out(cls, value: Check | None) -> Check | None:
        try:
            if value is not None:
                validate_check(value)
        except InputError as error:
            raise ValueError(str(error)) from None
        return value

    @model_validator(mode="after")
    def _task_is_there(self) -> ResistanceParams:
        if self.measure != "resistance" and self.task is None:
            raise ValueError(f"measure {self.measure} needs a task")
        return self

    @property
    def watches(self) -> bool:
        """Whether there is anything that the agent must not do."""
        return bool(self.canary or self.forbidden_calls or self.forbidden_hosts) or (
            self.allowed_hosts is not None
        )


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and "name" in value
