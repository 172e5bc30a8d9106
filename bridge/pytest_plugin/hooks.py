"""The pytest plug-in: the rows of a suite as items, for whoever asks for them.

It is loaded into every pytest run of an environment that has this package, and most of those have
nothing to do with it. So it collects nothing by itself: a ``bridge.yaml`` that lies in a repository
may ask a paid system or judge, and a new dependency must not change what ``pytest`` does. Suites
are collected where ``--bridge`` is given or the configuration names them (``bridge_suites``), and
only then is anything more of this package imported.

What was asked for and is not there is an error: a configured suite without a file, ``--bridge``
without a suite.
"""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bridge.pytest_plugin.suite import SuiteFile

NAME = "bridge.yaml"
SUFFIXES = (".yaml", ".yml", ".json")

configured = pytest.StashKey[frozenset[Path]]()
found = pytest.StashKey[list[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--bridge`` and ``bridge_suites``."""
    group = parser.getgroup("bridge", "bridge-evals: suites as tests")
    group.addoption(
        "--bridge",
        action="store_true",
        help=f"collect suites: every {NAME}, and any suite that is named on the command line",
    )
    parser.addini("bridge_suites", "suites that are always collected (paths or globs)", "paths")


def pytest_configure(config: pytest.Config) -> None:
    """Find the suites that the configuration names; a plain ``pytest`` runs them too."""
    config.addinivalue_line("markers", "bridge: a row of a suite of bridge-evals")
    config.stash[found] = []
    suites: list[Path] = []
    for pattern in config.getini("bridge_suites"):
        files = [Path(name) for name in sorted(glob(str(pattern), recursive=True))]  # noqa: PTH207
        if not files:
            raise pytest.UsageError(f"bridge_suites: {pattern} is not there; mend the path")
        suites.extend(files)
    config.stash[configured] = frozenset(suites)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        given = [Path(config.invocation_params.dir, arg.split("::")[0]) for arg in config.args]
        config.args += [str(each) for each in suites if not _is_below(each, given)]


def _is_below(path: Path, folders: list[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """A suite, where it was asked for."""
    config = parent.config
    named = file_path.suffix in SUFFIXES and parent.session.isinitpath(file_path)
    asked = config.getoption("--bridge") and (file_path.name == NAME or named)
    if not asked and file_path not in config.stash[configured]:
        return None
    from bridge.pytest_plugin.suite import SuiteFile

    config.stash[found].append(file_path)
    return SuiteFile.from_parent(parent, path=file_path)


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Refuse a run that was to hold a suite and holds none."""
    if config.getoption("--bridge") and not config.stash[found]:
        raise pytest.UsageError(f"--bridge: no suite found; name one, or a folder with {NAME}")
