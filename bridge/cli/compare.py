"""``bridge compare``: run against run, or framework against framework."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.gate.compare.runs import Side
    from bridge.model.comparison import Comparison, Preferences
    from bridge.model.judge import JudgeConfig


def compare(
    runs: list[Path] = typer.Argument(
        ..., metavar="RUN", help="Two runs or result files; one with --frameworks."
    ),
    frameworks: str = typer.Option("", metavar="A,B", help="Compare two frameworks of one run."),
    system: str = typer.Option(
        None, metavar="NAME", help="The system to compare, where there are several."
    ),
    judge: str = typer.Option(
        None, metavar="NAME", help="Also ask this judge of the suite for the better answers."
    ),
    suite: Path = typer.Option(
        None, metavar="SUITE", help="The judge's suite; that of the second run if left out."
    ),
    question: str = typer.Option(None, metavar="TEXT", help="By what the judge compares."),
    kind: str = typer.Option(
        "terminal", "--format", metavar="NAME", help="terminal, json, markdown or html."
    ),
    output: Path = typer.Option(
        None, "-o", "--output", metavar="FILE", help="File; stdout if left out."
    ),
    as_json: bool = typer.Option(False, "--json", help="The same as --format json."),
) -> int:
    """Hold two runs, or two frameworks of one run, against each other; decides nothing.

    A judge is shown both answers to each case, in both orders, and wins count only where these
    agree.
    """
    from bridge.files.jsonl import write_atomically
    from bridge.model.errors import InputError
    from bridge.report.comparison import KINDS, to_terminal

    name = "json" if as_json else kind
    if name not in KINDS:
        raise InputError(f"no report format {name!r}", fix=f"use one of {', '.join(KINDS)}")
    asking = None if judge is None else Asking(judge, suite, question)
    found = _compare(runs, frameworks, system, asking)
    if output is not None:
        write_atomically(output, [KINDS[name](found)])
        print(output)
    elif name == "terminal" and sys.stdout.isatty():
        print(to_terminal(found, width=shutil.get_terminal_size().columns), end="")
    else:
        print(KINDS[name](found), end="")
    return 0


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of a judge: its name, its suite, and by what it compares."""

    judge: str
    suite: Path | None
    question: str | None


def _compare(
    runs: list[Path], frameworks: str, system: str | None, asking: Asking | None
) -> Comparison:
    from bridge.cli.names import names_in
    from bridge.gate.compare.frameworks import compare_frameworks
    from bridge.gate.compare.runs import compare_runs
    from bridge.gate.intake.gather import gather
    from bridge.model.errors import InputError

    names = names_in(frameworks)
    if names:
        if len(names) != 2:
            raise InputError(f"--frameworks names {len(names)}", fix="name two: --frameworks a,b")
        if asking is not None:
            raise InputError("frameworks score the same answers", fix="leave --judge out")
        return compare_frameworks(gather(runs).of_system(system), *names)
    if len(runs) != 2:
        fix = "name two runs, or two frameworks of one by --frameworks a,b"
        named = "one run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise InputError(f"{named} named to compare", fix=fix)
    first, second = (_side(path, system) for path in runs)
    found = compare_runs(first, second)
    if asking is None:
        return found
    preferences = _preferences(first, second, runs[1], asking)
    return found.model_copy(update={"preferences": preferences})


def _preferences(first: Side, second: Side, run: Path, asking: Asking) -> Preferences:
    from dataclasses import asdict

    from bridge.cli.progress import ProgressLines
    from bridge.files.store import RunStore
    from bridge.gate.compare.preferences import answered_pairs, compare_answers
    from bridge.judge.opening import open_clients
    from bridge.judge.scorers.pairwise import QUESTION
    from bridge.model.run import JudgeRecord

    config = _config(second, asking)
    pairs = answered_pairs(first, second)
    store = RunStore(run)
    paths = (store.judge_cache_path, store.judge_ledger_path) if store.exists() else (None, None)
    with open_clients({asking.judge: config}, *paths) as clients, ProgressLines() as progress:
        client = clients[asking.judge]
        found = compare_answers(
            pairs,
            client,
            asking.judge,
            asking.question or QUESTION,
            threads=config.concurrency,
            progress=lambda done, owed: progress.update("pairs", done, owed),
        )
        took = JudgeRecord(model=config.model, **asdict(client.spending))
    return found.model_copy(update={"took": took})


def _config(second: Side, asking: Asking) -> JudgeConfig:
    from bridge.files.suite import read_suite
    from bridge.model.errors import InputError

    if asking.suite is not None:
        judges = read_suite(asking.suite).judges
    else:
        judges = {k: v for each in second.evidence.records for k, v in each.suite.judges.items()}
    if asking.judge not in judges:
        known = ", ".join(judges) or "none"
        fix = f"name one by --judge (known: {known}), or its suite by --suite"
        raise InputError(f"no judge {asking.judge!r}", where=asking.suite or "", fix=fix)
    return judges[asking.judge]


def _side(path: Path, system: str | None) -> Side:
    from bridge.gate.compare.runs import Side
    from bridge.gate.intake.gather import gather
    from bridge.plugin.format import ReadOptions
    from bridge.plugin.registry import detect_format

    evidence = gather([path]).of_system(system)
    options = ReadOptions(parts=frozenset({"cases", "outputs"}))
    bundle, _ = detect_format(path, "scores").read(path, options)
    return Side(str(path), evidence, bundle)
