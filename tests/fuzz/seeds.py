"""What the fuzzer starts from: small files of every format, recorded, written by us, and by hand."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.mutation import LARGEST

from bridge.conversion.target import held_parts, writers
from bridge.files.outputs import write_outputs
from bridge.files.scores import write_scores
from bridge.files.store import RunStore
from bridge.model import Bundle, Case, Output, Score, Suite
from bridge.model.run import ExpectedRows, RunRecord
from bridge.plugin.format import WriteOptions

NATIVE = Path(__file__).parents[1] / "native"


class Seed(NamedTuple):
    """A file to be mutated.

    Attributes:
        format: Who reads it.
        name: Its path in the folder that is read.
        content: What is in it.
        beside: The other files there, which stay as they are.
        main: What is read, where it is another file of the folder, or the folder.
    """

    format: str
    name: str
    content: bytes
    beside: Mapping[str, bytes] = {}
    main: str = ""


def seeds() -> Iterator[Seed]:
    """Every file, format by format."""
    found = [*_recorded(), *_by_hand(), *_binary(), *_written()]
    yield from sorted(found, key=lambda seed: seed.format)


def _recorded() -> Iterator[Seed]:
    """What the real frameworks left."""
    datasets = {"ragas": "ragas_dataset"}
    for path in sorted(NATIVE.rglob("*")):
        name = path.relative_to(NATIVE).parts[0]
        if path.suffix not in (".eval", ".json", ".jsonl", ".csv") or name == "promptfoo":
            continue
        if path.stat().st_size <= LARGEST:
            yield Seed(name, path.name, path.read_bytes())
            if name in datasets and "dataset" in path.stem:
                yield Seed(datasets[name], path.name, path.read_bytes())


CALLS = {"calls": [{"name": "f", "arguments": {"n": {"$approx": 1, "abs": 0.1}}}], "mode": "strict"}
BUNDLE: dict[str, Any] = {
    "suite": {
        "name": "s",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "v1.outputs.jsonl"},
        "checks": ["equals", {"contains": {"value": "a", "metric": "c", "weight": 2}}, "tool_use"],
        "gate": {"metrics": {"c": {"min": 0.5}}},
    },
    "cases": [
        {"id": "a", "input": "q", "expected": ["x", "y"], "reference_contexts": ["r"], "tags": ["t"]},
        {"id": "b", "input": [{"role": "user", "content": "u"}], "expected": {"k": 1}, "vars": {"v": 1},
         "tools": [{"name": "f", "parameters": {"type": "object"}}], "expected_calls": CALLS},
        {"id": "c", "input": "", "expected": "", "persona": "p", "checks": [{"equals": {"metric": "e"}}],
         "turns": [{"user": "1", "expected": "x"}, {"user": "2", "context_refs": [{"regex": "a"}]}]},
    ],
    "outputs": [
        {"case_id": "a", "text": "x", "retrieved_contexts": ["p", {"text": "q", "id": "1"}], "latency_s": 1},
        {"case_id": "b", "text": "", "tool_calls": [{"name": "f", "arguments": {"n": 1}, "result": [1]}]},
        {"case_id": "c", "turns": [{"text": "1"}, {"text": "2", "error": "e"}], "usage": {"input_tokens": 1}},
    ],
    "scores": [
        {"framework": "core", "metric": "m", "case_id": "a", "status": "passed", "value": 1, "threshold": 0.5},
        {"framework": "core", "metric": "m", "case_id": "b", "status": "error", "error": "e"},
    ],
}  # fmt: skip


RECORD = {
    "suite_path": "s.yaml",
    "created": "2026-01-01T00:00:00Z",
    "bridge_version": "0",
    "python_version": "3",
}


def _written() -> Iterator[Seed]:
    """What our own writers make of one bundle, each file of theirs in turn."""
    bundle = Bundle(
        suite=Suite.model_validate(BUNDLE["suite"]),
        cases=tuple(Case.model_validate(case) for case in BUNDLE["cases"]),
        outputs=tuple(Output.model_validate(output) for output in BUNDLE["outputs"]),
        scores=tuple(Score.model_validate(score) for score in BUNDLE["scores"]),
    )
    for format_ in writers():
        if not held_parts(format_, bundle):
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            name = format_.info.patterns[0].rsplit("/", 1)[-1].replace("*", "x")
            format_.write(bundle, folder / name, WriteOptions())
            yield from _each(format_.info.name, folder, name)
    yield from _run(bundle)


def _run(bundle: Bundle) -> Iterator[Seed]:
    """A run directory."""
    assert bundle.suite is not None
    with tempfile.TemporaryDirectory() as made:
        store = RunStore(Path(made))
        store.write_record(RunRecord.model_validate({**RECORD, "suite": bundle.suite}))
        store.write_rows([ExpectedRows(system="s", case_id="a", digest="0" * 64, rows=())])
        write_outputs(bundle.outputs, store.outputs_path)
        write_scores(bundle.scores, store.scores_path("core"))
        yield from _each("run", store.root, ".")


def _each(format_: str, folder: Path, name: str) -> Iterator[Seed]:
    """A seed for the file that is read, and for each that it is read with."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".py", ".cjs", ".js")
    }
    for mutated in files:
        beside = {other: content for other, content in files.items() if other != mutated}
        yield Seed(format_, mutated, files[mutated], beside, name)


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


