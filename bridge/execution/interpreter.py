"""Another interpreter for one framework, where pins conflict: found, asked, and checked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bridge.model.errors import MissingDependency
from bridge.model.suite import FrameworkConfig
from bridge.plugin.framework import version_of
from bridge.plugin.registry import get_framework
from bridge.scorers.registry import INSTALL

PROBE_S = 60
_PROBE = """
import json, sys
from importlib import metadata
from importlib.util import find_spec
facts = {"bridge": metadata.version("bridge-evals"), "version": "", "error": None, "fix": ""}
facts["lacks"] = [name for name in sys.argv[2:] if find_spec(name) is None]
from bridge.model.errors import BridgeError
from bridge.plugin.framework import version_of
from bridge.plugin.registry import get_framework
try:
    framework = get_framework(sys.argv[1])
    framework.ensure_available()
    facts["version"] = version_of(framework.info)
except BridgeError as error:
    facts.update(error=error.what, fix=error.fix)
print(json.dumps(facts))
"""


def interpreter_of(config: FrameworkConfig, folder: Path) -> str | None:
    """The interpreter of a framework: relative to the suite's folder if it is a path.

    The path is not resolved: a virtual environment's ``python`` is a link that must stay one.
    """
    if config.python is None or "/" not in config.python:
        return config.python
    return str((folder / Path(config.python).expanduser()).absolute())


def ensure_runnable(config: FrameworkConfig, folder: Path, needs: Sequence[str] = ()) -> str:
    """Make sure that a framework can be run where the suite wants it.

    Args:
        config: The framework.
        folder: The suite's folder.
        needs: Modules that the suite's checks need, looked for where another interpreter runs
            them; in this one :func:`~bridge.scorers.registry.validate_check` does.

    Returns:
        The framework's version there.

    Raises:
        MissingDependency: With the line that mends it.
    """
    python = interpreter_of(config, folder)
    if python is None:
        framework = get_framework(config.name)
        framework.ensure_available()
        return version_of(framework.info)
    facts = _ask(python, config.name, needs)
    ours = metadata.version("bridge-evals")
    if facts["bridge"] != ours:
        raise MissingDependency(
            f"{python} has bridge-evals {facts['bridge']}, this is {ours}",
            fix=f"run: {python} -m pip install bridge-evals=={ours}",
        )
    if facts["error"]:
        fix = facts["fix"].replace("run: pip", f"run: {python} -m pip")
        raise MissingDependency(f"{config.name} with {python}: {facts['error']}", fix=fix)
    if facts["lacks"]:
        what = f"{config.name} with {python}: its checks need {', '.join(facts['lacks'])}"
        raise MissingDependency(what, fix=INSTALL.replace("pip", f"{python} -m pip", 1))
    return str(facts["version"])


def _ask(python: str, name: str, needs: Sequence[str]) -> dict[str, Any]:
    command = [python, "-P", "-c", _PROBE, name, *needs]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependency(
            f"{name}: {python} cannot be started ({error})", fix="check python: in the suite"
        ) from None
    try:
        facts: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise MissingDependency(
            f"{name}: {python} has no usable bridge-evals ({last})",
            fix=f"run: {python} -m pip install 'bridge-evals[{name}]'",
        ) from None
    return facts
