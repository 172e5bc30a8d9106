"""What a policy may ask besides thresholds: bounds, clusters, epochs, broken rows, age, slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import write_jsonl, write_suite
from gate_rows import Row, binary, compare, falling, graded, row, verdict, write_run, write_scores
from pydantic import ValidationError

from bridge.gate.baseline import make_baseline
from bridge.gate.decide import decide
from bridge.gate.intake.gather import gather
from bridge.gate.results import decide_on
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError
from bridge.model.policy import GatePolicy
from bridge.model.verdict import Verdict
from bridge.report.html.page import to_html
from bridge.report.markdown import to_markdown
from bridge.report.terminal import to_terminal
from bridge.stats import wilson

LOOSE = {"equals": {"min": 0.0}}


def of_rows(folder: Path, rows: Sequence[Row], **policy: Any) -> Verdict:
    """The verdict on loose rows."""
    return verdict(write_scores(folder / "s.jsonl", rows), policy=policy)


# --- bounds -----------------------------------------------------------------------------------


def test_a_bound_is_harder_to_reach_than_a_point(tmp_path: Path) -> None:
    rows = binary([1.0] * 45 + [0.0] * 5)
    assert of_rows(tmp_path, rows, metrics={"equals": {"min": 0.85}}).verdict == "passed"
    found = of_rows(tmp_path, rows, metrics={"equals": {"min": 0.85, "by": "bound"}})
    low = wilson(45, 50, 0.9).low
    assert found.verdict == "failed"
    assert found.reasons == (f"equals: lower 95% bound (Wilson) {low:.4g} is below min 0.85",)
    assert of_rows(tmp_path, rows, metrics={"equals": {"min": low - 0.001, "by": "bound"}}).passed


def test_a_bound_without_a_min_is_refused() -> None:
    with pytest.raises(ValidationError, match="by: bound needs min"):
        GatePolicy.model_validate({"metrics": {"equals": {"by": "bound"}}})


# --- broken and skipped rows ------------------------------------------------------------------


def broken(case_id: str) -> Row:
    """A row that could not be scored."""
    return row(case_id, None, status="error", error="judge timed out")


def test_broken_rows_are_refused_unless_asked(tmp_path: Path) -> None:
    rows = [*binary([1.0] * 99), broken("c099")]
    assert of_rows(tmp_path, rows, metrics=LOOSE).verdict == "error"


@pytest.mark.parametrize(
    ("treat", "mean", "done"), [("worst", 0.99, "counted as 0"), ("exclude", 1.0, "left out")]
)
def test_broken_rows_within_the_cap(tmp_path: Path, treat: str, mean: float, done: str) -> None:
    rows = [*binary([1.0] * 99), broken("c099")]
    found = of_rows(tmp_path, rows, metrics=LOOSE, errors={"treat": treat})
    assert found.verdict == "passed"
    assert found.metrics["equals"].mean == pytest.approx(mean)
    assert f"core/equals: 1 row of 100 could not be scored: {done}" in found.notes
    assert found.totals.errors == 1


@pytest.mark.parametrize("treat", ["worst", "exclude"])
def test_broken_rows_beyond_the_cap(tmp_path: Path, treat: str) -> None:
    rows = [*binary([1.0] * 9), broken("c009")]
    found = of_rows(tmp_path, rows, metrics=LOOSE, errors={"treat": treat})
    assert found.verdict == "error"
    assert any("more than max_share 0.05" in reason for reason in found.reasons)


def test_the_worst_can_fail_a_threshold_that_exclusion_would_pass(tmp_path: Path) -> None:
    rows = [*binary([1.0] * 99), broken("c099")]
    policy = {"metrics": {"equals": {"min": 1.0}}}
    assert of_rows(tmp_path, rows, **policy, errors={"treat": "worst"}).verdict == "failed"
    assert of_rows(tmp_path, rows, **policy, errors={"treat": "exclude"}).verdict == "passed"


def test_an_excluded_row_is_not_missed_in_the_comparison(tmp_path: Path) -> None:
    before = binary([1.0] * 100)
    now = [*before[:99], broken("c099")]
    found = compare(tmp_path, before, now, metrics=LOOSE, errors={"treat": "exclude"})
    assert (found.verdict, found.metrics["equals"].n_paired) == ("passed", 99)
    gone = compare(tmp_path, before, before[:99], metrics=LOOSE, errors={"treat": "exclude"})
    assert gone.verdict == "error"


def test_too_many_skipped(tmp_path: Path) -> None:
    rows = [*binary([1.0] * 9), row("c009", None), row("c009", 1.0, metric="other")]
    assert of_rows(tmp_path, rows, metrics=LOOSE).verdict == "passed"
    found = of_rows(tmp_path, rows, metrics=LOOSE, max_skipped=0.05)
    assert found.reasons == ("core/equals: 1 row of 10 skipped, more than max_skipped 0.05",)
    assert found.verdict == "error"


# --- age --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("created", "said"),
    [
        ("2026-01-01T00:00:00+00:00", "the baseline is 59 days old"),
        ("2026-01-01T00:00:00", "the baseline is 59 days old"),
        ("", "does not say when it was made"),
        ("yesterday", "does not say when it was made"),
        ("2026-02-20T00:00:00+00:00", None),
    ],
)
def test_an_old_baseline_is_refused(tmp_path: Path, created: str, said: str | None) -> None:
    evidence = gather([write_scores(tmp_path / "s.jsonl", binary([1.0] * 10))])
    baseline = make_baseline(evidence).model_copy(update={"created": created})
    policy = GatePolicy(max_baseline_age_days=30)
    found = decide(evidence, policy, baseline, now=datetime(2026, 3, 1, tzinfo=UTC))
    if said is None:
        assert found.verdict == "passed"
    else:
        assert found.verdict == "error"
        assert any(said in reason for reason in found.reasons)


# --- epochs -----------------------------------------------------------------------------------


def epochs(values: Mapping[str, Sequence[float]]) -> list[Row]:
    """Rows of cases with a value an epoch."""
    return [
        row(case, value, epoch=number)
        for case, own in values.items()
        for number, value in enumerate(own, 1)
    ]


ANSWERS = {"a": [1.0, 1.0, 1.0], "b": [1.0, 0.0, 0.0], "c": [0.0, 0.0, 0.0], "d": [1.0, 1.0, 0.0]}


@pytest.mark.parametrize(
    ("reducer", "mean"),
    [("mean", 6 / 12), ("median", 2 / 4), ("mode", 2 / 4), ("min", 1 / 4), ("max", 3 / 4)],
)
def test_reducers(tmp_path: Path, reducer: str, mean: float) -> None:
    found = of_rows(tmp_path, epochs(ANSWERS), metrics=LOOSE, epochs=reducer)
    assert found.metrics["equals"].mean == pytest.approx(mean)


def test_turns_are_averaged_before_epochs_are_reduced(tmp_path: Path) -> None:
    rows = [
        row("a", value, epoch=epoch, turn=turn)
        for epoch, values in enumerate([[1.0, 0.0], [1.0, 1.0]], 1)
        for turn, value in enumerate(values)
    ]
    found = of_rows(tmp_path, rows, metrics=LOOSE, epochs="min")
    assert found.metrics["equals"].mean == pytest.approx(0.5)


def test_a_baseline_reduced_otherwise_is_refused(tmp_path: Path) -> None:
    evidence = gather([write_scores(tmp_path / "s.jsonl", epochs(ANSWERS))])
    policy = GatePolicy.model_validate({"metrics": LOOSE, "epochs": "min"})
    assert decide(evidence, policy, make_baseline(evidence, epochs="min")).verdict == "passed"
    found = decide(evidence, policy, make_baseline(evidence))
    assert (found.verdict, "make a new baseline" in found.reasons[0]) == ("error", True)


def test_flakiness(tmp_path: Path) -> None:
    flaky = of_rows(tmp_path, epochs(ANSWERS), metrics=LOOSE).flaky["equals"]
    assert (flaky.epochs, flaky.pass_all, flaky.pass_any) == (3, 0.25, 0.75)
    assert (flaky.changing, flaky.cases) == (2, ("b", "d"))
    within = np.mean([np.var(values, ddof=1) for values in ANSWERS.values()])
    between = np.var([np.mean(values) for values in ANSWERS.values()])
    assert flaky.within_variance == pytest.approx(within)
    assert flaky.between_variance == pytest.approx(between)


def test_one_epoch_is_not_flaky(tmp_path: Path) -> None:
    assert of_rows(tmp_path, binary([1.0, 0.0]), metrics=LOOSE).flaky == {}


# --- clusters ---------------------------------------------------------------------------------


def tagged(count: int, size: int) -> dict[str, dict[str, Any]]:
    """Tags that put ``size`` cases after another into one document."""
    return {f"c{i:03d}": {"tags": [f"document:{i // size}"]} for i in range(count)}


def of_clusters(folder: Path, size: int, **policy: Any) -> Verdict:
    """Forty cases in documents of ``size``, of which the first ten fell."""
    before, now = falling(lost=10, kept=30)
    runs = [
        write_run(
            folder / name, {"core": rows}, cases=tagged(40, size), gate={"metrics": LOOSE, **policy}
        )
        for name, rows in (("before", before), ("now", now))
    ]
    return verdict(runs[1], baseline=make_baseline(gather([runs[0]])))


def test_clusters_are_the_unit_of_inference(tmp_path: Path) -> None:
    apart = of_clusters(tmp_path / "apart", 10)
    together = of_clusters(tmp_path / "together", 10, clusters="document:")
    assert apart.verdict == "failed"
    assert together.verdict == "passed"
    assert apart.metrics["equals"].p is not None
    assert together.metrics["equals"].p == pytest.approx(0.5)
    assert "4 clusters are the units of inference" in (together.metrics["equals"].note or "")


def test_clusters_of_one_case_change_nothing(tmp_path: Path) -> None:
    apart = of_clusters(tmp_path / "apart", 1)
    single = of_clusters(tmp_path / "single", 1, clusters="document:")
    assert single.metrics["equals"].p == apart.metrics["equals"].p


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ({}, "no case has such a tag"),
        ({"c000": {"tags": ["document:1", "document:2"]}}, "is in two clusters"),
    ],
)
def test_clusters_that_cannot_be(tmp_path: Path, cases: Any, said: str) -> None:
    rows = binary([1.0] * 5)
    run = write_run(tmp_path / "run", {"core": rows}, cases=cases, gate={"clusters": "document:"})
    with pytest.raises(InputError, match=said):
        verdict(run)


# --- slices -----------------------------------------------------------------------------------


def of_slices(folder: Path, **policy: Any) -> Verdict:
    """Sixty cases: the twenty tagged ``de`` fell in half, the others did not change."""
    before = binary([1.0] * 60)
    now = binary([0.0] * 10 + [1.0] * 50)
    cases = {
        f"c{i:03d}": {"tags": ["de" if i < 20 else "en"], "failure_mode": "any"} for i in range(60)
    }
    runs = [
        write_run(folder / name, {"core": rows}, cases=cases, gate={"metrics": LOOSE, **policy})
        for name, rows in (("before", before), ("now", now))
    ]
    return verdict(runs[1], baseline=make_baseline(gather([runs[0]])))


def test_the_slice_that_fell_comes_first(tmp_path: Path) -> None:
    found = of_slices(tmp_path)
    first, second = found.slices
    assert (first.kind, first.name, first.n, first.delta) == ("tag", "de", 20, -0.5)
    assert first.p == pytest.approx(2 * 0.5**10)
    assert (second.name, second.p) == ("en", 1.0)
    for text in (to_terminal(found), to_markdown(found), to_html(found)):
        assert "de" in text
    assert "look: equals in tag de: 1.000 to 0.500 over 20 cases (p 0.0020)" in to_terminal(found)


def of_systems(folder: Path, **policy: Any) -> Verdict:
    """Twenty cases, all right in the system decided on, half of them in another."""
    before = binary([1.0] * 20)
    other = binary([0.0] * 10 + [1.0] * 10, system="cheap")
    few = binary([0.0] * 4, system="few")
    runs = [
        write_run(folder / name, {"core": rows}, gate={"metrics": LOOSE, **policy})
        for name, rows in (("before", before), ("now", [*before, *other, *few]))
    ]
    accepted = make_baseline(gather([runs[0]]))
    return verdict(runs[1], baseline=accepted, system="default")


def test_another_system_is_a_place_to_look_at(tmp_path: Path) -> None:
    found = of_systems(tmp_path)
    assert (found.verdict, found.metrics["equals"].mean) == ("passed", 1.0)
    (only,) = found.slices
    assert (only.kind, only.name, only.metric, only.n) == ("system", "cheap", "equals", 20)
    assert (only.mean, only.baseline, only.delta) == (0.5, 1.0, -0.5)
    assert only.p == pytest.approx(0.5**10)
    line = "look: equals in system cheap: 1.000 to 0.500 over 20 cases (p 0.0010)"
    assert line in to_terminal(found)


def test_another_system_without_a_baseline_is_shown_with_its_mean(tmp_path: Path) -> None:
    rows = [*binary([1.0] * 6), *binary([0.0] * 6, system="cheap")]
    run = write_run(tmp_path / "run", {"core": rows}, gate={"metrics": LOOSE})
    (only,) = verdict(run, system="default").slices
    assert (only.name, only.n, only.mean, only.baseline, only.p) == ("cheap", 6, 0.0, None, None)


def test_systems_are_not_looked_at_where_slices_do_not_ask(tmp_path: Path) -> None:
    assert of_systems(tmp_path, slices=["tag"]).slices == ()


def test_slices_count_clusters_not_cases(tmp_path: Path) -> None:
    """Ten cases of one document fell together: that is one thing that fell, not ten."""
    cases = {
        f"c{i:03d}": {"tags": ["de", "document:a"] if i < 10 else [f"document:{i}"]}
        for i in range(40)
    }
    runs = [
        write_run(
            tmp_path / name,
            {"core": binary(values)},
            cases=cases,
            gate={"metrics": LOOSE, "clusters": "document:", "slices": ["tag"]},
        )
        for name, values in (("before", [1.0] * 40), ("now", [0.0] * 10 + [1.0] * 30))
    ]
    found = verdict(runs[1], baseline=make_baseline(gather([runs[0]])))
    p = {each.name: each.p for each in found.slices}["de"]
    assert p is not None
    assert p > 0.05


def test_slices_may_be_left_out(tmp_path: Path) -> None:
    assert of_slices(tmp_path, slices=[]).slices == ()
    assert {
        each.kind for each in of_slices(tmp_path / "b", slices=["failure_mode"]).slices
    } == set()


def test_epochs_are_in_the_reports(tmp_path: Path) -> None:
    found = of_rows(tmp_path, epochs(ANSWERS), metrics=LOOSE)
    line = (
        "equals: 3 epochs, passed in all 0.250, in some 0.750; 2 cases changed their verdict: b, d"
    )
    assert f"epochs: {line}" in to_terminal(found)
    assert line in to_html(found)
    assert "### Epochs" in to_markdown(found)


def test_a_graded_metric_without_thresholds_has_no_pass_rates(tmp_path: Path) -> None:
    rows = [graded("a", value, epoch=number) for number, value in enumerate([0.2, 0.6], 1)]
    flaky = of_rows(tmp_path, rows).flaky["ragas/faithfulness"]
    assert (flaky.pass_all, flaky.pass_any, flaky.changing) == (None, None, 0)


def test_a_baseline_says_how_it_reduced_epochs(tmp_path: Path) -> None:
    evidence = gather([write_scores(tmp_path / "s.jsonl", epochs(ANSWERS))])
    made = make_baseline(evidence, epochs="max")
    assert Baseline.model_validate_json(made.model_dump_json()).epochs == "max"


# --- budgets ----------------------------------------------------------------------------------


def with_outputs(
    folder: Path, latencies: Sequence[float], budgets: Any, cost: float = 0.01
) -> Path:
    """A run whose answers took so many seconds and dollars each."""
    rows = binary([1.0] * len(latencies))
    run = write_run(folder, {"core": rows}, gate={"metrics": LOOSE, "budgets": budgets})
    outputs = [
        {"case_id": each["case_id"], "text": "x", "latency_s": took, "cost_usd": cost}
        for each, took in zip(rows, latencies, strict=True)
    ]
    write_jsonl(run / "outputs.jsonl", outputs)
    return run


TOOK = [1.0] * 18 + [2.0, 10.0]


@pytest.mark.parametrize(
    ("name", "limits", "said"),
    [
        ("latency_s", {"p50": 1.0, "p95": 3.0, "total": 31, "mean": 2}, None),
        ("latency_s", {"mean": 1.4}, "latency_s: mean 1.5 is above 1.4"),
        ("latency_s", {"p95": 2.0}, "latency_s: p95 2.4 is above 2"),
        ("latency_s", {"total": 29}, "latency_s: total 30 is above 29"),
        ("cost_usd", {"total": 0.21}, None),
        ("cost_usd", {"total": 0.19}, "cost_usd: total 0.2 is above 0.19"),
    ],
)
def test_budgets(tmp_path: Path, name: str, limits: Any, said: str | None) -> None:
    found = verdict(with_outputs(tmp_path / "run", TOOK, {name: limits}))
    assert found.reasons == (() if said is None else (said,))
    assert found.verdict == ("passed" if said is None else "failed")
    assert found.budgets[name].status == found.verdict
    assert f"budget: {name} {found.verdict}: mean" in to_terminal(found)


def test_a_budget_that_nothing_answers_is_an_error(tmp_path: Path) -> None:
    found = verdict(with_outputs(tmp_path / "run", TOOK, {"tokens": {"mean": 10}}))
    assert found.verdict == "error"
    assert found.reasons == ("tokens: a budget is set, and no answer says what it took",)


@pytest.mark.parametrize(
    ("factor", "most", "fails"), [(1.5, 0.2, True), (1.5, 0.6, False), (0.5, 0.0, False)]
)
def test_an_increase_over_the_baseline(
    tmp_path: Path, factor: float, most: float, fails: bool
) -> None:
    budgets = {"latency_s": {"max_increase": most}}
    before = with_outputs(tmp_path / "before", TOOK, budgets)
    now = with_outputs(tmp_path / "now", [factor * took for took in TOOK], budgets)
    baseline = make_baseline(gather([before]))
    found = verdict(now, baseline=baseline)
    assert found.verdict == ("failed" if fails else "passed")
    assert found.budgets["latency_s"].increase == pytest.approx(factor - 1)
    silent = baseline.model_copy(update={"spent": {}})
    refused = verdict(now, baseline=silent)
    assert (refused.verdict, "does not say what its answers took" in refused.reasons[0]) == (
        "error",
        True,
    )


def test_a_rise_that_chance_explains_passes(tmp_path: Path) -> None:
    budgets = {"latency_s": {"max_increase": 0.0}}
    before = with_outputs(tmp_path / "before", TOOK, budgets)
    now = with_outputs(tmp_path / "now", [*TOOK[:-1], 13.0], budgets)
    found = verdict(now, baseline=make_baseline(gather([before])))
    assert found.budgets["latency_s"].increase == pytest.approx(0.1)
    assert found.verdict == "passed"


# --- scales -----------------------------------------------------------------------------------


def test_a_declared_scale_of_a_foreign_file(tmp_path: Path) -> None:
    table = tmp_path / "result.csv"
    table.write_text("user_input,response,faithfulness,factual_correctness\n" + "q,a,1,8\n" * 5)
    suite = write_suite(
        tmp_path,
        {"gate": {"metrics": {"ragas/factual_correctness": {"min": 0.7, "scale": [0, 10]}}}},
    )
    found = decide_on([table], suite=suite)
    assert found.verdict.metrics["ragas/factual_correctness"].mean == pytest.approx(0.8)
    undeclared = write_suite(tmp_path, {"gate": {"metrics": {"ragas/factual_correctness": 0.7}}})
    assert decide_on([table], suite=undeclared).verdict.verdict == "error"


def test_a_scale_rises() -> None:
    with pytest.raises(ValidationError, match="write \\[least, greatest\\]"):
        GatePolicy.model_validate({"metrics": {"m": {"scale": [1, 0]}}})


def test_a_result_file_as_the_baseline(tmp_path: Path) -> None:
    for name, value in (("old", 1.0), ("new", 0.5)):
        rows = "".join(f"q{i},a,{value}\n" for i in range(30))
        (tmp_path / f"{name}.csv").write_text("user_input,response,faithfulness\n" + rows)
    found = decide_on([tmp_path / "new.csv"], baseline=tmp_path / "old.csv").verdict
    assert (found.verdict, found.metrics["ragas/faithfulness"].delta) == ("failed", -0.5)
