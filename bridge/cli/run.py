"""``bridge run``: collect outputs, score in each framework, write the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bridge.cli.gate import FORMATS_HELP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.execution.plan import Plan
    from bridge.model.errors import InputError
    from bridge.model.run import RunRecord


def run(
    suite: Path = typer.Argument(..., metavar="SUITE", help="Suite: bridge.yaml."),
    frameworks: str = typer.Option(
        "", metavar="NAMES", help="Comma-separated; the suite's own if left out."
    ),
    outputs: list[Path] = typer.Option(
        [], metavar="FILE", help="Recorded outputs instead of the suite's system."
    ),
    run_dir: Path = typer.Option(
        None, metavar="DIR", help="Where the run goes; runs/<suite> if left out."
    ),
    resume: bool = typer.Option(False, "--resume", help="Keep what an earlier run finished."),
    limit: int = typer.Option(None, min=1, metavar="N", help="Only the first N cases."),
    tag: list[str] = typer.Option([], metavar="TAG", help="Only cases with one of these tags."),
    epochs: int = typer.Option(None, min=1, metavar="N", help="Answers to each case."),
    workers: int = typer.Option(
        0, min=0, metavar="N", help="Worker processes at a time; 0: one a core."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, do nothing."),
    gate: bool = typer.Option(False, "--gate", help="Decide by the suite's gate policy."),
    baseline: Path = typer.Option(
        None, metavar="FILE", help="For --gate: baseline file, or a run."
    ),
    formats: str = typer.Option(
        "", "--format", metavar="NAMES", help=FORMATS_HELP.format(folder="--run-dir")
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
) -> int:
    """Collect outputs, score them in each framework, and write the run directory."""
    from bridge.cli.names import names_in
    from bridge.execution.plan import Selection, make_plan

    selection = Selection(
        frameworks=names_in(frameworks) if frameworks else None,
        outputs=tuple(outputs) or None,
        limit=limit,
        tags=tuple(tag),
        epochs=epochs,
    )
    plan = make_plan(suite, selection)
    folder = run_dir or Path("runs") / plan.suite.name
    if gate:
        _ensure_decidable(plan, baseline, folder, formats, as_json)
    elif baseline is not None or formats:
        raise _without_gate()
    if dry_run:
        return _describe(plan, as_json)
    record = _drive(plan, folder, workers, resume)
    if gate:
        from bridge.cli.gate import decide_and_report

        return decide_and_report(
            [folder],
            suite=suite,
            baseline=baseline,
            report_dir=folder,
            formats=formats,
            as_json=as_json,
        )
    return _summary(record, folder, as_json)


def _ensure_decidable(
    plan: Plan, baseline: Path | None, folder: Path, formats: str, as_json: bool
) -> None:
    """Find what --gate would refuse before a system or a judge is asked for it."""
    from bridge.cli.gate import kinds_asked
    from bridge.gate.criteria.beforehand import ensure_decidable

    kinds_asked(formats, folder, as_json)
    ensure_decidable(plan, baseline)


def _without_gate() -> InputError:
    from bridge.model.errors import InputError

    return InputError("--baseline and --format are for --gate", fix="add --gate, or leave them out")


def _drive(plan: Plan, folder: Path, workers: int, resume: bool) -> RunRecord:
    import os

    from bridge.cli.progress import ProgressLines
    from bridge.execution.driver import Drive
    from bridge.files.store import RunStore

    with ProgressLines() as progress:
        drive = Drive(
            plan,
            RunStore(folder),
            workers=workers or os.cpu_count() or 1,
            resume=resume,
            progress=progress.update,
        )
        try:
            return drive.run()
        except KeyboardInterrupt:
            progress.say(f"interrupted; what was scored is in {folder}, go on with --resume")
            raise


def _describe(plan: Plan, as_json: bool) -> int:
    import json

    from bridge.execution.collection import recorded_outputs
    from bridge.execution.estimate import estimate
    from bridge.scorers.evaluate import expected_rows

    recorded = recorded_outputs(plan)[0] if plan.suite.system.recorded else None
    judges = estimate(plan, recorded)
    rows = sum(len(expected_rows(plan.suite.checks, case)) for case in plan.cases)
    turns = sum(max(1, len(case.turns)) for case in plan.cases)
    names = [framework.name for framework in plan.suite.frameworks]
    facts = {
        "suite": plan.suite.name,
        "cases": len(plan.cases),
        "epochs": plan.suite.epochs,
        "frameworks": names,
        "rows_per_framework": rows * plan.suite.epochs,
        "judge_calls": sum(each.calls for each in judges.values()),
        "system_calls": 0 if recorded is not None else turns * plan.suite.epochs,
    }
    asked = {
        name: {
            "calls_at_most": each.calls,
            "input_tokens_about": each.input_tokens,
            "output_tokens_about": each.output_tokens,
            "output_tokens_at_most": each.most_output_tokens(plan.suite.judges[name]),
            "cost_usd_about": each.cost_usd(plan.suite.judges[name]),
        }
        for name, each in judges.items()
    }
    if as_json:
        print(json.dumps({**facts, "judges": asked}))
    else:
        for key, value in facts.items():
            print(f"{key.replace('_', ' ')}: {', '.join(value) if value is names else value}")
        for name, each in asked.items():
            print(f"judge {name}: {_expected(each)}")
    return 0


def _expected(asked: Mapping[str, float | None]) -> str:
    cost = asked["cost_usd_about"]
    price = "no price is given" if cost is None else f"{cost:.4f} US dollars"
    sent = f"{asked['input_tokens_about']} tokens sent, give or take half"
    back = f"{asked['output_tokens_about']} back, {asked['output_tokens_at_most']} at most"
    return f"at most {asked['calls_at_most']} calls, about {sent}, {back}; {price} (an estimate)"


def _summary(record: RunRecord, folder: Path, as_json: bool) -> int:
    errors = sum(each.errors for each in record.frameworks)
    if as_json:
        print(record.model_dump_json(indent=2))
    else:
        from bridge.report.columns import table
        from bridge.report.inert import one_line
        from bridge.report.words import took

        rows = [
            (
                f.name,
                f.version or "-",
                str(f.rows),
                str(f.errors),
                f"{f.wall_s:.1f}",
                f"{f.cpu_s:.1f}",
            )
            for f in record.frameworks
        ]
        print("\n".join(table(("framework", "version", "rows", "errors", "wall s", "CPU s"), rows)))
        for line in _faults(record, folder):
            print(f"error: {one_line(line, 300)}")
        for name, judge in record.judges.items():
            print(f"judge {one_line(name, 60)}: {took(judge)}")
        for note in [*record.notes, *(n for f in record.frameworks for n in f.notes)]:
            print(f"note: {one_line(note, 300)}")
        print(f"run: {folder}")
    return 3 if errors else 0


MOST_FAULTS = 5
"""Most reasons of rows that could not be scored that are shown."""


def _faults(record: RunRecord, folder: Path) -> list[str]:
    """Why rows could not be scored, the commonest reason first."""
    from bridge.files.scores import stream_rows
    from bridge.files.store import RunStore
    from bridge.model.counted import counted

    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    for framework in record.frameworks:
        if framework.errors:
            for _, rows in stream_rows(RunStore(folder).scores_path(framework.name)):
                for row in (row for row in rows if row.status == "error"):
                    why = row.error or row.reason
                    counts[why] = counts.get(why, 0) + 1
                    first.setdefault(why, f"{framework.name}, case {row.case_id!r}")
    reasons = sorted(counts, key=counts.__getitem__, reverse=True)
    lines = [
        f"{counted(counts[why], 'row')}: {why} (first: {first[why]})"
        for why in reasons[:MOST_FAULTS]
    ]
    more = len(reasons) - MOST_FAULTS
    return [*lines, f"and {counted(more, 'other reason')}"] if more > 0 else lines
