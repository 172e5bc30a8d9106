"""DeepEval run files read without DeepEval: ours, other people's, damaged ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.model import Bundle, ConversionReport, InputError, Score
from bridge.plugin.accounts.accounting import UNREAD, count_leaves
from bridge.plugin.format import ReadOptions
from bridge_deepeval.format import FORMAT

NATIVE = ROOT / "tests" / "native" / "deepeval"


def read(path: Path, **options: Any) -> tuple[Bundle, ConversionReport]:
    return FORMAT.read(path, ReadOptions.model_validate({"options": options}))


def rows_of(bundle: Bundle, metric: str) -> dict[str, Score]:
    return {row.case_id: row for row in bundle.scores if row.metric == metric}


def test_cases_and_outputs_of_other_peoples_runs() -> None:
    bundle, report = read(NATIVE / "run.json")
    cases = {case.id: case for case in bundle.cases}
    outputs = {output.case_id: output for output in bundle.outputs}
    assert list(cases) == ["17", "test_case_1", "twin", "twin (2)"]
    capital, answer = cases["17"], outputs["17"]
    assert (capital.input, capital.expected) == ("What is the capital of Norway?", "Oslo")
    assert (capital.reference_contexts, capital.tags) == (("Oslo is the capital.",), ("geo",))
    assert capital.metadata["Style"] == 0.25
    assert capital.expected_calls is not None
    assert [(call.name, call.extra) for call in capital.expected_calls.calls] == [
        ("look_up", "allow")
    ]
    assert answer.text == "Oslo"
    assert answer.retrieved_contexts == ("Oslo is the capital.", "Bergen is not.")
    assert [(c.name, c.arguments, c.result) for c in answer.tool_calls] == [
        ("look_up", {"q": "Norway"}, [1])
    ]
    assert (answer.latency_s, answer.cost_usd) == (0.75, 0.01)
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (12, 3)
    assert (cases["twin"].input, cases["twin (2)"].input) == ("one", "two")
    told = "cases with the name of another: 1, such as 'twin (2)'; give each a name of its own"
    assert told in report.notes
    assert report.total == count_leaves(json.loads((NATIVE / "run.json").read_bytes()))
    assert not [
        line for line in report.lines if line.reason == UNREAD.reason and "Data" in line.field
    ]


def test_scores_of_other_peoples_runs() -> None:
    bundle, _ = read(NATIVE / "run.json")
    right = rows_of(bundle, "Right")
    assert {name: (row.status, row.value) for name, row in right.items()} == {
        "17": ("passed", 1.0),
        "test_case_1": ("failed", 0.0),
        "twin": ("error", None),
        "twin (2)": ("passed", 1.0),
    }
    assert right["twin"].error == "RuntimeError: the judge timed out"
    first = right["17"]
    assert (first.threshold, first.reason, first.judge) == (1.0, "Right is 1.0", "judge-1")
    assert (first.framework, first.cost_usd) == ("deepeval", 0.001)
    style = rows_of(bundle, "Style")
    assert [(row.status, row.value, row.threshold) for row in style.values()] == [
        ("scored", 0.25, None),
        ("scored", 0.75, None),
        ("scored", 0.5, None),
        ("error", None, None),
    ]


def test_a_value_out_of_range_is_an_error_until_its_scale_is_declared() -> None:
    bundle, _ = read(NATIVE / "run.json")
    rank = rows_of(bundle, "Rank")
    assert [row.status for row in rank.values()] == ["error", "error", "error", "failed"]
    assert rank["17"].error == "7.5 is outside [0, 1]: declare the scale of Rank"
    bundle, _ = read(NATIVE / "run.json", scale={"Rank": [0, 10]})
    rank = rows_of(bundle, "Rank")
    assert [(row.status, row.value, row.threshold) for row in rank.values()] == [
        ("passed", 0.75, 0.5),
        ("failed", 0.2, 0.5),
        ("passed", 1.0, 0.5),
        ("failed", 0.0, 0.5),
    ]
    assert rank["17"].raw is not None
    assert (rank["17"].raw.value, rank["17"].raw.scale) == (7.5, (0.0, 10.0))


def test_a_run_under_a_key_is_read_too() -> None:
    bundle, _ = read(NATIVE / "latest_test_run.json")
    assert [(row.case_id, row.metric, row.status) for row in bundle.scores] == [
        ("17", "Right", "passed")
    ]


def test_a_conversation_is_read_turn_by_turn() -> None:
    bundle, report = read(NATIVE / "conversation.json")
    (case,), (output,), (row,) = bundle.cases, bundle.outputs, bundle.scores
    assert (case.id, case.input, case.expected) == (
        "talk",
        "A customer asks twice.",
        "Both answered.",
    )
    assert [turn.user for turn in case.turns] == ["one?", "two?"]
    assert output.turns is not None
    assert [turn.text for turn in output.turns] == ["1", "2"]
    assert output.turns[0].retrieved_contexts == ("1 is one",)
    assert output.turns[0].tool_calls[0].arguments == {"to": 1}
    assert (row.metric, row.status, row.value) == ("Helpful", "passed", 0.75)
    assert report.notes == ()


def test_an_answer_of_several_messages_is_read_whole(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "price?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "retrievalContext": ["a"],
            "latencyMs": 500,
        },
        {"role": "assistant", "content": "", "toolsCalled": [{"name": "f"}], "latencyMs": 250},
        {"role": "assistant", "content": "It is 5.", "retrievalContext": ["b"]},
    ]
    talk = {"name": "c", "turns": turns, "metricsData": [metric_of()]}
    bundle, _ = read(write(tmp_path / "run.json", {"conversationalTestCases": [talk]}))
    assert bundle.outputs[0].turns is not None
    (answer,) = bundle.outputs[0].turns
    assert (answer.text, answer.retrieved_contexts) == ("Let me see.\nIt is 5.", ("a", "b"))
    assert ([call.name for call in answer.tool_calls], answer.latency_s) == (["f"], 0.75)


def test_reading_needs_no_deepeval() -> None:
    code = f"""
