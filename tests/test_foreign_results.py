"""Result files as people have them: each kind is read right, or refused with a clear line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.files.scores import score_line
from bridge.gate.intake.gather import gather
from bridge.model import Bundle, ConversionReport, InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format, get_format


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, name: str = "", **options: Any) -> tuple[Bundle, ConversionReport]:
    format_ = get_format(name) if name else detect_format(path)
    return format_.read(path, ReadOptions(options=options))


def rows(bundle: Bundle) -> dict[tuple[str, str], tuple[str, float | None]]:
    return {(row.case_id, row.metric): (row.status, row.value) for row in bundle.scores}


def same_for_the_gate(path: Path, bundle: Bundle) -> None:
    """The gate's columns hold the very rows that a conversion gets."""
    table = gather([path]).table
    keys = sorted(str(table.key(row)) for row in range(len(table)))
    assert keys == sorted(str(score.key) for score in bundle.scores)
    values = sorted(str(value) for value in table.value.tolist())
    expected = [float("nan") if score.value is None else score.value for score in bundle.scores]
    assert values == sorted(map(str, expected))


# --- promptfoo --------------------------------------------------------------------------------

COMPONENT = {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "contains"}}
V1 = {
    "version": 1,
    "results": [
        {
            "prompt": {"raw": "Say hi", "display": "Say {{x}}"},
            "vars": {"x": "hi"},
            "response": {"output": "hi", "tokenUsage": {"total": 5}},
            "success": True,
        },
        {
            "prompt": {"raw": "Say no", "display": "Say {{x}}"},
            "vars": {"x": "no"},
            "response": {"output": "yes"},
            "success": False,
            "error": "Expected no",
        },
        {
            "prompt": {"raw": "Say so", "display": "Say {{x}}"},
            "vars": {"x": "so"},
            "success": False,
            "error": "API error: 429",
        },
    ],
    "stats": {"successes": 1, "failures": 2},
    "table": {"head": {"prompts": ["Say {{x}}"], "vars": ["x"]}, "body": []},
}


def test_promptfoo_version_1_has_verdicts_and_provider_errors(tmp_path: Path) -> None:
    path = put(tmp_path, "v1.json", V1)
    bundle, report = read(path)
    assert rows(bundle) == {
        ("hi", "assertions"): ("passed", 1.0),
        ("no", "assertions"): ("failed", 0.0),
        ("so", "assertions"): ("error", None),  # promptfoo counts it as a failure
    }
    assert [output.error for output in bundle.outputs] == [None, None, "API error: 429"]
    assert report.total == count_leaves(V1)
    same_for_the_gate(path, bundle)


V2_ROW = {
    "provider": {"id": "openai:x", "label": ""},
    "prompt": {"raw": "Say hi", "label": "Say {{x}}"},
    "vars": {"x": "hi"},
    "response": {"output": {"text": "hi"}},
    "success": False,
    "score": 0.083,
    "gradingResult": {
        "pass": False,
        "score": 0.083,
        "reason": "no",
        "componentResults": [
            {**COMPONENT, "pass": False, "score": 0.083},
            {**COMPONENT, "assertion": {"type": "equals", "metric": "same"}},
        ],
    },
}


def test_promptfoo_version_2_keeps_pass_and_score_apart(tmp_path: Path) -> None:
    head = {"prompts": [{"raw": "a"}, {"raw": "b"}], "vars": []}
    body = [{"outputs": [{"pass": True, "text": "x"}], "vars": ["hi"]}]
    results = {"version": 2, "results": [V2_ROW], "stats": {"successes": 1, "failures": 0}}
    data = {"version": 2, "results": {**results, "table": {"head": head, "body": body}}}
    path = put(tmp_path, "v2.json", data)
    bundle, report = read(path)
    assert rows(bundle) == {("hi", "contains"): ("failed", 0.083), ("hi", "same"): ("passed", 1.0)}
    assert {row.system for row in bundle.scores} == {"openai:x | Say {{x}}"}
    assert bundle.outputs[0].text == {"text": "hi"}
    assert any("the totals" in note for note in report.notes)
    assert report.total == count_leaves(data)


