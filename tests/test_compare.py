"""``bridge compare``: run against run, framework against framework; numbers, texts, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Bridge
from gate_rows import Row, binary, falling, graded, relabelled, row, write_run, write_scores
from markdown_it import MarkdownIt
from scipy import stats
from test_report_inert import HOSTILE, assert_plain

from bridge.gate.compare.frameworks import compare_frameworks
from bridge.gate.compare.runs import MOST, Side, compare_runs
from bridge.gate.intake.gather import gather
from bridge.model.bundle import Bundle
from bridge.model.comparison import (
    CaseChange,
    ComparedMetric,
    Comparison,
    Disagreement,
    MetricAgreement,
)
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.report.comparison import KINDS
from bridge.report.markdown import LIMIT


def side(path: Path, *outputs: Output) -> Side:
    """A side of a comparison."""
    return Side(path.stem, gather([path]), Bundle(outputs=outputs))


def sides(
    folder: Path, before: list[dict[str, object]], now: list[dict[str, object]]
) -> list[Side]:
    """Two scores files as sides."""
    paths = [
        write_scores(folder / f"{name}.jsonl", rows)
        for name, rows in (("old", before), ("new", now))
    ]
    return [side(path) for path in paths]


def test_means_differences_and_p(tmp_path: Path) -> None:
    found = compare_runs(*sides(tmp_path, *falling(lost=8, kept=40, gained=2)))
    equals = found.metrics["equals"]
    assert (equals.n, equals.better, equals.worse) == (50, 2, 8)
    assert equals.first == pytest.approx(48 / 50)
    assert equals.second == pytest.approx(42 / 50)
    assert equals.delta == pytest.approx(-6 / 50)
    assert equals.low <= equals.delta <= equals.high
    assert equals.p == pytest.approx(stats.binomtest(2, 10).pvalue)
    assert sorted(each.delta for each in found.changes) == [-1.0] * 8 + [1.0] * 2


def test_p_is_adjusted_over_the_metrics(tmp_path: Path) -> None:
    before, now = falling(lost=8, kept=40)
    rest = [relabelled("core", rows, metric="other") for rows in (before, before)]
    alone = compare_runs(*sides(tmp_path, before, now)).metrics["equals"].p
    both = compare_runs(*sides(tmp_path, before + rest[0], now + rest[1]))
    assert both.metrics["equals"].p == pytest.approx(2 * alone)
    assert both.metrics["other"].p == 1.0


def test_changed_cases_come_with_reasons_and_answers(tmp_path: Path) -> None:
    before, now = falling(lost=1, kept=3)
    first, second = sides(tmp_path, before, now)
    given = [
        Side(each.name, each.evidence, Bundle(outputs=(Output(case_id="c000", text=text),)))
        for each, text in ((first, "right"), (second, "wrong"))
    ]
    (change,) = compare_runs(*given).changes
    assert (change.case_id, change.values) == ("c000", (1.0, 0.0))
    assert change.reasons == ("", "c000 is 0.0")
    assert change.answers == ("right", "wrong")


def test_what_only_one_side_has_is_said(tmp_path: Path) -> None:
    before = [*binary([1.0] * 6), row("c000", 1.0, metric="gone")]
    now = [*binary([1.0] * 5), row("c000", 1.0, metric="new")]
    notes = compare_runs(*sides(tmp_path, before, now)).notes
    assert "only in old: gone" in notes
    assert "only in new: new" in notes
    assert "equals: 1 case of the first and 0 of the second unpaired" in notes


def test_another_version_of_a_scorer_is_said(tmp_path: Path) -> None:
    before, now = binary([1.0] * 5), binary([1.0] * 5, scorer_version="2")
    notes = compare_runs(*sides(tmp_path, before, now)).notes
    assert "equals: scored by equals 1, then by equals 2" in notes


def test_faults_of_a_side_are_said(tmp_path: Path) -> None:
    before = binary([1.0] * 5)
    notes = compare_runs(
        *sides(tmp_path, before, [*before[:-1], row("c004", None, status="error")])
    ).notes
    assert any(note.startswith("new: ") for note in notes)


def test_runs_without_a_case_in_common(tmp_path: Path) -> None:
    other = [row(f"d{i}", 1.0) for i in range(3)]
    with pytest.raises(InputError, match="share no scored case"):
        compare_runs(*sides(tmp_path, binary([1.0] * 3), other))


def test_only_the_largest_changes_are_listed(tmp_path: Path) -> None:
    size = MOST + 30
    found = compare_runs(*sides(tmp_path, binary([1.0] * size), binary([0.0] * size)))
    assert (len(found.changes), found.more) == (MOST, 30)
    assert "... and 210 more" in KINDS["terminal"](found)


def judged(values: list[float], framework: str) -> list[Row]:
    """Native rows with a threshold of 0.5."""
    return [
        graded(f"c{i:03d}", value, framework=framework, threshold=0.5)
        | {"status": "passed" if value >= 0.5 else "failed"}
        for i, value in enumerate(values)
    ]


def test_agreement_of_frameworks(tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    first = generator.random(60).round(3).tolist()
    second = np.clip(np.array(first) + generator.normal(0.05, 0.2, 60), 0, 1).round(3).tolist()
    path = write_scores(tmp_path / "s.jsonl", judged(first, "ragas") + judged(second, "deepeval"))
    found = compare_frameworks(gather([path]), "ragas", "deepeval")
    agreed = found.agreement["faithfulness"]
    gaps = np.array(second) - np.array(first)
    assert agreed.n == 60
    assert agreed.spearman == pytest.approx(stats.spearmanr(first, second)[0])
    assert agreed.bias == pytest.approx(gaps.mean())
    assert agreed.high == pytest.approx(gaps.mean() + 1.959964 * gaps.std(ddof=1), rel=1e-6)
    a, b = np.array(first) >= 0.5, np.array(second) >= 0.5
    assert agreed.flipped == int((a != b).sum())
    share = float((a == b).mean())
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    assert agreed.kappa == pytest.approx((share - chance) / (1 - chance))
    listed = found.disagreements
    flips = [each.statuses[0] != each.statuses[1] for each in listed]
    assert flips == sorted(flips, reverse=True)
    assert sum(flips) == agreed.flipped
    assert listed[0].reasons == tuple(
        f"{listed[0].case_id} is {value}" for value in listed[0].values
    )


def test_shared_checks_agree(tmp_path: Path) -> None:
    rows = binary([1.0, 0.0, 1.0])
    path = write_scores(tmp_path / "s.jsonl", rows + relabelled("inspect", rows))
    found = compare_frameworks(gather([path]), "core", "inspect")
    assert found.agreement["equals"].agreement == found.agreement["equals"].kappa == 1.0
    assert found.disagreements == ()


def test_the_command(bridge: Bridge, tmp_path: Path) -> None:
    before, now = falling(lost=3, kept=5)
    runs = [
        write_run(tmp_path / name, {"core": rows, "inspect": relabelled("inspect", rows)})
        for name, rows in (("old", before), ("new", now))
    ]
    said = bridge("compare", *runs)
    assert (said.returncode, said.stderr) == (0, "")
    assert "3 changed values" in said.stdout
    assert json.loads(bridge("compare", *runs, "--json").stdout)["kind"] == "runs"
    page = tmp_path / "page.html"
    assert bridge("compare", *runs, "--format", "html", "-o", page).returncode == 0
    assert "Cases that changed" in page.read_text("utf-8")
    said = bridge("compare", runs[0], "--frameworks", "core,inspect")
    assert (said.returncode, "0 different rows" in said.stdout) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["good.jsonl"], "name two runs"),
        (["good.jsonl", "good.jsonl", "good.jsonl"], "name two runs"),
        (["good.jsonl", "--frameworks", "core"], "name two: --frameworks a,b"),
        (["good.jsonl", "--frameworks", "core,core"], "name two: --frameworks a,b"),
        (["good.jsonl", "--frameworks", "core,ragas"], "the frameworks are: core"),
        (["good.jsonl", "good.jsonl", "--format", "sarif"], "no report format 'sarif'"),
        (["good.jsonl", "gone.jsonl"], "gone.jsonl"),
    ],
)
def test_what_cannot_be_compared(
    bridge: Bridge, tmp_path: Path, arguments: list[str], said: str
) -> None:
    write_scores(tmp_path / "good.jsonl", binary([1.0] * 3))
    out = bridge("compare", *arguments)
    assert (out.returncode, said in out.stderr, out.stderr.count("\n")) == (2, True, 1)


def everywhere(text: str) -> list[Comparison]:
    """Comparisons with the text in every field that takes one."""
    metric = ComparedMetric(
        n=1, first=0, second=1, delta=1, low=0, high=1, p=0.5, test=text, note=text
    )
    change = CaseChange(
        case_id=text,
        metric=text,
        values=(0.0, 1.0),
        reasons=(text, text),
        answers=(text, text),
        failure_mode=text,
        where=text,
    )
    row = Disagreement(
        case_id=text,
        metric=text,
        values=(0.0, 1.0),
        statuses=("passed", "failed"),
        reasons=(text, text),
        where=text,
    )
    agreed = MetricAgreement(n=1, first=0, second=1)
    return [
        Comparison(
            kind="runs",
            names=(text, text),
            notes=(text,),
            metrics={text: metric},
            changes=(change,),
        ),
        Comparison(
            kind="frameworks",
            names=(text, text),
            notes=(text,),
            agreement={text: agreed},
            disagreements=(row,),
        ),
    ]


@pytest.mark.parametrize("text", [*HOSTILE, "</style><script>alert(1)</script>"])
def test_hostile_text_is_inert(text: str) -> None:
    for found in everywhere(text):
        for name in ("terminal", "json", "markdown"):
            assert_plain(KINDS[name](found).replace("→", ""))
        markdown = KINDS["markdown"](found)
        assert len(markdown) <= LIMIT
        page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
        assert "<script" not in page
        assert "<img" not in page
        assert "<a " not in page
        html = KINDS["html"](found)
        assert html.count("<script") == 0
        assert "<img" not in html
