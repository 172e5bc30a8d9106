"""A results file being read: rows into answers with their scores, and what its head says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.carry import KEY
from bridge.plugin.results.imported import Scales, error_row, seconds
from bridge.plugin.results.reading import Answer, Counts, read_content
from bridge_promptfoo.cases import from_native
from bridge_promptfoo.config.graders import Graders
from bridge_promptfoo.records import ERROR, Component, Grading, Row, TestCase
from bridge_promptfoo.results.graded import GradedChecks, flat
from bridge_promptfoo.results.layouts import About, open_results
from bridge_promptfoo.rows import (
    NAME,
    failure_of,
    name_of,
    read_left_out,
    read_score,
    read_verdict,
    unscored,
)
from bridge_promptfoo.scorers import metrics_of

LONGEST_NAME = 60
"""Characters of a prompt's label or a variable in a name; what is cut gets a digest."""
NO_METRIC = "assertions"
"""The metric of a row of which only the verdict is known, or that has no assertion."""

Rows = Sequence[Score | ScoreRow]


class ResultsReading:
    """One results file.

    Args:
        source: The file.
        scales: Declared scales of native values.
        encoding: Encoding of a CSV export.
        graders: Names a judge for assertions that ask one.
    """

    framework = NAME

    def __init__(
        self, source: Path, scales: Scales, encoding: str = "", graders: Graders | None = None
    ) -> None:
        self.source = source
        self._file = open_results(source, encoding)
        self._about = self._file.about
        self._scales = scales
        self._systems = _Systems(self._about)
        self._names = _Names()
        self._graded = GradedChecks(graders)
        self._ended: Counter[str] = Counter()
        self._lenient = self._cached = 0

    def answers(self) -> Iterator[Answer]:
        """Every row, by test and column."""
        for place, row in self._file.rows():
            self._ended[_ending(row)] += 1
            ours = KEY in (row.test.metadata or {})
            yield self._own(row, place) if ours else self._foreign(row, place)

    def metrics(self) -> Iterable[str]:
        """What a file without any assertion is scored by."""
        return [NO_METRIC]

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        self._file.account(tally)

    def notes(self, counts: Counts) -> Iterator[str]:
        """What was renamed, mended, or is not as the head says."""
        del counts
        yield from self._file.notes()
        if self._names.renamed:
            yield f"{self._names.renamed} tests had the name of another; a number was added"
        if self._lenient:
            yield f"{self._lenient} tests passed by their threshold although an assertion failed"
        if self._cached:
            yield f"{self._cached} answers are from promptfoo's cache: the system was not asked"
        stats = self._about.stats
        if stats is None:
            if self._about.whole:
                yield "the file has no totals: the run may not have been finished"
            return
        held = tuple(self._ended[name] for name in ("passed", "failed", "errors"))
        told = (stats.successes, stats.failures, stats.errors)
        if held != told:
            names = "passed, failed, errors"
            yield f"the totals ({names}) are {told}, those of the rows {held}"

    def _own(self, row: Row, place: str) -> Answer:
        """A row of ours, whose case and output say what it is called."""
        case, output = read_content(lambda: self._content(row, row.answer), self.source, place)
        key = {**self._stamp(), **_key(output)}
        failure = failure_of(row)
        if failure is None:
            rows = self._scores(row, key)
        else:
            metrics = metrics_of(row.test.assertions or ())
            checks = [each.check for each in metrics if each.check is not None]
            rows = unscored(case, output, checks, failure, key)
        return Answer(key, rows, lambda: (case, output), spent=_spent(row), place=place)

    def _foreign(self, row: Row, place: str) -> Answer:
        system = self._systems.of(row)
        name, epoch = self._names.of(row.test, system)
        self._cached += row.answer.get("cached") is True
        key = {**self._stamp(), "system": system, "case_id": name, "epoch": epoch}
        failure = failure_of(row, verdicts=self._about.verdicts)
        rows = self._scores(row, key) if failure is None else self._lost(row, key, failure)
        return Answer(
            key,
            rows,
            self._later(row, key, failure),
            None if rows else failure,
            spent=_spent(row),
            place=place,
        )

    def _later(
        self, row: Row, key: dict[str, Any], failure: str | None
    ) -> Callable[[], tuple[Case, Output]]:
        def read() -> tuple[Case, Output]:
            response = row.answer
            if row.latency_ms is not None:
                response = {"latencyMs": row.latency_ms, **response}
            if isinstance(row.cost, int | float) and row.cost > 0:  # 0 where no price is known
                response = {"cost": row.cost, **response}
            case, output = self._content(row, response)
            update = {"case_id": key["case_id"], "epoch": key["epoch"]}
            update |= {} if failure is None else {"error": failure}
            return (
                self._graded.put(case.model_copy(update={"id": key["case_id"]}), row.test),
                output.model_copy(update=update),
            )

        return read

    def _content(self, row: Row, response: dict[str, Any]) -> tuple[Case, Output]:
        test = row.test
        fields = {"metadata": test.metadata, "vars": test.vars, "description": test.description}
        return from_native(fields, self._systems.of(row), response, row.asked.raw)

    def _stamp(self) -> dict[str, Any]:
        return {"framework": NAME, "framework_version": self._about.version}

    def _scores(self, row: Row, key: dict[str, Any]) -> Rows:
        grading = row.grading_result
        components = [] if grading is None else _components(grading)
        if not components and (grading is None or self._about.verdicts):
            return read_verdict(row, NO_METRIC, key, self._scales)
        self._lenient += bool(row.success) and any(each.passed is False for each in components)
        rows: list[Score | ScoreRow] = []
        seen: Counter[str] = Counter()
        for native in components:
            found = read_score(native, key, self._scales)
            seen[str(found[0].metric)] += 1
            rows.extend(_numbered(found, seen[str(found[0].metric)]))
        if grading is not None and grading.metadata:
            rows.extend(read_left_out(grading.metadata, key))
        return rows

    def _lost(self, row: Row, key: dict[str, Any], failure: str) -> Rows:
        """An error of every assertion of a row that failed."""
        seen: Counter[str] = Counter()
        rows: list[Score | ScoreRow] = []
        for assertion in flat(row.test.assertions or ()):
            name = name_of(assertion)
            seen[name] += 1
            owed = error_row(name, failure, key, str(assertion.get("type") or ""))
            rows.extend(_numbered([owed], seen[name]))
        return rows


