"""Time of the tool use scorer: ``python benchmarks/tool_use.py``.

CPU time, best of several repeats, after a warm-up: a schema check, a whole case of three calls,
and trajectories of 200 calls, ordinary and hopeless. Each run scores another copy of the output, so
that no comparison is remembered, but in the last lines of three calls, which show what is.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from bridge.model import Case, Check, Output, Tool
from bridge.scorers.registry import get_scorer, read_params
from bridge.scorers.structure.contract import violations
from bridge.scorers.tool_use.look import KEPT

SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "maxLength": 40},
        "amount": {"type": "number", "minimum": 0},
        "note": {"type": "string"},
    },
    "required": ["to", "amount"],
    "additionalProperties": False,
}


def best(run: Callable[[], object], number: int, repeats: int = 7) -> float:
    """Seconds of one run."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(number):
            run()
        times.append((time.process_time() - start) / number)
    return min(times)


def call(name: str, index: int, amount: Any = 10) -> dict[str, Any]:
    return {"name": name, "arguments": {"to": f"person {index}", "amount": amount}}


FAMILY = ("precision", "recall", "f1", "arguments", "order", "schema")


def scored(
    expected: list[Any],
    actual: list[Any],
    mode: str = "any_order",
    metrics: Sequence[str] = ("tool_use",),
) -> Callable[[], float]:
    names = sorted({each["name"] for each in expected})
    fields = {
        "id": "1",
        "input": "x",
        "expected": "",
        "tools": [{"name": name, "parameters": SCHEMA} for name in names],
        "expected_calls": {"mode": mode, "calls": expected},
    }
    case = Case.model_validate(fields)
    answer = {"case_id": "1", "tool_calls": actual}
    outputs = cycle([Output.model_validate(answer) for _ in range(KEPT + 1)])
    scorers = [get_scorer(name) for name in metrics]
    params = [read_params(Check(scorer=name)) for name in metrics]

    def run() -> float:
        output = next(outputs)
        for scorer, each in zip(scorers, params, strict=True):
            found = scorer.score(case, output, each)[0]
        return found.value or 0.0

    return run


def show(name: str, run: Callable[[], float], number: int, goal: str) -> None:
    unit, scale = ("us", 1e6) if number > 100 else ("ms", 1e3)
    print(f"{name:64} {run():3.1f} {best(run, number) * scale:9.1f} {unit}   {goal}")


def main() -> None:
    valid, tool = call("a", 1)["arguments"], Tool(name="a", parameters=SCHEMA)
    seconds = best(lambda: violations(tool.parameters, valid), 20_000)
    print(f"{'schema check, valid':64}     {seconds * 1e6:9.2f} us   goal 1 us")
    print(f"\n{'case':64} value      time")
    three = [call(name, 1, {"$approx": 10, "abs": 0.1}) for name in "abc"]
    right, wrong = ([call(name, *each) for name in "bac"] for each in ((1,), (2, 99)))
    show("3 calls, right", scored(three, right), 2_000, "goal 50 us")
    show("3 calls, all wrong", scored(three, wrong), 2_000, "goal 50 us")
    seven = ("tool_use", *(f"tool_{name}" for name in FAMILY))
    show("3 calls, right, all seven metrics", scored(three, right, "in_order", seven), 2_000, "")
    show("3 calls, wrong, all seven metrics", scored(three, wrong, "in_order", seven), 2_000, "")
    shuffle = random.Random(1).sample
    for tools in (10, 1):
        names = [f"tool_{index % tools}" for index in range(200)]
        plain = [call(name, index) for index, name in enumerate(names)]
        loose = [call(name, i, {"$approx": 10, "abs": 1}) for i, name in enumerate(names)]
        mixed = shuffle(plain, 200)
        wrong = [call(each["name"], index, index) for index, each in enumerate(mixed)]
        label = f"200 calls of {tools} tool{'s' * (tools > 1)}"
        goal = "goal 50 ms"
        show(f"{label}, in order", scored(plain, plain), 3, goal)
        show(f"{label}, shuffled", scored(plain, mixed), 3, goal)
        show(f"{label}, shuffled, one missing and one extra", scored(plain[1:], mixed[1:]), 3, goal)
        show(f"{label}, shuffled, every call with a matcher", scored(loose, mixed), 3, goal)
        show(f"{label}, shuffled, every call wrong", scored(plain, wrong), 3, goal)
        for mode in ("strict", "in_order", "partial"):
            show(f"{label}, shuffled, {mode}", scored(plain, mixed, mode), 3, goal)
    show("20,000 calls where one was wanted", scored(plain[:1], plain * 100), 1, "")


if __name__ == "__main__":
    main()
