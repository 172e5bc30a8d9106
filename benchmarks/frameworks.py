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

from own_ways import Run, make_deepeval, make_inspect, make_promptfoo, make_ragas

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
