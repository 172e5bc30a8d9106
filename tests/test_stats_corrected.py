"""Rates corrected for a judge's errors: known values, and coverage in simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bridge.stats.agreement import spearman_interval
from bridge.stats.corrected import Share, prediction_powered, rogan_gladen


class TestRoganGladen:
    def test_it_undoes_known_errors(self) -> None:
        """A true rate of 0.7 seen through TPR 0.9 and TNR 0.8 is 0.69."""
        found = rogan_gladen(Share(690, 1000), Share(90, 100), Share(80, 100))
        assert found is not None
        assert found.value == pytest.approx(0.7, abs=1e-12)
        assert found.low < 0.7 < found.high

    def test_a_perfect_judge_changes_nothing(self) -> None:
        found = rogan_gladen(Share(30, 100), Share(50, 50), Share(50, 50))
        assert found is not None
        assert found.value == pytest.approx(0.3)

    @pytest.mark.parametrize(
        ("passed", "tpr", "tnr"),
        [
            (Share(5, 10), Share(5, 10), Share(5, 10)),  # chance
            (Share(5, 10), Share(2, 10), Share(3, 10)),  # worse than chance
            (Share(0, 0), Share(5, 5), Share(5, 5)),
            (Share(5, 10), Share(0, 0), Share(5, 5)),
            (Share(5, 10), Share(5, 5), Share(0, 0)),
        ],
    )
    def test_what_cannot_be_corrected(self, passed: Share, tpr: Share, tnr: Share) -> None:
        assert rogan_gladen(passed, tpr, tnr) is None

    def test_limits_stay_inside(self) -> None:
        found = rogan_gladen(Share(1, 100), Share(9, 10), Share(8, 10))
        assert found is not None
        assert (found.value, found.low) == (0.0, 0.0)

    @pytest.mark.parametrize("rate", [0.3, 0.8])
    def test_coverage(self, rate: float) -> None:
        """The interval carries both samples: 60 labels of 400 rows."""
        draw, covered, tpr, tnr = np.random.default_rng(1), 0, 0.9, 0.8
        for _ in range(600):
            people = draw.random(400) < rate
            judge = np.where(people, draw.random(400) < tpr, draw.random(400) >= tnr)
            labelled = np.arange(400) < 60
            good, bad = labelled & people, labelled & ~people
            found = rogan_gladen(
                Share(int(judge.sum()), 400),
                Share(int(judge[good].sum()), int(good.sum())),
                Share(int((~judge[bad]).sum()), int(bad.sum())),
            )
            assert found is not None
            covered += found.low <= rate <= found.high
        assert 0.93 <= covered / 600 <= 1.0


class TestPredictionPowered:
    def test_the_formula(self) -> None:
        judged, apart = [1.0, 1.0, 0.0, 1.0], [0.0, -1.0]
        found = prediction_powered(judged, apart)
        assert found is not None
        assert found.value == pytest.approx(0.75 - 0.5)
        assert (found.low, found.high) == (0.0, 1.0)
        wide = prediction_powered(judged * 100, apart * 100)
        assert wide is not None
        sd = np.sqrt(np.var(judged * 100, ddof=1) / 400 + np.var(apart * 100, ddof=1) / 200)
        assert wide.high == pytest.approx(0.25 + stats.norm.ppf(0.975) * sd, abs=1e-9)

    def test_too_few(self) -> None:
        assert prediction_powered([1.0, 0.0], [0.0]) is None
        assert prediction_powered([1.0], [0.0, 1.0]) is None

    def test_coverage(self) -> None:
        draw, covered = np.random.default_rng(2), 0
        for _ in range(600):
            people = draw.random(400) < 0.7
            judge = np.where(people, draw.random(400) < 0.9, draw.random(400) >= 0.8)
            apart = people[:80].astype(float) - judge[:80]
            found = prediction_powered(judge.astype(float), apart)
            assert found is not None
            covered += found.low <= 0.7 <= found.high
        assert 0.92 <= covered / 600 <= 0.99


class TestSpearmanInterval:
    def test_the_formula(self) -> None:
        found = spearman_interval(0.5, 50)
        assert found is not None
        half = stats.norm.ppf(0.975) * np.sqrt((1 + 0.125) / 47)
        assert found.low == pytest.approx(np.tanh(np.arctanh(0.5) - half), abs=1e-9)
        assert found.high == pytest.approx(np.tanh(np.arctanh(0.5) + half), abs=1e-9)

    @pytest.mark.parametrize("correlation", [-1.0, 1.0])
    def test_the_ends(self, correlation: float) -> None:
        found = spearman_interval(correlation, 30)
        assert found is not None
        assert -1.0 <= found.low <= found.high <= 1.0

    def test_too_few(self) -> None:
        assert spearman_interval(0.9, 3) is None
