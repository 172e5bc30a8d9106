"""CPU seconds of three shared checks in each framework: our route beside the framework's own way.

Every arm is a fresh process, and the arms take turns, so that a change in the machine's speed hits
all of them. Each arm starts from the same files (a job's cases and outputs) and ends with the
framework's own artefact on disk. ``beyond import`` leaves out the interpreter and the imports;
``warm`` also leaves out what a run of three cases costs, which is mostly lazy imports. The ratios
are of the warm column, to the framework's own way with the least around it.

RAGAS's ``evaluate()`` is so short of work that the shared checks themselves are half of it: its own
way therefore runs the same shared checks, and ``bare`` three lambdas in their place.

promptfoo starts Node for every run, so that its warm column leaves out what a whole run of three
cases costs. Its own way is three built-in ``equals`` on recorded outputs; ``--files`` adds three
assertions in a Python file, which is a process each.

    python benchmarks/frameworks.py --cases 1000 10000 --repeat 3
    python benchmarks/frameworks.py --frameworks deepeval --cases 200 --defaults
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge_promptfoo.install import home as promptfoo_home

ARMS = {
    "inspect": {"own": "eval()", "lean": "eval(), lean", "ours": "ours"},
    "deepeval": {
        "defaults": "evaluate()",
        "own": "evaluate(), quiet, sync",
        "ours": "ours",
    },
    "ragas": {"own": "evaluate()", "bare": "evaluate(), bare", "ours": "ours"},
    "promptfoo": {"own": "built-in equals", "files": "Python file assertions", "ours": "ours"},
}
STARTS_ANEW = ("promptfoo",)
"""Frameworks that are a process of their own in every run."""
WARM_UP = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, nargs="+", default=[1000])
    parser.add_argument("--frameworks", nargs="+", default=list(ARMS), choices=list(ARMS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--lean", action="store_true", help="also Inspect's leanest eval()")
    parser.add_argument(
        "--defaults",
        action="store_true",
        help="also DeepEval's defaults, which rewrite their cache for each case (quadratic)",
    )
    parser.add_argument(
        "--files", action="store_true", help="also promptfoo's Python file assertions (minutes)"
    )
    parser.add_argument("--arm", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arm:
        print(json.dumps(measure(options.arm, options.folder, options.cases[0])))
        return
    for cases in options.cases:
        for framework in options.frameworks:
            arms = [
                arm
                for arm in ARMS[framework]
                if arm in ("own", "bare", "ours") or getattr(options, arm, False)
            ]
            compare(framework, arms, cases, options.repeat)


# --- the parent: interleaved fresh processes --------------------------------------------------


def compare(framework: str, arms: list[str], cases: int, repeat: int) -> None:
    results: dict[str, list[dict[str, float]]] = {arm: [] for arm in arms}
    for _ in range(repeat):
        for arm in arms:
            results[arm].append(run_arm(f"{framework}:{arm}", cases))
    base = statistics.median(each["warm"] for each in results["own"])
    print(f"\n{framework}, {cases:,} cases, 3 checks, median of {repeat} (CPU seconds)")
    print(f"{'':26}{'total':>9}{'beyond import':>15}{'warm':>9}{'ratio':>9}{'MB':>7}")
    for arm, found in results.items():
        total, beyond, warm, peak = (
            statistics.median(each[name] for each in found)
            for name in ("total", "beyond", "warm", "peak_mb")
        )
        ratio = (
            "1" if arm == "own" else f"1/{base / warm:.1f}" if warm < base else f"{warm / base:.1f}"
        )
        name = ARMS[framework][arm]
        print(f"{name:26}{total:9.2f}{beyond:15.2f}{warm:9.2f}{ratio:>9}{peak:7.0f}", flush=True)


def run_arm(arm: str, cases: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count, part in ((cases, "job"), (WARM_UP, "warm_up")):
            write_files(folder / part, count)
        command = [sys.executable, __file__, "--arm", arm, "--folder", name, "--cases", str(cases)]
        # the environment as it is: DeepEval copies and hashes all of it several times a case
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DEEPEVAL", "INSPECT"))}
        clean = {**kept, "HOME": name, "PYTHONUTF8": "1"}
        clean["BRIDGE_PROMPTFOO_DIR"] = str(promptfoo_home().parent)
        done = subprocess.run(
            command, cwd=name, env=clean, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{arm} failed:\n{done.stderr}")
        result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return result


def write_files(folder: Path, count: int) -> None:
    folder.mkdir()
    with (
        (folder / "cases.jsonl").open("w") as cases,
        (folder / "outputs.jsonl").open("w") as outputs,
    ):
        for index in range(count):
            case, output = example(index)
            cases.write(json.dumps(case) + "\n")
            outputs.write(json.dumps(output) + "\n")


def example(index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    order = f"FO-{index:05d}"
    answer = f"Order {order} has been shipped and arrives in three days."
    said = answer if index % 4 else f"I could not find order {order}, sorry."
    called = order if index % 5 else "FO-99999"
    case = {
        "id": f"case-{index:05d}",
        "input": f"Hello, could you please tell me what the status of my order {order} is today?",
        "expected": answer,
        "tools": [
            {
                "name": "get_order",
                "parameters": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string"}},
                    "required": ["order_id"],
                },
            }
        ],
        "expected_calls": {"calls": [{"name": "get_order", "arguments": {"order_id": order}}]},
    }
    call = {"name": "get_order", "arguments": {"order_id": called}, "result": "shipped"}
    return case, {"case_id": case["id"], "text": said, "tool_calls": [call], "latency_s": 0.4}


# --- the child: one arm -----------------------------------------------------------------------


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(arm: str, folder: Path, cases: int) -> dict[str, float]:
    framework, _, way = arm.partition(":")
    set_switches(framework, folder)
    run = MAKERS[framework, way](folder)
    imported = cpu()
    run("warm_up", WARM_UP)
    warmed = cpu()
    run("job", cases)
    end = cpu()
    started = warmed - imported if framework in STARTS_ANEW else 0.0
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = max(each.ru_maxrss for each in used) / 1024
    return {
        "total": end,
        "beyond": end - imported,
        "warm": end - warmed - started,
        "peak_mb": peak,
    }


def set_switches(framework: str, folder: Path) -> None:
    """Telemetry off and everything inside the folder; nothing that changes the speed."""
    if framework == "deepeval":
        os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1"}
    elif framework == "ragas":
        os.environ |= {"RAGAS_DO_NOT_TRACK": "true", "XDG_DATA_HOME": str(folder / "data")}
    elif framework == "promptfoo":
        os.environ |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
        os.environ |= {"PROMPTFOO_CONFIG_DIR": str(folder / "data")}
    else:
        os.environ |= {"INSPECT_DISPLAY": "none", "XDG_DATA_HOME": str(folder / "data")}


Run = Callable[[str, int], None]


def make_ours(framework: str, folder: Path) -> Run:
    from bridge.execution.jobs import read_job, write_job
    from bridge.execution.worker import set_environment
    from bridge.files.golden import read_golden_set
    from bridge.files.outputs import read_outputs
    from bridge.files.scores import score_line
    from bridge.model.job import Job, JobSpec
    from bridge.plugin.registry import get_framework

    adapter = get_framework(framework)
    set_environment(adapter.info, folder / "native")
    for part in ("job", "warm_up"):  # the driver's part, which is not measured
        spec = JobSpec(
            framework=framework,
            suite=part,
            checks=["equals", {"contains": {"value": "shipped"}}, "tool_use"],  # type: ignore[arg-type]
            native_dir=folder / "native" / part,
        )
        cases = tuple(read_golden_set(folder / part / "cases.jsonl").cases)
        outputs = tuple(read_outputs(folder / part / "outputs.jsonl"))
        write_job(Job(spec=spec, cases=cases, outputs=outputs), folder / part)
    if framework == "deepeval":
        import deepeval
        import deepeval.evaluate
        import deepeval.metrics

        import bridge_deepeval.scorers
    elif framework == "ragas":
        import ragas

        import bridge_ragas.scorers
    elif framework == "promptfoo":
        import bridge_promptfoo.route
    else:
        import inspect_ai
        import inspect_ai.log

        import bridge_inspect.scorers
    gc.freeze()  # a worker imports the framework while cycle collection is paused

    def run(part: str, count: int) -> None:
        with (folder / part / "scores.jsonl").open("w") as file:
            rows = 0
            for score in adapter.run(read_job(folder / part)):
                file.write(score_line(score) + "\n")
                rows += 1
        assert rows == 3 * count
        route = json.loads((folder / "native" / part / "route.json").read_text())["route"]
        assert route == ("eval" if framework == "promptfoo" else "direct")

    return run


def make_inspect(folder: Path, *, lean: bool) -> Run:
    from inspect_ai import Task, eval  # noqa: A004
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolCall

    @solver
    def replay() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            call = state.metadata["call"]
            made = ToolCall(id="call-1", function=call["name"], arguments=call["arguments"])
            state.messages.append(ChatMessageAssistant(content="", tool_calls=[made]))
            state.messages.append(ChatMessageTool(content=call["result"], tool_call_id="call-1"))
            state.output = ModelOutput.from_content("recorded", state.metadata["text"])
            state.messages.append(state.output.message)
            return state

        return solve

    def check(name: str, passes: Callable[[Any, Any], bool]) -> Any:
        @scorer(metrics=[mean()], name=name)
        def factory() -> Any:
            async def score(state: Any, target: Any) -> Score:
                ok = passes(state, target)
                return Score(value=float(ok), explanation="as expected" if ok else "otherwise")

            return score

        return factory()

    def calls(state: Any) -> list[Any]:
        return [
            call for m in state.messages if m.role == "assistant" for call in m.tool_calls or []
        ]

    checks = [
        check("equals", lambda state, target: state.output.completion == target.text),
        check("contains", lambda state, _: "shipped" in state.output.completion),
        check(
            "tool_use",
            lambda state, _: (
                [(c.function, c.arguments) for c in calls(state)]
                == [(c["name"], c["arguments"]) for c in state.metadata["expected_calls"]]
            ),
        ),
    ]
    slim = {"log_realtime": False, "score_display": False, "ctl_server": False, "log_buffer": 1000}

    def run(part: str, count: int) -> None:
        samples = []
        for case, output in read_files(folder / part):
            samples.append(
                Sample(
                    id=case["id"],
                    input=case["input"],
                    target=case["expected"],
                    metadata={
                        "text": output["text"],
                        "call": output["tool_calls"][0],
                        "expected_calls": case["expected_calls"]["calls"],
                    },
                )
            )
        task = Task(dataset=MemoryDataset(samples), solver=replay(), scorer=checks)
        extra: dict[str, Any] = {**slim, "max_samples": 1000} if lean else {}
        (log,) = eval(task, model=None, display="none", log_dir=str(folder / "logs"), **extra)
        assert log.status == "success"
        assert log.results is not None
        assert log.results.completed_samples == count

    return run


def make_deepeval(folder: Path, *, quiet: bool) -> Run:
    import contextlib
    import io

    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, evaluate
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, ToolCall

    class Check(BaseMetric):
        def __init__(self, name: str, passes: Any, threshold: float = 1.0) -> None:
            self.name, self.passes, self.threshold = name, passes, threshold

        def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            ok = self.passes(test_case)
            self.score, self.success = float(ok), ok
            self.reason = "as expected" if ok else "otherwise"
            return self.score

        async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return self.name

    settings: dict[str, Any] = {}
    if quiet:
        settings = {
            "async_config": AsyncConfig(run_async=False),
            "cache_config": CacheConfig(write_cache=False),
            "display_config": DisplayConfig(
                show_indicator=False, print_results=False, results_folder=str(folder / "results")
            ),
        }

    def tool(call: dict[str, Any]) -> ToolCall:
        return ToolCall(
            name=call["name"], input_parameters=call["arguments"], output=call.get("result")
        )

    def run(part: str, count: int) -> None:
        test_cases = [
            LLMTestCase(
                name=case["id"],
                input=case["input"],
                expected_output=case["expected"],
                actual_output=output["text"],
                tools_called=[tool(call) for call in output["tool_calls"]],
                expected_tools=[tool(call) for call in case["expected_calls"]["calls"]],
            )
            for case, output in read_files(folder / part)
        ]
        checks = [
            Check("equals", lambda tc: tc.actual_output == tc.expected_output),
            Check("contains", lambda tc: "shipped" in tc.actual_output),
            Check(
                "tool_use",
                lambda tc: (
                    [(c.name, c.input_parameters) for c in tc.tools_called]
                    == [(c.name, c.input_parameters) for c in tc.expected_tools]
                ),
            ),
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            result = evaluate(test_cases, checks, **settings)
        assert len(result.test_results) == count

    return run


def make_ragas(folder: Path, *, shared: bool) -> Run:
    import warnings

    from ragas import evaluate
    from ragas.metrics.base import MultiTurnMetric

    from bridge.files.golden import read_golden_set
    from bridge.files.outputs import read_outputs
    from bridge.model import Bundle
    from bridge_ragas import to_dataset
    from bridge_ragas.scorers import SCORERS

    class Check(MultiTurnMetric):
        def __init__(self, name: str, passes: Any) -> None:
            super().__init__(name=name)
            self.passes = passes

        def init(self, run_config: Any) -> None:
            pass

        async def _multi_turn_ascore(self, sample: Any, callbacks: Any) -> float:
            del callbacks
            return float(self.passes(sample))

    def calls(sample: Any) -> list[Any]:
        return [call for m in sample.user_input if m.type == "ai" for call in m.tool_calls or []]

    checks: list[Any] = [
        Check("equals", lambda sample: sample.user_input[-1].content == sample.reference),
        Check("contains", lambda sample: "shipped" in sample.user_input[-1].content),
        Check("tool_use", lambda sample: calls(sample) == sample.reference_tool_calls),
    ]
    if shared:
        checks = [SCORERS["equals"](), SCORERS["contains"](value="shipped"), SCORERS["tool_use"]()]

    def run(part: str, count: int) -> None:
        cases = tuple(read_golden_set(folder / part / "cases.jsonl").cases)
        outputs = tuple(read_outputs(folder / part / "outputs.jsonl"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: Any = evaluate(
                to_dataset(Bundle(cases=cases, outputs=outputs)), checks, show_progress=False
            )
        assert len(result.scores) == count
        result.to_pandas().to_csv(folder / f"{part}.csv", index=False)

    return run


ASSERTIONS = """
def equals(output, context):
    return output == context["test"]["metadata"]["expected"]

