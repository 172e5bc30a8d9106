"""The formats of others that people migrate from: tables, LangSmith, OpenAI evals, pydantic-evals."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Bridge, write_jsonl

from bridge.model import Bundle, Case, Check, InputError, Suite
from bridge.plugin.format import Format, ReadOptions, WriteOptions
from bridge.plugin.formats.langsmith import LANGSMITH
from bridge.plugin.formats.openai_evals import OPENAI_EVALS
from bridge.plugin.formats.pydantic_evals import PYDANTIC_EVALS
from bridge.plugin.formats.table import TABLE
from bridge.plugin.registry import detect_format
from bridge.scorers.evaluate import evaluate
from bridge.testing.accounted import assert_accounted


def read(format_: Format, path: Path, **options: Any) -> tuple[Bundle, Any]:
    return format_.read(path, ReadOptions(options=options))


# --- tables -----------------------------------------------------------------------------------------

HEAD = ["Frage", "ground_truth", "answer", "contexts", "difficulty", "Unnamed: 0"]
ROWS: list[list[Any]] = [
    [
        "Wann?",
        "In 5 Tagen; vielleicht.",
        "In 5 Tagen",
        "['Policy 12: 5 days', 'x, y']",
        "easy",
        "0",
    ],
    ["Wie viel?", "['10', 'zehn']", "", "", "", "1"],
]


def csv_file(path: Path, head: list[str] = HEAD, rows: list[list[Any]] = ROWS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def test_a_table_by_the_names_of_its_columns(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "t.csv")
    assert detect_format(path) is TABLE
    bundle, report = read(TABLE, path)
    first, second = bundle.cases
    assert (first.id, first.input) == ("row-1", "Wann?")
    assert first.expected == "In 5 Tagen; vielleicht."
    assert second.expected == ["10", "zehn"]
    assert dict(first.metadata) == {"difficulty": "easy"}
    assert [each.text for each in bundle.outputs] == ["In 5 Tagen", ""]
    assert bundle.outputs[0].retrieved_contexts == ("Policy 12: 5 days", "x, y")
    assert any("input=Frage" in note and "--map" in note for note in report.notes)
    assert report.total == len(HEAD) * len(ROWS)
    dropped = {line.field: line.count for line in report.lines if line.fate == "dropped"}
    assert dropped == {"[].Unnamed: 0": 2, "[].contexts": 1, "[].difficulty": 1}


def test_a_map_decides(tmp_path: Path, bridge: Bridge) -> None:
    path = csv_file(tmp_path / "t.csv", ["a", "b", "c"], [["q", "x", "1"]])
    bare = bridge("convert", path, "out/cases.jsonl", "--from", "table")
    assert bare.returncode == 2
    assert "no column is the input (there are: a, b, c); name it: --map input=COLUMN" in bare.stderr
    flags = ("--map", "input=a", "--map", "expected=b", "--map", "vars.n=c")
    done = bridge("convert", path, "out/cases.jsonl", "--from", "table", *flags)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/cases.jsonl").read_text()) == {
        "id": "row-1", "input": "q", "expected": "x", "vars": {"n": "1"},
    }  # fmt: skip
    assert "columns: input=a, expected=b, vars.n=c" in done.stdout


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ({"input": "z"}, "there is no column 'z'"),
        ({"nope": "a"}, "no field 'nope' to map"),
        ({"vars.": "a"}, "no field 'vars.' to map"),
        ("input=a", "map is 'input=a'"),
    ],
)
def test_a_faulty_map(tmp_path: Path, mapping: Any, told: str) -> None:
    path = csv_file(tmp_path / "t.csv", ["a"], [["q"]])
    with pytest.raises(InputError) as caught:
        read(TABLE, path, map=mapping)
    assert told in str(caught.value)


RECORDS: list[dict[str, Any]] = [
    {"qid": 7, "question": "Q?", "expected_answer": {"a": 1}, "tags": ["x", "y"], "level": 3},
    {"qid": 7, "question": [{"role": "user", "content": "hi"}], "expected_answer": None, "level": [1, {"b": None}]},
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet", ".xlsx"])
def test_every_kind_of_table_is_the_same_cases(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    records = RECORDS
    if suffix == ".jsonl":
        write_jsonl(path, records)
    elif suffix == ".json":
        path.write_text(json.dumps({"meta": "m", "cases": records}))
    else:
        flat = [{key: _cell(item) for key, item in row.items()} for row in records]
        _binary(path, flat)
    assert detect_format(path) is TABLE
    bundle, report = read(TABLE, path)
    assert [case.id for case in bundle.cases] == ["7", "7#2"]
    assert bundle.cases[0].tags == ("x", "y")
    assert bundle.cases[1].input[0].content == "hi"  # type: ignore[union-attr,index]
    assert bundle.cases[1].expected == ""
    if suffix in (".json", ".jsonl"):
        document = {"meta": "m", "cases": records} if suffix == ".json" else records
        changed = ("cases[].expected_answer", "[].expected_answer", "cases[].qid", "[].qid")
        assert_accounted(document, bundle, report, changed=changed)
        assert bundle.cases[0].expected == {"a": 1}
        assert bundle.cases[0].metadata["level"] == 3


def _cell(item: Any) -> Any:
    return item if isinstance(item, str | int | None) else json.dumps(item)


def _binary(path: Path, rows: list[dict[str, Any]]) -> None:
    if path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        names = list(rows[0])
        columns = {name: [_text(row.get(name)) for row in rows] for name in names}
        parquet.write_table(pa.table(columns), path)
        return
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([])
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([row.get(name) for name in rows[0]])
    book.create_sheet("other").append(["nothing"])
    book.save(path)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def test_a_sheet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    _binary(path, [{"input": "q", "expected": "x"}])
    assert len(read(TABLE, path, sheet="Sheet")[0].cases) == 1
    with pytest.raises(InputError, match="there is no sheet 'x'; use one of Sheet, other"):
        read(TABLE, path, sheet="x")


def test_a_formula_without_a_value_is_told(tmp_path: Path) -> None:
    """Whoever computes formulas saves their values too; a program that wrote the file did not."""
    path = tmp_path / "t.xlsx"
    _binary(path, [{"input": "q", "expected": "=1+1"}, {"input": "r", "expected": "x"}])
    bundle, report = read(TABLE, path)
    assert [case.expected for case in bundle.cases] == ["", "x"]
    (note,) = (each for each in report.notes if "formula" in each)
    assert note.startswith("1 formula saved without a value and left out")


def test_an_empty_input_is_told_by_its_column(tmp_path: Path) -> None:
    """As in instruction sets, whose column of that name is mostly empty."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"instruction": "Do x", "input": "", "output": "y"}]))
    with pytest.raises(InputError, match=r"empty \(column 'input'\).*--map input=COLUMN"):
        read(TABLE, path)
    assert read(TABLE, path, map={"input": "instruction"})[0].cases[0].input == "Do x"


