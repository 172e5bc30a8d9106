"""``bridge gate``: a verdict over runs and result files."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.gate.evidence import Evidence
    from bridge.model.baseline import Baseline
    from bridge.model.policy import GatePolicy
    from bridge.model.verdict import Verdict

MARKDOWN = "eval-report.md"


def gate(
    results: list[Path] = typer.Argument(..., help="Run directories or result files."),
    suite: Path = typer.Option(None, help="Suite with the gate policy; the run's own if left out."),
    baseline: Path = typer.Option(
        None, help="Baseline file, or a run; the policy's own if left out."
    ),
    system: str = typer.Option(None, help="The system to decide on, where there are several."),
    report_dir: Path = typer.Option(None, help="Write eval-report.json and eval-report.md here."),
    as_json: bool = typer.Option(False, "--json", help="The report as JSON on stdout."),
) -> int:
    """Decide: 0 passed, 1 failed, 3 the rows cannot be trusted."""
    return decide_and_report(
        results,
        suite=suite,
        baseline=baseline,
        system=system,
        report_dir=report_dir,
        as_json=as_json,
    )


def decide_and_report(
    results: Sequence[Path],
    *,
    suite: Path | None = None,
    baseline: Path | None = None,
    system: str | None = None,
    report_dir: Path | None = None,
    as_json: bool = False,
) -> int:
    """Gate results, print and write the report; returns the exit code."""
    from bridge.gate.decide import decide
    from bridge.gate.gather import gather

    _remove_old_reports(report_dir)
    evidence = gather(results)
    policy, name, home, evidence = _policy(suite, evidence)
    accepted, accepted_name = _baseline(baseline, policy, home, system)
    verdict = decide(
        evidence, policy, accepted, system=system, baseline_name=accepted_name, suite=name
    )
    _publish(verdict, report_dir, as_json)
    return exit_code(verdict)


def exit_code(verdict: Verdict) -> int:
    """0 when ``passed``, 3 for an ``error`` verdict, else 1."""
    if verdict.passed:
        return 0
    return 3 if verdict.verdict == "error" else 1


def _remove_old_reports(report_dir: Path | None) -> None:
    """A report that stays from an earlier run would tell of a verdict that is not this one's."""
    from bridge.report.json import NAME

    if report_dir is not None:
        for name in (NAME, MARKDOWN):
            (report_dir / name).unlink(missing_ok=True)


def _policy(suite: Path | None, evidence: Evidence) -> tuple[GatePolicy, str, Path, Evidence]:
    """The policy in force, the suite's name, the folder its paths are relative to, the evidence.

    A suite given with loose files also says which cases they owe.
    """
    from bridge.files.suite import read_suite, read_suite_cases
    from bridge.gate.gather import with_golden_set
    from bridge.model.errors import InputError
    from bridge.model.policy import GatePolicy

    if suite is not None:
        found = read_suite(suite)
        if not evidence.records:
            evidence = with_golden_set(evidence, read_suite_cases(found, suite))
        return found.gate, found.name, suite.parent, evidence
    if not evidence.records:
        return GatePolicy(), "", Path(), evidence
    first, *others = evidence.records
    if any(other.suite.gate != first.suite.gate for other in others):
        raise InputError("the runs have different gate policies", fix="name one by --suite")
    return first.suite.gate, first.suite.name, Path(first.suite_path).parent, evidence


def _baseline(
    named: Path | None, policy: GatePolicy, home: Path, system: str | None
) -> tuple[Baseline | None, str | None]:
    from bridge.files.baseline import FIX, read_baseline
    from bridge.gate.baseline import make_baseline
    from bridge.gate.gather import gather
    from bridge.model.errors import InputError

    path = named or (home / policy.baseline if policy.baseline else None)
    if path is None:
        return None, None
    if not path.exists():
        raise InputError("the baseline is not there", where=path, fix=FIX)
    if path.suffix == ".jsonl" or path.is_dir():
        return make_baseline(gather([path]), system), str(path)
    return read_baseline(path), str(path)


def _publish(verdict: Verdict, report_dir: Path | None, as_json: bool) -> None:
    from bridge.files.jsonl import write_atomically
    from bridge.report.json import to_json, write_json
    from bridge.report.markdown import to_markdown
    from bridge.report.terminal import to_terminal

    if report_dir is not None:
        write_json(verdict, report_dir)
        write_atomically(report_dir / MARKDOWN, [to_markdown(verdict)])
    if as_json:
        print(to_json(verdict), end="")
    else:
        on_terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if on_terminal else None
        colour = on_terminal and not os.environ.get("NO_COLOR")
        print(to_terminal(verdict, width=width, colour=colour), end="")
