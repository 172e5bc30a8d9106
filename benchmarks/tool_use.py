"""Time of the tool use scorer: ``python benchmarks/tool_use.py``.

CPU time, best of several repeats, after a warm-up: a schema check, a whole case of three calls,
and trajectories of 200 calls, ordinary and hopeless.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from bridge.model import Case, Output
from bridge.scorers.contract import violations
from bridge.scorers.tool_use import ToolUseParams, tool_use

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


def scored(expected: list[Any], actual: list[Any], mode: str = "any_order") -> Callable[[], float]:
    names = sorted({each["name"] for each in expected})
    fields = {
        "id": "1",
        "input": "x",
        "expected": "",
        "tools": [{"name": name, "parameters": SCHEMA} for name in names],
        "expected_calls": {"mode": mode, "calls": expected},
    }
    case = Case.model_validate(fields)
    output = Output.model_validate({"case_id": "1", "tool_calls": actual})
    params = ToolUseParams()

    def run() -> float:
        value = tool_use(case, output, params)[0].value
        assert value is not None
        return value

    return run


def show(name: str, run: Callable[[], float], number: int, goal: str) -> None:
    unit, scale = ("us", 1e6) if number > 100 else ("ms", 1e3)
    print(f"{name:64} {run():3.1f} {best(run, number) * scale:9.1f} {unit}   {goal}")


def main() -> None:
    valid = call("a", 1)["arguments"]
    seconds = best(lambda: violations(SCHEMA, valid), 20_000)
    print(f"{'schema check, valid':64}     {seconds * 1e6:9.2f} us   goal 1 us")
    print(f"\n{'case':64} value      time")
    three = [call(name, 1, {"$approx": 10, "abs": 0.1}) for name in "abc"]
    show("3 calls, right", scored(three, [call(name, 1) for name in "bac"]), 2_000, "goal 50 us")
    show("3 calls, all wrong", scored(three, [call(name, 2, 99) for name in "bac"]), 2_000, "")
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
