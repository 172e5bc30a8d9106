"""A baseline held against a run that is not like it: cases, versions, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gate_rows import Row, binary, graded, reasons, row, verdict, write_run, write_scores

from bridge.gate.baseline import make_baseline
from bridge.gate.intake.gather import gather
from bridge.model.baseline import Baseline
from bridge.model.verdict import Verdict

CASES = binary([1.0, 1.0, 1.0, 0.0])
RELAXED: Row = {"equals": {"min": 0.1}}
ERRED: Row = {"value": None, "status": "error", "error": "boom"}


def baseline_of(*sources: Path, system: str | None = None) -> Baseline:
    return make_baseline(gather(sources), system)


class TestGoldenSet:
    """Cases added, removed or changed since the baseline."""

    def compare(
        self, folder: Path, policy: str, before: list[Row], now: list[Row], *changed: str
    ) -> Verdict:
        gate = {"metrics": RELAXED, "on_change": {"golden_set": policy}}
        cases = {case: {"digest": "sha256:new"} for case in changed}
        old = write_run(folder / "old", {"core": before}, gate=gate)
        new = write_run(folder / "new", {"core": now}, gate=gate, cases=cases)
        return verdict(new, baseline=baseline_of(old))

    @pytest.mark.parametrize("policy", ["shared", "warn", "refuse"])
    def test_the_same_set_is_no_news(self, tmp_path: Path, policy: str) -> None:
        found = self.compare(tmp_path, policy, CASES, CASES)
        assert found.passed
        assert (found.added_cases, found.removed_cases, found.changed_cases) == ((), (), ())

    @pytest.mark.parametrize(("policy", "paired"), [("shared", 2), ("warn", 3)])
    def test_shared_compares_unchanged_cases_and_warn_all(
        self, tmp_path: Path, policy: str, paired: int
    ) -> None:
        found = self.compare(tmp_path, policy, CASES, [*CASES[1:], row("c009")], "c002")
        assert found.passed
        assert found.metrics["equals"].n_paired == paired
        assert (found.added_cases, found.removed_cases) == (("c009",), ("c000",))
        assert found.changed_cases == ("c002",)
        assert any(
            "1 changed (c002), 1 added (c009), 1 removed (c000)" in note for note in found.notes
        )

    @pytest.mark.parametrize("kind", ["changed", "added", "removed"])
    def test_refuse(self, tmp_path: Path, kind: str) -> None:
        now = {"changed": CASES, "added": [*CASES, row("c009")], "removed": CASES[:3]}[kind]
        changed = ("c001",) if kind == "changed" else ()
        found = self.compare(tmp_path, "refuse", CASES, now, *changed)
        assert found.verdict == "error"
        assert f"1 {kind} (c00" in reasons(found)

    def test_no_unchanged_case_in_common(self, tmp_path: Path) -> None:
        ids = [each["case_id"] for each in CASES]
        found = self.compare(tmp_path, "shared", CASES, CASES, *ids)
        assert found.verdict == "error"
        assert "no unchanged case in common with the baseline" in found.reasons
        assert self.compare(tmp_path, "warn", CASES, CASES, *ids).passed

    @pytest.mark.parametrize("policy", ["shared", "warn"])
    def test_no_case_in_common(self, tmp_path: Path, policy: str) -> None:
        now = [row(f"new{i}") for i in range(4)]
        found = self.compare(tmp_path, policy, CASES, now)
        assert found.verdict == "error"
        assert "no case in common with the baseline" in found.reasons

    def test_no_case_in_common_in_one_metric(self, tmp_path: Path) -> None:
        before = [*CASES, row("c000", metric="other"), row("c001", metric="other")]
        now = [*CASES, row("c002", metric="other"), row("c003", metric="other")]
        found = self.compare(tmp_path, "shared", before, now)
        assert found.verdict == "error"
        assert "other: 2 cases scored in the baseline and not now" in reasons(found)
        changed = [*CASES, row("c000", metric="other"), row("c001", metric="other")]
        found = self.compare(tmp_path, "shared", before, changed, "c000", "c001")
        assert "other: no case to compare with the baseline's" in found.reasons

    def test_an_unchanged_case_that_is_no_longer_scored(self, tmp_path: Path) -> None:
        before = [*CASES, *(row(c["case_id"], metric="other") for c in CASES)]
        now = [row("c000", None), *before[1:]]
        found = self.compare(tmp_path, "shared", before, now)
        assert found.verdict == "error"
        assert "equals: 1 case scored in the baseline and not now, such as 'c000'" in (
            reasons(found)
        )

    def test_a_long_list_is_cut(self, tmp_path: Path) -> None:
        found = self.compare(tmp_path, "shared", CASES, [*CASES, *(row(f"n{i}") for i in range(9))])
        assert "9 added (n0, n1, n2, n3, n4 and 4 more)" in found.notes[0]
        assert len(found.added_cases) == 9


class TestVersions:
    """A scorer, check, judge or framework that is not the baseline's."""

    def compare(
        self, folder: Path, changes: Row, on_change: Row | None = None, **record: Any
    ) -> Verdict:
        old = write_run(folder / "old", {"core": CASES}, judges={"main": {"model": "m"}})
        rows = [{**each, **changes} for each in CASES]
        record = {"judges": {"main": {"model": "m"}}, **record}
        gate = {"metrics": RELAXED, "on_change": on_change or {}}
        new = write_run(folder / "new", {"core": rows}, gate=gate, **record)
        return verdict(new, baseline=baseline_of(old))

    @pytest.mark.parametrize(
        ("changes", "kind", "text"),
        [
            ({"scorer_version": "2"}, "scorer", "equals: scored by equals 2, the baseline by equ"),
            ({"scorer": "contains"}, "scorer", "equals: scored by contains 1, the baseline by eq"),
            ({"judge": "main"}, "judge", "equals: judge main, the baseline's none"),
            ({"framework_version": "2.0"}, "framework", "core 2.0, the baseline had 1.0"),
        ],
    )
    def test_rows_of_another_kind(self, tmp_path: Path, changes: Row, kind: str, text: str) -> None:
        refused = self.compare(tmp_path / "a", changes, {kind: "refuse"})
        assert refused.verdict == "error"
        assert text in reasons(refused)
        warned = self.compare(tmp_path / "b", changes, {kind: "warn"})
        assert warned.passed
        assert any(text in note for note in warned.notes)

    def test_the_defaults(self, tmp_path: Path) -> None:
        for number, (changes, code) in enumerate(
            [
                ({"scorer_version": "2"}, "error"),
                ({"judge": "main"}, "error"),
                ({"framework_version": "2.0"}, "passed"),
            ]
        ):
            assert self.compare(tmp_path / str(number), changes).verdict == code

    def test_other_parameters(self, tmp_path: Path) -> None:
        metrics = {"equals": {"scorer": "equals", "version": "1", "params_digest": "q"}}
        found = self.compare(tmp_path, {}, metrics=metrics)
        assert found.verdict == "error"
        assert "equals: the check's parameters differ from the baseline's" in found.reasons

    def test_another_judge_of_the_same_name(self, tmp_path: Path) -> None:
        found = self.compare(tmp_path / "a", {}, judges={"main": {"model": "larger"}})
        assert found.verdict == "error"
        assert "judge main is configured otherwise than in the baseline" in found.reasons
        moved = {"main": {"model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "K"}}
        assert self.compare(tmp_path / "b", {}, judges=moved).passed

    def test_a_scorer_that_joins(self, tmp_path: Path) -> None:
        old = write_run(tmp_path / "old", {"core": CASES})
        rows = [*CASES[:3], {**CASES[3], "scorer": "contains", "scorer_version": "4"}]
        found = verdict(write_run(tmp_path / "new", {"core": rows}), baseline=baseline_of(old))
        assert "equals: scored by contains+equals 4+1, the baseline by equals 1" in reasons(found)

    def test_a_baseline_that_does_not_say(self, tmp_path: Path) -> None:
        scores = {"equals": {each["case_id"]: each["value"] for each in CASES}}
        source = write_scores(tmp_path / "now.jsonl", CASES)
        found = verdict(source, baseline=Baseline(scores=scores), policy={"metrics": RELAXED})
        assert found.passed
        assert "equals: the baseline does not say what scored it" in found.notes
        policy = {"metrics": RELAXED, "on_change": {"unknown": "refuse"}}
        assert verdict(source, baseline=Baseline(scores=scores), policy=policy).verdict == "error"

    def test_of_another_system(self, tmp_path: Path) -> None:
        old = write_scores(tmp_path / "old.jsonl", [{**c, "system": "v1"} for c in CASES])
        new = write_scores(tmp_path / "new.jsonl", [{**c, "system": "v2"} for c in CASES])
        found = verdict(new, baseline=baseline_of(old), policy={"metrics": RELAXED})
        assert "the baseline is of system v1, this is v2" in found.notes

    def test_a_loose_baseline_beside_a_run(self, tmp_path: Path) -> None:
        loose = baseline_of(write_scores(tmp_path / "old.jsonl", CASES))
        run = write_run(tmp_path / "new", {"core": CASES}, gate={"metrics": RELAXED})
        found = verdict(run, baseline=loose)
        assert found.passed
        assert "content not known on both sides of 4 cases, joined by id alone" in found.notes
        assert "the baseline does not say the parameters of equals" in found.notes
        back = verdict(
            tmp_path / "old.jsonl", baseline=baseline_of(run), policy={"metrics": RELAXED}
        )
        assert "the run does not say the parameters of equals" in back.notes


class TestMetrics:
    """Metrics that are new, gone, or in the baseline as a mean alone."""

    def test_means_alone_are_for_thresholds(self, tmp_path: Path) -> None:
        source = write_scores(tmp_path / "now.jsonl", binary([0.0] * 30))
        found = verdict(
            source, baseline=Baseline(scores={"equals": 1.0}), policy={"metrics": {"equals": {}}}
        )
        assert found.passed
        assert "the baseline holds only the mean of equals: thresholds decide, no test" in (
            found.notes
        )
        result = found.metrics["equals"]
        assert (result.baseline, result.delta, result.p) == (1.0, None, None)
        found = verdict(
            source, baseline=Baseline(scores={"equals": 1.0}), policy={"metrics": {"equals": 0.5}}
        )
        assert found.verdict == "failed"

    def test_a_new_metric_is_not_compared(self, tmp_path: Path) -> None:
        old = write_run(tmp_path / "old", {"core": CASES})
        rows = [*CASES, *(row(c["case_id"], metric="other") for c in CASES)]
        new = write_run(tmp_path / "new", {"core": rows}, gate={"metrics": RELAXED})
        found = verdict(new, baseline=baseline_of(old))
        assert found.passed
        assert "not in the baseline, so not compared: other" in found.notes
        assert found.metrics["other"].p is None

    def test_a_check_that_is_gone_is_refused(self, tmp_path: Path) -> None:
        rows = [*CASES, *(row(c["case_id"], 0.0, metric="other") for c in CASES)]
        old = write_run(tmp_path / "old", {"core": rows})
        for policy, code in (("refuse", "error"), ("warn", "passed")):
            gate = {"metrics": RELAXED, "on_change": {"scorer": policy}}
            new = write_run(tmp_path / policy, {"core": CASES}, gate=gate)
            found = verdict(new, baseline=baseline_of(old))
            assert found.verdict == code
            assert "other: in the baseline and not measured now" in (*found.reasons, *found.notes)

    def test_a_framework_that_did_not_run_is_noted(self, tmp_path: Path) -> None:
        native = [graded(f"c{i:03d}", 0.5) for i in range(4)]
        made = baseline_of(
            write_scores(tmp_path / "a.jsonl", CASES), write_scores(tmp_path / "b.jsonl", native)
        )
        run = write_run(tmp_path / "new", {"core": CASES}, gate={"metrics": RELAXED})
        found = verdict(run, baseline=made)
        assert found.passed
        assert "ragas/faithfulness: in the baseline and not measured now" in found.notes
        loose = write_scores(tmp_path / "now.jsonl", CASES)
        found = verdict(loose, baseline=made, policy={"metrics": RELAXED})
        assert found.verdict == "error"
        assert "ragas/faithfulness: in the baseline and not measured now" in found.reasons

    def test_what_the_baseline_holds_must_not_regress(self, tmp_path: Path) -> None:
        before = write_scores(tmp_path / "old.jsonl", [graded(f"c{i}", 0.9) for i in range(12)])
        now = write_scores(tmp_path / "new.jsonl", [graded(f"c{i}", 0.2) for i in range(12)])
        found = verdict(now, baseline=baseline_of(before))
        assert (found.verdict, found.metrics["ragas/faithfulness"].status) == ("failed", "failed")
        off = {"metrics": {"faithfulness": {"gate": False}}, "must_pass": []}
        found = verdict(now, baseline=baseline_of(before), policy=off)
        assert found.metrics["ragas/faithfulness"].status == "shown"