class _Systems:
    """The columns of a file: a provider, with its prompt where there are several."""

    def __init__(self, about: About) -> None:
        self._columns = about.columns
        self._several = len(about.names) > 1

    def of(self, row: Row) -> str:
        index = row.prompt_idx
        column = self._columns[index] if 0 <= index < len(self._columns) else None
        provider = _provider(row.provider) or _provider(column.provider if column else None)
        label = column.name if column is not None else row.asked.name
        if not self._several or not label:
            return provider or "default"
        return f"{provider or 'default'} | {_shortened(label, _digest(label))}"


class _Names:
    """The names of tests: what was given, or else shown; numbers and hashes, to stay small.

    The same test again is another epoch of it; another test of the same name gets a number.
    """

    def __init__(self) -> None:
        self._contents: dict[int, int] = {}
        self._epochs: dict[int, int] = {}
        self.renamed = 0

    def of(self, test: TestCase, system: str) -> tuple[str, int]:
        """Name and epoch of a test in a column."""
        content = [test.description, test.vars, test.assertions]
        same = hash(msgspec.json.encode(content, order="deterministic"))
        name = _given_name(test) or _shortened(_shown(test.vars), _digest(content))
        unique, number = name, 1
        while self._contents.setdefault(hash(unique), same) != same:
            number += 1
            unique = f"{name} ({number})"
        self.renamed += unique != name
        place = hash((system, unique))
        epoch = self._epochs.get(place, 0) + 1
        self._epochs[place] = epoch
        return unique, epoch


def _provider(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("label") or value.get("id")
    return value if isinstance(value, str) and value.strip() else ""


def _given_name(test: TestCase) -> str:
    metadata = test.metadata or {}
    for given in (metadata.get("case_id"), metadata.get("id"), test.description):
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip():
            return str(given)
    return ""


def _shown(values: dict[str, Any] | None) -> str:
    texts = (value for value in (values or {}).values() if isinstance(value, str) and value.strip())
    return next(texts, "test")


def _shortened(text: str, content: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_NAME else f"{flat[:LONGEST_NAME]} {content[:8]}"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _key(output: Output) -> dict[str, Any]:
    return {"system": output.system, "case_id": output.case_id, "epoch": output.epoch}


def _components(grading: Grading) -> list[Component]:
    """What the assertions found; a version without a list has the one assertion alone."""
    found = [each for each in grading.component_results or () if each is not None]
    if not found and grading.assertion is not None:
        found = [Component(grading.passed, grading.score, grading.reason, grading.assertion)]
    return found


def _numbered(rows: Rows, count: int) -> Rows:
    """Rows of a metric that a test has several times; from the second on with a number."""
    if count == 1:
        return rows
    return [_named(row, f"{row.metric} ({count})") for row in rows]


def _named(row: Score | ScoreRow, metric: str) -> Score | ScoreRow:
    if isinstance(row, ScoreRow):
        return msgspec.structs.replace(row, metric=metric)
    return row.model_copy(update={"metric": metric})


def _spent(row: Row) -> dict[str, Any]:
    """What an answer took: seconds, dollars, tokens."""
    answer = row.answer
    tokens = answer.get("tokenUsage")
    tokens = tokens if isinstance(tokens, dict) else {}
    latency = row.latency_ms if row.latency_ms is not None else answer.get("latencyMs")
    cost = answer.get("cost") if answer.get("cost") is not None else row.cost
    return {
        "latency_s": seconds(latency),
        "cost_usd": cost,
        "input_tokens": tokens.get("prompt"),
        "output_tokens": tokens.get("completion"),
    }


def _ending(row: Row) -> str:
    """How a row ended, as promptfoo counts it."""
    if row.success:
        return "passed"
    return "errors" if row.failure_reason == ERROR else "failed"