ROW = {
    "testIdx": 0, "promptIdx": 0, "success": True, "score": 1, "namedScores": {"m": 0.5},
    "provider": {"id": "p", "label": ""}, "vars": {"q": "a"}, "latencyMs": 3, "cost": 0.1,
    "prompt": {"raw": "r", "label": "l"}, "failureReason": 0,
    "response": {"output": "o", "tokenUsage": {"prompt": 1, "completion": 2}},
    "testCase": {"vars": {"q": "a"}, "assert": [{"type": "equals", "value": "o"}], "metadata": {"k": 1}},
    "gradingResult": {"pass": True, "score": 1, "reason": "r", "namedScores": {"m": 0.5},
                      "componentResults": [{"pass": True, "score": 1, "reason": "r",
                                            "assertion": {"type": "equals", "value": "o", "metric": "m"}}]},
}  # fmt: skip
CONFIG = b"""
prompts: ['Say {{q}}', {label: two, raw: x}]
providers: [echo, {id: 'openai:x', config: {temperature: 0}}]
defaultTest: {vars: {d: 1}, options: {transform: output.trim()}, assert: [{type: latency, threshold: 9}]}
assertionTemplates: {t: {type: contains, value: a}}
scenarios: [{config: [{vars: {s: 1}}], tests: [{vars: {q: z}}]}]
tests:
  - file://tests.csv
  - &one {description: d, vars: {q: a, l: [x, y]}, assert: [{type: not-equals, value: '{{q}}', weight: 2}]}
  - {<<: *one, threshold: 0.5, metadata: {k: 1}}
  - vars: {q: b}
    assert:
      - {$ref: '#/assertionTemplates/t'}
      - {type: assert-set, threshold: 0.5, assert: [{type: icontains-any, value: [a, b]}]}
      - {type: javascript, value: 'output.length > 1'}
      - {type: llm-rubric, value: good, provider: x}
      - {type: is-json, value: {type: object}}
"""
CONFIG_CSV = b'q,__expected1,__expected2,__metadata:tags[],__threshold\na,equals: b,"icontains-any: a, b","x,y",0.5\n'
DATASETS: dict[str, dict[str, str]] = {
    "deepeval_dataset": {
        "g.csv": "input,expected_output,context,tools_called,tags\n"
        'q,e,"a|b","[{\'name\': \'f\', \'input_parameters\': {\'n\': 1}}]",x;y\n',
        "g.json": json.dumps({"goldens": [
            {"input": "q", "expectedOutput": "e", "retrievalContext": [{"context": "c", "source": "s"}],
             "expectedTools": [{"name": "f", "params": {"a": 1}}], "additionalMetadata": {"k": "v"}},
            {"_comment": "template"},
            {"scenario": "s", "turns": [{"user": "u", "assistant": "a"}, {"role": "user", "content": "x"}]},
        ]}),
    },
    "inspect_dataset": {
        "s.csv": "id,input,target,choices,metadata\n1,q,A,\"a,b\",\"{\"\"k\"\": 1}\"\n",
        "s.json": json.dumps([
            {"input": [{"role": "user", "content": [{"type": "text", "text": "t"}]}], "target": ["A", "B"],
             "choices": ["a", "b"], "files": {"f": "data:,x"}, "sandbox": "docker", "metadata": {"k": 1}},
        ]),
    },
    "ragas_dataset": {
        "d.csv": "question,contexts,ground_truths,answer\nq,\"['a' 'b']\",\"[\"\"g\"\"]\",x\n",
        "d.json": json.dumps({"user_input": {"0": "q"}, "retrieved_contexts": {"0": ["c"]}, "reference": {"0": "r"}}),
        "m.jsonl": _lines([{"user_input": [
            {"content": "q", "type": "human"},
            {"content": "a", "type": "ai", "tool_calls": [{"name": "f", "args": {"n": 1}}]},
            {"content": "r", "type": "tool"}], "reference_tool_calls": [{"name": "f", "args": {}}]}]),
    },
    "langsmith": {
        "e.csv": "input_question,output_answer,metadata,id,split\nq,a,\"{'k': 1}\",1,test\n",
        "e.jsonl": _lines([{"inputs": {"messages": [{"role": "user", "content": "q"}]},
                            "outputs": {"answer": "a"}, "metadata": {"dataset_split": ["base"]}}]),
        "e.json": json.dumps([{"inputs": {"q": "x"}, "outputs": None, "id": "1", "created_at": "t"}]),
    },
    "openai_evals": {
        "x.evals.jsonl": _lines([{"input": [{"role": "system", "content": "s"},
                                            {"role": "user", "content": "q"}], "ideal": ["a", "b"]},
                                 {"input": "q", "ideal": "a", "x": 1}]),
    },
    "pydantic_evals": {
        "d.yaml": "name: n\ncases:\n- name: a\n  inputs: {q: x}\n  expected_output: y\n  metadata: {k: 1}\n"
        "  evaluators:\n  - EqualsExpected\n  - Contains: {value: y, case_sensitive: false}\n"
        "evaluators:\n- IsInstance: str\n- MaxDuration: 2\n",
    },
    "table": {
        "t.csv": "id;Frage;Antwort;contexts;x\n1;q;0,5;\"['a', 'b']\";y\n2;r;;;z\n",
        "t.json": json.dumps({"module": "m", "cases": [{"question": "q", "expected": {"a": 1}, "tags": "a;b"}]}),
        "t.jsonl": _lines([{"prompt": "q", "output": "o", "retrieved_contexts": ["c"]}]),
        "t.tsv": "question\tanswer\nq\ta\n",
    },
    "junit": {
        "r.xml": '<?xml version="1.0"?><testsuites><testsuite name="s" tests="3" time="1.5">'
        '<testcase classname="c" name="a" time="0.1"><failure message="m">f</failure></testcase>'
        '<testcase name="b"><error>e</error><system-out>o</system-out></testcase>'
        '<testcase name="c"><skipped/><properties><property name="p" value="1"/></properties></testcase>'
        "</testsuite></testsuites>",
    },
    "lm_eval": {
        "samples_x.jsonl": _lines([{"doc_id": 1, "doc": {"question": "q"}, "target": "a", "acc": 1.0,
            "arguments": {"gen_args_0": {"arg_0": "p"}}, "resps": [["a"]], "filtered_resps": ["a"],
            "filter": "none", "metrics": ["acc"], "doc_hash": "h"}]),
    },
    "every_eval_ever": {
        "x_samples.jsonl": _lines([{"schema_version": "0.2", "evaluation_id": "e", "model_id": "m",
            "evaluation_name": "n", "sample_id": 1, "input": {"raw": "q", "reference": ["a"]},
            "output": {"raw": ["a"]}, "evaluation": {"score": 1, "is_correct": True}}]),
    },
    "promptfoo": {
        "r.json": json.dumps({"evalId": "e", "results": {"version": 3, "prompts": [{"raw": "r", "provider": "p"}],
            "results": [ROW], "stats": {"successes": 1}}, "config": {"prompts": ["r"]}}),
        "v1.json": json.dumps({"results": {"results": [{"prompt": {"raw": "r"}, "vars": {"q": "a"}, "success": False,
            "error": "e", "response": {"output": "o"}}], "stats": {"failures": 1},
            "table": {"head": {"prompts": ["r"], "vars": ["q"]}, "body": [{"outputs": ["o"], "vars": ["a"]}]}}}),
        "share.json": json.dumps([{**ROW, "providerResponse": {"output": {"a": [1]}}}]),
        "r.jsonl": _lines([ROW, ROW]),
        "new.csv": 'q,[e] p,Status,Score,Named Scores,Grader Reason,Comment\na,b,PASS,1.0,"{}",why,c\n',
        "old.csv": 'q,p\na,"[PASS] (1.00, m: 0.5) x"\nb,"y\nFail Reason: no"\n',
    },
    "deepeval": {
        "cache.json": json.dumps({"test_cases_lookup_map": {json.dumps({"input": "a"}): {"cached_metrics_data": [
            {"metric_data": {"name": "Bias", "score": 0.5, "success": True, "threshold": 0.5},
             "metric_configuration": {"threshold": 0.5}}]}}}),
    },
    "ragas": {
        "long.csv": "question,metric,score,judge,reason\nq,faithfulness,0.5,j,r\nq,faithfulness,,k,\n",
        "wide.csv": "question;answer;contexts;faithfulness\nq;a;\"['c']\";0,5\nAverage;;;0,5\n",
    },
    "baseline": {
        "baseline.json": json.dumps({"suite": "s", "scores": {"m": {"a": 1.0}, "n": 0.5}}),
    },
}  # fmt: skip
"""Files by hand, by format and name."""


