"""A run file being read: test cases into cases, outputs and rows, and what its totals say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionLine, ConversionReport
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY
from bridge.plugin.imported import Scales
from bridge.plugin.reading import Reading
from bridge_deepeval import records
from bridge_deepeval.cases import from_test_case
from bridge_deepeval.rows import NAME, read_score


class RunReading:
    """One run file.

    Args:
        source: The file.
        run: Its content.
        scales: Declared scales of native values.
    """

    def __init__(self, source: Path, run: records.Run, scales: Scales) -> None:
        self._run = run
        self._scales = scales
        version = (run.hyperparameters or {}).get(records.VERSION)
        self._reading = Reading(source, NAME, version if isinstance(version, str) else "")
        self._native = 0
        self._renamed = 0

    def add(self, test_case: records.TestCase | records.Conversation) -> None:
        """Read one test case.

        Raises:
            InputError: If it cannot be read.
        """
        try:
            case, output = from_test_case(test_case)
        except ValidationError as error:
            what = f"test case {test_case.name!r} cannot be read ({explain(error)})"
            raise InputError(what, where=self._reading.source, fix="mend the file") from None
        if KEY not in (test_case.metadata or {}):
            case, output = self._identified(case, output, test_case)
        self._reading.add(case, output, self._rows(output, test_case.metrics_data or []))

    def _identified(self, case: Case, output: Output, native: Any) -> tuple[Case, Output]:
        """A case under its own id: from the metadata, else its name, else its place."""
        given = case.metadata.get("id")
        name = str(given) if isinstance(given, str | int) and str(given).strip() else native.name
        if not name.strip():
            name = f"test_case_{native.order or 0}"
        unique, number = name, 1
        while (output.system, unique, output.epoch) in self._reading.outputs:
            number += 1
            unique = f"{name} ({number})"
        self._renamed += unique != name
        return (
            case.model_copy(update={"id": unique}),
            output.model_copy(update={"case_id": unique}),
        )

    def _rows(self, output: Output, native: Sequence[records.MetricData]) -> list[Score]:
        self._native += len(native)
        rows: list[Score] = []
        seen: Counter[str] = Counter()
        for each in native:
            seen[each.name] += 1
            found = read_score(each, self._reading.key(output), self._scales)
            if seen[each.name] > 1:
                again = f"{each.name} ({seen[each.name]})"
                found = [row.model_copy(update={"metric": again}) for row in found]
            rows.extend(found)
        return rows

    def finish(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report of everything read."""
        bundle = self._reading.bundle()
        lines = [
            ConversionLine(field="testCases[]", fate="native", count=len(bundle.outputs)),
            ConversionLine(field="testCases[].metricsData[]", fate="native", count=self._native),
        ]
        report = ConversionReport(
            source=str(self._reading.source),
            format=NAME,
            lines=tuple(line for line in lines if line.count),
            notes=(*self._reading.notes(), *self._notes(bundle)),
        )
        return bundle, report

    def _notes(self, bundle: Bundle) -> Iterator[str]:
        if not self._reading.version:  # else it is a run of ours, where cases have own checks
            yield from self._reading.gaps()
        if self._run.nulled:
            yield f"{self._run.nulled} numbers are NaN or infinite: read as null"
        if self._renamed:
            yield f"{self._renamed} test cases had the name of another; a number was added"
        left_out = sum(map(_left_out, (self._run.test_cases, self._run.conversational_test_cases)))
        if left_out:
            yield f"by their order {left_out} test cases are not in the file"
        passed, failed = self._run.test_passed, self._run.test_failed
        if passed is None or failed is None:
            yield "the run has no totals: it may not have been finished"
        elif passed + failed != (held := len(bundle.outputs)):
            yield f"the totals speak of {passed + failed} test cases, the file holds {held}"


def _left_out(native: Sequence[records.TestCase | records.Conversation] | None) -> int:
    """Places that no test case has: of one whose metrics were all skipped nothing is written."""
    orders = {each.order for each in native or () if each.order is not None}
    return max(orders) + 1 - len(orders) if orders else 0
