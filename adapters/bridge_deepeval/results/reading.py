"""A run file being read: test cases into answers with their scores, and what its totals say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.carry import KEY
from bridge.plugin.numbering import Numbered
from bridge.plugin.results.counterparts import StandIns, by_recorded_name, check_of
from bridge.plugin.results.imported import Scales
from bridge.plugin.results.reading import Answer, Counts, read_content
from bridge_deepeval import records
from bridge_deepeval.cases import from_test_case
from bridge_deepeval.results.counterparts import COUNTERPARTS
from bridge_deepeval.results.directions import lower_metrics
from bridge_deepeval.results.layouts import Native, open_run
from bridge_deepeval.rows import NAME, read_score

NOT_CACHED = "the cache has no such result: DeepEval leaves out those that ended in an error"

_KNOWN = by_recorded_name(COUNTERPARTS)


class RunReading:
    """One run file.

    Args:
        source: The file.
        scales: Declared scales of native values.
    """

    framework = NAME

    def __init__(self, source: Path, scales: Scales) -> None:
        self.source = source
        self._file = open_run(source)
        self._run = self._file.run
        self._scales = scales
        given = self._run.hyperparameters
        version = given.get(records.VERSION) if isinstance(given, Mapping) else None
        self._version = version if isinstance(version, str) else ""
        self._lower = frozenset() if self._version else lower_metrics(self._file.metrics())
        self._stand_ins = StandIns(lambda name: check_of(_KNOWN.get(name)))
        self._names = Numbered()
        self._ended: Counter[bool | None] = Counter()
        self._cases = 0
        self._orders: dict[bool, set[int]] = {}

    def answers(self) -> Iterator[Answer]:
        """Every test case."""
        for native in self._file.cases():
            self._cases += 1
            self._ended[native.success] += 1
            if native.order is not None:
                several = isinstance(native, records.Conversation)
                self._orders.setdefault(several, set()).add(native.order)
            ours = KEY in (native.metadata or {})
            answer = self._own(native) if ours else self._foreign(native)
            yield answer

    def _own(self, native: Native) -> Answer:
        place = _place(native)
        case, output = read_content(lambda: from_test_case(native), self.source, place)
        key = self._key(output.system, output.case_id, output.epoch)
        rows = self._rows(key, native.metrics_data or [])
        return Answer(key, rows, lambda: (case, output), spent=_spent(native), place=place)

    def _foreign(self, native: Native) -> Answer:
        name, twin = self._name(native)
        key = self._key("default", name, 1)
        rows = self._rows(key, native.metrics_data or [])

        def content() -> tuple[Case, Output]:
            case, output = from_test_case(native)
            case = case.model_copy(update={"id": key["case_id"]})
            return (
                self._stand_ins.put(case, rows),
                output.model_copy(update={"case_id": key["case_id"]}),
            )

        return Answer(
            key,
            rows,
            content,
            gap=NOT_CACHED if self._file.cached else None,
            spent=_spent(native),
            place=_place(native),
            twin=twin,
        )

    def _key(self, system: str, case_id: str, epoch: int) -> dict[str, Any]:
        return {
            "framework": NAME,
            "framework_version": self._version,
            "system": system,
            "case_id": case_id,
            "epoch": epoch,
        }

    def _name(self, native: Native) -> tuple[str, bool]:
        """The id of a case (from the metadata, else its name, else its place); is it a twin's?"""
        given = (native.metadata or {}).get("id")
        plain = isinstance(given, str | int) and not isinstance(given, bool)
        name = str(given) if plain and str(given).strip() else native.name
        if not name.strip():
            name = f"test_case_{native.order or 0}"
        unique = self._names.of(name)
        return unique, unique != name

    def _rows(
        self, key: dict[str, Any], native: Sequence[records.MetricData]
    ) -> list[Score | ScoreRow]:
        rows: list[Score | ScoreRow] = []
        seen: Counter[str] = Counter()
        for each in native:
            seen[each.name] += 1
            found = read_score(each, key, self._scales, lower=each.name in self._lower)
            if seen[each.name] > 1:
                again = f"{each.name} ({seen[each.name]})"
                found = [_named(row, again) for row in found]
            rows.extend(found)
        return rows

    def metrics(self) -> Iterable[str]:
        """The metrics of which the head has totals."""
        return [each.metric for each in self._run.metrics_scores or () if each.metric]

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        self._file.account(tally)

    def notes(self, counts: Counts) -> Iterator[str]:
        """What was turned round, mended, or is not as the totals say."""
        if not self._version:  # else it is a run of ours, where cases have own checks
            yield from counts.gaps()
        if self._lower:
            names = ", ".join(sorted(self._lower))
            yield f"lower was better for {names}, as their verdicts show: turned round"
        yield from self._file.notes()
        if not self._file.cached:
            yield from self._totals()

    def _totals(self) -> Iterator[str]:
        # of a case whose metrics were all skipped nothing is written
        left_out = sum(max(orders) + 1 - len(orders) for orders in self._orders.values())
        if left_out > 0:
            yield f"by their order {left_out} test cases are not in the file"
        passed, failed = self._run.test_passed, self._run.test_failed
        if passed is None or failed is None:
            yield "the run has no totals: it may not have been finished"
        elif passed + failed != self._cases:
            yield f"the totals speak of {passed + failed} test cases, the file holds {self._cases}"
        elif self._ended[None] == 0 and passed != self._ended[True]:
            held = self._ended[True]
            yield f"the totals speak of {passed} test cases that passed, the rows of {held}"


def _named(row: Score | ScoreRow, metric: str) -> Score | ScoreRow:
    if isinstance(row, ScoreRow):
        return msgspec.structs.replace(row, metric=metric)
    return row.model_copy(update={"metric": metric})


def _place(native: Native) -> str:
    return f"test case {native.name!r}"


def _spent(native: Native) -> dict[str, Any]:
    if isinstance(native, records.Conversation):
        return {}
    return {
        "latency_s": native.completion_time,
        "cost_usd": native.token_cost,
        "input_tokens": native.input_token_count,
        "output_tokens": native.output_token_count,
    }