def _by_hand() -> Iterator[Seed]:
    for format_, files in DATASETS.items():
        for name, text in files.items():
            yield Seed(format_, name, text.encode())
    config, table = "promptfooconfig.yaml", "tests.csv"
    yield Seed("promptfoo_config", config, CONFIG, {table: CONFIG_CSV})
    yield Seed("promptfoo_config", table, CONFIG_CSV, {config: CONFIG}, config)


CELLS: list[list[Any]] = [
    ["id", "question", "expected answer", "contexts", "asked", "share", None],
    [1, "q", "a", "['c', 'd']", datetime.fromisoformat("2026-01-02T03:04"), 0.5, "x"],
    [None] * 7,
    [2, "r", True, "e|f", timedelta(hours=30), 1e20, "=1+1"],
]
RECORDS: list[dict[str, Any]] = [
    {"question": "q", "answer": "a", "contexts": ["c", "d"], "ground_truth": "g", "score": 0.5,
     "tags": {"k": 1}, "asked": datetime.fromisoformat("2026-01-02"), "day": date(2026, 1, 2), "ok": True},
    {"question": "r", "answer": None, "contexts": [], "ground_truth": "h", "score": float("nan"),
     "tags": {"k": None}, "asked": None, "day": None, "ok": None},
]  # fmt: skip


def _binary() -> Iterator[Seed]:
    """Workbooks and Parquet files, as other people's libraries write them."""
    yield Seed("table", "t.xlsx", _workbook())
    for name, how in PARQUETS.items():
        yield Seed("table", name, _parquet(**how))
    yield Seed("ragas_dataset", "d.parquet", _parquet())


def _workbook() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in CELLS:
        sheet.append(row)
    book.create_sheet("notes").append(["more"])
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


PARQUETS: Mapping[str, Mapping[str, Any]] = {
    "t.parquet": {"compression": "snappy"},
    "plain.parquet": {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
    "small.parquet": {
        "compression": "zstd",
        "row_group_size": 3,
        "use_byte_stream_split": ["score"],
        "use_dictionary": False,
    },
}


def _parquet(**how: Any) -> bytes:
    from pyarrow import Table, parquet

    made = io.BytesIO()
    parquet.write_table(Table.from_pylist(RECORDS * 4), made, **how)
    return made.getvalue()
