"""``bridge report``: a verdict again, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.model.exhibit import Exhibit
    from bridge.model.verdict import Verdict

KINDS_HELP = "terminal, json, markdown, html, junit, sarif or github."


def report(
    source: Path = typer.Argument(
        ..., metavar="SOURCE", help="Run directory, or an eval-report.json."
    ),
    kind: str = typer.Option("terminal", "--format", metavar="NAME", help=KINDS_HELP),
    output: Path = typer.Option(
        None, "-o", "--output", metavar="FILE", help="File; stdout if left out."
    ),
    html: Path = typer.Option(None, metavar="FILE", help="The same as --format html -o FILE."),
    baseline: Path = typer.Option(None, metavar="FILE", help="For a run: baseline file, or a run."),
    system: str = typer.Option(
        None, metavar="NAME", help="For a run: the system, where there are several."
    ),
) -> int:
    """Show a verdict again; exits 0 whatever it is. A run is decided on anew, with its cases."""
    from bridge.cli.names import names_in
    from bridge.cli.screen import show
    from bridge.files.jsonl import write_atomically
    from bridge.model.errors import InputError
    from bridge.report.kinds import KINDS, ensure_kinds

    kinds = ("html",) if html is not None else names_in(kind)
    ensure_kinds(kinds)
    target = html or output
    if len(kinds) != 1:
        raise InputError(f"{len(kinds)} report formats are named", fix="name one by --format")
    made = KINDS[kinds[0]]
    verdict, exhibit = _found(source, baseline, system, made.shows_cases)
    if target is not None:
        write_atomically(target, [made.make(verdict, exhibit)])
        print(target)
    elif kinds == ("terminal",):
        show(verdict)
    else:
        print(made.make(verdict, exhibit), end="")
    return 0


def _found(
    source: Path, baseline: Path | None, system: str | None, with_cases: bool
) -> tuple[Verdict, Exhibit | None]:
    from bridge.gate.results import decide_on
    from bridge.report.json import read_verdict

    if source.is_file() and (verdict := read_verdict(source)) is not None:
        return verdict, None
    decision = decide_on([source], baseline=baseline, system=system)
    return decision.verdict, decision.exhibit() if with_cases else None
