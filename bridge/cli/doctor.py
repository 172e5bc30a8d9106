"""``bridge doctor``: what is installed, and the line that mends what is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.model.suite import Suite

KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def doctor(
    suite: Path = typer.Argument(
        None, metavar="SUITE", help="Check what this suite needs, interpreters included."
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
) -> int:
    """Show what is installed, in which versions, and the line that mends each gap.

    With a suite: exit 2 if something that it needs is missing.
    """
    import json

    from bridge.files.suite import read_suite

    found = read_suite(suite) if suite is not None else None
    rows = [*_ourselves(), *_frameworks(found, suite)]
    keys = _keys(found)
    if as_json:
        parts = [dict(zip(("name", "version", "state", "fix"), row, strict=True)) for row in rows]
        print(json.dumps({"installed": parts, "keys_present": keys}, indent=2))
    else:
        from bridge.report.columns import table

        print("\n".join(table(("name", "version", "state", "to mend it"), rows)))
        print(f"keys present: {', '.join(keys) or 'none'} (values are never shown)")
    broken = any(state != "ok" for _, _, state, _ in rows)
    return 2 if broken and found is not None else 0


def _ourselves() -> list[tuple[str, str, str, str]]:
    import platform
    from importlib.metadata import version

    return [
        ("bridge-evals", version("bridge-evals"), "ok", ""),
        ("python", platform.python_version(), "ok", ""),
    ]


def _frameworks(suite: Suite | None, path: Path | None) -> list[tuple[str, str, str, str]]:
    from bridge.execution.interpreter import ensure_runnable
    from bridge.model.errors import BridgeError
    from bridge.model.suite import FrameworkConfig
    from bridge.plugin.registry import framework_names

    configs = (
        suite.frameworks
        if suite is not None
        else [FrameworkConfig(name=name) for name in framework_names()]
    )
    rows = []
    for config in configs:
        version, state, fix = "-", "ok", ""
        try:
            version = ensure_runnable(config, path.parent if path else Path()) or "-"
        except BridgeError as error:
            state, fix = error.what, error.fix
        rows.append((config.name, version, state, fix))
    return rows


def _keys(suite: Suite | None) -> list[str]:
    """Names of keys that are set: the usual ones, and those that the suite's judges name."""
    import os

    judges = suite.judges.values() if suite is not None else ()
    names = [*KEYS, *(judge.api_key_env for judge in judges if judge.api_key_env)]
    return [name for name in dict.fromkeys(names) if os.environ.get(name)]
