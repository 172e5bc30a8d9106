"""The records of a promptfoo results file, as far as they are read; everything else is skipped."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Index = Annotated[int, msgspec.Meta(ge=-1, lt=2**31)]
"""Place of a test or prompt; -1 where the file does not say."""

ERROR = 2
"""``failureReason`` of a row that could not be scored."""


class Component(msgspec.Struct):
    """What one assertion found. An assert-set has no assertion of its own."""

    passed: bool | None = msgspec.field(name="pass", default=None)
    score: Any = None
    reason: Any = None
    assertion: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


class Grading(msgspec.Struct, rename="camel"):
    """What all assertions of a row found."""

    component_results: list[Component | None] | None = None
    metadata: dict[str, Any] | None = None
    passed: bool | None = msgspec.field(name="pass", default=None)
    score: Any = None
    reason: Any = None
    named_scores: dict[str, Any] | None = None
    assertion: dict[str, Any] | None = None


class TestCase(msgspec.Struct):
    """The test behind a row."""

    __test__ = False  # no test class for pytest

    description: Any = None
    vars: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    options: Any = None
    assertions: list[dict[str, Any]] | None = msgspec.field(name="assert", default=None)


class Prompt(msgspec.Struct):
    """The prompt of a row, rendered; its label is the template. Version 1 has ``display``."""

    raw: Any = None
    label: Any = None
    display: Any = None

    @property
    def name(self) -> str:
        """What the prompt is called."""
        return str(self.label or self.display or self.raw or "")


class Row(msgspec.Struct, rename="camel"):
    """One test in one column. ``error`` is also set where an assertion just failed."""

    test_idx: Index = -1
    prompt_idx: Index = -1
    success: bool | None = None
    score: Any = None
    error: Any = None
    failure_reason: int | None = None
    latency_ms: Any = None
    cost: Any = None
    response: dict[str, Any] | str | None = None
    provider_response: dict[str, Any] | str | None = None
    grading_result: Grading | None = None
    named_scores: dict[str, Any] | None = None
    test_case: TestCase | None = None
    vars: dict[str, Any] | None = None
    prompt: Prompt | str | None = None
    provider: Any = None

    @property
    def test(self) -> TestCase:
        """The test; before version 3 its variables stand in the row alone."""
        return TestCase(vars=self.vars) if self.test_case is None else self.test_case

    @property
    def answer(self) -> dict[str, Any]:
        """What the provider said; empty where promptfoo lost it."""
        given = self.provider_response if self.response is None else self.response
        return {"output": given} if isinstance(given, str) else given or {}

    @property
    def asked(self) -> Prompt:
        """The prompt."""
        if isinstance(self.prompt, Prompt):
            return self.prompt
        return Prompt(raw=self.prompt)


class Place(msgspec.Struct, rename="camel"):
    """Where a row belongs, and the name of its prompt."""

    test_idx: Index = -1
    prompt_idx: Index = -1
    prompt: Prompt | str | None = None


class Column(msgspec.Struct):
    """A prompt with a provider."""

    label: Any = None
    display: Any = None
    raw: Any = None
    provider: Any = None

    @property
    def name(self) -> str:
        """What the prompt is called."""
        return str(self.label or self.display or self.raw or "")


class Stats(msgspec.Struct):
    """How many rows the head speaks of."""

    successes: int = 0
    failures: int = 0
    errors: int = 0


class TableHead(msgspec.Struct):
    """Columns of the table that version 1 and 2 have."""

    prompts: list[Column | str] = []


class Table(msgspec.Struct):
    """The results once more, as a table."""

    head: TableHead = msgspec.field(default_factory=TableHead)


class Results(msgspec.Struct):
    """What stands around the rows."""

    version: int | None = None
    prompts: list[Column] | None = None
    stats: Stats | None = None
    table: Table | None = None


class Origin(msgspec.Struct, rename="camel"):
    """What wrote the file."""

    promptfoo_version: str = ""


class Head(msgspec.Struct):
    """A results file without its rows; version 1 has what is in ``results`` outermost."""

    results: Results | list[Any] | None = None
    data: Head | None = None
    metadata: Origin | None = None
    version: int | None = None
    stats: Stats | None = None
    table: Table | None = None


_ROW = msgspec.json.Decoder(Row)


def decode_row(line: bytes) -> Row | None:
    """A line of a JSONL export; ``None`` where it is none, as while the file is written anew."""
    try:
        return _ROW.decode(line)
    except msgspec.MsgspecError:
        return None
