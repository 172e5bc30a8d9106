"""Agreement of the ``bfcl`` profile with BFCL's own AST checker: ``python benchmarks/bfcl.py DIR``.

DIR is where BFCL's package with its data was installed, beside this project and not into it:
``pip install --no-deps --target DIR bfcl-eval``. Of each case of its eight Python categories the
gold answers and many mutations of them go through both checkers; the table counts what both accept,
both reject and both refuse to decide. No disagreement is waived: any one exits 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bfcl_mutations import Answer, answers

from bridge.model import ExpectedCalls, Tool, ToolCall
from bridge.scorers.tool_use import MatchParams, compare_calls

CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
PROFILE = MatchParams(profile="bfcl")


def load_checker(folder: Path) -> Callable[[Any, Any, Any, str], str]:
    """BFCL's checker, without the models that its package would import."""
    sys.path.insert(0, str(folder))
    stub = types.ModuleType("bfcl_eval.constants.model_config")
    plain = types.SimpleNamespace(underscore_to_dot=False)
    stub.MODEL_CONFIG_MAPPING = defaultdict(lambda: plain)  # type: ignore[attr-defined]
    sys.modules[stub.__name__] = stub
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import (  # type: ignore[import-not-found]
        ast_checker,
    )

    def check(functions: Any, calls: Any, gold: Any, category: str) -> str:
        try:
            found = ast_checker(functions, calls, gold, Language.PYTHON, category, "none")
        except Exception as error:  # its own runner would stop here
            return f"raises {type(error).__name__}"
        return "accepts" if found["valid"] else "rejects"

    return check


def ours(functions: list[Any], calls: Answer, gold: list[Any]) -> str:
    """The profile's verdict, from a golden set's own fields."""
    tools = [Tool(name=each["name"], parameters=each["parameters"]) for each in functions]
    wanted = [
        {"name": name, "arguments": arguments} for each in gold for name, arguments in each.items()
    ]
    made = [
        ToolCall(name=name, arguments=arguments)
        for each in calls
        for name, arguments in each.items()
    ]
    expected = ExpectedCalls.model_validate({"calls": wanted, "mode": "any_order"})
    found = compare_calls(expected, made, tools, PROFILE)
    if found.undecided is not None:
        return "refuses"
    return "accepts" if found.passed else "rejects"


def cases(folder: Path, category: str) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Id, functions and gold answer of each case."""
    data = folder / "bfcl_eval" / "data"
    name = f"BFCL_v4_{category}.json"
    gold = {each["id"]: each for each in read_lines(data / "possible_answer" / name)}
    for each in read_lines(data / name):
        yield each["id"], each["function"], gold[each["id"]]["ground_truth"]


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def agree(theirs: str, mine: str) -> bool:
    return theirs == mine or (theirs.startswith("raises") and mine == "refuses")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", type=int, default=10, help="disagreements shown")
    options = parser.parse_args()
    check = load_checker(options.folder)
    total: Counter[str] = Counter()
    shown = 0
    print(f"{'category':24} {'answers':>8} {'accepted':>9} {'rejected':>9} {'refused':>8} differ")
    for category in CATEGORIES:
        counts: Counter[str] = Counter()
        for name, functions, gold in cases(options.folder, category):
            for how, calls in answers(gold, functions):
                theirs, mine = check(functions, calls, gold, category), ours(functions, calls, gold)
                counts["answers"] += 1
                counts[mine if agree(theirs, mine) else "differ"] += 1
                if not agree(theirs, mine) and shown < options.show:
                    shown += 1
                    print(f"  {name}, {how}: BFCL {theirs}, ours {mine}: {json.dumps(calls)[:200]}")
        total += counts
        show(category, counts)
    show("all", total)
    return int(bool(total["differ"]))


def show(name: str, counts: Counter[str]) -> None:
    print(
        f"{name:24} {counts['answers']:8,} {counts['accepts']:9,} {counts['rejects']:9,}"
        f" {counts['refuses']:8,} {counts['differ']:6,}"
    )


if __name__ == "__main__":
    sys.exit(main())
