"""Written datasets in the real RAGAS: loaded by its own loader, scored by the script beside them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dataset_bundles import a_case, an_output

from bridge.model import Bundle, Case, Suite
from bridge.plugin.format import WriteOptions
from bridge.plugin.scoring.shared import summarise
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge_ragas.dataset import DATASET

pytest.importorskip("ragas")

SUITE = Suite.model_validate(
    {
        "name": "s",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": ["equals", {"contains": {"value": 'it\'s "so"\n{{x}}', "metric": "so"}}],
    }
)
SINGLES = (
    a_case(id="right", input="Who?", expected=["Ada", "Lovelace"], reference_contexts=["a"]),
    a_case(id="wrong", input={"a": 1}, expected={"b": None}, metadata={"k": [1, None]}),
    a_case(id="unanswered", input="", expected="y"),
)
MANY = (
    a_case(
        id="calls",
        input=[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        expected="",
        checks=["tool_use", {"latency": {"max": 1}}],
        expected_calls={"calls": [{"name": "f", "arguments": {"n": {"$approx": 1.5, "abs": 0.1}}}]},
    ),
    a_case(id="talk", input="", expected="", turns=[{"user": "a", "expected": "A", "checks": ["equals"]}, {"user": "b"}]),
)  # fmt: skip
OUTPUTS = (
    an_output(
        case_id="right", text="Lovelace", retrieved_contexts=["p", {"text": "q", "source": "s"}]
    ),
    an_output(case_id="wrong", text="no", usage={"input_tokens": 1}),
    an_output(
        case_id="calls",
        text="done",
        latency_s=0.5,
        tool_calls=[{"name": "f", "arguments": {"n": 1.45}, "result": {"ok": True}}],
    ),
    an_output(case_id="talk", turns=[{"text": "A"}, {"text": "B"}]),
)
LOAD = """
import json, sys
from ragas import EvaluationDataset
dataset = EvaluationDataset.from_jsonl(sys.argv[1])
print(json.dumps([len(dataset), dataset.samples[0].to_dict()]))
"""


def ragas(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder, as a person has it, but without telemetry."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "RAGAS_DO_NOT_TRACK": "true",
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
    }
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ragas")
    bundle = Bundle(suite=SUITE, cases=(*SINGLES, *MANY), outputs=OUTPUTS)
    report = DATASET.write(bundle, folder / "ragas.jsonl", WriteOptions())
    assert any("single- and multi-turn samples" in note for note in report.notes)
    return folder


@pytest.mark.parametrize("cases", [SINGLES, MANY], ids=["single", "multi"])
def test_ragas_own_loader_takes_the_file(tmp_path: Path, cases: tuple[Case, ...]) -> None:
    outputs = tuple(each for each in OUTPUTS if each.case_id in {case.id for case in cases})
    DATASET.write(Bundle(cases=cases, outputs=outputs), tmp_path / "ragas.jsonl", WriteOptions())
    done = ragas(tmp_path, "-c", LOAD, "ragas.jsonl")
    assert done.returncode == 0, done.stderr
    count, first = json.loads(done.stdout.splitlines()[-1])
    assert count == len(cases)
    row = json.loads((tmp_path / "ragas.jsonl").read_text().splitlines()[0])
    assert row.pop("bridge")
    assert row.pop("id") == cases[0].id  # RAGAS leaves both alone
    assert first == row


def test_the_script_says_what_our_checks_say(written: Path) -> None:
    done = ragas(written, "run_ragas.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("wrong: equals failed: ")]
    assert len(told) == 1
    assert any(line.startswith("unanswered: ") for line in done.stderr.splitlines())
    assert not any(line.startswith("right: equals") for line in done.stderr.splitlines())
    rows = [
        row
        for path in sorted(written.glob("*.scores.csv"))
        for row in csv.DictReader(path.read_text("utf-8").splitlines())
    ]
    assert sorted(row["id"] for row in rows) == sorted(case.id for case in (*SINGLES, *MANY))
    by_id = {output.case_id: output for output in OUTPUTS}
    cases = {case.id: case for case in (*SINGLES, *MANY)}
    for row in rows:
        case, output = cases[row["id"]], by_id.get(row["id"])
        for metric in ("equals", "so", "tool_use", "latency"):
            found = [
                evaluate(check, case, output, turn)
                for check, turn in checks_with_turns(SUITE.checks, case)
                if check.metric == metric and output is not None
            ]
            value = summarise(found).value if found else None
            assert row.get(metric, "") == ("" if value is None else str(value)), (case.id, metric)


def test_a_case_on_which_nothing_was_scored_is_no_success(tmp_path: Path) -> None:
    case = a_case(id="c", input="q", expected="", checks=["equals"])
    output = an_output(case_id="c", text="x")
    bundle = Bundle(suite=SUITE.model_copy(update={"checks": ()}), cases=(case,), outputs=(output,))
    DATASET.write(bundle, tmp_path / "ragas.jsonl", WriteOptions())
    done = ragas(tmp_path, "run_ragas.py")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "c: nothing was scored")


def test_the_script_exits_0_where_every_check_passes(tmp_path: Path) -> None:
    suite = SUITE.model_copy(update={"checks": SUITE.checks[:1]})
    case, output = SINGLES[0], OUTPUTS[0]
    DATASET.write(
        Bundle(suite=suite, cases=(case,), outputs=(output,)),
        tmp_path / "ragas.jsonl",
        WriteOptions(),
    )
    done = ragas(tmp_path, "run_ragas.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stderr
