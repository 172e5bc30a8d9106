"""``bridge compare``: run against run, or framework against framework."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.gate.compare.runs import Side
    from bridge.model.comparison import Comparison


def compare(
    runs: list[Path] = typer.Argument(
        ..., metavar="RUN", help="Two runs or result files; one with --frameworks."
    ),
    frameworks: str = typer.Option("", metavar="A,B", help="Compare two frameworks of one run."),
    system: str = typer.Option(
        None, metavar="NAME", help="The system to compare, where there are several."
    ),
    kind: str = typer.Option(
        "terminal", "--format", metavar="NAME", help="terminal, json, markdown or html."
    ),
    output: Path = typer.Option(
        None, "-o", "--output", metavar="FILE", help="File; stdout if left out."
    ),
    as_json: bool = typer.Option(False, "--json", help="The same as --format json."),
) -> int:
    """Hold two runs, or two frameworks of one run, against each other; decides nothing."""
    from bridge.files.jsonl import write_atomically
    from bridge.model.errors import InputError
    from bridge.report.comparison import KINDS, to_terminal

    name = "json" if as_json else kind
    if name not in KINDS:
        raise InputError(f"no report format {name!r}", fix=f"use one of {', '.join(KINDS)}")
    found = _compare(runs, frameworks, system)
    if output is not None:
        write_atomically(output, [KINDS[name](found)])
        print(output)
    elif name == "terminal" and sys.stdout.isatty():
        print(to_terminal(found, width=shutil.get_terminal_size().columns), end="")
    else:
        print(KINDS[name](found), end="")
    return 0


def _compare(runs: list[Path], frameworks: str, system: str | None) -> Comparison:
    from bridge.gate.compare.frameworks import compare_frameworks
    from bridge.gate.compare.runs import compare_runs
    from bridge.gate.gather import gather
    from bridge.model.errors import InputError

    names = [name.strip() for name in frameworks.split(",") if name.strip()]
    if names:
        if len(names) != 2 or names[0] == names[1]:
            raise InputError(
                f"--frameworks names {len(set(names))}", fix="name two: --frameworks a,b"
            )
        return compare_frameworks(gather(runs).of_system(system), *names)
    if len(runs) != 2:
        fix = "name two runs, or two frameworks of one by --frameworks a,b"
        raise InputError(f"{len(runs)} runs to compare", fix=fix)
    first, second = (_side(path, system) for path in runs)
    return compare_runs(first, second)


def _side(path: Path, system: str | None) -> Side:
    from bridge.gate.compare.runs import Side
    from bridge.gate.gather import gather
    from bridge.plugin.format import ReadOptions
    from bridge.plugin.registry import detect_format

    evidence = gather([path]).of_system(system)
    options = ReadOptions(parts=frozenset({"cases", "outputs"}))
    bundle, _ = detect_format(path, "scores").read(path, options)
    return Side(str(path), evidence, bundle)
