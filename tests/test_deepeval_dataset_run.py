"""Written datasets in the real DeepEval: loaded by its own loaders, run by ``deepeval test run``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dataset_bundles import a_case, an_output

from bridge.model import Bundle, Case, Output, Suite
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge_deepeval.dataset import DATASET
from bridge_deepeval.format import FORMAT

pytest.importorskip("deepeval")

SUITE = Suite.model_validate(
    {
        "name": "s",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": ["equals", {"contains": {"value": "it's \"so\"\n{{x}}", "metric": "so", "gate": False, "threshold": 0}}],
    }
)  # fmt: skip
CASES = (
    a_case(id="right", input="Who?", expected="Ada", reference_contexts=["a|b", "c"]),
    a_case(id="wrong", input="What?", expected="x", tags=["t"], metadata={"k": [1, None]}),
    a_case(id="unanswered", input="Where?", expected="y"),
    a_case(
        id="calls",
        input="How?",
        expected="",
        checks=["tool_use", {"latency": {"max": 1}}, {"equals": {"value": "done"}}],
        expected_calls={"calls": [{"name": "f", "arguments": {"n": {"$approx": 1.5, "abs": 0.1}}}]},
    ),
    a_case(id="talk", input="Two turns", expected="", turns=[{"user": "a", "expected": "A", "checks": ["equals"]}, {"user": "b", "expected": "B", "checks": ["equals"]}], checks=[{"equals": {"value": "B"}}]),
)  # fmt: skip
OUTPUTS = (
    an_output(
        case_id="right", text="Ada", retrieved_contexts=["p|q", {"text": "z\nz", "source": "s"}]
    ),
    an_output(case_id="wrong", text="no"),
    an_output(
        case_id="calls",
        text="done",
        latency_s=0.5,
        cost_usd=0.25,
        tool_calls=[{"name": "f", "arguments": {"n": 1.45}, "result": {"ok": True}}],
    ),
    an_output(case_id="talk", turns=[{"text": "A"}, {"text": "B"}]),
)
BUNDLE = Bundle(suite=SUITE, cases=CASES, outputs=OUTPUTS)

LOAD = """
import json, sys
from deepeval.dataset import EvaluationDataset
from bridge_deepeval.dataset.native import pair_of_golden
for name in sys.argv[1:]:
    dataset = EvaluationDataset()
    dataset.add_goldens_from_json_file(name)
    for golden in dataset.goldens:
        case, output = pair_of_golden(golden)
        print(json.dumps([case.model_dump(mode="json"), output and output.model_dump(mode="json")]))
rows = [row for row in json.load(open(sys.argv[1])) if "actual_output" in row]
json.dump(rows, open("answered.json", "w"))  # the loader of test cases takes no other
dataset = EvaluationDataset()
dataset.add_test_cases_from_json_file("answered.json", "input", "actual_output", "expected_output", "context", "retrieval_context")
print(json.dumps([each.input for each in dataset.test_cases]))
"""


def deepeval(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder, as a person has it, but without telemetry."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
        "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
        "DEEPEVAL_DISABLE_DOTENV": "1",
        "DEEPEVAL_RESULTS_FOLDER": str(folder / "results"),
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
    folder = tmp_path_factory.mktemp("deepeval")
    DATASET.write(BUNDLE, folder / "goldens.json", WriteOptions())
    return folder


def test_our_reader_and_deepevals_loader_agree(written: Path) -> None:
    """What DeepEval's own loaders give is the very case and output that was written."""
    names = ["goldens.json", "goldens.conversations.json"]
    done = deepeval(written, "-c", LOAD, *names)
    assert done.returncode == 0, done.stderr
    *pairs, inputs = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "["]
    by_id = {output.case_id: output for output in OUTPUTS}
    assert [Case.model_validate(case) for case, _ in pairs] == list(CASES)
    for case, output in pairs:
        assert (output and Output.model_validate(output)) == by_id.get(case["id"])
    assert inputs == ["Who?", "What?", "How?"]
    assert DATASET.read(written / "goldens.json", ReadOptions())[0] == BUNDLE


def test_a_case_on_which_nothing_was_scored_is_no_success(tmp_path: Path) -> None:
    """The check is skipped for want of a reference, which DeepEval takes for a success."""
    case = a_case(id="c", input="q", expected="", checks=["equals"])
    output = an_output(case_id="c", text="x")
    bundle = Bundle(suite=SUITE.model_copy(update={"checks": ()}), cases=(case,), outputs=(output,))
    DATASET.write(bundle, tmp_path / "goldens.json", WriteOptions())
    command = "import sys; from deepeval.cli.main import app; sys.exit(app())"
    done = deepeval(tmp_path, "-c", command, "test", "run", "test_goldens.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "nothing was scored (equals: no reference answer)" in done.stdout


def test_deepeval_test_run_says_what_our_checks_say(written: Path) -> None:
    command = "import sys; from deepeval.cli.main import app; sys.exit(app())"
    done = deepeval(written, "-c", command, "test", "run", "test_goldens.py", "-d", "all")
    assert done.returncode == 1, done.stdout + done.stderr
    (run,) = (written / "results").glob("*.json")
    rows = FORMAT.read(run, ReadOptions())[0].scores
    by_id = {output.case_id: output for output in OUTPUTS}
    found = {(row.case_id, row.metric, row.turn): (row.status, row.value) for row in rows}
    for case in CASES:
        output = by_id.get(case.id)
        for check, turn in checks_with_turns(SUITE.checks, case):
            said = found.pop((case.id, check.metric, turn))
            if output is None:
                assert said == ("error", None)
            else:
                wanted = evaluate(check, case, output, turn)
                assert said == (wanted.status, wanted.value), (case.id, check.metric)
    assert found == {}