def test_without_openpyxl_one_line_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    code = "import sys; sys.modules['openpyxl'] = None; from bridge.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "convert", "t.xlsx", "out/cases.jsonl"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'bridge-evals[tables]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


# --- LangSmith ----------------------------------------------------------------------------------

EXAMPLES: list[dict[str, Any]] = [
    {"id": "e-1", "inputs": {"question": "When?"}, "outputs": {"answer": "Soon"}, "metadata": {"dataset_split": ["test"], "k": 1}, "created_at": "2026-01-01"},
    {"id": "e-2", "inputs": {"messages": [{"type": "human", "data": {"content": "Hi"}}]}, "outputs": {"output": {"role": "assistant", "content": "Hello"}}, "metadata": None},
    {"id": "e-3", "inputs": {"question": "Why?", "context": "c"}, "outputs": {"answer": "So", "score": 2}},
    {"id": "e-4", "inputs": {"a": 1, "b": [2]}, "outputs": {"x": 1, "y": 2}},
    {"id": "e-5", "inputs": {"question": "Which?"}, "outputs": {"labels": ["p", "q"]}},
]  # fmt: skip


def test_examples_of_every_shape(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "export.jsonl", EXAMPLES)
    assert detect_format(path) is LANGSMITH
    bundle, report = read(LANGSMITH, path)
    one, chat, several, whole, listed = bundle.cases
    assert (one.id, one.input, one.expected, one.tags) == ("e-1", "When?", "Soon", ("test",))
    assert dict(one.metadata) == {"k": 1}
    assert (chat.input[0].role, chat.expected) == ("user", "Hello")  # type: ignore[union-attr,index]
    assert (several.input, several.expected) == ("Why?", "So")
    assert dict(several.vars) == {"question": "Why?", "context": "c"}
    assert (whole.input, whole.expected) == ({"a": 1, "b": [2]}, {"x": 1, "y": 2})
    assert listed.references == (["p", "q"],)
    assert_accounted(EXAMPLES, bundle, report)


def test_keys_are_named(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "export.jsonl", [EXAMPLES[2]])
    bundle, _ = read(LANGSMITH, path, input="context", expected="score")
    assert (bundle.cases[0].input, bundle.cases[0].expected) == ("c", 2)
    with pytest.raises(InputError, match="there is no 'nope'; use one of question, context"):
        read(LANGSMITH, path, input="nope")


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (["id", "inputs", "outputs"], ["e", '{"question": "When?"}', '{"answer": "Soon"}']),
        (["id", "input_question", "output_answer"], ["e", "When?", "Soon"]),
        (["id", "inputs.question", "outputs.answer"], ["e", "When?", "Soon"]),
        (["id", "input", "inputs", "outputs"], ["e", "kept", "When?", "Soon"]),
    ],
)
def test_csv_exports(tmp_path: Path, head: list[str], row: list[str]) -> None:
    path = csv_file(tmp_path / "export.csv", head, [row])
    assert detect_format(path) is LANGSMITH
    (case,) = read(LANGSMITH, path)[0].cases
    assert (case.id, case.input, case.expected) == ("e", "When?", "Soon")


