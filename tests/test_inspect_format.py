"""Inspect logs read without Inspect: other people's, edited ones, and odd ones."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.model import Bundle, ConversionReport, InputError, Score
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge_inspect.format import FORMAT
from bridge_inspect.results import archive
from bridge_inspect.results.layouts import sample_decoder

NATIVE = ROOT / "tests" / "native" / "inspect"


def read(path: Path, **options: Any) -> tuple[Bundle, ConversionReport]:
    return FORMAT.read(path, ReadOptions.model_validate({"options": options}))


def rows_of(bundle: Bundle, metric: str) -> dict[str, Score]:
    return {row.case_id: row for row in bundle.scores if row.metric == metric}


@pytest.mark.parametrize("name", ["foreign.eval", "foreign.json"])
def test_cases_and_outputs_of_other_peoples_logs(name: str) -> None:
    bundle, report = read(NATIVE / name)
    cases = {case.id: case for case in bundle.cases}
    outputs = {output.case_id: output for output in bundle.outputs}
    assert set(cases) == {"exact", "near", "far", "silent", "tool"}
    assert cases["exact"].expected == "Oslo"
    assert cases["near"].expected == ["Oslo", "Christiania"]
    asked: Any = cases["near"].input
    assert [message.role for message in asked] == ["system", "user"]
    assert cases["far"].choices == ("Oslo", "Bergen")
    assert cases["exact"].metadata["grade"] == "exact"
    assert outputs["far"].text.startswith("A long text that Inspect keeps as an attachment.")
    assert (outputs["exact"].text, outputs["exact"].model) == ("Oslo", "mock/one")
    assert [(c.name, c.arguments, c.result) for c in outputs["tool"].tool_calls] == [
        ("get_weather", {"city": "Oslo"}, "7 C")
    ]
    assert [message.role for message in outputs["tool"].messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert report.counts["native"] == 151
    if name == "foreign.json":
        assert report.total == count_leaves(json.loads((NATIVE / name).read_bytes()))


@pytest.mark.parametrize("name", ["foreign.eval", "foreign.json"])
def test_scores_of_other_peoples_logs(name: str) -> None:
    bundle, report = read(NATIVE / name)
    letters = rows_of(bundle, "letter")
    assert {name: (row.value, row.label, row.status) for name, row in letters.items()} == {
        "exact": (1.0, "C", "scored"),
        "near": (0.5, "P", "scored"),
        "far": (0.0, "I", "scored"),
        "silent": (0.0, "N", "scored"),
        "tool": (1.0, "C", "scored"),
    }
    assert letters["exact"].reason == "graded by hand"
    assert letters["exact"].raw is not None
    assert letters["exact"].raw.value == "C"
    kinds = rows_of(bundle, "kinds")
    assert [kinds[each].value for each in ("exact", "near", "far", "tool")] == [1.0, 1.0, 0.25, 1.0]
    assert (kinds["silent"].status, kinds["silent"].error) == ("error", "'banana' is no score")
    assert [each.value for each in rows_of(bundle, "parts.style").values()] == [0.5] * 5
    assert [each.value for each in rows_of(bundle, "parts.facts").values()] == [1.0] * 5
    assert {row.threshold for row in bundle.scores} == {None}
    assert {row.framework for row in bundle.scores} == {"inspect"}
    assert all(row.framework_version.startswith("0.3.") for row in bundle.scores)
    assert "the head gives kinds a mean of 0.65, the rows one of 0.8125" in report.notes


def test_a_value_out_of_range_is_an_error_until_its_scale_is_declared() -> None:
    bundle, _ = read(NATIVE / "foreign.eval")
    numbers = rows_of(bundle, "number")
    assert [numbers[each].status for each in ("exact", "near", "far", "silent")] == [
        "error",
        "error",
        "scored",
        "error",
    ]
    assert numbers["near"].error == "5.5 is outside [0, 1]: declare the scale of number"
    assert numbers["silent"].error == "no score (grader_failed)"
    assert numbers["silent"].reason == "the grader gave up"
    assert "tool" not in numbers  # its scorer gave no score

    scaled, report = read(NATIVE / "foreign.eval", scale={"number": [0, 10]})
    numbers = rows_of(scaled, "number")
    assert [numbers[each].value for each in ("exact", "near", "far")] == [1.0, 0.55, 0.0]
    assert numbers["near"].raw is not None
    assert (numbers["near"].raw.value, numbers["near"].raw.scale) == (5.5, (0.0, 10.0))
    assert rows_of(scaled, "letter")["exact"].value == 1.0
    assert [note for note in report.notes if "number" in note] == [
        "1 numbers are NaN or infinite: read as null",
        "number: 1 of 5 cases carry no such score",
    ]


@pytest.mark.parametrize("scale", [[1], [2, 1], ["a", "b"], 7, {"number": [0, True]}])
def test_a_scale_that_is_none_is_refused(scale: Any) -> None:
    with pytest.raises(InputError, match="scale"):
        read(NATIVE / "foreign.eval", scale=scale)


def test_a_failed_sample_is_an_error_of_every_metric() -> None:
    """Inspect's own mean leaves it out of the denominator."""
    bundle, report = read(NATIVE / "failed_sample.eval")
    rows = rows_of(bundle, "letter")
    assert {name: row.status for name, row in rows.items()} == {
        "1": "scored",
        "2": "error",
        "3": "scored",
    }
    assert rows["2"].error == "the sample failed: RuntimeError('the model is not there')"
    assert next(each for each in bundle.outputs if each.case_id == "2").error is not None
    assert any("1 cases failed" in note for note in report.notes)


