"""What each metric must reach, and the cases that must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gate_rows import Row, binary, graded, reasons, row, verdict, write_run, write_scores
from pydantic import ValidationError

from bridge.model import InputError
from bridge.model.policy import GatePolicy
from bridge.model.verdict import Verdict

HALF = binary([1.0, 1.0, 0.0, 0.0])
ERRED: Row = {"value": None, "status": "error", "error": "boom"}
SKIPPED: Row = {"value": None, "status": "skipped"}
RELAXED: Row = {"equals": {"min_pass_rate": 0.1}}


def gated(folder: Path, rows: list[Row], **policy: Any) -> Verdict:
    return verdict(write_scores(folder / "scores.jsonl", rows), policy=policy)


class TestMetricThresholds:
    """``min`` on the mean, ``min_pass_rate`` on the share of passed rows."""

    @pytest.mark.parametrize(
        ("entry", "passes"),
        [
            ({"min": 0.5}, True),
            ({"min": 0.51}, False),
            (0.5, True),
            (0.51, False),
            ({"min_pass_rate": 0.5}, True),
            ({"min_pass_rate": 0.51}, False),
            ({"min": 0.5, "min_pass_rate": 0.51}, False),
            ({}, True),
            (None, True),
        ],
    )
    def test_of_a_binary_check(self, tmp_path: Path, entry: Any, passes: bool) -> None:
        found = gated(tmp_path, HALF, metrics={"equals": entry})
        assert found.passed is passes
        assert found.verdict == ("passed" if passes else "failed")
        assert found.metrics["equals"].status == found.verdict
        assert (found.metrics["equals"].mean, found.metrics["equals"].pass_rate) == (0.5, 0.5)

    def test_mean_and_pass_rate_are_two_things(self, tmp_path: Path) -> None:
        rows = [row(f"c{i}", value, threshold=0.8, status=status) for i, (value, status) in
                enumerate([(0.9, "passed"), (0.7, "failed"), (0.7, "failed")])]  # fmt: skip
        found = gated(tmp_path, rows, metrics={"equals": {"min": 0.75, "min_pass_rate": 0.5}})
        assert reasons(found) == ("equals: 1 of 3 rows passed (33.33%), below min_pass_rate 50%")

    def test_rounding_noise_does_not_fail(self, tmp_path: Path) -> None:
        rows = [graded(f"c{i}", value) for i, value in enumerate([0.7] * 3 + [0.9] * 3)]
        assert gated(tmp_path, rows, metrics={"faithfulness": 0.8}).passed
        assert not gated(tmp_path, rows, metrics={"faithfulness": 0.8000001}).passed

    def test_numbers_are_shown_as_far_as_they_differ(self, tmp_path: Path) -> None:
        rows = binary([1.0] * 9_999 + [0.0])
        found = gated(tmp_path, rows)
        assert reasons(found) == (
            "equals: 9999 of 10000 rows passed (99.99%), below min_pass_rate 100%"
        )
        close = [graded("a", 0.8), graded("b", 0.799998)]
        found = gated(tmp_path, close, metrics={"faithfulness": 0.8})
        assert reasons(found) == "ragas/faithfulness: mean 0.799999 is below min 0.8"

    def test_a_check_with_a_threshold_and_no_entry_must_pass_whole(self, tmp_path: Path) -> None:
        assert reasons(gated(tmp_path, HALF)) == (
            "equals: 2 of 4 rows passed (50%), below min_pass_rate 100%"
        )
        assert gated(tmp_path, HALF[:2]).passed

    def test_so_must_a_group_that_has_none(self, tmp_path: Path) -> None:
        rows = [{**each, "threshold": None, "scorer": "all"} for each in HALF]
        assert "2 of 4 rows passed" in reasons(gated(tmp_path, rows))

    def test_unless_its_gate_is_off(self, tmp_path: Path) -> None:
        metrics = {
            "equals": {"scorer": "equals", "version": "1", "gate": False},
            "other": {"scorer": "equals", "version": "1"},
        }
        rows = [*HALF, row("c000", metric="other")]
        found = verdict(write_run(tmp_path, {"core": rows}, metrics=metrics))
        assert (found.verdict, found.metrics["equals"].status) == ("passed", "shown")

    def test_or_that_of_its_entry(self, tmp_path: Path) -> None:
        rows = [*HALF, row("c000", metric="other")]
        found = gated(tmp_path, rows, metrics={"equals": {"gate": False, "min": 0.9}})
        assert (found.verdict, found.metrics["equals"].status) == ("passed", "shown")
        assert found.metrics["equals"].reasons == ("mean 0.5 is below min 0.9",)

    def test_errors_of_a_metric_that_is_only_shown_are_errors(self, tmp_path: Path) -> None:
        rows = [*HALF, row("c000", metric="other", **ERRED)]
        found = gated(tmp_path, rows, metrics={"equals": {}, "other": {"gate": False}})
        assert (found.verdict, found.metrics["other"].status) == ("error", "error")

    def test_skipped_rows_do_not_count(self, tmp_path: Path) -> None:
        rows = [*HALF[:2], row("c9", None), row("c9", metric="other")]
        found = gated(tmp_path, rows)
        assert found.passed
        assert (found.metrics["equals"].n, found.metrics["equals"].skipped) == (2, 1)
        assert "rows skipped, which count in no mean: equals (1 of 3)" in found.notes


class TestNothingToDecideOn:
    """What is asked and cannot be answered is an error, never a pass."""

    @pytest.mark.parametrize("entry", [{"min": 0.1}, {"min_pass_rate": 0.1}, {"weight": 1.0}])
    def test_everything_skipped(self, tmp_path: Path, entry: Row) -> None:
        rows = [
            *({**each, **SKIPPED} for each in HALF),
            *(row(each["case_id"], metric="other") for each in HALF),
        ]
        found = gated(tmp_path, rows, metrics={"equals": entry})
        assert found.verdict == "error"
        assert found.metrics["equals"].status == "error"
        assert "equals: nothing was scored" in found.reasons

    def test_everything_skipped_of_a_check_with_a_threshold(self, tmp_path: Path) -> None:
        rows = [
            *({**each, **SKIPPED} for each in HALF),
            *(row(each["case_id"], metric="other") for each in HALF),
        ]
        assert "equals: nothing was scored" in gated(tmp_path, rows).reasons

    def test_a_pass_rate_of_rows_without_a_verdict(self, tmp_path: Path) -> None:
        rows = [graded(f"c{i}", 0.1) for i in range(4)]
        found = gated(tmp_path, rows, metrics={"faithfulness": {"min_pass_rate": 0.9}})
        assert found.verdict == "error"
        assert "min_pass_rate is asked, and no row has passed or failed" in reasons(found)

    def test_nothing_asked_at_all(self, tmp_path: Path) -> None:
        rows = [graded(f"c{i}", 0.0) for i in range(4)]
        found = gated(tmp_path, rows)
        assert (found.verdict, found.metrics["ragas/faithfulness"].status) == ("error", "shown")
        assert "nothing decides" in reasons(found)
        assert gated(tmp_path, rows, metrics={"faithfulness": {}}).passed


class TestNames:
    """An entry names a metric, or ``framework/metric``; nothing else."""

    rows = (graded("c0", 0.9), graded("c0", 0.2, framework="deepeval"), row("c0"))

    def test_an_entry_that_names_nothing_measured(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="nothing measured 'equal'; the metrics are: ") as info:
            gated(tmp_path, list(self.rows), metrics={"equal": 0.9})
        assert info.value.exit_code == 2

    def test_an_ambiguous_bare_name(self, tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match="write one of deepeval/faithfulness, ragas/faithfulness"
        ):
            gated(tmp_path, list(self.rows), metrics={"faithfulness": 0.9})

    def test_a_bare_name_of_one_framework(self, tmp_path: Path) -> None:
        found = gated(tmp_path, [self.rows[0]], metrics={"faithfulness": 0.95})
        assert reasons(found) == "ragas/faithfulness: mean 0.9 is below min 0.95"

    def test_whole_names(self, tmp_path: Path) -> None:
        entries = {"ragas/faithfulness": 0.9, "deepeval/faithfulness": 0.1, "core/equals": 1.0}
        assert gated(tmp_path, list(self.rows), metrics=entries).passed

    def test_two_entries_for_one_metric(self, tmp_path: Path) -> None:
        entries = {"faithfulness": 0.1, "ragas/faithfulness": 0.99}
        with pytest.raises(InputError, match="'ragas/faithfulness' has two entries"):
            gated(tmp_path, [self.rows[0]], metrics=entries)

    def test_a_metric_that_the_run_owes_is_an_error(self, tmp_path: Path) -> None:
        metrics = {
            "equals": {"scorer": "equals", "version": "1"},
            "faithfulness": {"scorer": "faithfulness", "version": ""},
        }
        native = [graded(f"c{i:03d}", 0.9, framework="deepeval") for i in range(2)]
        rows = {"core": HALF[:2], "ragas": [], "deepeval": native}
        for number, name in enumerate(("ragas/faithfulness", "core/faithfulness")):
            gate = {"metrics": {name: 0.8}}
            run = write_run(tmp_path / str(number), rows, metrics=metrics, gate=gate)
            found = verdict(run)
            assert found.verdict == "error"
            assert f"{name}: the run has no row of it" in found.reasons
        gate = {"metrics": {"promptfoo/faithfulness": 0.8}}
        with pytest.raises(InputError, match="nothing measured 'promptfoo/faithfulness'"):
            verdict(write_run(tmp_path / "other", rows, metrics=metrics, gate=gate))
        gate = {"metrics": {"ragas/equals": 0.8}}
        with pytest.raises(InputError, match="nothing measured 'ragas/equals'"):
            verdict(write_run(tmp_path / "shared", rows, metrics=metrics, gate=gate))

    def test_a_metric_without_any_row(self, tmp_path: Path) -> None:
        metrics = {name: {"scorer": name, "version": "1"} for name in ("equals", "contains")}
        gate = {"metrics": {"contains": 0.8}}
        found = verdict(write_run(tmp_path, {"core": HALF[:2]}, metrics=metrics, gate=gate))
        assert "contains: the run has no row of it" in found.reasons


class TestWeights:
    """Given weights sum to 1 and make one score, which decides nothing."""

    def test_the_weighted_score(self, tmp_path: Path) -> None:
        rows = [*HALF, row("c000", metric="other")]
        entries = {"equals": {"weight": 0.25}, "other": {"weight": 0.75}}
        assert gated(tmp_path, rows, metrics=entries).weighted_score == 0.25 * 0.5 + 0.75
        assert gated(tmp_path, rows, metrics={"equals": {}}).weighted_score is None

    def test_it_is_missing_where_a_part_is(self, tmp_path: Path) -> None:
        rows = [*HALF, row("c000", None, metric="other")]
        entries = {"equals": {"weight": 0.25}, "other": {"weight": 0.75}}
        assert gated(tmp_path, rows, metrics=entries).weighted_score is None

    def test_weights_that_do_not_sum_to_one(self) -> None:
        with pytest.raises(ValidationError, match=r"weights sum to 0\.9, not to 1"):
            GatePolicy.model_validate({"metrics": {"a": {"weight": 0.4}, "b": {"weight": 0.5}}})
        thirds = {name: {"weight": 1 / 3} for name in "abc"}
        assert len(GatePolicy.model_validate({"metrics": thirds}).metrics) == 3


class TestMustPass:
    """Cases, by id or tag, whose rows must all pass."""

    def test_by_id(self, tmp_path: Path) -> None:
        found = gated(tmp_path, HALF, metrics=RELAXED, must_pass=["c000", "c002"])
        assert (found.verdict, reasons(found)) == ("failed", "must-pass case 'c002' failed equals")
        assert gated(tmp_path, HALF, metrics=RELAXED, must_pass=["c000", "c001"]).passed

    def test_every_metric_turn_and_epoch(self, tmp_path: Path) -> None:
        rows = [
            *(row("c0", 1.0, turn=turn, epoch=epoch) for turn in (0, 1) for epoch in (1, 2)),
            *(row("c0", 1.0, metric="contains", epoch=epoch) for epoch in (1, 2)),
        ]
        entries = {"equals": {"min": 0.1}, "contains": {"min": 0.1}}
        assert gated(tmp_path, rows, metrics=entries, must_pass=["c0"]).passed
        for index, metric in ((3, "equals"), (5, "contains")):
            changed = [*rows]
            changed[index] = {**rows[index], "value": 0.0, "status": "failed"}
            found = gated(tmp_path, changed, metrics=entries, must_pass=["c0"])
            assert reasons(found) == f"must-pass case 'c0' failed {metric}"

    def test_by_tag(self, tmp_path: Path) -> None:
        gate = {"metrics": RELAXED, "must_pass": ["tag:safety"]}
        for tagged, passes in (("c001", True), ("c003", False)):
            run = write_run(
                tmp_path / tagged, {"core": HALF}, gate=gate, cases={tagged: {"tags": ["safety"]}}
            )
            assert verdict(run).passed is passes

    @pytest.mark.parametrize("name", ["c999", "tag:safety", "equals"])
    def test_a_name_that_is_no_case(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError, match=f"must_pass names '{name}'"):
            gated(tmp_path, HALF, metrics=RELAXED, must_pass=[name])

    @pytest.mark.parametrize("idle", [ERRED, SKIPPED, {"value": None, "status": "unsupported"}])
    def test_a_case_that_was_not_scored(self, tmp_path: Path, idle: Row) -> None:
        rows = [*HALF[:2], {**HALF[2], **idle}, graded("c002", 0.9)]
        found = gated(tmp_path, rows, metrics={"equals": {}}, must_pass=["c002"])
        assert found.verdict == "error"
        assert "must-pass case 'c002' has no row that passed: nothing decides it" in found.reasons

    def test_a_case_without_any_row(self, tmp_path: Path) -> None:
        run = write_run(tmp_path, {"core": HALF[:3]}, owed=HALF, gate={"must_pass": ["c003"]})
        found = verdict(run)
        assert found.verdict == "error"
        assert "must-pass case 'c003' has no row that passed: nothing decides it" in found.reasons

    def test_a_case_of_another_system(self, tmp_path: Path) -> None:
        rows = [*HALF, row("elsewhere", system="other")]
        found = verdict(
            write_scores(tmp_path / "s.jsonl", rows),
            policy={"metrics": RELAXED, "must_pass": ["c000"]},
            system="default",
        )
        assert found.passed
        with pytest.raises(InputError, match="must_pass names 'elsewhere'"):
            verdict(tmp_path / "s.jsonl", policy={"must_pass": ["elsewhere"]}, system="default")

    def test_metrics_that_do_not_decide_do_not_here(self, tmp_path: Path) -> None:
        rows = [row("c0"), row("c0", 0.0, metric="other")]
        entries = {"equals": {}, "other": {"gate": False}}
        assert gated(tmp_path, rows, metrics=entries, must_pass=["c0"]).passed