# --- OpenAI evals -----------------------------------------------------------------------------------

SAMPLES: list[dict[str, Any]] = [
    {"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}], "ideal": "4"},
    {"input": "Capital of France?", "ideal": ["Paris", "paris"], "choice_strings": ["a", "b"]},
    {"input": "No answer?", "ideal": ""},
]  # fmt: skip


def test_samples_and_back(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", SAMPLES)
    assert detect_format(path) is OPENAI_EVALS
    bundle, report = read(OPENAI_EVALS, path)
    assert [case.expected for case in bundle.cases] == ["4", ["Paris", "paris"], ""]
    assert_accounted(SAMPLES, bundle, report)
    written = OPENAI_EVALS.write(bundle, tmp_path / "samples.jsonl", WriteOptions())
    assert "dropped" not in written.counts
    lines = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert [{k: v for k, v in line.items() if k != "id"} for line in lines] == SAMPLES
    assert read(OPENAI_EVALS, tmp_path / "samples.jsonl")[0] == bundle


# --- pydantic-evals -----------------------------------------------------------------------------

DATASET = """\
# yaml-language-server: $schema=my_tests_schema.json
name: my tests
cases:
- name: upper
  inputs: hello
  expected_output: HELLO
  metadata: {level: easy}
  evaluators:
  - Contains: {value: hell, case_sensitive: false, evaluation_name: has_hell}
  - Contains: HELLO
  - Contains: [1]
- inputs: {question: "When?"}
  expected_output: [1, 2]
- name: number
  inputs: 5
  metadata: [a]
  odd: 1
evaluators:
- IsInstance: str
- EqualsExpected
- MaxDuration: 2.5
- LLMJudge: {rubric: is polite}
- Mine: {threshold: 3}
report_evaluators: [x]
"""


def test_a_dataset_and_back(tmp_path: Path) -> None:
    path = tmp_path / "my_tests.yaml"
    path.write_text(DATASET)
    assert detect_format(path) is PYDANTIC_EVALS
    bundle, report = read(PYDANTIC_EVALS, path)
    document = yaml.safe_load(DATASET)
    assert_accounted(document, bundle, report)
    assert bundle.suite is not None
    assert [check.metric for check in bundle.suite.checks] == ["EqualsExpected", "MaxDuration"]
    upper, listed, number = bundle.cases
    assert [check.metric for check in upper.checks] == ["has_hell", "Contains"]
    assert (listed.id, listed.references) == ("case-2", ([1, 2],))
    assert (number.id, number.input) == ("number", "5")
    reasons = {line.reason for line in report.lines if line.fate == "carried"}
    assert any("judge" in reason for reason in reasons)
    for suffix in (".yaml", ".json"):
        out = tmp_path / f"out.dataset{suffix}"
        written = PYDANTIC_EVALS.write(bundle, out, WriteOptions())
        kept = {line.field for line in written.lines if line.fate == "dropped"}
        assert kept <= {"suite.golden_set", "suite.system"}  # a suite names files
        again = yaml.safe_load(out.read_text())
        document["cases"][1].setdefault("name", "case-2")
        assert again == document
        cases = read(PYDANTIC_EVALS, out)[0].cases
        assert cases == bundle.cases


def output_of(case: Case, text: Any, **fields: Any) -> Any:
    from bridge.model import Output

    return Output(case_id=case.id, text=text, **fields)


def test_evaluators_mean_what_they_mean_there(tmp_path: Path) -> None:
    path = tmp_path / "my_tests.yaml"
    path.write_text(DATASET)
    bundle, _ = read(PYDANTIC_EVALS, path)
    assert bundle.suite is not None
    equals, duration = bundle.suite.checks
    upper, listed, _ = bundle.cases
    status = {
        (text, check.metric): evaluate(check, upper, output_of(upper, text, latency_s=3.0)).status
        for text in ("HELLO", "hello", " HELLO")
        for check in (equals, duration, *upper.checks)
    }
    passed = {key for key, value in status.items() if value == "passed"}
    assert passed == {
        ("HELLO", "EqualsExpected"), ("HELLO", "Contains"), (" HELLO", "Contains"),
        ("HELLO", "has_hell"), ("hello", "has_hell"), (" HELLO", "has_hell"),
    }  # fmt: skip
    assert evaluate(equals, listed, output_of(listed, [1, 2])).status == "passed"
    assert evaluate(equals, listed, output_of(listed, 1)).status == "failed"


def test_our_checks_as_evaluators(tmp_path: Path) -> None:
    checks: list[Any] = [
        {"equals": {"strip": False}},
        {"contains": {"value": "x", "ignore_case": True, "metric": "x"}},
        {"latency": {"max": 1}},
        {"regex": "a"},
        {"contains": {"value": "y", "metric": "y", "negate": True}},
    ]
    suite = Suite.model_validate(
        {"name": "s", "golden_set": "c.jsonl", "system": {"recorded": "o.jsonl"}, "checks": checks}
    )
    case = Case(id="a", input="q", expected="x")
    out = tmp_path / "dataset.yaml"
    report = PYDANTIC_EVALS.write(Bundle(suite=suite, cases=(case,)), out, WriteOptions())
    assert yaml.safe_load(out.read_text())["evaluators"] == [
        "EqualsExpected",
        {"Contains": {"value": "x", "case_sensitive": False, "evaluation_name": "x"}},
        {"MaxDuration": {"seconds": 1}},
    ]
    dropped = {line.reason for line in report.lines if line.fate == "dropped"}
    assert "pydantic-evals has no evaluator for it" in dropped
    again = read(PYDANTIC_EVALS, out)[0].suite
    assert again is not None
    kinds = [(check.scorer, dict(check.params)) for check in again.checks]
    assert kinds == [(check.scorer, dict(check.params)) for check in suite.checks[:3]]
    assert isinstance(again.checks[0], Check)


# --- hostile files ------------------------------------------------------------------------------

DEEP = "[" * 100_000
HOSTILE: dict[str, tuple[str, str | bytes]] = {
    "an empty table": ("t.csv", ""),
    "a head alone": ("t.csv", "input,expected\n"),
    "an empty input": ("t.csv", "input,expected\n,x\n"),
    "nothing but NUL": ("t.csv", b"\x00" * 4096),
    "no workbook": ("t.xlsx", b"\x00" * 4096),
    "an empty workbook": ("t.xlsx", b""),
    "a workbook of another kind": ("t.xlsx", "zip"),
    "no Parquet": ("t.parquet", b"PAR1junk"),
    "deep JSON": ("t.json", '{"input": ' + DEEP),
    "repeated keys": ("t.jsonl", '{"inputs": {"a": 1, "a": 2}, "outputs": {}}\n'),
    "an example without inputs": ("t.jsonl", '{"inputs": {}, "outputs": {"a": 1}}\n'),
    "inputs that are a list": ("t.jsonl", '{"inputs": [1], "outputs": {"a": 1}}\n'),
    "metadata that is a text": ("t.jsonl", '{"inputs": {"a": "x"}, "outputs": {}, "metadata": "m"}\n'),
    "a sample that asks nothing": ("t.jsonl", '{"input": "x", "ideal": "y"}\n{"ideal": "y"}\n'),
    "a sample of null": ("t.jsonl", '{"input": "x", "ideal": "y"}\nnull\n'),
    "a YAML tag": ("t.yaml", "cases:\n- inputs: !!python/object/apply:os.system [id]\n  expected_output: x\n"),
    "a case without inputs": ("t.yaml", "cases:\n- inputs: x\n- expected_output: x\n"),
    "cases that are no list": ("t.yaml", "evaluators: []\ncases:\n  inputs: x\n"),
    "a case that is a text": ("t.yaml", "evaluators: []\ncases:\n- x\n- inputs: y\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_one_line(tmp_path: Path, bridge: Bridge, name: str) -> None:
    file, content = HOSTILE[name]
    path = tmp_path / file
    if content == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("hello.txt", "hello")
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    done = bridge("convert", file, "out/cases.jsonl")
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert file in done.stderr
    assert not (tmp_path / "out" / "cases.jsonl").exists()


def test_lone_surrogates_and_nan_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": "a\\ud800b", "expected": NaN, "n": -Infinity}\n')
    bundle, report = read(TABLE, path)
    assert bundle.cases[0].input == "a\ufffdb"
    assert bundle.cases[0].expected == ""
    assert any("NaN" in note for note in report.notes)


def test_columns_that_are_named_make_any_rows_a_table(bridge: Bridge, tmp_path: Path) -> None:
    """By its columns alone this file would be a RAGAS dataset, which names its own."""
    (tmp_path / "a.csv").write_text("question,answer,reference\nq,a,r\n", "utf-8")
    bare = bridge("convert", "a.csv", "bare.jsonl")
    assert "a.csv (ragas_dataset)" in bare.stdout
    done = bridge("convert", "a.csv", "c.jsonl", "--map", "input=question", "--map", "id=reference")
    assert done.returncode == 0, done.stderr
    assert '"id":"r","input":"q"' in (tmp_path / "c.jsonl").read_text("utf-8")
