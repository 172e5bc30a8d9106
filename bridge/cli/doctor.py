"""``bridge doctor``: what is installed, and the line that mends what is not."""

from __future__ import annotations

import typer


def doctor(
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
) -> int:
    """Show what is installed, in which versions, and the line that mends each gap."""
    import json
    import os
    import platform
    from importlib.metadata import version

    from bridge.model.errors import BridgeError
    from bridge.plugin.framework import version_of
    from bridge.plugin.registry import framework_names, get_framework

    rows = [("bridge-evals", version("bridge-evals"), "ok", ""),
            ("python", platform.python_version(), "ok", "")]  # fmt: skip
    for name in framework_names():
        installed, state, fix = "-", "ok", ""
        try:
            framework = get_framework(name)
            installed = version_of(framework.info) or "-"
            framework.ensure_available()
        except BridgeError as error:
            state, fix = error.what, error.fix
        rows.append((name, installed, state, fix))
    keys = [name for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY")
            if os.environ.get(name)]  # fmt: skip
    if as_json:
        parts = [dict(zip(("name", "version", "state", "fix"), row, strict=True)) for row in rows]
        print(json.dumps({"installed": parts, "keys_present": keys}, indent=2))
        return 0
    from bridge.report.terminal import table

    print("\n".join(table(("name", "version", "state", "to mend it"), rows)))
    print(f"keys present: {', '.join(keys) or 'none'} (values are never shown)")
    return 0
