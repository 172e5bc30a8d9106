"""Scores written as each framework's own result file: its own tools read it, and so do we."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import example, given, settings
from strategies import CASES, OUTPUTS

from bridge.model import Bundle, Case, InputError, Output, Score
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format, get_format

NATIVE = ROOT / "tests" / "native"
TARGETS = [
    ("promptfoo", "x.json"),
    ("deepeval", "x.json"),
    ("ragas", "x.csv"),
    ("inspect", "x.eval"),
    ("inspect", "x.json"),
]
SOURCES = [
    ("inspect", "foreign.eval"),
    ("deepeval", "run.json"),
    ("deepeval", "conversation.json"),
    ("ragas", "result.csv"),
    ("promptfoo", "library.json"),
]


def unframed(scores: tuple[Score, ...]) -> list[str]:
    """Rows but for the framework, which is that of the file."""
    plain = {"framework": "", "framework_version": ""}
    return sorted(str(score.model_copy(update=plain)) for score in scores)


def one_system(bundle: Bundle) -> Bundle:
    first = bundle.outputs[0].system
    return Bundle(
        cases=bundle.cases,
        outputs=tuple(output for output in bundle.outputs if output.system == first),
        scores=tuple(score for score in bundle.scores if score.system == first),
    )


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: ".".join(target))
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: "-".join(source))
def test_what_is_written_reads_back_into_the_very_rows(
    tmp_path: Path, source: tuple[str, str], target: tuple[str, str]
) -> None:
    name, file = source
    bundle, _ = get_format(name).read(NATIVE / name / file, ReadOptions())
    bundle = one_system(bundle)
    dest = tmp_path / target[1]
    report = get_format(target[0]).write(bundle, dest, WriteOptions())
    again, _ = get_format(target[0]).read(dest, ReadOptions())
    assert unframed(again.scores) == unframed(bundle.scores)
    answered = {output.case_id for output in bundle.outputs}
    assert again.cases == tuple(case for case in bundle.cases if case.id in answered)
    assert again.outputs == bundle.outputs
    assert {line.field for line in report.lines if line.fate == "dropped"} <= {
        "scores[].framework",
        "scores[].framework_version",
    }
    assert detect_format(dest).info.name == target[0]


@settings(max_examples=60, deadline=None)
@given(CASES, OUTPUTS)
@example(Case(id="a", input="first\rsecond", expected="x\r"), Output(case_id="a", text="\r"))
def test_every_case_and_output_survives(
    tmp_path_factory: pytest.TempPathFactory, case: Case, output: Output
) -> None:
    output = output.model_copy(update={"case_id": case.id})
    score = Score(
        framework="core", metric="m", case_id=case.id, status="passed", value=0.5,
        system=output.system, epoch=output.epoch,
    )  # fmt: skip
    bundle = Bundle(cases=(case,), outputs=(output,), scores=(score,))
    for name, file in TARGETS:
        dest = tmp_path_factory.getbasetemp() / file
        get_format(name).write(bundle, dest, WriteOptions())
        again, _ = get_format(name).read(dest, ReadOptions())
        assert unframed(again.scores) == unframed(bundle.scores)
        assert [each.id for each in again.cases] == [case.id]
        assert again.outputs[0].key == output.key


def written(folder: Path, name: str, file: str) -> Path:
    bundle, _ = get_format("inspect").read(NATIVE / "inspect" / "foreign.eval", ReadOptions())
    dest = folder / file
    get_format(name).write(bundle, dest, WriteOptions())
    return dest


@pytest.mark.parametrize("file", ["x.eval", "2026-01-01T00-00-00+00-00_t_x.json"])
def test_inspect_reads_the_log(tmp_path: Path, file: str) -> None:
    log = pytest.importorskip("inspect_ai.log")
    path = written(tmp_path, "inspect", file)
    read = log.read_eval_log(str(path))
    assert (read.status, len(read.samples)) == ("success", 5)
    by_id = {sample.id: sample for sample in read.samples}
    assert by_id["exact"].scores["letter"].value == 1.0
    assert [
        call.function
        for m in by_id["tool"].messages
        for call in getattr(m, "tool_calls", None) or ()
    ] == ["get_weather"]
    assert [info.name for info in log.list_eval_logs(str(tmp_path))]


def test_deepeval_loads_the_run(tmp_path: Path) -> None:
    pytest.importorskip("deepeval")
    path = written(tmp_path, "deepeval", "x.json")
    code = (
        "import sys\nfrom deepeval.test_run.test_run import TestRun\n"
        "with open(sys.argv[1]) as file:\n    run = TestRun.load(file)\n"
        "print(len(run.test_cases), run.test_passed)\n"
    )
    environment = {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_FILE_SYSTEM": "READ_ONLY"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**environment, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-800:]
    assert done.stdout.split()[-2] == "5"


def test_promptfoo_imports_the_results(tmp_path: Path) -> None:
    from bridge_promptfoo.info import INFO
    from bridge_promptfoo.launch import LAUNCHER, environment

    path = written(tmp_path, "promptfoo", "x.json")
    done = subprocess.run(
        [sys.executable, "-P", "-c", LAUNCHER, "import", str(path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env=environment(tmp_path, None, INFO.environment),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-800:] + done.stdout[-800:]
    assert "imported" in done.stdout + done.stderr


def test_a_ragas_result_is_a_table_that_pandas_reads(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(written(tmp_path, "ragas", "x.csv"))
    assert len(frame) == 5
    assert frame["letter"].mean() == pytest.approx(0.5)


def test_nothing_to_write_is_refused(tmp_path: Path) -> None:
    for name, file in TARGETS:
        with pytest.raises(InputError, match="nothing to write"):
            get_format(name).write(Bundle(), tmp_path / file, WriteOptions())
        assert not (tmp_path / file).exists()


def test_a_log_is_of_one_system(tmp_path: Path) -> None:
    outputs = tuple(Output(system=name, case_id="a", text="t") for name in ("one", "two"))
    with pytest.raises(InputError, match="answers of several systems: one, two"):
        get_format("inspect").write(Bundle(outputs=outputs), tmp_path / "x.eval", WriteOptions())


def test_what_no_json_can_hold_is_no_text_of_ours(tmp_path: Path) -> None:
    """A reason with markup or template tags goes into the file as it is, and comes back so."""
    reason: Any = "{{ env.HOME }} {% raw %} \u2028 =cmd() <b>"
    score = Score(
        framework="core", metric="m", case_id="a", status="failed", value=0, reason=reason
    )
    for name, file in TARGETS:
        dest = tmp_path / file
        get_format(name).write(Bundle(scores=(score,)), dest, WriteOptions())
        again, _ = get_format(name).read(dest, ReadOptions())
        assert [row.reason for row in again.scores] == [reason]
        if name == "promptfoo":
            json.loads(dest.read_bytes())