def contains(output, context):
    return "shipped" in output

def tool_use(output, context):
    known = context["test"]["metadata"]
    return [known["call"]["arguments"]] == [call["arguments"] for call in known["expected_calls"]]
"""


def make_promptfoo(folder: Path, *, files: bool) -> Run:
    """promptfoo by its own command, no launcher and no option of Node around it."""
    from bridge_promptfoo.install import home, node

    names = ("equals", "contains", "tool_use")
    entry = home() / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
    quiet = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar"]
    env = {**os.environ, "PROMPTFOO_PYTHON": sys.executable}

    def to_test(case: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        by_file = [
            {"type": "python", "value": f"file://assertions.py:{name}", "metric": name}
            for name in names
        ]
        built_in = [{"type": "equals", "value": case["expected"], "metric": name} for name in names]
        return {
            "description": case["id"],
            "providerOutput": output["text"],
            "metadata": {
                "expected": case["expected"],
                "call": output["tool_calls"][0],
                "expected_calls": case["expected_calls"]["calls"],
            },
            "assert": by_file if files else built_in,
        }

    def run(part: str, count: int) -> None:
        place = folder / part
        (place / "assertions.py").write_text(ASSERTIONS)
        config = {
            "prompts": ["recorded"],
            "providers": ["echo"],
            "tests": [to_test(case, output) for case, output in read_files(place)],
        }
        (place / "config.json").write_text(json.dumps(config))
        command = [node(), entry, "eval", "-c", "config.json", "-o", "results.json", *quiet]
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, check=False)
        assert done.returncode == 100, done.stderr
        stats = json.loads((place / "results.json").read_text())["results"]["stats"]
        assert stats["successes"] + stats["failures"] == count

    return run


def read_files(folder: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    cases, outputs = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("cases.jsonl", "outputs.jsonl")
    )
    return list(zip(cases, outputs, strict=True))


MAKERS: dict[tuple[str, str], Callable[[Path], Run]] = {
    ("inspect", "ours"): lambda folder: make_ours("inspect", folder),
    ("inspect", "own"): lambda folder: make_inspect(folder, lean=False),
    ("inspect", "lean"): lambda folder: make_inspect(folder, lean=True),
    ("deepeval", "ours"): lambda folder: make_ours("deepeval", folder),
    ("deepeval", "own"): lambda folder: make_deepeval(folder, quiet=True),
    ("deepeval", "defaults"): lambda folder: make_deepeval(folder, quiet=False),
    ("ragas", "ours"): lambda folder: make_ours("ragas", folder),
    ("ragas", "own"): lambda folder: make_ragas(folder, shared=True),
    ("ragas", "bare"): lambda folder: make_ragas(folder, shared=False),
    ("promptfoo", "ours"): lambda folder: make_ours("promptfoo", folder),
    ("promptfoo", "own"): lambda folder: make_promptfoo(folder, files=False),
    ("promptfoo", "files"): lambda folder: make_promptfoo(folder, files=True),
}

if __name__ == "__main__":
    main()