def test_a_failed_run_says_so_and_has_no_green_row() -> None:
    bundle, report = read(NATIVE / "failed_run.eval")
    assert any(note.startswith("the run's status is error") for note in report.notes)
    statuses = {row.case_id: row.status for row in bundle.scores}
    assert statuses == {"1": "scored", "2": "error", "3": "scored"}
    assert len(bundle.outputs) == len(bundle.scores) == 3


def test_epochs_stay_apart() -> None:
    bundle, _ = read(NATIVE / "epochs.eval")
    assert [case.id for case in bundle.cases] == ["a", "b"]
    rows = {(row.case_id, row.epoch): row for row in bundle.scores}
    assert {key: (row.value, row.status) for key, row in rows.items()} == {
        ("a", 1): (1.0, "scored"),
        ("a", 2): (1.0, "scored"),
        ("b", 1): (0.0, "scored"),
        ("b", 2): (None, "error"),
    }
    texts = {(output.case_id, output.epoch): output.text for output in bundle.outputs}
    assert (texts["a", 1], texts["a", 2]) == ("Oslo", "Bergen")


def test_reading_needs_no_inspect() -> None:
    code = f"""
import sys
from pathlib import Path
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge_inspect.format import FORMAT
from bridge_inspect.results.layouts import sample_decoder
assert FORMAT.read(Path({str(NATIVE / "foreign.eval")!r}), ReadOptions())[0].scores
assert "inspect_ai" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- logs made by hand ------------------------------------------------------------------------


def log_of(samples: list[dict[str, Any]], **head: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "none/none", "created": "2026-01-01T00:00:00+00:00"},
        "samples": samples,
        **head,
    }


def sample_of(name: Any, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "epoch": 1,
        "input": "q",
        "target": "t",
        "scores": {"s": {"value": value}},
        **more,
    }


def write_json(path: Path, log: Any) -> Path:
    path.write_text(json.dumps(log), encoding="utf-8")  # NaN as Inspect writes it
    return path


def write_zip(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression=method) as file:
        for name, content in members.items():
            file.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def archived(log: dict[str, Any]) -> dict[str, Any]:
    head = {name: item for name, item in log.items() if name != "samples"}
    members = {f"samples/{each['id']}_epoch_1.json": each for each in log["samples"]}
    return {"_journal/start.json": {"eval": head["eval"]}, **members, "header.json": head}


def test_nan_and_infinity_are_errors_not_numbers(tmp_path: Path) -> None:
    log = log_of([sample_of("a", float("nan")), sample_of("b", float("inf")), sample_of("c", 1)])
    for path in (
        write_json(tmp_path / "log.json", log),
        write_zip(tmp_path / "log.eval", archived(log), zipfile.ZIP_STORED),
    ):
        bundle, _ = read(path)
        assert [row.status for row in bundle.scores] == ["error", "error", "scored"]


def test_nan_beside_the_scores_becomes_null_and_is_counted(tmp_path: Path) -> None:
    sample = sample_of("a", 1, metadata={"x": [float("nan"), {"y": float("-inf")}], "z": 1.5})
    bundle, report = read(write_json(tmp_path / "log.json", log_of([sample])))
    assert bundle.cases[0].metadata == {"x": [None, {"y": None}], "z": 1.5}
    assert report.notes == ("2 numbers are NaN or infinite: read as null",)


def test_a_log_of_version_1_has_one_score_and_its_name_in_the_head(tmp_path: Path) -> None:
    sample = sample_of("a", "C")
    sample["score"] = sample.pop("scores")["s"]
    results = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"value": 0.5}}}
    bundle, report = read(
        write_json(tmp_path / "old.json", log_of([sample], version=1, results=results))
    )
    assert [(row.metric, row.value) for row in bundle.scores] == [("match", 1.0)]
    assert report.notes == ("the head gives match a accuracy of 0.5, the rows one of 1",)


def test_attachments_are_put_back(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "attachment://abc"}
    sample = sample_of(
        "a",
        1,
        attachments={"abc": "the whole text"},
        messages=[{"role": "user", "content": "attachment://gone"}, message],
        output={"model": "m", "choices": [{"message": message}]},
    )
    for path in (
        write_json(tmp_path / "log.json", log_of([sample])),
        write_zip(tmp_path / "log.eval", archived(log_of([sample]))),
    ):
        (output,) = read(path)[0].outputs
        assert output.text == "the whole text"
        assert [each.text for each in output.messages] == ["attachment://gone", "the whole text"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"id": "1", "function": "f", "arguments": {"a": 1}}, {"a": 1}),
        ({"function": "f", "arguments": {"a": 1}}, {"a": 1}),
        ({"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}, {"a": 1}),
        ({"id": "1", "function": {"name": "f", "arguments": "{cut"}}, "{cut"),
        ({"id": "1", "function": "f", "arguments": "{cut", "parse_error": "no"}, "{cut"),
        ({"id": "1", "function": "f", "arguments": {"x": "{cut"}, "parse_error": "no"}, "{cut"),
    ],
)
def test_calls_are_read_in_every_shape(
    tmp_path: Path, call: dict[str, Any], arguments: object
) -> None:
    answer = {"role": "tool", "content": "7 C"} | ({"tool_call_id": "1"} if "id" in call else {})
    messages = [{"role": "assistant", "tool_calls": [call]}, answer]
    log = log_of([sample_of("a", 1, messages=messages)])
    (output,) = read(write_json(tmp_path / "log.json", log))[0].outputs
    assert [(each.name, each.arguments, each.result) for each in output.tool_calls] == [
        ("f", arguments, "7 C")
    ]


def test_an_unfinished_run_is_read_from_its_journal(tmp_path: Path) -> None:
    members = archived(log_of([sample_of("a", 1)]))
    del members["header.json"]
    members["_journal/start.json"]["eval"]["dataset"] = {"sample_ids": ["a", "b"]}
    bundle, report = read(write_zip(tmp_path / "log.eval", members))
    assert [(row.case_id, row.value) for row in bundle.scores] == [("a", 1.0), ("b", None)]
    assert bundle.scores[1].error == "the log does not hold this sample"
    assert {line.field: line.fate for line in report.lines}["eval.model"] == "native"
    assert set(report.notes) == {
        "the run's status is started",
        "the head speaks of 2 samples, the file holds 1",
    }


def test_rows_of_samples_that_are_not_there_are_bounded(tmp_path: Path) -> None:
    members = archived(log_of([sample_of("a", 1)]))
    head = members["header.json"]["eval"]
    head |= {"dataset": {"sample_ids": ["", "a", "b"]}, "config": {"epochs": 10**12}}
    bundle, _ = read(write_zip(tmp_path / "log.eval", members))
    assert len(bundle.scores) == 1 + 10_000


def test_a_sample_without_any_score_is_an_error_not_absent(tmp_path: Path) -> None:
    samples = [sample_of("a", 1), sample_of("b", 1, scores=None)]
    bundle, report = read(write_json(tmp_path / "log.json", log_of(samples)))
    assert {row.case_id: row.status for row in bundle.scores} == {"a": "scored", "b": "error"}
    assert any("carry no score" in note for note in report.notes)


def test_an_edited_score_of_ours_counts_as_edited(tmp_path: Path) -> None:
    row = {"scorer": "equals", "scorer_version": "1", "metric": "s", "status": "passed", "value": 1}
    ours = {"value": 1.0, "metadata": {"bridge": {"status": "passed", "rows": [row]}}}
    edited = {**ours, "value": 0.0}
    samples = [sample_of("a", 0, scores={"s": ours}), sample_of("b", 0, scores={"s": edited})]
    bundle, _ = read(write_json(tmp_path / "log.json", log_of(samples)))
    assert [(row.status, row.value) for row in bundle.scores] == [("passed", 1.0), ("scored", 0.0)]


@pytest.mark.parametrize(
    "score",
    [
        {"value": {}},
        {"value": float("nan"), "metadata": {"bridge": {"rows": []}}},
        {"value": float("nan"), "metadata": {"bridge": {"rows": "none"}}},
    ],
)
def test_a_score_of_nothing_is_an_error_and_not_absent(tmp_path: Path, score: Any) -> None:
    sample = sample_of("a", 0, scores={"s": score, "other": {"value": 1.0}})
    bundle, _ = read(write_json(tmp_path / "log.json", log_of([sample])))
    assert [(row.metric, row.status) for row in bundle.scores] == [
        ("s", "error"),
        ("other", "scored"),
    ]


def test_one_id_twice_is_refused(tmp_path: Path) -> None:
    log = log_of([sample_of(1, 1), sample_of("1", 0)])
    with pytest.raises(InputError, match="case '1' stands twice in epoch 1"):
        read(write_json(tmp_path / "log.json", log))


def test_sniffing_knows_logs_by_their_content() -> None:
    def sure(content: bytes, name: str = "x.json") -> float:
        return FORMAT.sniff(content, Path(name))

    assert sure((NATIVE / "foreign.eval").read_bytes(), "renamed.txt") == 1.0
    assert sure((NATIVE / "foreign.json").read_bytes()[:2000], "renamed.txt") > 0.9
    assert sure(b"\xef\xbb\xbf" + (NATIVE / "foreign.json").read_bytes()[:2000]) > 0.9
    assert sure(b"PK\x03\x04" + b"\x00" * 40, "report.docx") == 0.0
    assert sure(b"PK\x03\x04" + b"\x00" * 40, "odd.eval") > 0.5
    for other in (
        b'{"testCases": []}',
        b'{"results": {"results": []}, "evalId": "x"}',
        b'{"status": "success", "data": {}}',
        b"{}",
        b"",
        b"a,b\n1,2\n",
    ):
        assert sure(other) == 0.0


def test_records_are_inspects_own_values() -> None:
    """What the typed records read is what Inspect's reader gives."""
    inspect_log = pytest.importorskip("inspect_ai.log")
    for path in sorted(NATIVE.glob("*.eval")):
        theirs = inspect_log.read_eval_log(str(path)).samples
        with archive.open_archive(path) as opened:
            ours = [
                sample_decoder().decode(opened.read(name))
                for name in opened.members
                if name.startswith("samples/")
            ]
        assert {(each.id, each.epoch) for each in ours} == {(s.id, s.epoch) for s in theirs}
        by_key = {(each.id, each.epoch): each for each in ours}
        for sample in theirs:
            mine = by_key[sample.id, sample.epoch]
            assert [m.role for m in mine.messages] == [m.role for m in sample.messages]
            assert repr({n: s.value for n, s in (mine.scores or {}).items()}) == repr(
                {n: s.value for n, s in (sample.scores or {}).items()}
            )
