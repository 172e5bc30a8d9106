"""``bridge gate``: a verdict over runs and result files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.gate.results import Decision
    from bridge.model.verdict import Verdict

FORMATS_HELP = (
    "Comma-separated: json, markdown, html, junit, sarif are written into {folder}, "
    "github (annotations) is printed."
)


def gate(
    results: list[Path] = typer.Argument(
        ..., metavar="RESULT", help="Run directories or result files."
    ),
    suite: Path = typer.Option(
        None, metavar="SUITE", help="Suite with the gate policy; the run's own if left out."
    ),
    baseline: Path = typer.Option(
        None,
        metavar="FILE",
        help="Baseline file, a run or a result file; the policy's own if left out.",
    ),
    system: str = typer.Option(
        None, metavar="NAME", help="The system to decide on, where there are several."
    ),
    report_dir: Path = typer.Option(
        None,
        metavar="DIR",
        help="Write reports here; eval-report.json and eval-report.md if none is named.",
    ),
    formats: str = typer.Option(
        "", "--format", metavar="NAMES", help=FORMATS_HELP.format(folder="--report-dir")
    ),
    as_json: bool = typer.Option(False, "--json", help="The report as JSON on stdout."),
) -> int:
    """Decide: 0 passed, 1 failed, 3 the rows cannot be trusted."""
    return decide_and_report(
        results,
        suite=suite,
        baseline=baseline,
        system=system,
        report_dir=report_dir,
        formats=formats,
        as_json=as_json,
    )


def decide_and_report(
    results: Sequence[Path],
    *,
    suite: Path | None = None,
    baseline: Path | None = None,
    system: str | None = None,
    report_dir: Path | None = None,
    formats: str = "",
    as_json: bool = False,
) -> int:
    """Gate results, print and write the reports; returns the exit code."""
    from bridge.gate.results import decide_on
    from bridge.report.kinds import remove_reports

    kinds = kinds_asked(formats, report_dir, as_json)
    if report_dir is not None:
        remove_reports(report_dir)
    decision = decide_on(results, suite=suite, baseline=baseline, system=system)
    _publish(decision, kinds, report_dir, as_json)
    return exit_code(decision.verdict)


def exit_code(verdict: Verdict) -> int:
    """0 when ``passed``, 3 for an ``error`` verdict, else 1."""
    if verdict.passed:
        return 0
    return 3 if verdict.verdict == "error" else 1


def kinds_asked(formats: str, report_dir: Path | None, as_json: bool) -> tuple[str, ...]:
    """The kinds of report asked for; the usual ones if none is named.

    Raises:
        InputError: If one is unknown, has no folder to go to, or does not go with ``--json``.
    """
    from bridge.cli.names import names_in
    from bridge.model.errors import InputError
    from bridge.report.kinds import USUAL, ensure_kinds, files_of

    kinds = names_in(formats) or USUAL
    ensure_kinds(kinds)
    if formats and report_dir is None and files_of(kinds):
        raise InputError(f"{files_of(kinds)[0]} is a file", fix="name its folder by --report-dir")
    if as_json and "github" in kinds:
        raise InputError("--json prints one document alone", fix="leave out --format github")
    return kinds


def _publish(
    decision: Decision, kinds: Sequence[str], report_dir: Path | None, as_json: bool
) -> None:
    from bridge.cli.screen import show
    from bridge.report.kinds import KINDS, write_reports

    verdict = decision.verdict
    if report_dir is not None:
        wanted = any(KINDS[name].shows_cases for name in kinds)
        write_reports(verdict, kinds, report_dir, decision.exhibit() if wanted else None)
    if as_json:
        print(KINDS["json"].make(verdict), end="")
        return
    show(verdict)
    if "github" in kinds:
        print(KINDS["github"].make(verdict), end="")
