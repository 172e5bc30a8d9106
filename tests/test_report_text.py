"""The Markdown and the terminal report: looked at once, and held to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from gate_rows import Row, graded, row, verdict, write_run, write_scores

from bridge.gate.baseline import make_baseline
from bridge.gate.intake.gather import gather
from bridge.model.verdict import FailedCase, MetricResult, Totals, Verdict
from bridge.report import words
from bridge.report.columns import cell_width, cut, table, wrapped
from bridge.report.markdown import to_markdown
from bridge.report.terminal import to_terminal

GOLDEN = Path(__file__).parent / "golden"

CASES = {
    "refund-001": {"tags": ["refund"], "failure_mode": "stale_policy"},
    "refund-002": {"tags": ["refund"], "failure_mode": "stale_policy"},
    "stock-001": {"tags": ["stock"], "failure_mode": "wrong_tool_argument"},
}


def rows_of(values: Mapping[str, Sequence[float]], **changes: Any) -> list[Row]:
    """Rows of ``tool_use`` with a row a turn, and of a native metric."""
    found = []
    for case_id, turns in values.items():
        for turn, value in enumerate(turns):
            reason = "as expected" if value else "get_price: /symbol is missing | expected AAPL"
            metric: Row = {"metric": "tool_use", "turn": turn, "reason": reason}
            found.append(row(case_id, value, **metric, **changes))
        found.append(graded(case_id, sum(turns) / len(turns) * 0.8, framework="core"))
    return found


def bodies(folder: Path) -> dict[str, Verdict]:
    """A verdict of each kind."""
    more = [f"stock-{i:03d}" for i in range(2, 24)]
    before = rows_of({"refund-001": [1, 1], "refund-002": [1, 1], "stock-001": [1, 1, 1]} | {
        name: [1.0] for name in more})  # fmt: skip
    now = rows_of({"refund-001": [0, 1], "refund-002": [0, 0], "stock-001": [1, 0, 0]} | {
        name: [float(i % 2)] for i, name in enumerate(more)})  # fmt: skip
    gate: Row = {
        "metrics": {
            "tool_use": {"min_pass_rate": 0.95, "weight": 0.75},
            "core/faithfulness": {"min": 0.2, "weight": 0.25},
        },
        "must_pass": ["tag:refund"],
    }
    old = write_run(folder / "old", {"core": before}, gate=gate, cases=CASES)
    new = write_run(folder / "new", {"core": now}, gate=gate, cases=CASES)
    usage = {"input_tokens": 1200, "output_tokens": 340}
    spent = [{"case_id": "stock-001", "latency_s": 1.25, "cost_usd": 0.0123, "usage": usage}]
    for run in (old, new):
        write_scores(run / "outputs.jsonl", spent)
    baseline = make_baseline(gather([old]))
    broken = [{**now[0], "value": None, "status": "error", "error": "timed out"}, *now[1:-1]]
    write_run(folder / "broken", {"core": broken}, owed=now, gate=gate, cases=CASES)
    doubtful = {**gate, "margin": 0.001}
    return {
        "failed": verdict(new, baseline=baseline),
        "passed": verdict(old, baseline=baseline),
        "error": verdict(folder / "broken", baseline=baseline),
        "inconclusive": verdict(old, baseline=baseline, policy=doubtful),
        "thresholds": verdict(old),
    }


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    return bodies(tmp_path_factory.mktemp("reports"))


REPORTS: dict[str, Callable[[Verdict], str]] = {
    "md": to_markdown,
    "100.txt": lambda found: to_terminal(found, width=100),
    "160.txt": lambda found: to_terminal(found, width=160),
}


@pytest.mark.parametrize("kind", ["failed", "passed", "error", "inconclusive", "thresholds"])
@pytest.mark.parametrize("suffix", REPORTS)
def test_reports_are_as_they_were_looked_at(
    verdicts: dict[str, Verdict], kind: str, suffix: str
) -> None:
    text = REPORTS[suffix](verdicts[kind])
    path = GOLDEN / f"gate-{kind}.{suffix}"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path.name} is written: look at it, then run again")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_no_line_is_wider_than_the_terminal(verdicts: dict[str, Verdict], width: int) -> None:
    for found in verdicts.values():
        lines = to_terminal(found, width=width).splitlines()
        assert max(map(cell_width, lines)) <= width


def test_what_is_always_there(verdicts: dict[str, Verdict]) -> None:
    """n, the least detectable drop and the n that would decide; what decides, what does not."""
    for text in (to_terminal(verdicts["failed"], width=100), to_markdown(verdicts["failed"])):
        assert "p decides: one-sided paired test, Holm-adjusted over 2 gated metrics, below" in text
        assert "intervals: two-sided, 95%, for the reader" in text
        assert "detectable" in text
        assert " (n " in text


def test_without_a_comparison_its_columns_are_gone(verdicts: dict[str, Verdict]) -> None:
    text = to_terminal(verdicts["thresholds"])
    assert "detectable" not in text
    assert "p decides" not in text
    assert "note: no baseline: thresholds only" in text


def test_a_small_p_is_not_zero() -> None:
    assert words.p_value(0.0) == words.p_value(0.00009) == "<0.0001"
    assert words.p_value(0.0001) == "0.0001"
    assert words.p_value(1.0) == "1.0000"
    assert words.p_value(None) == "-"
    result = MetricResult(p=1e-12, delta=-0.5, status="failed")
    found = Verdict(passed=False, verdict="failed", metrics={"m": result}, family=1)
    assert "<0.0001" in to_terminal(found)
    assert "| &lt; 0.0001 |" in to_markdown(found)
    assert "0.0000" not in (to_terminal(found) + to_markdown(found))


def test_metrics_that_block_come_first() -> None:
    statuses = ("passed", "shown", "failed", "error", "inconclusive")
    metrics = {name: MetricResult(status=name) for name in statuses}
    found = Verdict(passed=False, verdict="error", metrics=metrics)
    rows = [line.split() for line in to_terminal(found).splitlines()]
    named = [cells[0] for cells in rows if cells and cells[0] in statuses]
    assert named == ["error", "failed", "inconclusive", "passed", "shown"]


def test_rows_of_one_case_and_metric_are_one_line() -> None:
    rows = [
        FailedCase(
            case_id="c", metric="m", system="s", turn=t, epoch=e, status="failed", case_value=0.5
        )
        for t, e in ((1, 1), (0, 2), (1, 2))
    ]
    other = FailedCase(case_id="c", metric="n", system="s", status="error")
    first, second = words.case_lines([*rows, other])
    assert (first.case, first.now, first.rows) == ("c turns 0, 1 in 2 epochs", "0.50", 3)
    assert (second.case, second.now) == ("c", "error")


def test_colour_is_asked_for(verdicts: dict[str, Verdict]) -> None:
    plain, coloured = (to_terminal(verdicts["failed"], colour=each) for each in (False, True))
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31mFAILED small:")
    assert coloured.count("\x1b") == 2


def test_wide_characters_are_aligned() -> None:
    rows = [("返金", "1"), ("e\u0301te\u0301", "2"), ("plain", "3"), ("👍", "4")]
    lines = list(table(("name", "n"), rows))
    assert {cell_width(line) for line in lines} == {8}
    assert [line[-1] for line in lines[2:]] == ["1", "2", "3", "4"]
    assert (cell_width("返金"), cell_width("e\u0301"), cell_width("👍")) == (4, 1, 2)


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("返金返金", 6, "返金…"),
        ("返金返", 6, "返金返"),
    ],
)
def test_cut(text: str, width: int, kept: str) -> None:
    assert cut(text, width) == kept
    assert cell_width(cut(text, width)) <= width


def test_the_last_column_gives_way() -> None:
    lines = list(table(("a", "reason"), [("x", "y" * 50)], width=20))
    assert lines[2] == f"x  {'y' * 16}…"
    assert max(map(len, lines)) == 20


def test_wrapped() -> None:
    text = "one two three four"
    assert list(wrapped(text, None)) == [text]
    assert list(wrapped(text, 12, "- ", "  ")) == ["- one two", "  three four"]
    assert list(wrapped("x" * 30, 10, "- ")) == [f"- {'x' * 30}"]
    assert list(wrapped(f"a {'x' * 30} b", 10, "- ")) == ["- a", f"  {'x' * 30}", "  b"]


def test_totals() -> None:
    totals = Totals(latency_s=61.25, cost_usd=0.01234, input_tokens=5, output_tokens=7)
    line = words.totals_line(Verdict(passed=True, verdict="passed", totals=totals))
    assert line == "answers took 61.2 s, 0.0123 USD, 5 + 7 tokens"
    unknown = Verdict(passed=True, verdict="passed", totals=Totals(latency_s=1.0))
    assert words.totals_line(unknown) == "answers took 1.0 s"


def test_a_narrow_table_keeps_short_cells_and_cuts_long_ones() -> None:
    rows = [["a" * 30, "1.00", "b" * 30], ["c", "0.50", "d"]]
    found = list(table(("case", "is", "why"), rows, 40))
    assert max(map(len, found)) == 40
    assert found[2:] == [f"{'a' * 23}…  1.00  {'b' * 7}…", f"c{' ' * 25}0.50  d"]
    assert max(map(len, table(("case", "is", "why"), rows, 5))) == 24
