"""A results file being read: rows into cases, outputs and scores, and what its head says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.conversion import ConversionLine, ConversionReport
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY
from bridge.plugin.imported import Scales
from bridge.plugin.reading import Reading
from bridge_promptfoo.cases import from_native
from bridge_promptfoo.records import ERROR, File, Row
from bridge_promptfoo.rows import (
    NAME,
    failure_of,
    name_of,
    read_left_out,
    read_score,
    unscored,
)
from bridge_promptfoo.scorers import metrics_of

LONGEST_NAME = 60
"""Characters of a prompt's label or a variable in a name; what is cut gets a digest."""
NO_METRIC = "assertions"
"""The metric of a file in which no test has an assertion."""


class ResultsReading:
    """One results file.

    Args:
        source: The file.
        file: Its content.
        scales: Declared scales of native values.
    """

    def __init__(self, source: Path, file: File, scales: Scales) -> None:
        self._results = file.results
        self._scales = scales
        self._reading = Reading(source, NAME, file.metadata.promptfoo_version)
        self._systems = _Systems(file)
        self._tests: dict[str, str] = {}
        self._epochs: Counter[tuple[str, str]] = Counter()
        self._native = self._renamed = self._lenient = self._cached = 0

    def read(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report of everything in the file.

        Raises:
            InputError: If a row cannot be read.
        """
        for row in sorted(self._results.results, key=lambda row: (row.test_idx, row.prompt_idx)):
            try:
                self._add(row)
            except (ValidationError, ValueError, KeyError, TypeError) as error:
                told = explain(error) if isinstance(error, ValidationError) else error
                what = f"row {row.test_idx}/{row.prompt_idx} cannot be read ({told})"
                raise InputError(what, where=self._reading.source, fix="mend the file") from None
        bundle = self._reading.bundle([NO_METRIC])
        lines = [
            ConversionLine(field="results[]", fate="native", count=len(bundle.outputs)),
            ConversionLine(field="results[].componentResults[]", fate="native", count=self._native),
        ]
        report = ConversionReport(
            source=str(self._reading.source),
            format=NAME,
            lines=tuple(line for line in lines if line.count),
            notes=(*self._reading.notes(), *self._notes()),
        )
        return bundle, report

    def _add(self, row: Row) -> None:
        test = row.test_case
        fields = {"metadata": test.metadata, "vars": test.vars, "description": test.description}
        ours = KEY in (test.metadata or {})
        response = row.response or {}
        if not ours and row.latency_ms is not None:
            response = {"latencyMs": row.latency_ms, **response}
        case, output = from_native(fields, self._systems.of(row), response, row.prompt.raw)
        failure = failure_of(row)
        if ours:
            rows = self._own(row, case, output, failure)
            self._reading.add(case, output, rows)
            return
        self._cached += response.get("cached") is True
        case, output = self._identified(case, output, row)
        if failure is not None:
            output = output.model_copy(update={"error": failure})
        rows = self._foreign(row, output, failure)
        self._reading.add(case, output, rows, None if rows else failure)

    def _own(self, row: Row, case: Case, output: Output, failure: str | None) -> list[Score]:
        key = self._reading.key(output)
        metrics = metrics_of(row.test_case.assertions or ())
        if failure is not None:
            checks: list[Check] = [each.check for each in metrics if each.check is not None]
            rows = unscored(case, output, checks, failure, key)
            self._native += len(metrics)
            return rows
        return self._scores(row, key)

    def _scores(self, row: Row, key: dict[str, object]) -> list[Score]:
        grading = row.grading_result
        if grading is None:
            return []
        components = [each for each in grading.component_results or () if each is not None]
        self._native += len(components)
        self._lenient += bool(row.success) and any(each.passed is False for each in components)
        rows: list[Score] = []
        seen: Counter[str] = Counter()
        for native in components:
            found = read_score(native, key, self._scales)
            seen[found[0].metric] += 1
            rows.extend(_numbered(found, seen[found[0].metric]))
        return [*rows, *read_left_out(grading.metadata, key)]

    def _foreign(self, row: Row, output: Output, failure: str | None) -> list[Score]:
        key = self._reading.key(output)
        if failure is None:
            return self._scores(row, key)
        seen: Counter[str] = Counter()
        rows = []
        for assertion in _flat(row.test_case.assertions or ()):
            name = name_of(assertion)
            seen[name] += 1
            owed = Score.model_validate(
                {
                    **key,
                    "metric": name,
                    "scorer": assertion.get("type") or "",
                    "status": "error",
                    "error": failure,
                    "reason": failure,
                }
            )
            rows.extend(_numbered([owed], seen[name]))
        return rows

    def _identified(self, case: Case, output: Output, row: Row) -> tuple[Case, Output]:
        """A case under a name of its own; the same test again is another epoch of it."""
        test = row.test_case
        content = _digest([test.description, test.vars, test.assertions])
        name = _given_name(row) or _shortened(_shown(test.vars), content)
        unique, number = name, 1
        while self._tests.setdefault(unique, content) != content:
            number += 1
            unique = f"{name} ({number})"
        self._renamed += unique != name
        self._epochs[output.system, unique] += 1
        epoch = self._epochs[output.system, unique]
        return (
            case.model_copy(update={"id": unique}),
            output.model_copy(update={"case_id": unique, "epoch": epoch}),
        )

    def _notes(self) -> Iterator[str]:
        rows, stats = self._results.results, self._results.stats
        if self._renamed:
            yield f"{self._renamed} tests had the name of another; a number was added"
        if self._lenient:
            yield f"{self._lenient} tests passed by their threshold although an assertion failed"
        if self._cached:
            yield f"{self._cached} answers are from promptfoo's cache: the system was not asked"
        if stats is None:
            yield "the file has no totals: the run may not have been finished"
            return
        held = _counts(rows)
        told = (stats.successes, stats.failures, stats.errors)
        if held != told:
            names = "passed, failed, errors"
            yield f"the totals ({names}) are {told}, those of the rows {held}"


class _Systems:
    """The columns of a file: a provider, with its prompt where there are several."""

    def __init__(self, file: File) -> None:
        self._columns = file.results.prompts
        self._several = len({str(each.label or each.raw) for each in self._columns}) > 1

    def of(self, row: Row) -> str:
        index = row.prompt_idx
        column = self._columns[index] if 0 <= index < len(self._columns) else None
        provider = _provider(row.provider) or _provider(column.provider if column else None)
        if not self._several or column is None:
            return provider or "default"
        label = str(column.label or column.raw)
        return f"{provider or 'default'} | {_shortened(label, _digest(label))}"


def _provider(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("label") or value.get("id")
    return value if isinstance(value, str) else ""


def _given_name(row: Row) -> str:
    metadata = row.test_case.metadata or {}
    for given in (metadata.get("case_id"), metadata.get("id"), row.test_case.description):
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


def _flat(assertions: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Assertions in the order of their components: a set, then what it holds."""
    for assertion in assertions:
        yield assertion
        held = assertion.get("assert")
        yield from (each for each in held if isinstance(each, dict)) if held else ()


def _numbered(rows: Iterable[Score], count: int) -> list[Score]:
    """Rows of a metric that a test has several times; from the second on with a number."""
    if count == 1:
        return list(rows)
    return [row.model_copy(update={"metric": f"{row.metric} ({count})"}) for row in rows]


def _counts(rows: Iterable[Row]) -> tuple[int, int, int]:
    """Rows that passed, failed, and could not be scored, as promptfoo counts them."""
    passed = failed = errors = 0
    for row in rows:
        if row.success:
            passed += 1
        elif row.failure_reason == ERROR:
            errors += 1
        else:
            failed += 1
    return passed, failed, errors