import sys
from pathlib import Path
from bridge.plugin.accounts.accounting import UNREAD, count_leaves
from bridge.plugin.format import ReadOptions
from bridge_deepeval.format import FORMAT
assert FORMAT.read(Path({str(NATIVE / "run.json")!r}), ReadOptions())[0].scores
assert "deepeval" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- run files made by hand -------------------------------------------------------------------


def case_of(name: str, *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "input": "q", "actualOutput": "a", "metricsData": list(metrics), **more}


def metric_of(name: str = "m", score: float | None = 1.0, **more: Any) -> dict[str, Any]:
    return {"name": name, "score": score, **more}


def write(path: Path, run: Any) -> Path:
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def test_a_case_without_any_result_is_an_error_not_a_pass(tmp_path: Path) -> None:
    """DeepEval calls a case whose every metric was skipped a success."""
    cases = [
        case_of("a", metric_of("m", success=True), metric_of("n", 0.5)),
        case_of("b", success=True),
        case_of("c", metric_of("m"), metricsData=None),
    ]
    bundle, report = read(write(tmp_path / "run.json", {"testCases": cases}))
    assert {(row.case_id, row.metric, row.status) for row in bundle.scores} == {
        ("a", "m", "passed"),
        ("a", "n", "scored"),
        *((case, metric, "error") for case in "bc" for metric in "mn"),
    }
    assert "2 cases carry no score: every metric of theirs is an error" in report.notes
    assert "the run has no totals: it may not have been finished" in report.notes


def test_a_skipped_metric_is_noted(tmp_path: Path) -> None:
    cases = [case_of("a", metric_of("m"), metric_of("n")), case_of("b", metric_of("m"))]
    _, report = read(write(tmp_path / "run.json", {"testCases": cases}))
    assert "n: 1 of 2 cases carry no such score" in report.notes


def test_a_crashed_metric_without_a_threshold_is_an_error(tmp_path: Path) -> None:
    """DeepEval leaves such a case a success."""
    broken = {"name": "m", "error": "ValueError: boom", "success": None}
    bundle, _ = read(write(tmp_path / "run.json", {"testCases": [case_of("a", broken)]}))
    assert [(row.status, row.error) for row in bundle.scores] == [("error", "ValueError: boom")]


