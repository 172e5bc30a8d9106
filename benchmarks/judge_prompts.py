"""How long the frameworks' own prompts are: the constants behind ``bridge run --dry-run``.

Every native metric, and every judged scorer of ours, is carried out on a short and on a long answer
by its real class, with a judge that replies the least that is asked for and counts what it is sent.
Of the two sizes follow the characters of the prompt itself for each call (``prompt_chars``) and how
much of the texts a call shows on average (``shown``: 1 is the input, the answer, the reference and
all contexts, once). ``--check`` holds the constants in ``metrics.py`` against what is measured.

    python benchmarks/judge_prompts.py            # the table
    python benchmarks/judge_prompts.py --check    # exit 1 if a constant is off by more than 15 %
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.execution.worker import set_environment
from bridge.judge import JudgeError, Reply, Request, judges_in_force
from bridge.judge.gateway import Gateway
from bridge.model import Case, Check, Job, JobSpec, Output
from bridge.plugin.metrics import by_name
from bridge.plugin.registry import get_framework
from bridge.scorers.evaluate import evaluate

FRAMEWORKS = ("deepeval", "inspect", "ragas", "promptfoo")
PARAMS: Mapping[str, Mapping[str, Any]] = {
    "g_eval": {"criteria": "It names the city."},
    "role_adherence": {"role": "a guide"},
    "topic_adherence": {"topics": ["cities"]},
    "rubric": {"criteria": {"exact": "Is it exact?"}},
    "groundedness": {},
    "decision_graph": {"questions": {"right": {"ask": "Is it right?", "yes": 1, "no": 0}}},
}
OURS = ("rubric", "groundedness", "decision_graph")
WORDS = "The river runs past the old town and its stone bridge. "
SIZES = (2, 40)
"""Sentences of each text."""
TOLERANCE = 0.15


class Counting:
    """A judge that replies the least and counts the characters that it is sent."""

    def __init__(self) -> None:
        self.calls = 0
        self.chars = 0

    def ask(self, request: Request) -> Reply:
        """The least reply to a schema."""
        if request.embeds:
            return Reply("", vectors=tuple((1.0, 0.5) for _ in request.embeds))
        self.calls += 1
        self.chars += sum(len(str(each["content"])) for each in request.messages)
        data = least(request.schema or {})
        if request.schema is None:
            raise JudgeError("request", "a question without a schema")
        return Reply(json.dumps(data), data, 10, 5)


def least(schema: Mapping[str, Any], name: str = "") -> Any:
    """The least that a schema asks for."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return least(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        return {key: least(each, key) for key, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [] if name in ("FP", "FN") else [least(schema["items"])]
    return {"string": "a text", "boolean": True}.get(kind or "", schema.get("minimum", 0))


def texts(sentences: int, turned: bool) -> tuple[Case, Output]:
    """A case and its answer, each of whose texts is so long."""
    text = WORDS * sentences
    case: dict[str, Any] = {"id": "c", "input": f"Is it? {text}", "expected": f"So: {text}"}
    context = f"Note. {text}"
    case["reference_contexts"] = [context]
    output: dict[str, Any] = {"case_id": "c"}
    answer = {"text": f"Yes. {text}", "retrieved_contexts": [context]}
    if turned:
        case["turns"] = [{"user": text}]
        output["turns"] = [answer]
    else:
        output |= answer
    return Case.model_validate(case), Output.model_validate(output)


def length(case: Case, output: Output) -> int:
    """Characters of all texts, as the estimate counts them."""
    from bridge.execution.estimate import text_chars

    return text_chars(case, output)


def measured(framework: str) -> dict[str, dict[str, float]]:
    """Of every metric of a framework: calls, characters a call, and the share of texts shown."""
    names = dict.fromkeys(OURS, False) if framework == "core" else _natives(framework)
    found = {}
    for name, turned in names.items():
        sides = [_asked(framework, name, turned, size) for size in SIZES]
        (calls, small, short), (more, large, long) = sides
        if not calls:
            continue
        shown = (large / more - small / calls) / (long - short)
        found[name] = {
            "calls": calls,
            "prompt_chars": round(small / calls - shown * short),
            "shown": round(shown, 2),
        }
    return found


def _natives(framework: str) -> dict[str, bool]:
    metrics = by_name(get_framework(framework).info.native_metrics).values()
    return {each.name: "turns" in each.needs for each in metrics if each.calls or each.more}


def _asked(framework: str, name: str, turned: bool, size: int) -> tuple[int, int, int]:
    """Calls, characters sent, and characters of the texts."""
    case, output = texts(size, turned)
    judge = Counting()
    check = Check.model_validate({name: {"judge": "main", **PARAMS.get(name, {})}})
    with judges_in_force({"main": judge}), Gateway({"main": judge}) as gateway:
        os.environ.update(gateway.environment)
        if framework == "core":
            evaluate(check, case, output)
        else:
            _run(framework, check, case, output)
    return judge.calls, judge.chars, length(case, output)


def _run(framework: str, check: Check, case: Case, output: Output) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spec = JobSpec.model_validate(
            {
                "framework": framework,
                "suite": "s",
                "checks": [check],
                "judges": {"main": {"model": "m", "embeddings": {"model": "e"}}},
                "native_dir": folder,
            }
        )
        set_environment(get_framework(framework).info, Path(folder))
        for row in get_framework(framework).run(Job(spec=spec, cases=(case,), outputs=(output,))):
            if row.error:
                print(f"{framework} {row.metric}: {row.error[:300]}", file=sys.stderr)


def main() -> int:
    """Print the table, or hold the constants against it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--framework", help="one of them, as JSON")
    asked = parser.parse_args()
    if asked.framework:
        print(json.dumps(measured(asked.framework)))
        return 0
    off = 0
    print("| framework | metric | calls | prompt_chars | shown |\n|---|---|---|---|---|")
    for framework in ("core", *FRAMEWORKS):
        command = [sys.executable, __file__, "--framework", framework]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for name, each in json.loads(done.stdout.splitlines()[-1]).items():
            cells = (framework, name, each["calls"], each["prompt_chars"], each["shown"])
            print(f"| {' | '.join(map(str, cells))} |")
            off += asked.check and _is_off(framework, name, each)
    return 1 if off else 0


def _is_off(framework: str, name: str, found: Mapping[str, float]) -> bool:
    if framework == "core":
        return False
    metric = by_name(get_framework(framework).info.native_metrics)[name]
    gap = abs(metric.prompt_chars - found["prompt_chars"]) / found["prompt_chars"]
    if gap > TOLERANCE:
        print(f"  {framework}/{name}: {metric.prompt_chars} in metrics.py", file=sys.stderr)
    return gap > TOLERANCE


if __name__ == "__main__":
    sys.exit(main())
