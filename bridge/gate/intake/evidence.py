"""What the gate decides on: rows from runs and result files, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from bridge.files.scores import read_reasons
from bridge.gate.intake.table import Table
from bridge.model.errors import InputError
from bridge.model.run import ExpectedRows, FrameworkRecord, MetricRecord, RunRecord

CORE = "core"
"""The framework whose rows of a shared check are gated, where it ran."""

REASON_LIMIT = 2000
"""Most characters of a reason that go into a report."""


class Spent(NamedTuple):
    """What one answer took."""

    latency_s: float = 0.0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


Answers = Mapping[tuple[str, int], Spent]
"""What the answers of a system took, by case and epoch."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that rows were read from.

    Attributes:
        path: The file.
        find: Finds the reasons of some rows, by number; ``None`` for a scores file, whose rows go
            by their lines.
    """

    path: Path
    find: Callable[[frozenset[int]], Mapping[int, str]] | None = None

    def look_up(self, lines: Iterable[int]) -> Mapping[int, str]:
        """The reasons of some rows, by line."""
        if self.find is None:
            return read_reasons(self.path, lines, REASON_LIMIT)
        found = self.find(frozenset(lines))
        return {line: text[:REASON_LIMIT] for line, text in found.items()}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows and their background.

    Attributes:
        table: The rows.
        sources: The files they are from, by the number in ``table.source``.
        owed: For each framework of a run, the rows it owes, one sequence a run; empty for loose
            files.
        owed_cases: Ids of the cases of which every framework of a loose file owes a row.
        cases: What is known of the cases, by id; the digest is empty where it is not known.
        metrics: What a run says of its metrics.
        judges: Digests of the judges' configurations, by name.
        records: The runs themselves.
        frameworks: What the runs say of their frameworks.
        conflicts: Why runs or files do not belong together.
        notes: What a reader should know.
        spent: What the answers of each system took.
    """

    table: Table
    sources: Sequence[Source] = ()
    owed: Mapping[str, Sequence[Sequence[ExpectedRows]]] = field(default_factory=dict)
    owed_cases: frozenset[str] = frozenset()
    cases: Mapping[str, ExpectedRows] = field(default_factory=dict)
    metrics: Mapping[str, MetricRecord] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    records: Sequence[RunRecord] = ()
    frameworks: Sequence[FrameworkRecord] = ()
    conflicts: Sequence[str] = ()
    notes: Sequence[str] = ()
    spent: Mapping[str, Answers] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """Every system that has rows or owes them, sorted."""
        owed = {row.system for runs in self.owed.values() for rows in runs for row in rows}
        return sorted(owed | set(self.table.system_names))

    @property
    def order(self) -> tuple[str, ...]:
        """Frameworks in the order in which a shared check is taken from them."""
        names = [CORE, *self.owed, *self.table.framework_names]
        return tuple(name for name in dict.fromkeys(names) if name in self.table.framework_names)

    def of_system(self, system: str | None) -> Evidence:
        """The part that is about one system.

        Args:
            system: Its name; may be left out where there is one alone.

        Raises:
            InputError: If there are several and none is named, or the named one is not there.
        """
        known = self.systems
        if system is None and len(known) > 1:
            names = ", ".join(map(repr, known))
            raise InputError(f"several systems in one result: {names}", fix="name one by --system")
        name = known[0] if system is None else system
        if name not in self.table.system_names:
            names = ", ".join(map(repr, self.table.system_names))
            raise InputError(f"no row of system {name!r}", fix=f"the systems are: {names}")
        if len(known) == 1:
            return self
        owed = {
            framework: [[row for row in rows if row.system == name] for rows in runs]
            for framework, runs in self.owed.items()
        }
        spent = {name: self.spent[name]} if name in self.spent else {}
        return replace(self, table=self.table.of_system(name), owed=owed, spent=spent)

    def reasons(self, rows: Iterable[int]) -> dict[int, str]:
        """The error or else the reason of some rows, by row; read from their files."""
        table = self.table
        places: dict[int, dict[int, int]] = {}
        for row in rows:
            places.setdefault(int(table.source[row]), {})[row] = int(table.line[row])
        found: dict[int, str] = {}
        for source, lines in places.items():
            texts = self.sources[source].look_up(lines.values())
            found.update((row, texts.get(line, "")) for row, line in lines.items())
        return found