@pytest.mark.parametrize("wrapped", ["share", "list", "jsonl"])
def test_promptfoo_rows_in_every_wrapping(tmp_path: Path, wrapped: str) -> None:
    row = {
        "testIdx": 0,
        "promptIdx": 0,
        "testCase": {"vars": {"x": "hi"}, "assert": [{"type": "contains"}]},
        "providerResponse": {"output": "hi"},
        "provider": "p",
        "success": True,
        "failureReason": 0,
        "gradingResult": {"pass": True, "score": 1, "componentResults": [COMPONENT]},
    }
    thrown = {
        **row,
        "testIdx": 1,
        "testCase": {"vars": {"x": "no"}},
        "gradingResult": {
            "componentResults": [
                {**COMPONENT, "pass": False, "score": 0, "reason": "Custom function threw error: x"}
            ]
        },
    }
    contents: dict[str, tuple[str, Any]] = {
        "share": ("s.json", {"data": {"results": {"version": 3, "results": [thrown, row]}}}),
        "list": ("l.json", [thrown, row]),
        "jsonl": ("j.jsonl", f"{json.dumps(thrown)}\n{json.dumps(row)}\n"),
    }
    path = put(tmp_path, *contents[wrapped])
    bundle, _ = read(path)
    assert rows(bundle) == {
        ("hi", "contains"): ("passed", 1.0),
        ("no", "contains"): ("error", None),
    }
    assert [output.text for output in bundle.outputs] == ["hi", "hi"]
    same_for_the_gate(path, bundle)


def test_promptfoo_csv_of_today(tmp_path: Path) -> None:
    head = "Description,q,[e] Say {{q}},Status,Score,Named Scores,Metric: m,Grader Reason,Comment"
    text = (
        f'{head}\none,"a, b","line 1\nline 2",FAIL,0.50,"{{""m"":1}}",1.00,no,\n'
        ",c,C,PASS,1.00,,,All assertions passed,\n,d,HTTP 500,ERROR,0.00,,,,\n"
    )
    path = put(tmp_path, "out.csv", text)
    bundle, report = read(path)
    assert rows(bundle) == {
        ("one", "assertions"): ("failed", 0.5),
        ("one", "m"): ("scored", 1.0),
        ("c", "assertions"): ("passed", 1.0),
        ("d", "assertions"): ("error", None),
        ("d", "m"): ("error", None),
    }
    assert bundle.outputs[0].text == "line 1\nline 2"
    assert {row.system for row in bundle.scores} == {"e"}
    assert any("holds no assertions" in note for note in report.notes)


def test_promptfoo_csv_of_old(tmp_path: Path) -> None:
    text = (
        '"q","Say {{q}}\nwith care","Say {{q}}"\n'
        '"a","[PASS] (1.00) hi\n\nPass Reason: fine","[FAIL] (0.25, tone: 0.50) ho"\n'
        '"b","[ERROR] (0.00) 429","text\nFail Reason: bad"\n"c","who knows","[PASS] (1.00) x"\n'
    )
    bundle, _ = read(put(tmp_path, "old.csv", text))
    found = {(row.case_id, row.system[-4:], row.metric): row.status for row in bundle.scores}
    assert len({row.system for row in bundle.scores}) == 2
    assert sorted(found.values()).count("error") >= 3  # 429, who knows, and tone of those
    first = next(row for row in bundle.scores if row.case_id == "a" and row.value == 1.0)
    assert (first.status, first.reason) == ("passed", "fine")
    assert ("failed", 0.25) in rows(bundle).values()
    assert ("scored", 0.5) in rows(bundle).values()


