"""The decision of a metric: exact p values, Holm, effects and doubts."""

from __future__ import annotations

from pathlib import Path

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

ANY: Row = {"equals": {}}


class TestExactP:
    """Small cases whose p is known by hand."""

    @pytest.mark.parametrize(
        ("lost", "kept", "gained", "p", "code"),
        [
            (6, 0, 0, 1 / 64, "failed"),
            (6, 94, 0, 1 / 64, "failed"),
            (5, 20, 0, 1 / 32, "failed"),
            (4, 20, 0, 1 / 16, "passed"),
            (0, 20, 0, 1.0, "passed"),
            (7, 20, 1, 9 / 256, "failed"),
            (6, 20, 2, 37 / 256, "passed"),
            (0, 20, 6, 1.0, "passed"),
        ],
    )
    def test_binary(
        self, tmp_path: Path, lost: int, kept: int, gained: int, p: float, code: str
    ) -> None:
        found = compare(tmp_path, *falling(lost, kept, gained), metrics=ANY)
        result = found.metrics["equals"]
        assert found.verdict == code
        assert result.p == result.p_raw == pytest.approx(p, rel=1e-12)
        assert result.test == "McNemar exact"
        assert result.n_paired == lost + kept + gained
        assert result.delta == pytest.approx((gained - lost) / result.n_paired)

    def test_graded(self, tmp_path: Path) -> None:
        before = [graded(f"c{i}", 0.5 + 0.01 * i) for i in range(6)]
        now = [graded(f"c{i}", 0.3) for i in range(6)]
        found = compare(tmp_path, before, now)
        result = found.metrics["ragas/faithfulness"]
        assert (found.verdict, result.p, result.test) == ("failed", 1 / 64, "sign-flip exact")

    def test_epochs_are_not_pooled(self, tmp_path: Path) -> None:
        """Three epochs of 4 lost cases are 4 differences, p = 1/16; as 12 they would be 1/4096."""
        rows = [
            [{**each, "epoch": epoch} for each in side for epoch in (1, 2, 3)]
            for side in falling(4, 8)
        ]
        found = compare(tmp_path, *rows, metrics=ANY)
        result = found.metrics["equals"]
        assert (found.verdict, result.p, result.n, result.n_paired) == ("passed", 1 / 16, 12, 12)

    def test_nor_are_turns(self, tmp_path: Path) -> None:
        rows = [
            [{**each, "turn": turn} for each in side for turn in range(4)] for side in falling(4, 8)
        ]
        assert compare(tmp_path, *rows, metrics=ANY).metrics["equals"].p == 1 / 16

    def test_the_unit_is_the_mean_of_a_case(self, tmp_path: Path) -> None:
        """One case of three epochs weighs as much as one of one epoch, in test and in mean."""
        now = [row("a", value, epoch=epoch) for epoch, value in enumerate((1.0, 0.0, 0.0), 1)]
        now += [row("b", 1.0, epoch=epoch) for epoch in (1, 2, 3)]
        found = compare(tmp_path, [row("a"), row("b")], now, metrics=ANY)
        assert found.metrics["equals"].mean == pytest.approx((1 / 3 + 1) / 2)
        assert found.metrics["equals"].delta == pytest.approx(-1 / 3)
        assert found.metrics["equals"].pass_rate == pytest.approx(4 / 6)

    def test_turns_of_unequal_number(self, tmp_path: Path) -> None:
        now = [row("a", 0.0, turn=0), *(row("b", 1.0, turn=turn) for turn in range(3))]
        found = verdict(write_scores(tmp_path / "s.jsonl", now), policy={"metrics": ANY})
        assert found.metrics["equals"].mean == 0.5


class TestHolm:
    """p is adjusted over the gated metrics that are compared, and over no others."""

    def sides(self, lost: dict[str, int]) -> list[list[Row]]:
        pairs = {metric: falling(number, 20 - number) for metric, number in lost.items()}
        return [
            [{**each, "metric": metric} for metric, pair in pairs.items() for each in pair[side]]
            for side in (0, 1)
        ]

    def test_it_takes_more_with_more_metrics(self, tmp_path: Path) -> None:
        """5 of 5 lost: p = 1/32 alone; 1/16 beside another metric."""
        entries: Row = {"a": {}, "b": {}}
        alone = compare(tmp_path, *self.sides({"a": 5}), metrics={"a": {}})
        assert (alone.verdict, alone.metrics["a"].p, alone.family) == ("failed", 1 / 32, 1)
        found = compare(tmp_path, *self.sides({"a": 5, "b": 0}), metrics=entries)
        result = found.metrics["a"]
        assert (found.verdict, result.p, result.p_raw) == ("passed", 1 / 16, 1 / 32)
        assert found.family == 2

    def test_it_steps_down(self, tmp_path: Path) -> None:
        lost = {"a": 7, "b": 5, "c": 0}
        found = compare(tmp_path, *self.sides(lost), metrics={name: {} for name in lost})
        p = {name: result.p for name, result in found.metrics.items()}
        assert p == {"a": 3 / 128, "b": 2 / 32, "c": 1.0}
        assert [each.metric for each in found.regressed] == ["a"]

    def test_metrics_that_are_only_shown_do_not_count(self, tmp_path: Path) -> None:
        entries: Row = {"a": {}, "b": {"gate": False}}
        found = compare(tmp_path, *self.sides({"a": 5, "b": 9}), metrics=entries)
        assert (found.verdict, found.metrics["a"].p) == ("failed", 1 / 32)
        assert found.metrics["b"].p == 1 / 512
        assert found.metrics["b"].status == "shown"
        assert [each.metric for each in found.regressed] == ["a"]

    def test_a_shared_check_counts_once_whatever_runs_it(self, tmp_path: Path) -> None:
        sides = [
            [
                {**each, "framework": name}
                for name in ("core", "inspect", "deepeval")
                for each in side
            ]
            for side in falling(5, 15)
        ]
        found = compare(tmp_path, *sides, metrics=ANY)
        assert (found.verdict, found.family, found.metrics["equals"].p) == ("failed", 1, 1 / 32)

    def test_what_could_be_seen_is_counted_at_the_shared_level(self, tmp_path: Path) -> None:
        alone = compare(tmp_path, *self.sides({"a": 3}), metrics={"a": {}}).metrics["a"]
        beside = compare(
            tmp_path, *self.sides({"a": 3, "b": 0}), metrics={"a": {}, "b": {}}
        ).metrics["a"]
        assert alone.min_detectable is not None
        assert beside.min_detectable is not None
        assert beside.min_detectable > alone.min_detectable
        assert (alone.n_needed or 0) < (beside.n_needed or 0)