def test_two_metrics_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    cases = [case_of("a", metric_of("m", 1.0), metric_of("m", 0.0))]
    bundle, _ = read(write(tmp_path / "run.json", {"testCases": cases}))
    assert [(row.metric, row.value) for row in bundle.scores] == [("m", 1.0), ("m (2)", 0.0)]


def test_totals_that_differ_from_the_rows_are_noted(tmp_path: Path) -> None:
    run = {"testCases": [case_of("a", metric_of())], "testPassed": 8, "testFailed": 1}
    _, report = read(write(tmp_path / "run.json", run))
    assert report.notes == ("the totals speak of 9 test cases, the file holds 1",)


def test_missing_and_strange_ids(tmp_path: Path) -> None:
    cases = [
        case_of("", metric_of(), order=4),
        case_of("named", metric_of(), metadata={"id": "own/id"}),
        case_of("named", metric_of(), metadata={"id": ["no", "id"]}),
    ]
    bundle, _ = read(write(tmp_path / "run.json", {"testCases": cases}))
    assert [case.id for case in bundle.cases] == ["test_case_4", "own/id", "named"]


def test_an_edited_score_of_ours_counts_as_edited(tmp_path: Path) -> None:
    row = {"scorer": "equals", "scorer_version": "1", "metric": "m", "status": "passed", "value": 1}
    logs = json.dumps({"bridge": {"status": "passed", "rows": [row]}}, separators=(",", ":"))
    cases = [
        case_of("a", metric_of(verboseLogs=logs, success=True)),
        case_of("b", metric_of(score=0.0, verboseLogs=logs, success=False)),
        case_of("c", metric_of(verboseLogs='{"bridge":[')),
        case_of("d", metric_of(verboseLogs='{"bridge":' + "[" * 5000)),
        case_of("e", metric_of(score=None, verboseLogs='{"bridge":{"rows":[]}}')),
    ]
    bundle, _ = read(write(tmp_path / "run.json", {"testCases": cases}))
    assert [(row.status, row.value, row.scorer) for row in bundle.scores] == [
        ("passed", 1.0, "equals"),
        ("failed", 0.0, "m"),
        ("scored", 1.0, "m"),
        ("scored", 1.0, "m"),
        ("error", None, "m"),
    ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "no DeepEval run"),
        (b"[]", "no DeepEval run"),
        (b"null", "no DeepEval run"),
        (b"{}", "it holds no test cases"),
        (b'{"testRunLink": "https://example.org/x"}', "it only links to a run kept elsewhere"),
        (b'{"testCases": [{"name": "a"', "the file is cut off"),
        (b'{"testCases": {"a": 1}}', "no DeepEval run"),
        (b'{"testCases": [{"name": 7}]}', "no DeepEval run"),
        (b'{"testCases": [NaN]}', "row 1 is no object"),
        (b"NaN", "no DeepEval run"),
        (b'{"a":' * 100_000, "the file is cut off"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b"\xff\xfe\x00", "text in UTF-16; save it as UTF-8"),
    ],
)
def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, content: bytes, match: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=match) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "gone.json")


def test_sniffing_knows_run_files_by_their_content() -> None:
    def sure(content: bytes) -> float:
        return FORMAT.sniff(content, Path("x.json"))

    for name in ("run.json", "latest_test_run.json", "conversation.json"):
        assert sure((NATIVE / name).read_bytes()) > 0.9
    assert sure(b'\xef\xbb\xbf {"testCases": [{"input": "a long one') == 0.5
    assert sure(b'{"testRunLink": "https://example.org"}') > 0.5
    for other in (
        b'{"status": "success", "eval": {}}',
        b'{"results": {"results": []}, "evalId": "x"}',
        b'{"tests": []}',
        b'[{"input": "q", "actual_output": "a"}]',
        b"{}",
        b"",
        b"a,b\n1,2\n",
    ):
        assert sure(other) == 0.0
