"""Baselines: made of rows that can be trusted, written and read exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from gate_rows import Row, binary, graded, row, verdict, write_run, write_scores
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.files.baseline import read_baseline, write_baseline
from bridge.gate.baseline import make_baseline
from bridge.gate.intake.gather import gather
from bridge.model import InputError
from bridge.model.baseline import Baseline

CASES = binary([1.0, 1.0, 1.0, 0.0])
RELAXED: Row = {"equals": {"min": 0.1}}
ERRED: Row = {"value": None, "status": "error", "error": "boom"}


def baseline_of(*sources: Path, system: str | None = None) -> Baseline:
    return make_baseline(gather(sources), system)


class TestMaking:
    """From a run that can be trusted, and nothing else."""

    def test_of_a_run(self, tmp_path: Path) -> None:
        again = [{**each, "framework": "inspect", "framework_version": "0.3"} for each in CASES]
        made = baseline_of(write_run(tmp_path, {"inspect": again, "core": CASES}))
        assert made.scores == {"equals": {"c000": 1.0, "c001": 1.0, "c002": 1.0, "c003": 0.0}}
        assert made.metrics["equals"].scorer == "equals"
        assert (made.metrics["equals"].version, made.metrics["equals"].params_digest) == ("1", "p")
        assert made.frameworks == {"core": "1.0", "inspect": "0.3"}
        assert sorted(made.cases) == ["c000", "c001", "c002", "c003"]
        assert (made.suite, made.system) == ("small", "default")

    def test_of_loose_files(self, tmp_path: Path) -> None:
        core = write_scores(tmp_path / "core.jsonl", CASES)
        ragas = write_scores(
            tmp_path / "r.jsonl", [graded("c000", 0.25), graded("c000", 0.75, epoch=2)]
        )
        made = baseline_of(core, ragas)
        assert made.scores["ragas/faithfulness"] == {"c000": 0.5}
        assert not made.cases
        assert (made.suite, made.golden_digest) == ("", "")

    @pytest.mark.parametrize(
        "rows",
        [
            [*CASES, CASES[0]],
            [*CASES[:3], {**CASES[3], **ERRED}],
            [*CASES[:3], {**CASES[3], "scorer_version": "2"}],
            [*CASES, *({**c, "framework": "inspect", "value": 0.7} for c in CASES[:1])],
        ],
    )
    def test_not_of_rows_that_cannot_be_trusted(self, tmp_path: Path, rows: list[Row]) -> None:
        with pytest.raises(InputError, match="no baseline of rows that cannot be trusted"):
            baseline_of(write_scores(tmp_path / "s.jsonl", rows))

    def test_metrics_without_a_value_are_left_out(self, tmp_path: Path) -> None:
        rows = [*CASES, row("c000", None, metric="skipped")]
        made = baseline_of(write_scores(tmp_path / "s.jsonl", rows))
        assert list(made.scores) == list(made.metrics) == ["equals"]

    def test_of_one_system(self, tmp_path: Path) -> None:
        source = write_scores(tmp_path / "s.jsonl", [*CASES, row("x", system="new")])
        with pytest.raises(InputError, match="several systems"):
            baseline_of(source)
        assert baseline_of(source, system="new").scores == {"equals": {"x": 1.0}}

    def test_a_baseline_of_a_run_passes_on_that_run(self, tmp_path: Path) -> None:
        run = write_run(tmp_path, {"core": CASES}, gate={"metrics": RELAXED})
        found = verdict(run, baseline=baseline_of(run))
        assert found.passed
        assert found.notes == (
            "no case differs from the baseline in equals",
            "few paired cases: equals (4)",
        )
        assert (found.metrics["equals"].baseline, found.metrics["equals"].delta) == (0.75, 0.0)


class TestFile:
    """One case a line, exact."""

    @settings(max_examples=30, deadline=None)
    @given(
        st.dictionaries(
            st.text(min_size=1, max_size=8),
            st.floats(0, 1)
            | st.dictionaries(st.text(max_size=8), st.floats(0, 1), min_size=1, max_size=5),
            min_size=1,
            max_size=4,
        )
    )
    def test_round_trip_is_exact(
        self, tmp_path_factory: pytest.TempPathFactory, scores: Any
    ) -> None:
        path = tmp_path_factory.getbasetemp() / "gate-baseline.json"
        made = Baseline(scores=scores)
        write_baseline(made, path)
        assert read_baseline(path).scores == made.scores

    def test_one_case_a_line(self, tmp_path: Path) -> None:
        run = write_run(tmp_path, {"core": CASES})
        write_baseline(baseline_of(run), tmp_path / "b.json")
        assert '   "c003": 0.0\n' in (tmp_path / "b.json").read_text()

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"scores": {}}, "holds no score"),
            ({"scores": {"equals": {}}}, "holds no score of equals"),
            ({"scores": {"equals": {"c000": 2}}}, "less than or equal to 1"),
            ({"scores": {"equals": {"c000": "1"}}}, "should be a number|number"),
            ({"scores": {"equals": {"stranger": 1}}}, "scores case 'stranger' for equals"),
            ({"cases": {"c000": "sha256:0"}}, "which is not in its cases"),
            ({"golden_digest": "sha256:0"}, "its cases are not those of its golden_digest"),
            ({"version": 2}, "version"),
            ({"score": {}}, "unknown key"),
        ],
    )
    def test_a_broken_baseline_is_refused(
        self, tmp_path: Path, change: Mapping[str, Any], reason: str
    ) -> None:
        path = tmp_path / "b.json"
        write_baseline(baseline_of(write_run(tmp_path, {"core": CASES})), path)
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(InputError, match=reason):
            read_baseline(path)

    def test_a_case_lost_in_a_merge(self, tmp_path: Path) -> None:
        path = tmp_path / "b.json"
        write_baseline(baseline_of(write_run(tmp_path, {"core": CASES})), path)
        kept = [line for line in path.read_text().splitlines() if '"c001"' not in line]
        path.write_text("\n".join(kept))
        with pytest.raises(InputError, match="its cases are not those of its golden_digest"):
            read_baseline(path)
