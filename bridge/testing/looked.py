"""Looking at a framework, in a fresh process: ``python looked.py FRAMEWORK [MODULE...]``.

Prints which modules of the framework, and which of the further ones that are named, are loaded
after the adapter was found and asked whether its framework is there. It is run as a file: importing
``bridge.testing`` would load much itself.
"""

from __future__ import annotations

import sys
from importlib import metadata

from bridge.plugin.registry import get_framework


def modules_of(distribution: str) -> set[str]:
    """Names of the top-level modules that a distribution installs; none where it is not there."""
    try:
        files = metadata.distribution(distribution).files or []
    except (metadata.PackageNotFoundError, ValueError):
        return set()
    tops = {file.parts[0] for file in files if file.suffix in (".py", ".so", ".pyd")}
    return {top.partition(".")[0] for top in tops if top.partition(".")[0].isidentifier()}


def main(name: str, *heavy: str) -> None:
    """Look, and print what is loaded now."""
    framework = get_framework(name)
    framework.ensure_available()
    loaded = {module.partition(".")[0] for module in sys.modules}
    own = modules_of(framework.info.distribution) - {type(framework).__module__.partition(".")[0]}
    print(*sorted((own | set(heavy)) & loaded))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
