"""``bridge gate``: a verdict over runs and result files."""

from __future__ import annotations

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


def gate(
    results: list[Path] = typer.Argument(..., help="Run directories or result files."),
    suite: Path = typer.Option(None, help="Suite with the gate policy; the run's own if left out."),
    baseline: Path = typer.Option(None, help="Baseline file; the policy's own if left out."),
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
    from bridge.gate.evidence import gather

    evidence = gather(results)
    policy, name, home = _policy(suite, evidence)
    accepted, accepted_name = _baseline(baseline, policy, home)
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


def _policy(suite: Path | None, evidence: Evidence) -> tuple[GatePolicy, str, Path]:
    """The policy in force, the suite's name, and the folder its paths are relative to."""
    from bridge.files.suite import read_suite
    from bridge.model.policy import GatePolicy

    if suite is not None:
        found = read_suite(suite)
        return found.gate, found.name, suite.parent
    if evidence.records:
        record = evidence.records[0]
        return record.suite.gate, record.suite.name, Path(record.suite_path).parent
    return GatePolicy(), "", Path()


def _baseline(
    named: Path | None, policy: GatePolicy, home: Path
) -> tuple[Baseline | None, str | None]:
    from bridge.files.baseline import read_baseline

    path = named or (home / policy.baseline if policy.baseline else None)
    return (None, None) if path is None else (read_baseline(path), str(path))


def _publish(verdict: Verdict, report_dir: Path | None, as_json: bool) -> None:
    from bridge.files.jsonl import write_atomically
    from bridge.report.json import to_json, write_json
    from bridge.report.markdown import to_markdown
    from bridge.report.terminal import to_terminal

    if report_dir is not None:
        write_json(verdict, report_dir)
        write_atomically(report_dir / "eval-report.md", [to_markdown(verdict)])
    if as_json:
        print(to_json(verdict), end="")
    else:
        print(to_terminal(verdict, colour=sys.stdout.isatty()), end="")