# --- DeepEval ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["metric_data", "metric_metadata"])
def test_deepeval_caches_old_and_new(tmp_path: Path, key: str) -> None:
    name = "name" if key == "metric_data" else "metric"
    result = {name: "Faithful", "threshold": 0.5, "success": True, "score": 0.9, "reason": "r"}
    other = {**result, name: "Tone"}
    cases = {
        json.dumps({"input": 'a "q"', "actual_output": "b", "retrieval_context": ["c"]}): {
            "cached_metrics_data": [{key: result, "metric_configuration": {}}, {key: other}]
        },
        json.dumps({"input": "x", "actual_output": "y"}): {"cached_metrics_data": [{key: result}]},
    }
    data = {"test_cases_lookup_map": cases}
    path = put(tmp_path, ".deepeval-cache.json", data)
    bundle, report = read(path)
    assert rows(bundle) == {
        ("test_case_0", "Faithful"): ("passed", 0.9),
        ("test_case_0", "Tone"): ("passed", 0.9),
        ("test_case_1", "Faithful"): ("passed", 0.9),
        ("test_case_1", "Tone"): ("error", None),  # what errored is not cached
    }
    assert (bundle.cases[0].input, bundle.outputs[0].retrieved_contexts) == ('a "q"', ("c",))
    assert any("ended in an error are not in it" in note for note in report.notes)
    same_for_the_gate(path, bundle)


def deepeval_case(name: str, *metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "input": "q", "actualOutput": "a", "metricsData": list(metrics)}


def test_deepeval_metrics_that_were_better_when_lower_are_turned_round(tmp_path: Path) -> None:
    bias = {"name": "Bias", "threshold": 0.5}
    high = {"name": "Faithful", "threshold": 0.5, "score": 0.75, "success": True}
    cases = [
        deepeval_case("a", {**bias, "score": 0.0, "success": True}, high),
        deepeval_case("b", {**bias, "score": 0.75, "success": False}, high),
    ]
    bundle, report = read(put(tmp_path, "run.json", {"testCases": cases}))
    assert rows(bundle)["a", "Bias"] == ("passed", 1.0)
    assert rows(bundle)["b", "Bias"] == ("failed", 0.25)
    assert rows(bundle)["a", "Faithful"] == ("passed", 0.75)
    raw = bundle.scores[0].raw
    assert raw is not None
    assert (raw.value, raw.direction) == (0.0, "lower")
    assert any("lower was better for Bias" in note for note in report.notes)
    today = [deepeval_case("a", {**bias, "score": 1.0, "success": True})]
    bundle, _ = read(put(tmp_path, "now.json", {"testCases": today}))
    assert rows(bundle)["a", "Bias"] == ("passed", 1.0)


def test_deepeval_totals_that_contradict_their_rows(tmp_path: Path) -> None:
    case = deepeval_case("a", {"name": "m", "score": 0.1, "success": False}) | {"success": False}
    run = {"testCases": [case], "testPassed": 1, "testFailed": 0}
    _, report = read(put(tmp_path, "run.json", run))
    assert "the totals speak of 1 test cases that passed, the rows of 0" in report.notes


# --- RAGAS and tables -------------------------------------------------------------------------


def test_a_long_table_has_a_row_for_each_case_and_metric(tmp_path: Path) -> None:
    text = (
        "question,answer,metric,score,judge\nq,a,faithfulness,0.5,one\nq,a,faithfulness,1.0,two\n"
        "q,a,tone,0.25,one\nr,b,faithfulness,,one\n"
    )
    path = put(tmp_path, "long.csv", text)
    bundle, report = read(path, "ragas")
    assert len(bundle.cases) == 2
    first = bundle.cases[0].id
    found = rows(bundle)
    assert found[first, "faithfulness"] == ("scored", 0.5)
    assert found[first, "faithfulness (2)"] == ("scored", 1.0)  # by another judge
    assert [row.judge for row in bundle.scores] == ["one", "two", "one", "one"]
    assert any("have one already" in note for note in report.notes)
    assert any("faithfulness are blank" in note for note in report.notes)
    same_for_the_gate(path, bundle)


