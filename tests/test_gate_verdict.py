"""The verdict as a whole: precedence, notes, the cases it names, and the order of rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gate_rows import (
    Row,
    binary,
    compare,
    falling,
    graded,
    reasons,
    row,
    verdict,
    write_scores,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.gate.baseline import make_baseline
from bridge.gate.intake.gather import gather
from bridge.model.policy import GatePolicy
from bridge.report.json import to_json
from bridge.report.markdown import to_markdown
from bridge.report.terminal import to_terminal

ANY: Row = {"equals": {}}


class TestPrecedence:
    """error > failed > inconclusive > passed; ``passed`` is true exactly when the exit is 0."""

    def outcome(self, folder: Path, *, fails: bool, errs: bool, doubts: bool) -> Any:
        before, now = falling(10 if fails else 0, 40)
        if errs:
            now = [*now, now[0]]
        policy: Row = {"margin": 0.001} if doubts else {}
        return compare(folder, before, now, metrics=ANY, **policy)

    @pytest.mark.parametrize("errs", [False, True])
    @pytest.mark.parametrize("fails", [False, True])
    @pytest.mark.parametrize("doubts", [False, True])
    def test_of_all_kinds(self, tmp_path: Path, errs: bool, fails: bool, doubts: bool) -> None:
        from bridge.cli.gate import exit_code

        found = self.outcome(tmp_path, fails=fails, errs=errs, doubts=doubts)
        worst = "error" if errs else "failed" if fails else "inconclusive" if doubts else "passed"
        assert found.verdict == worst
        assert found.passed is (worst in ("inconclusive", "passed"))
        assert exit_code(found) == {"error": 3, "failed": 1, "inconclusive": 0, "passed": 0}[worst]
        kinds = [("row twice", errs), ("fell by", fails), ("not ruled out", doubts)]
        said = [text for text, there in kinds if there]
        places = [reasons(found).index(text) for text in said]
        assert places == sorted(places)


class TestNotes:
    """Limits of the comparison are said once, metrics together."""

    def test_metrics_in_which_nothing_differs(self, tmp_path: Path) -> None:
        metrics = ("a", "b", "c", "d")
        rows = [{**each, "metric": metric} for metric in metrics for each in binary([1.0] * 30)]
        found = compare(tmp_path, rows, rows)
        about = [note for note in found.notes if "differ" in note]
        assert about == ["no case differs from the baseline in a, b, c, d"]

    def test_metrics_in_which_too_few_differ(self, tmp_path: Path) -> None:
        sides = [
            [{**each, "metric": metric} for metric, pair in pairs.items() for each in pair[side]]
            for pairs in [{"a": falling(3, 20), "b": falling(5, 20), "c": falling(9, 20)}]
            for side in (0, 1)
        ]
        found = compare(tmp_path, *sides, metrics={"a": {}, "b": {}, "c": {}})
        assert (
            "too few cases differ from the baseline for p to fall below 0.05, 6 would have to: "
            "a (3), b (5)" in found.notes
        )

    def test_no_baseline_is_said(self, tmp_path: Path) -> None:
        found = verdict(write_scores(tmp_path / "s.jsonl", binary([1.0])))
        assert found.notes == ("no baseline: thresholds only",)


class TestReportedCases:
    """Regressions with their cases; failed rows, worst first."""

    def test_a_regression_names_its_cases(self, tmp_path: Path) -> None:
        values = [0.0] * 6 + [0.5] * 3 + [1.0] * 9
        found = compare(tmp_path, binary([1.0] * 18), binary(values, threshold=None), metrics=ANY)
        (regressed,) = found.regressed
        assert regressed.metric == "equals"
        assert regressed.cases == tuple(f"c{i:03d}" for i in range(9))
        assert (regressed.baseline, regressed.now) == (1.0, 10.5 / 18)
        assert regressed.ci_high is not None
        assert regressed.delta < regressed.ci_high < 0

    def test_rows_of_failed_metrics_come_first_then_the_largest_drop(self, tmp_path: Path) -> None:
        before = [
            *(row(f"c{i}", value, metric="a") for i, value in enumerate([0.6, 1.0, 0.0, 1.0])),
            row("c0", 1.0, metric="b"),
        ]
        now = [
            *(row(f"c{i}", value, metric="a") for i, value in enumerate([0.3, 0.0, 0.0, 1.0])),
            row("c0", 0.0, metric="b"),
        ]
        found = compare(tmp_path, before, now, metrics={"a": 0.9, "b": {"min": 0.0}})
        named = [(each.metric, each.case_id, each.baseline, each.value) for each in found.failures]
        assert named == [
            ("a", "c1", 1.0, 0.0),
            ("a", "c0", 0.6, 0.3),
            ("a", "c2", 0.0, 0.0),
            ("b", "c0", 1.0, 0.0),
        ]
        assert found.failures[0].reason == "c1 is 0.0"

    def test_what_fell_is_the_case_not_the_row(self, tmp_path: Path) -> None:
        """A turn that failed before as well is no drop, however low its value."""
        before = [row("same", float(turn), turn=turn) for turn in (0, 1)]
        before += [row("worse", value, turn=turn) for turn, value in enumerate((0.4, 1.0))]
        now = [*before[:2], *(row("worse", 0.4, turn=turn) for turn in (0, 1))]
        found = compare(tmp_path, before, now, metrics={"equals": 0.9})
        named = [(f.case_id, f.turn, f.baseline, f.case_value, f.value) for f in found.failures]
        assert named == [
            ("worse", 0, 0.7, 0.4, 0.4),
            ("worse", 1, 0.7, 0.4, 0.4),
            ("same", 0, 0.5, 0.5, 0.0),
        ]

    def test_errors_come_before_drops(self, tmp_path: Path) -> None:
        erred = {**row("c9"), "value": None, "status": "error", "error": "boom"}
        now = [*binary([0.0] * 3), erred]
        found = compare(tmp_path, [*binary([1.0] * 3), row("c9")], now, metrics=ANY)
        assert [each.case_id for each in found.failures] == ["c9", "c000", "c001", "c002"]
        assert (found.failures[0].reason, found.failures[0].case_value) == ("boom", None)

    def test_most_are_left_to_the_scores_file(self, tmp_path: Path) -> None:
        long = binary([0.0] * 700, reason="x" * 5000)
        found = verdict(write_scores(tmp_path / "s.jsonl", long))
        assert len(found.failures) == 500
        assert {len(each.reason) for each in found.failures} == {2000}


@st.composite
def _bodies(draw: st.DrawFn) -> list[Row]:
    """Rows of several metrics, frameworks, turns and epochs; not always a trustworthy body."""
    values = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0])
    frameworks = st.sampled_from(["core", "inspect", "ragas"])
    rows = []
    for case in range(draw(st.integers(1, 6))):
        for metric in draw(st.lists(st.sampled_from("ab"), min_size=1, unique=True)):
            value = draw(values)
            for framework in draw(st.lists(frameworks, min_size=1, unique=True)):
                for turn in range(draw(st.integers(1, 2))):
                    changes: Row = {"framework": framework, "metric": metric, "turn": turn}
                    rows.append(row(f"c{case}", value, cost_usd=value / 3, **changes))
    return rows + draw(st.lists(st.sampled_from(rows), max_size=2))


class TestOrder:
    """The same rows give the same bytes in any order."""

    @settings(max_examples=40, deadline=None)
    @given(_bodies(), _bodies(), st.randoms(use_true_random=False))
    def test_rows_may_be_shuffled(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        before: list[Row],
        now: list[Row],
        chance: random.Random,
    ) -> None:
        folder = tmp_path_factory.getbasetemp()
        policy = {"margin": 0.2, "min_effect": 0.01, "must_pass": [now[0]["case_id"]]}
        unique = list(
            {(r["framework"], r["case_id"], r["metric"], r["turn"]): r for r in before}.values()
        )
        old = write_scores(
            folder / "order-before.jsonl",
            [u for u in unique if u["framework"] == "core"] or [row("c0")],
        )
        baseline = make_baseline(gather([old]))
        texts = set()
        for _ in range(3):
            source = write_scores(folder / "order-now.jsonl", now)
            found = verdict(source, policy=policy, baseline=baseline)
            texts.add(to_json(found) + to_markdown(found) + to_terminal(found, width=100))
            chance.shuffle(now)
        assert len(texts) == 1

    def test_large_graded_bodies(self, tmp_path: Path) -> None:
        generator = np.random.default_rng(7)
        before = [graded(f"c{i}", round(float(v), 3)) for i, v in enumerate(generator.random(120))]
        now = [
            graded(each["case_id"], max(0.0, each["value"] - round(float(v) / 10, 3)))
            for each, v in zip(before, generator.random(120), strict=True)
        ]
        found = compare(tmp_path, before, now)
        assert found.metrics["ragas/faithfulness"].test == "sign-flip Monte Carlo"
        assert to_json(found) == to_json(compare(tmp_path, before[::-1], _shuffled(now)))

    def test_of_rows_with_one_key_the_value_decides(self, tmp_path: Path) -> None:
        rows = [row("c0", 0.9), row("c0", 0.6), row("c0", 0.8)]
        paths = [
            write_scores(tmp_path / f"{place}.jsonl", order)
            for place, order in enumerate((rows, rows[::-1]))
        ]
        assert [gather([path]).table.value.tolist() for path in paths] == [[0.6, 0.8, 0.9]] * 2

    def test_files_may_be_named_in_any_order(self, tmp_path: Path) -> None:
        rows = binary([1.0, 0.0, 1.0])
        files = [write_scores(tmp_path / f"{i}.jsonl", [each]) for i, each in enumerate(rows)]
        found = [to_json(verdict(*order)) for order in (files, files[::-1])]
        assert found[0] == found[1]


def _shuffled(rows: Sequence[Row]) -> list[Row]:
    return random.Random(3).sample(list(rows), len(rows))


def test_the_seed_is_reported(tmp_path: Path) -> None:
    found = compare(tmp_path, *falling(0, 4))
    assert found.seed > 0
    assert GatePolicy().confidence == found.confidence == 0.95
