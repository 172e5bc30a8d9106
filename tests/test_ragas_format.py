"""RAGAS's result files: our own read back into the very rows, and those of other people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ragas_jobs import make_job, plain, switched_off, talk

from bridge.model import Bundle, Case, ConversionReport, InputError, Output
from bridge.plugin.format import ReadOptions
from bridge_ragas import FRAMEWORK
from bridge_ragas.format import FORMAT

NATIVE = Path(__file__).parent / "native" / "ragas"

pytestmark = pytest.mark.xdist_group("ragas")


def read(path: Path, **options: Any) -> tuple[Bundle, ConversionReport]:
    return FORMAT.read(path, ReadOptions(options=options))


def written(tmp_path: Path, text: str, name: str = "x.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def values(bundle: Bundle, metric: str) -> list[Any]:
    return [row.value for row in bundle.scores if row.metric == metric]


# --- our own ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """What a run left, its rows, and its cases with their outputs."""
    folder = tmp_path_factory.mktemp("ragas")
    odd = "[{'content': 'x', 'type': 'human'}]"
    pairs = [
        plain("a"),
        plain("b\r\n\x00\u2028 \"quoted\", 'too'"),
        plain("none", expected=""),
        (Case(id="odd", input=odd, expected="['x']"), Output(case_id="odd", text=odd)),
        (Case(id="empty", input="", expected="nan"), Output(case_id="empty", text="")),
        (Case(id="7", input="q", expected=["None", ""]), Output(case_id="7", text="None", epoch=3)),
        talk(),
    ]
    contexts: dict[str, Any] = {"reference_contexts": ["it's", '"so"', {"text": "p", "id": "9"}]}
    pairs.append(plain("contexts", **contexts, metadata={"k": [1.5, None]}, tags=["t"]))
    checks = ["equals", "tool_use", {"latency": {"max": 1}}]
    with switched_off(folder):
        rows = list(FRAMEWORK.run(make_job(folder, pairs, checks)))
    return folder, rows, pairs


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_what_we_wrote_reads_back_into_the_very_rows_and_cases(left: Any, suffix: str) -> None:
    folder, rows, pairs = left
    bundles = [read(path)[0] for path in sorted(folder.glob(f"*.{suffix}"))]
    assert len(bundles) == 2
    found = [row for bundle in bundles for row in bundle.scores]
    assert sorted(found, key=str) == sorted(rows, key=str)
    cases = [case for bundle in bundles for case in bundle.cases]
    outputs = [output for bundle in bundles for output in bundle.outputs]
    assert sorted(cases, key=str) == sorted((case for case, _ in pairs), key=str)
    assert sorted(outputs, key=str) == sorted((output for _, output in pairs), key=str)


def test_our_files_are_recognised(left: Any) -> None:
    folder, _, _ = left
    for path in folder.glob("small-0.*"):
        with path.open("rb") as file:
            sure = FORMAT.sniff(file.read(65536), path)
        expected = 0.97 if path.suffix in (".csv", ".jsonl") else 0.0
        assert sure == expected, path


def test_an_edited_value_counts_as_the_file_has_it(left: Any, tmp_path: Path) -> None:
    folder, _, _ = left
    lines = (folder / "small-0.single_turn.jsonl").read_text("utf-8").split("\n")
    row = json.loads(lines[0])
    row["equals"] = 0.25
    bundle, _ = read(written(tmp_path, json.dumps(row) + "\n", "x.jsonl"))
    (score,) = [each for each in bundle.scores if each.metric == "equals"]
    assert (score.value, score.status) == (0.25, "scored")


def test_a_metric_added_to_our_table_is_read_beside_ours(left: Any, tmp_path: Path) -> None:
    folder, _, _ = left
    lines = (folder / "small-0.single_turn.jsonl").read_text("utf-8").split("\n")[:2]
    rows = [
        {**json.loads(line), "faithfulness": value}
        for line, value in zip(lines, (0.5, None), strict=True)
    ]
    bundle, _ = read(written(tmp_path, "\n".join(map(json.dumps, rows)), "x.jsonl"))
    assert values(bundle, "faithfulness") == [0.5, None]
    assert {row.metric for row in bundle.scores} == {
        "equals",
        "tool_use",
        "latency",
        "faithfulness",
    }


# --- other people's ---------------------------------------------------------------------------

RESULTS = [
    "result.csv",
    "result_with_index.csv",
    "result_records.jsonl",
    "result_records.json",
    "result_columns.json",
]


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_row_for_every_value_and_every_blank(name: str) -> None:
    bundle, report = read(NATIVE / name)
    assert len(bundle.scores) == 3 * 5
    assert values(bundle, "faithfulness") == [0.5, None, 1.0]
    blank = next(row for row in bundle.scores if row.value is None)
    assert (blank.status, blank.metric) == ("error", "faithfulness")
    assert "1 of 3 values of faithfulness are blank: errors" in report.notes
    assert values(bundle, "rouge_score(mode=fmeasure)") == pytest.approx([1 / 3] * 3)
    assert {row.status for row in bundle.scores if row.value is not None} == {"scored"}


@pytest.mark.parametrize("name", RESULTS)
def test_native_scales_and_directions_become_ours(name: str) -> None:
    bundle, _ = read(NATIVE / name)
    rubric = next(row for row in bundle.scores if row.metric == "domain_specific_rubrics")
    noise = next(row for row in bundle.scores if row.scorer == "noise_sensitivity")
    assert rubric.raw is not None
    assert noise.raw is not None
    assert (rubric.value, rubric.raw.value, rubric.raw.scale) == (0.75, 4.0, (1.0, 5.0))
    assert (noise.value, noise.raw.value, noise.raw.direction) == (0.75, 0.25, "lower")


@pytest.mark.parametrize("name", RESULTS)
def test_cases_and_outputs_are_read_with_their_lists(name: str) -> None:
    bundle, _ = read(NATIVE / name)
    assert [output.text for output in bundle.outputs] == [
        "At 7:15, every day.",
        "About two metres.",
        "[unknown]",
    ]
    assert bundle.outputs[0].retrieved_contexts == (
        "The ferry leaves at 7:15.",
        'It\'s free on Sundays, "always".',
    )
    assert bundle.outputs[1].retrieved_contexts == ("Noon: 1.9 m\nMidnight: 0.4 m",)
    assert bundle.cases[1].input == "How high is the tide\nat noon?"
    ids = [case.id for case in bundle.cases]
    assert ids == [case.id for case in read(NATIVE / "dataset.jsonl")[0].cases]


@pytest.mark.parametrize("name", sorted(path.name for path in NATIVE.glob("*.[cj]s*")))
def test_recorded_files_are_recognised_and_accounted_for(name: str) -> None:
    path = NATIVE / name
    assert FORMAT.sniff(path.read_bytes()[:65536], path) == 0.8
    bundle, report = read(path)
    assert report.format == "ragas"
    assert len(bundle.cases) == len(bundle.outputs) > 1
    assert {line.fate for line in report.lines} <= {"native", "dropped"}
    blank = {line.field for line in report.lines if line.reason == "an empty cell"}
    assert blank == ({"[].reference"} if name == "multi_turn.csv" else set())
    lost = [line.field for line in report.lines if line.fate == "dropped"]
    dropped = [field for field in lost if field not in blank]
    assert dropped == (["[]."] if name == "result_with_index.csv" else [])


def test_conversations_are_read_from_what_python_shows_of_them() -> None:
    bundle, _ = read(NATIVE / "multi_turn.csv")
    first, second = bundle.outputs
    assert first.tool_calls[0].arguments == {"berth": 4, "day": "Monday", "note": None}
    assert first.tool_calls[0].result == "{'ok': True}"
    assert (first.text, second.text) == ("Berth 4 is yours.", "Yes.")
    expected = bundle.cases[0].expected_calls
    assert expected is not None
    assert expected.calls[0].name == "book"
    assert values(bundle, "tool_call_f1") == [1.0, 0.0]
    same, _ = read(NATIVE / "dataset_multi_turn.jsonl")
    assert same.outputs == bundle.outputs
    checks = {each.metric: each.scorer for case in bundle.cases for each in case.checks}
    assert checks == {"tool_call_f1": "tool_f1"}
    assert same.cases == tuple(case.model_copy(update={"checks": ()}) for case in bundle.cases)


@pytest.mark.parametrize("name", ["dataset.csv", "dataset.jsonl"])
def test_a_dataset_is_cases_and_outputs_without_scores(name: str) -> None:
    bundle, report = read(NATIVE / name)
    assert bundle.scores == ()
    assert "the table has no metric: cases and outputs only" in report.notes


@pytest.mark.parametrize("name", ["experiment.csv", "experiment.jsonl"])
def test_an_experiment_has_ids_verdicts_and_reasons(name: str) -> None:
    bundle, _ = read(NATIVE / name)
    verdicts = {row.case_id: row for row in bundle.scores if row.metric == "verdict"}
    assert {key: (row.value, row.status, row.label) for key, row in verdicts.items()} == {
        "case-0": (1.0, "passed", "pass"),
        "case-1": (0.0, "failed", "fail"),
        "case-2": (1.0, "passed", "pass"),
    }
    assert verdicts["case-0"].reason == "compared word for word"
    assert values(bundle, "length") == [0.25] * 3


@pytest.mark.parametrize(
    ("head", "reference"),
    [
        ("question,answer,contexts,ground_truth,faithfulness", "r"),
        ("question,answer,contexts,ground_truths,faithfulness", "['r']"),
        ("question,answer,contexts,ground_truths,faithfulness", '"[""r"", ""s""]"'),
    ],
)
def test_older_columns_are_read_as_the_newer_ones(
    tmp_path: Path, head: str, reference: str
) -> None:
    path = written(tmp_path, f"{head}\nq,a,\"['c']\",{reference},0.5\n")
    assert FORMAT.sniff(path.read_bytes(), path) == 0.6
    bundle, _ = read(path)
    assert (bundle.cases[0].input, bundle.outputs[0].text) == ("q", "a")
    assert bundle.cases[0].references[0] == "r"
    assert values(bundle, "faithfulness") == [0.5]


def test_a_value_out_of_range_asks_for_its_scale(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,quality\nq,a,7\nr,b,0.5\n")
    bundle, _ = read(path)
    assert [row.status for row in bundle.scores] == ["error", "scored"]
    assert "declare the scale of quality" in (bundle.scores[0].error or "")
    assert values(read(path, scale=[0, 10])[0], "quality") == [0.7, 0.05]
    assert values(read(path, scale={"quality": [0, 10]})[0], "quality") == [0.7, 0.05]
    with pytest.raises(InputError, match="least, greatest"):
        read(path, scale="10")


def test_a_rubric_may_be_declared_otherwise(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,instance_rubrics\nq,a,2\n")
    assert values(read(path)[0], "instance_rubrics") == [0.25]
    assert values(read(path, scale={"instance_rubrics": [0, 4]})[0], "instance_rubrics") == [0.5]


def test_a_known_metric_is_one_also_where_all_is_blank_or_words(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,faithfulness,context_recall\nq,a,,oops\n")
    bundle, _ = read(path)
    assert [row.status for row in bundle.scores] == ["error", "error"]
    assert "oops" in (bundle.scores[1].error or "")


def test_an_unknown_blank_column_is_pointed_out(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,tone,comment\nq,a,,fine\n")
    bundle, report = read(path)
    assert bundle.scores == ()
    assert any("column tone is blank" in note for note in report.notes)
    assert bundle.cases[0].extras == {"ragas": {"comment": "fine"}}
    assert [line.field for line in report.lines if line.fate == "carried"] == ["[].comment"]
    named, _ = read(path, metrics=["tone"])
    assert [row.status for row in named.scores] == ["error"]


def test_numbers_that_are_no_metric_can_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,tokens,quality\nq,a,712,0.5\n")
    assert [row.status for row in read(path)[0].scores] == ["error", "scored"]
    bundle, _ = read(path, metrics=["quality"])
    assert [row.metric for row in bundle.scores] == ["quality"]


def test_one_question_twice_makes_two_cases(tmp_path: Path) -> None:
    path = written(tmp_path, "user_input,response,faithfulness\nq,a,1\nq,b,0\nr,c,1\n")
    bundle, report = read(path)
    ids = [case.id for case in bundle.cases]
    assert len(set(ids)) == 3
    assert ids[1] == f"{ids[0]} (2)"
    assert any(note.startswith("cases with the name of another: 1") for note in report.notes)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.csv", "user_input,response\nq\n", ":2: 1 cells in a table of 2 columns"),
        ("x.csv", 'user_input,response\n"q,a\n', ":2: no CSV"),
        ("x.csv", "user_input,user_input\nq,a\n", "stands twice"),
        ("x.csv", "user_input,response\n", "no rows"),
        ("x.csv", "name,price\na,1\n", "columns name, price"),
        ("x.jsonl", '{"user_input": "q", "response": "a"}\n{"user_', ":2: row 2 cannot be read"),
        ("x.csv", "user_input,response,contexts,m\nq,a,[1e999],1\n", ":2: the row cannot be read"),
        ("x.jsonl", '{"user_input": 7, "response": "a"}', ":1: the row cannot be read"),
        (
            "x.jsonl",
            '{"user_input": "q", "response": "a"}\n[]',
            ":2: row 2 cannot be read (a JSON list",
        ),
        ("x.json", "[1]", "row 1 is no object"),
        ("x.json", '{"user_input": "q"}', "no table of columns"),
        ("x.json", "[]", "empty"),
        ("x.json", "[" * 100_000, "cut off"),
        ("x.json", "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
)
def test_a_faulty_file_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, text, name))
    assert said in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def test_nan_of_ragas_is_a_blank(tmp_path: Path) -> None:
    path = written(
        tmp_path, '{"user_input": "q", "response": "a", "m": NaN}\n{"m": 1.0}', "x.jsonl"
    )
    bundle, _ = read(path)
    assert [(row.status, row.value) for row in bundle.scores] == [("error", None), ("scored", 1.0)]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("x.csv", "id,input,expected\n"),
        ("x.csv", "input,actual_output,expected_output,score\n"),
        ("x.csv", "question,label\n"),
        ("x.csv", "question,answer\n"),
        ("x.jsonl", '{"id": "a", "input": "q", "expected": "e"}'),
        ("x.jsonl", '{"system": "s", "case_id": "a", "text": "t"}'),
        ("x.json", '{"version": 2, "status": "success", "eval": {"user_input": ["'),
        ("x.json", '{"results": [{"vars": {"user_input": "q", "response": "' + "x" * 70000),
        ("x.json", '{"testCases": [], "user_input'),
        ("x.eval", "user_input,response\n"),
        ("x.txt", "user_input,response\n"),
        ("x.csv", ""),
        ("x.json", "{"),
        ("x.csv", "\x00\xff"),
    ],
)
def test_other_files_are_not_claimed(name: str, head: str) -> None:
    assert FORMAT.sniff(head.encode()[: 64 * 1024], Path(name)) == 0.0


def test_a_long_first_row_is_still_recognised() -> None:
    row = json.dumps({"user_input": "x" * 70_000, "response": "a"}).encode()[: 64 * 1024]
    assert FORMAT.sniff(row, Path("x.jsonl")) == 0.3


def test_a_cell_is_never_executed(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    cell = f"[__import__('pathlib').Path('{ran}').touch()]"
    path = written(tmp_path, f'user_input,response,retrieved_contexts\nq,a,"{cell}"\n')
    bundle, _ = read(path)
    assert bundle.outputs[0].retrieved_contexts == (cell,)
    assert not ran.exists()


@pytest.mark.parametrize(
    "cell", ["[" * 50_000, "[" + "-" * 50_000 + "1]", "['\\d']", "[0x" + "f" * 9999]
)
def test_a_hostile_cell_is_a_text(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"user_input,response,retrieved_contexts\nq,a,{cell}\n")
    bundle, _ = read(path)
    assert len(bundle.outputs[0].retrieved_contexts) == 1


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200), name=st.sampled_from(["x.csv", "x.jsonl", "x.json"]))
def test_no_file_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(data)
    assert 0.0 <= FORMAT.sniff(data, path) <= 1.0
    with pytest.raises(InputError):
        read(path)


def test_reading_imports_no_framework() -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom bridge.plugin.format import ReadOptions\n"
        "from bridge_ragas.format import FORMAT\n"
        f"FORMAT.read(Path({str(NATIVE / 'result.csv')!r}), ReadOptions())\n"
        "heavy = {'ragas', 'pandas', 'datasets', 'langchain_core', 'openai'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
