"""``bridge baseline``: write the file to commit."""

from __future__ import annotations

from pathlib import Path

import typer


def baseline(
    run: Path = typer.Argument(..., metavar="RUN", help="Run directory or result file."),
    output: Path = typer.Option(
        ..., "-o", "--output", metavar="FILE", help="Where the baseline goes."
    ),
    system: str = typer.Option(
        None, metavar="NAME", help="The system to take, where there are several."
    ),
) -> int:
    """Write a run's accepted values as a baseline to commit."""
    from collections.abc import Mapping
    from datetime import UTC, datetime

    from bridge.files.baseline import write_baseline
    from bridge.gate.baseline import make_baseline
    from bridge.gate.intake.gather import gather
    from bridge.model.counted import counted

    created = datetime.now(UTC).isoformat(timespec="seconds")
    made = make_baseline(gather([run]), system, created)
    write_baseline(made, output)
    scored = sum(len(each) for each in made.scores.values() if isinstance(each, Mapping))
    print(f"{output}: {counted(len(made.scores), 'metric')}, {counted(scored, 'case value')}")
    return 0
