"""The judged metrics against a real server with a small model: do its replies fit, and what fails.

Nothing is said of whether the scores are right: calibrate for that. Each metric in each framework is
a run of its own through `bridge run`, on three answered cases; an error row is counted by its class.

Run: python benchmarks/small_model.py --base-url http://127.0.0.1:8080/v1 [--model M]
     [--embeddings-url URL] [--items N] [--characters N] (0: no limits)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge.judge import kind_of

CASES = (
    ("paris", "What is the capital of France?", "Paris is the capital of France. It lies on the Seine.",
     "Paris is the capital of France.", "Paris is the capital of France. It has ten rivers."),
    ("refund", "How long does a refund take?", "Refunds take 5-7 business days.",
     "Policy 12: refunds are paid within 5-7 business days.", "A refund takes 5-7 business days."),
    ("opening", "When is the shop open?", "From 9 to 17 on weekdays.",
     "The shop is open from 9 to 17 on weekdays and closed on Sundays.", "It is open day and night."),
)  # fmt: skip
"""Id, input, reference, passage, answer."""

RUBRIC = {"right": "Every statement agrees with the reference.", "brief": "It is brief."}
QUESTIONS = {"supported": {"ask": "Is every statement in the context?", "yes": 1, "no": 0}}
NATIVE: dict[str, dict[str, Any]] = {
    "faithfulness": {},
    "answer_relevancy": {},
    "context_recall": {},
    "g_eval": {"criteria": "The answer says what was asked."},
}
OWN: dict[str, dict[str, Any]] = {
    "rubric": {"criteria": RUBRIC},
    "decision_graph": {"questions": QUESTIONS},
    "groundedness": {},
}
FRAMEWORKS = ("deepeval", "inspect", "ragas", "promptfoo")


def write_files(folder: Path, cases: int) -> None:
    """The golden set and the answers."""
    golden, outputs = [], []
    for name, asked, expected, passage, answer in CASES[:cases]:
        golden.append(
            {"id": name, "input": asked, "expected": expected, "reference_contexts": [passage]}
        )
        outputs.append({"case_id": name, "text": answer, "retrieved_contexts": [passage]})
    for path, rows in (("cases.jsonl", golden), ("a.outputs.jsonl", outputs)):
        (folder / path).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def judge_of(options: argparse.Namespace) -> dict[str, Any]:
    """The judge as the suite has it."""
    limits = {"items": options.items, "characters": options.characters}
    judge: dict[str, Any] = {
        "model": options.model,
        "base_url": options.base_url,
        "max_tokens": options.max_tokens,
        "timeout_s": options.timeout_s,
        "concurrency": options.concurrency,
        "limits": {name: most for name, most in limits.items() if most} or None,
    }
    if options.embeddings_url:
        judge["embeddings"] = {"model": options.model, "base_url": options.embeddings_url}
    return judge


def work(options: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is run: framework, metric, parameters."""
    yield from (("core", name, params) for name, params in OWN.items())
    for framework in options.frameworks:
        yield from ((framework, name, params) for name, params in NATIVE.items())


def measure(
    folder: Path, judge: dict[str, Any], framework: str, metric: str, params: dict[str, Any]
) -> str:
    """A line of the table."""
    suite = {
        "version": 1, "name": "small", "golden_set": "cases.jsonl", "frameworks": [framework],
        "system": {"recorded": "a.outputs.jsonl"}, "judges": {"main": judge},
        "checks": [{metric: {**params, "judge": "main", "threshold": 0.5}}],
    }  # fmt: skip
    (folder / "bridge.yaml").write_text(json.dumps(suite), "utf-8")
    run = folder / f"{framework}-{metric}"
    started = time.perf_counter()
    command = [sys.executable, "-m", "bridge", "run", "bridge.yaml", "--run-dir", str(run)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    if done.returncode not in (0, 3):
        raise SystemExit(f"{framework}/{metric}: {done.stderr.strip()[-500:]}")
    rows = lines_of(run / "scores" / f"{framework}.jsonl")
    states = Counter(row["status"] for row in rows)
    scored = states["passed"] + states["failed"]
    other = [
        f"{count} {state}" for state, count in states.items() if state in ("skipped", "unsupported")
    ]
    kinds = Counter(kind_of(row["error"]) or "other" for row in rows if row["status"] == "error")
    errors = ", ".join([*other, *(f"{count} {kind}" for kind, count in kinds.items())])
    asked = lines_of(run / "judge" / "ledger.jsonl")
    valid = sum(line["error"] is None for line in asked)
    calls = sum(line["attempts"] for line in asked)
    return f"| {framework} | {metric} | {scored} of {len(rows)} | {errors} | {valid} of {len(asked)} | {calls} | {wall:.0f} |"


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file that may not be there."""
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument(
        "--embeddings-url", help="up to /v1; answer_relevancy needs it in RAGAS and promptfoo"
    )
    parser.add_argument("--frameworks", nargs="*", choices=FRAMEWORKS, default=FRAMEWORKS)
    parser.add_argument("--cases", type=int, default=len(CASES))
    parser.add_argument("--items", type=int, default=8)
    parser.add_argument("--characters", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--timeout-s", type=float, default=300.0)
    parser.add_argument("--concurrency", type=int, default=1)
    options = parser.parse_args()
    print("| framework | metric | rows scored | other rows | replies valid | calls | wall s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as made:
        write_files(Path(made), options.cases)
        for framework, metric, params in work(options):
            print(measure(Path(made), judge_of(options), framework, metric, params), flush=True)


if __name__ == "__main__":
    main()