def test_a_table_with_semicolons_decimal_commas_and_a_totals_row(tmp_path: Path) -> None:
    text = "user_input;response;faithfulness\r\nWie hoch?;2 m;0,5\r\nWann?;um 7;1\r\nMean;;0,75\r\n"
    path = put(tmp_path, "t.csv", text.replace("hoch", "höch").encode("cp1252"))
    with pytest.raises(InputError, match=r"not UTF-8.*name its encoding"):
        read(path, "ragas", encoding="utf-8")
    guessed, told = read(path, "ragas")
    bundle, report = read(path, "ragas", encoding="cp1252")
    assert guessed == bundle
    assert {*told.notes} - {*report.notes} == {
        "not UTF-8 (byte 39): read as Windows-1252; name another with encoding"
    }
    assert [row.value for row in bundle.scores] == [0.5, 1.0]
    assert bundle.cases[0].input == "Wie höch?"
    assert "line 4 is about all rows and was left out" in report.notes


@pytest.mark.parametrize("shape", ["records", "split", "columns", "index", "lines"])
def test_every_shape_of_json_that_pandas_writes(tmp_path: Path, shape: str) -> None:
    cells = [{"user_input": "q", "response": "a", "faithfulness": 0.5}]
    contents: dict[str, Any] = {
        "records": cells,
        "split": {"columns": list(cells[0]), "index": [0], "data": [list(cells[0].values())]},
        "columns": {name: {"0": value} for name, value in cells[0].items()},
        "index": {name: [value] for name, value in cells[0].items()},
        "lines": json.dumps(cells[0]),
    }
    name = "x.jsonl" if shape == "lines" else "x.json"
    bundle, _ = read(put(tmp_path, name, contents[shape]), "ragas")
    assert [row.value for row in bundle.scores] == [0.5]
    assert bundle.outputs[0].text == "a"


def test_averages_alone_are_no_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="averages alone"):
        read(put(tmp_path, "x.json", {"faithfulness": 0.8, "answer_relevancy": 0.7}), "ragas")


# --- other harnesses --------------------------------------------------------------------------

JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="s" tests="9">
<testcase classname="c" name="good" time="0.25"><system-out>said &lt;so&gt;</system-out></testcase>
<testcase classname="c" name="bad"><failure message="no">Score: 0.5</failure></testcase>
<testcase classname="c" name="broken"><failure/><error message="boom"/></testcase>
<testcase classname="c" name="left"><skipped/></testcase>
<testcase classname="c" name="good"/>
</testsuite></testsuites>"""


def test_junit(tmp_path: Path) -> None:
    path = put(tmp_path, "r.xml", JUNIT)
    bundle, report = read(path)
    assert rows(bundle) == {
        ("c::good", "passed"): ("passed", 1.0),
        ("c::bad", "passed"): ("failed", 0.0),
        ("c::broken", "passed"): ("error", None),
        ("c::left", "passed"): ("skipped", None),
        ("c::good (2)", "passed"): ("passed", 1.0),
    }
    assert bundle.outputs[0].text == "said <so>"
    assert next(row.reason for row in bundle.scores if row.case_id == "c::bad") == "no\nScore: 0.5"
    assert "the suites speak of 9 tests, the file holds 5" in report.notes
    same_for_the_gate(path, bundle)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite>&b;</testsuite>'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "declares a document type"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>', "declares a document type"),
        ("<testsuite><testcase name='a'>", ":1: no XML"),
        ("<page/>", "no JUnit XML"),
        ("<html/>", "a page of HTML"),
        ("<testsuite>" + "<a>" * 500, "nested too deeply"),
        ("<testsuite/>", "holds no row"),
        ("", "no XML"),
    ],
)
def test_junit_that_is_none_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(put(tmp_path, "x.xml", text), "junit")
    assert "\n" not in str(caught.value)


def test_lm_eval_samples_have_a_row_a_filter(tmp_path: Path) -> None:
    row = {
        "doc_id": 3,
        "doc": {"question": "2+2?"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?"}},
        "resps": [["it is 4"]],
        "filtered_resps": ["4"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    other = {**row, "filter": "none", "filtered_resps": ["it is 4"], "exact_match": 0.0}
    path = put(tmp_path, "samples_gsm8k.jsonl", f"{json.dumps(row)}\n{json.dumps(other)}\n")
    bundle, report = read(path)
    assert rows(bundle) == {
        ("3", "exact_match,strict-match"): ("scored", 1.0),
        ("3", "exact_match"): ("scored", 0.0),
    }
    (case,), (output,) = bundle.cases, bundle.outputs
    assert (case.input, case.expected, output.text) == ("Q: 2+2?", "4", "4")
    assert report.total == count_leaves(row) + count_leaves(other)
    same_for_the_gate(path, bundle)
    results = {"results": {"gsm8k": {"acc,none": 0.5}}, "configs": {}, "n-shot": {}}
    with pytest.raises(InputError, match="averages alone"):
        read(put(tmp_path, "results_x.json", results))


def test_every_eval_ever_instances(tmp_path: Path) -> None:
    row = {
        "schema_version": "instance_level_eval_0.2.2",
        "evaluation_id": "e",
        "model_id": "m/one",
        "evaluation_name": "gsm8k",
        "sample_id": 4,
        "input": {"raw": "2+2?", "reference": ["4"]},
        "output": {"raw": ["4"]},
        "evaluation": {"score": 1.0, "is_correct": True},
        "token_usage": {"input_tokens": 3, "output_tokens": 1},
        "performance": {"latency_ms": 250},
    }
    failed = {**row, "sample_id": 5, "error": "429", "evaluation": {"score": 0.0}}
    lines = "\n".join(json.dumps(each) for each in (row, row, failed))
    path = put(tmp_path, "x_samples.jsonl", lines)
    bundle, _ = read(path)
    assert [(row.case_id, row.epoch, row.status, row.value) for row in bundle.scores] == [
        ("4", 1, "scored", 1.0),
        ("4", 2, "scored", 1.0),
        ("5", 1, "error", None),
    ]
    assert bundle.outputs[0].text == "4"
    assert (bundle.outputs[0].latency_s, bundle.outputs[0].system) == (0.25, "m/one")
    same_for_the_gate(path, bundle)


# --- a foreign log is scored again, without a model -------------------------------------------


def test_a_foreign_log_is_scored_again_by_our_scorers(tmp_path: Path) -> None:
    from bridge.model import Job
    from bridge.plugin.core import FRAMEWORK

    native = Path(__file__).parent / "native"
    for path, word in (
        (native / "inspect" / "foreign.eval", "Oslo"),
        (native / "promptfoo" / "library.json", "nine"),
    ):
        bundle, _ = read(path)
        spec = {
            "framework": "core",
            "suite": "again",
            "checks": ["equals", {"contains": {"value": word}}],
            "native_dir": tmp_path / "native",
            "import_dir": tmp_path,
        }
        job = Job.model_validate(
            {
                "spec": spec,
                "cases": [case.model_dump(mode="json") for case in bundle.cases],
                "outputs": [output.model_dump(mode="json") for output in bundle.outputs],
            }
        )
        found = list(FRAMEWORK.run(job))
        own = [row for row in found if row.metric in ("equals", "contains")]
        assert len(own) == 2 * len(bundle.outputs)  # promptfoo's assertions are checks of the cases
        assert "passed" in {row.status for row in found if row.metric == "contains"}
        assert {"failed", "error"} & {row.status for row in found}
        assert all(score_line(row) for row in found)


def test_the_cost_of_a_row_is_the_answers_where_that_has_none(tmp_path: Path) -> None:
    def cost_of(row: Any, answer: dict[str, Any]) -> float | None:
        record = {"testIdx": 0, "success": True, "cost": row, "response": {"output": "o", **answer}, "gradingResult": {"pass": True, "score": 1}}  # fmt: skip
        bundle, _ = read(put(tmp_path, "x.jsonl", json.dumps(record)), "promptfoo")
        return bundle.outputs[0].cost_usd

    assert [cost_of(0.25, {}), cost_of(0.25, {"cost": 0.5}), cost_of(0, {}), cost_of("x", {})] == [
        0.25, 0.5, None, None,
    ]  # fmt: skip
