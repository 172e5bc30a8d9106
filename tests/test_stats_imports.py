"""What importing bridge.stats costs."""

import subprocess
import sys

_ROOMS_ABOVE = ("model", "files", "scorers", "judge", "plugin", "execution", "gate", "report")


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_stats_loads_numpy_and_the_standard_library_alone() -> None:
    with_numpy = {name.partition(".")[0] for name in _loaded_by("import numpy")}
    loaded = _loaded_by("import bridge.stats")
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert foreign - with_numpy == {"bridge"}
    assert not {f"bridge.{room}" for room in _ROOMS_ABOVE} & loaded
