"""Rows of several versions and frameworks: one scorer, one value, gated once."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_rows import (
    Row,
    binary,
    graded,
    reasons,
    relabelled,
    row,
    verdict,
    write_run,
    write_scores,
)

from bridge.model import InputError

CASES = binary([1.0] * 6)
ERRED: Row = {"value": None, "status": "error", "error": "timed out", "reason": "timed out"}


SKIPPED: Row = {"value": None, "status": "skipped", "reason": "no reference"}
UNSUPPORTED: Row = {"value": None, "status": "unsupported", "reason": "no turns"}


class TestVersions:
    """Rows of one metric that do not come from one scorer."""

    @pytest.mark.parametrize(
        "changes",
        [{"scorer_version": "2"}, {"framework_version": "2.0"}, {"judge": "other"}],
    )
    def test_mixed_versions_are_refused(self, tmp_path: Path, changes: Row) -> None:
        rows = [*CASES[:3], *({**each, **changes} for each in CASES[3:])]
        found = verdict(write_scores(tmp_path / "scores.jsonl", rows))
        assert found.verdict == "error"
        assert "core/equals: rows of several versions of equals" in reasons(found)

    def test_versions_of_rows_without_a_value_do_not_matter(self, tmp_path: Path) -> None:
        erred = {**CASES[5], **ERRED, "framework_version": ""}
        found = verdict(write_scores(tmp_path / "scores.jsonl", [*CASES[:5], erred]))
        assert "versions" not in reasons(found)

    def test_cases_may_carry_another_scorer(self, tmp_path: Path) -> None:
        other = {"scorer": "contains", "scorer_version": "7"}
        rows = [*CASES[:3], *({**each, **other} for each in CASES[3:])]
        assert verdict(write_run(tmp_path, {"core": rows})).verdict == "passed"


class TestParity:
    """A shared check is the same through every framework, and gated once."""

    def test_it_is_gated_from_core(self, tmp_path: Path) -> None:
        rows = {"inspect": relabelled("inspect", CASES), "core": CASES}
        found = verdict(write_run(tmp_path, rows))
        assert list(found.metrics) == ["equals"]
        assert found.metrics["equals"].framework == "core"
        assert found.metrics["equals"].n == 6

    def test_or_from_the_first_listed(self, tmp_path: Path) -> None:
        rows = {name: relabelled(name, CASES) for name in ("inspect", "deepeval")}
        assert verdict(write_run(tmp_path, rows)).metrics["equals"].framework == "inspect"

    def test_that_can_score_it(self, tmp_path: Path) -> None:
        unable = [{**each, **UNSUPPORTED} for each in relabelled("ragas", CASES)]
        rows = {"ragas": unable, "inspect": relabelled("inspect", CASES)}
        found = verdict(write_run(tmp_path, rows))
        assert (found.verdict, found.metrics["equals"].framework) == ("passed", "inspect")

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"value": 0.9}, "case 'c004' has passed 1 and passed 0.90000000000000002"),
            ({"value": 0.0, "status": "failed"}, "case 'c004' has passed 1 and failed 0"),
            (SKIPPED, "case 'c004' has passed 1 and skipped"),
        ],
    )
    def test_a_difference_is_an_error(self, tmp_path: Path, change: Row, reason: str) -> None:
        other = relabelled("inspect", CASES)
        other[4] = {**other[4], **change}
        found = verdict(write_run(tmp_path, {"core": CASES, "inspect": other}))
        assert found.verdict == "error"
        assert f"equals is not the same in core and inspect: {reason}" in found.reasons

    def test_many_differences_are_counted(self, tmp_path: Path) -> None:
        other = relabelled("inspect", binary([1.0, 1.0, 0.0, 0.0, 0.0, 1.0]))
        found = verdict(write_run(tmp_path, {"core": CASES, "inspect": other}))
        assert "case 'c002' has passed 1 and failed 0; 3 rows differ" in reasons(found)

    def test_turns_and_epochs_are_told_apart(self, tmp_path: Path) -> None:
        rows = [
            row("c0", float((turn + epoch) % 2), turn=turn, epoch=epoch)
            for turn in (0, 1)
            for epoch in (1, 2)
        ]
        other = relabelled("inspect", rows)
        policy = {"metrics": {"equals": {"min_pass_rate": 0.5}}}
        run = write_run(tmp_path / "a", {"core": rows, "inspect": other}, gate=policy)
        assert verdict(run).verdict == "passed"
        other[3] = {**other[3], "value": 0.5}
        found = verdict(write_run(tmp_path / "b", {"core": rows, "inspect": other}))
        assert "case 'c0' turn 1 has passed 1 and passed 0.5" in reasons(found)

    def test_unsupported_and_error_rows_do_not_disagree(self, tmp_path: Path) -> None:
        other = relabelled("inspect", CASES)
        other[0] = {**other[0], **UNSUPPORTED}
        assert verdict(write_run(tmp_path / "a", {"core": CASES, "inspect": other})).passed
        other[0] = {**other[0], **ERRED}
        found = verdict(write_run(tmp_path / "b", {"core": CASES, "inspect": other}))
        assert "1 row could not be scored" in reasons(found)
        assert "not the same" not in reasons(found)

    def test_native_metrics_may_differ(self, tmp_path: Path) -> None:
        rows = [graded(f"c{i}", 0.8) for i in range(4)]
        other = relabelled("deepeval", [{**each, "value": 0.3} for each in rows])
        policy = {"metrics": {"ragas/faithfulness": 0.7, "deepeval/faithfulness": 0.2}}
        run = write_run(tmp_path, {"ragas": rows, "deepeval": other}, gate=policy)
        found = verdict(run)
        assert found.verdict == "passed"
        assert sorted(found.metrics) == ["deepeval/faithfulness", "ragas/faithfulness"]

    def test_a_check_with_a_native_metrics_name(self, tmp_path: Path) -> None:
        rows = [*(graded(f"c{i}", 0.8) for i in range(3)), row("c0", metric="ragas/faithfulness")]
        with pytest.raises(InputError, match="both a shared check and a native metric"):
            verdict(write_scores(tmp_path / "scores.jsonl", rows))
