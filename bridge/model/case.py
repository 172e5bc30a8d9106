"""A case: one thing to ask, with what is expected."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from bridge.model.check import Check, Checks
from bridge.model.matcher import parse_pattern
from bridge.model.message import Message, Passage, Tool
from bridge.model.values import EMPTY, Json, JsonObject, Model, Name, Text

OrderMode = Literal["strict", "in_order", "any_order", "subset", "superset", "partial"]


def _read_input(value: Any) -> Any:
    if value is None:
        raise ValueError("should be a text, a list of messages or an object, not null")
    if isinstance(value, list | tuple) and not value:
        raise ValueError("an empty list of messages")
    return value


Input = Annotated[
    Text | tuple[Message, ...] | JsonObject,
    BeforeValidator(_read_input),
    Field(json_schema_extra={"not": {"type": "null"}, "minItems": 1}),
]
"""What a system is asked: a text, messages, or an object."""


class ExpectedCall(Model):
    """A call that should be made.

    Attributes:
        name: Tool name.
        arguments: Expected arguments, with matchers (``$one_of``, ``$approx``, ...) inside.
        extra: Whether arguments beyond the expected ones are forbidden or allowed.
        result: What the tool should return, with matchers; null where that does not matter.
        id: Name of this call for ``after``.
        after: Ids of calls that must come earlier (mode ``partial``).
    """

    name: Name
    arguments: JsonObject = EMPTY
    extra: Literal["forbid", "allow"] = "forbid"
    result: Json = None
    id: Name | None = None
    after: tuple[Name, ...] = ()
    extras: JsonObject = EMPTY

    @model_validator(mode="after")
    def _matchers_are_known(self) -> ExpectedCall:
        _ = self.pattern, self.result_pattern
        return self

    @cached_property
    def pattern(self) -> dict[str, Any]:
        """``arguments`` with their matchers parsed."""
        return {key: parse_pattern(value) for key, value in self.arguments.items()}

    @cached_property
    def result_pattern(self) -> Any:
        """``result`` with its matchers parsed."""
        return parse_pattern(self.result)


class ExpectedCalls(Model):
    """The calls a case or turn expects, and how their order and number count.

    Modes: ``strict`` (same calls, same order), ``in_order`` (expected is a subsequence),
    ``any_order`` (same calls in any order), ``subset`` (actual within expected), ``superset``
    (expected within actual), ``partial`` (same calls, ``after`` kept).
    """

    calls: tuple[ExpectedCall, ...]
    mode: OrderMode = "any_order"
    extras: JsonObject = EMPTY

    @model_validator(mode="after")
    def _after_names_a_call(self) -> ExpectedCalls:
        ids = [call.id for call in self.calls if call.id is not None]
        if len(ids) != len(set(ids)):
            raise ValueError("two expected calls have the same id")
        for call in self.calls:
            missing = set(call.after) - set(ids)
            if missing:
                raise ValueError(f"after names no call: {', '.join(sorted(missing))}")
        return self


class ContextPattern(Model):
    """A context reference given as a regular expression (RE2)."""

    regex: Text


class Turn(Model):
    """One user turn of a scripted conversation, with what its answer should do."""

    user: Text
    expected: Json = ""
    expected_calls: ExpectedCalls | None = None
    context_refs: tuple[Text | ContextPattern, ...] = ()
    checks: Checks = ()
    extras: JsonObject = EMPTY


def _also_meta(schema: dict[str, Any]) -> None:
    schema["properties"]["meta"] = schema["properties"]["metadata"]
    schema["not"] = {"required": ["meta", "metadata"]}


class Case(Model):
    """One thing to ask, with what is expected.

    Attributes:
        id: Unique in a golden set; whole numbers are read as strings.
        input: A text, a list of messages, or an object. With ``turns`` it describes the scenario
            and is never sent.
        expected: The reference answer: a text, a list of accepted answers, or JSON.
            ``""``, null and ``[]`` mean that there is none.
        reference_contexts: Passages that hold the answer.
        vars: Template values.
        choices: Options of a multiple-choice question.
        tools: Tools on offer.
        expected_calls: Tool calls that should be made.
        turns: A scripted conversation.
        persona: Who the user of a conversation is.
        checks: Checks added to the suite's, or replacing those of the same metric.
        tags: Free labels for slices.
        failure_mode: The kind of failure this case watches for.
        metadata: Anything else (``meta`` is read as ``metadata``).
        extras: Per framework, what its file held that has no neutral field.
    """

    model_config = ConfigDict(json_schema_extra=_also_meta)

    id: Name
    input: Input
    expected: Json
    reference_contexts: tuple[Text | Passage, ...] = ()
    vars: JsonObject = EMPTY
    choices: tuple[Text, ...] = ()
    tools: tuple[Tool, ...] = ()
    expected_calls: ExpectedCalls | None = None
    turns: tuple[Turn, ...] = ()
    persona: Json = None
    checks: Checks = ()
    tags: tuple[Text, ...] = ()
    failure_mode: Text | None = None
    metadata: JsonObject = Field(default=EMPTY)
    extras: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _meta_is_metadata(cls, data: Any) -> Any:
        if isinstance(data, dict) and "meta" in data:
            if "metadata" in data:
                raise ValueError("meta and metadata are the same field; keep one")
            data = {("metadata" if key == "meta" else key): item for key, item in data.items()}
        return data

    @property
    def references(self) -> tuple[Any, ...]:
        """The accepted answers; empty where there is no reference."""
        return references(self.expected)

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The checks of the case and of its turns."""
        return (*self.checks, *(check for turn in self.turns for check in turn.checks))

    def at_turn(self, index: int) -> Case:
        """Turn ``index`` (0-based) as a case of its own, so that every scorer can score it."""
        turn = self.turns[index]
        return self.model_copy(
            update={
                "input": turn.user,
                "expected": turn.expected,
                "expected_calls": turn.expected_calls,
                "turns": (),
                "checks": turn.checks,
            }
        )

    def until(self, index: int) -> Case:
        """The case up to and with turn ``index`` (0-based), for scorers that need the history."""
        return self.model_copy(update={"turns": self.turns[: index + 1]})


def references(expected: Any) -> tuple[Any, ...]:
    """The accepted answers in an ``expected`` field (``""``, null and ``[]`` hold none)."""
    if expected is None or expected in ("", []):
        return ()
    return tuple(expected) if isinstance(expected, list) else (expected,)
