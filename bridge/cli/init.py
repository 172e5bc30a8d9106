"""``bridge init``: a working starter suite with a CI workflow."""

from __future__ import annotations

from pathlib import Path

import typer

FILES = {
    "cases.jsonl": "evals/cases.jsonl",
    "v1.outputs.jsonl": "evals/v1.outputs.jsonl",
    "bridge.yaml": "evals/bridge.yaml",
    "workflow.yml": ".github/workflows/evals.yml",
}
"""The files of ``bridge/cli/starter`` and where they go in a repository."""


def init(
    folder: Path = typer.Argument(Path(), metavar="DIR", help="The repository; else this."),
) -> int:
    """Write a suite that passes its gate at once, without a key, and a workflow that runs it.

    Nothing is written over: where one of the files is there already, none is written.
    """
    from importlib.resources import files

    from bridge.files.jsonl import write_atomically
    from bridge.model.errors import InputError
    from bridge.report.inert import one_line

    targets = {name: folder / path for name, path in FILES.items()}
    taken = next((path for path in targets.values() if path.is_symlink() or path.exists()), None)
    if taken is not None:
        raise InputError("is there already", where=taken, fix="name another DIR, or move it away")
    for name, path in targets.items():
        text = (files("bridge.cli") / "starter" / name).read_text("utf-8")
        write_atomically(path, [text])
        print(one_line(str(path), 300))
    suite = one_line(str(targets["bridge.yaml"]), 300)
    print(f"next: bridge run {suite} --gate")
    return 0