class TestEffect:
    """``min_effect``: a drop that is sure but small is no regression."""

    @pytest.mark.parametrize(
        ("least", "code"), [(0.0, "failed"), (0.06, "failed"), (0.061, "passed")]
    )
    def test_min_effect(self, tmp_path: Path, least: float, code: str) -> None:
        found = compare(tmp_path, *falling(6, 94), metrics=ANY, min_effect=least)
        assert found.verdict == code
        assert bool(found.regressed) is (code == "failed")

    def test_rounding_noise_does_not_hide_it(self, tmp_path: Path) -> None:
        """0.9 - 0.8 is 0.09999999999999998 in binary."""
        sides = [[graded(f"c{i}", value) for i in range(8)] for value in (0.9, 0.8)]
        assert compare(tmp_path, *sides, min_effect=0.1).verdict == "failed"
        assert compare(tmp_path, *sides, min_effect=0.1001).verdict == "passed"

    def test_confidence(self, tmp_path: Path) -> None:
        sides = falling(6, 94)
        assert compare(tmp_path, *sides, metrics=ANY, confidence=0.98).verdict == "failed"
        assert compare(tmp_path, *sides, metrics=ANY, confidence=0.99).verdict == "passed"


class TestDoubt:
    """INCONCLUSIVE, and only when it was asked for."""

    def test_never_by_default(self, tmp_path: Path) -> None:
        assert compare(tmp_path, *falling(1, 2), metrics=ANY).verdict == "passed"

    def test_margin(self, tmp_path: Path) -> None:
        sides = falling(0, 40)
        assert compare(tmp_path, *sides, metrics=ANY, margin=0.1).verdict == "passed"
        found = compare(tmp_path, *sides, metrics=ANY, margin=0.05)
        assert (found.verdict, found.passed) == ("inconclusive", True)
        assert found.metrics["equals"].status == "inconclusive"
        assert "a drop of more than 0.05 is not ruled out (interval from -0.07" in reasons(found)

    def test_the_margin_is_held_at_the_confidence_asked(self, tmp_path: Path) -> None:
        sides = falling(0, 40)
        policy: Row = {"metrics": ANY, "margin": 0.09}
        assert compare(tmp_path, *sides, **policy).verdict == "passed"
        assert compare(tmp_path, *sides, **policy, confidence=0.999).verdict == "inconclusive"

    def test_min_detectable(self, tmp_path: Path) -> None:
        sides = falling(0, 40)
        least = compare(tmp_path, *sides, metrics=ANY).metrics["equals"].min_detectable
        assert least is not None
        for asked, code in ((least + 0.001, "passed"), (least - 0.001, "inconclusive")):
            assert compare(tmp_path, *sides, metrics=ANY, min_detectable=asked).verdict == code

    def test_a_drop_that_no_scale_allows_is_no_promise(self, tmp_path: Path) -> None:
        found = compare(tmp_path, *falling(1, 1), metrics=ANY, min_detectable=1.0)
        assert found.metrics["equals"].min_detectable is None
        assert "could not have seen a drop of 1 (least detectable: none)" in reasons(found)

    def test_without_anything_to_compare_with(self, tmp_path: Path) -> None:
        source = write_scores(tmp_path / "now.jsonl", binary([1.0] * 20))
        found = verdict(source, policy={"margin": 0.5})
        assert found.verdict == "inconclusive"
        assert "not ruled out (nothing to compare with)" in reasons(found)

    def test_on_inconclusive(self, tmp_path: Path) -> None:
        found = compare(tmp_path, *falling(0, 9), metrics=ANY, margin=0.01, on_inconclusive="fail")
        assert (found.verdict, found.passed) == ("inconclusive", False)

    def test_metrics_that_are_only_shown_raise_no_doubt(self, tmp_path: Path) -> None:
        entries: Row = {"equals": {"gate": False}, "other": {}}
        source = write_scores(
            tmp_path / "s.jsonl", [*binary([1.0] * 9), row("c000", metric="other")]
        )
        assert verdict(source, policy={"metrics": entries}).verdict == "passed"
