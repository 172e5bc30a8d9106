"""``bridge setup``: what a framework needs that pip cannot install."""

from __future__ import annotations

import typer


def setup(
    framework: str = typer.Argument(..., metavar="FRAMEWORK", help="Its name, as doctor lists it."),
) -> int:
    """Install what a framework needs that pip cannot install."""
    import sys
    from pkgutil import resolve_name

    from bridge.plugin.registry import get_framework

    info = get_framework(framework).info
    if not info.setup:
        install = info.install or "nothing has to be installed"
        print(f"{info.title} needs no set-up of its own: {install}")
        return 0
    print(resolve_name(info.setup)(lambda line: print(line, file=sys.stderr, flush=True)))
    return 0
