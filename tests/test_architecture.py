"""The house: imports only go down, it names no framework, and nothing heavy comes in unasked."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from conftest import ROOT

import bridge
from bridge.files.syntax import syntax_tree

ROOMS = (
    "model",
    "stats",
    "files",
    "scorers",
    "judge",
    "plugin",
    "execution",
    "conversion",
    "gate",
    "report",
    "lint",
    "cli",
    "testing",
    "pytest_plugin",
)
"""From the ground up."""

OPEN_TO_ADAPTERS = ("model", "stats", "files", "scorers", "judge", "plugin")

FRAMEWORKS = ("deepeval", "inspect", "ragas", "promptfoo")
HEAVY = ("deepeval", "inspect_ai", "ragas", "promptfoo", "langchain", "openai", "scipy", "pandas")

SOURCES = sorted((ROOT / "bridge").rglob("*.py"))
ADAPTERS = sorted((ROOT / "adapters").rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that is imported, wherever in the file, as (line, name)."""
    for node in ast.walk(syntax_tree(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} is a relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def room_of_file(path: Path) -> str:
    return path.relative_to(ROOT / "bridge").parts[0]


def test_every_room_has_its_floor() -> None:
    rooms = {path.name for path in (ROOT / "bridge").iterdir() if (path / "__init__.py").is_file()}
    assert rooms <= set(ROOMS)


@pytest.mark.parametrize("path", [p for p in SOURCES if p.parent != ROOT / "bridge"], ids=name_of)
def test_imports_only_go_down(path: Path) -> None:
    own = path.relative_to(ROOT / "bridge").parts[0]
    for line, module in imports(path):
        top = module.split(".")[0]
        assert not top.startswith("bridge_"), f"{path}:{line} imports an adapter"
        if top == "bridge":
            room = room_of(module)
            assert room in ROOMS, f"{path}:{line} imports {module}, which is no room"
            above = ROOMS.index(room) > ROOMS.index(own)
            assert not above, f"{path}:{line}: {own} imports {room}, a floor above"


@pytest.mark.parametrize("path", ADAPTERS, ids=name_of)
def test_adapters_know_the_protocols_and_what_is_below(path: Path) -> None:
    own = path.relative_to(ROOT / "adapters").parts[0]
    for line, module in imports(path):
        top = module.split(".")[0]
        if top.startswith("bridge_"):
            assert top == own, f"{path}:{line} imports another adapter"
        if top == "bridge":
            assert room_of(module) in OPEN_TO_ADAPTERS, f"{path}:{line} imports {module}"


def module_of(path: Path) -> str:
    root = ROOT if path.is_relative_to(ROOT / "bridge") else ROOT / "adapters"
    return ".".join(path.relative_to(root).with_suffix("").parts)


def folder_of(module: str) -> str:
    """The folder of its room or adapter that a module is in; itself where it stands there."""
    parts = module.split(".")
    depth = 3 if parts[0] == "bridge" else 2
    return ".".join(parts[:depth]) if len(parts) > depth else module


@pytest.mark.parametrize("place", [str, folder_of], ids=["files", "folders"])
def test_no_two_places_need_each_other(place: Callable[[str], str]) -> None:
    """Late imports count too; what a package re-exports and what names types alone do not."""
    modules = {module_of(path): path for path in [*SOURCES, *ADAPTERS] if path.stem != "__init__"}
    needed: dict[str, set[str]] = {place(module): set() for module in modules}
    for module, path in modules.items():
        for _, name in imports(path):
            known = next(
                (each for each in (name, name.rpartition(".")[0]) if each in modules), module
            )
            needed[place(module)] |= {place(known)} - {place(module)}
    TopologicalSorter(needed).prepare()  # CycleError names the circle


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_framework_is_named(path: Path) -> None:
    """Documentation may name them; code may not."""
    tree = syntax_tree(path.read_bytes())
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            words = node.value.lower().replace("_", " ").split()
            named = {word.strip("'\"`,.;:()[]{}") for word in words} & set(FRAMEWORKS)
            assert not named, f"{path}:{node.lineno} names {named}"
    for line, module in imports(path):
        top = module.split(".")[0]
        if top == "openai" and room_of_file(path) == "judge":
            continue  # the judge's transport, no framework
        is_framework = top in HEAVY or (top in FRAMEWORKS and top != "inspect")
        assert not is_framework, f"{path}:{line} imports {module}"


def loaded(code: str, *arguments: str) -> set[str]:
    """The modules that a fresh process has loaded after running some code."""
    report = "\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}{report}", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def tops(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


def test_importing_the_package_costs_nothing() -> None:
    modules = loaded("import bridge")
    assert {module for module in modules if module.startswith("bridge")} == {"bridge"}
    assert not tops(modules) & {"pydantic", "numpy", "msgspec", "yaml", "typer", *HEAVY}


NO_ENTRY_POINTS = """
import importlib.metadata as metadata
def scanned(*_, **__):
    raise AssertionError("entry points were scanned")
metadata.entry_points = scanned
"""
COMMAND = """
from bridge.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as done:
    assert not done.code, done.code
"""


def test_help_needs_no_library() -> None:
    modules = loaded(NO_ENTRY_POINTS + COMMAND, "--help")
    assert not tops(modules) & {"pydantic", "numpy", "msgspec", "yaml", "re2", *HEAVY}


def test_the_gate_needs_no_framework(tmp_path: Path) -> None:
    row = '{"framework": "inspect", "metric": "m", "case_id": "a", "status": "passed", "value": 1'
    path = tmp_path / "scores.jsonl"
    path.write_text(f'{row}, "threshold": 1}}\n')
    modules = loaded(COMMAND, "gate", str(path))
    assert "numpy" in tops(modules)
    assert not tops(modules) & {*HEAVY, "bridge_inspect", "bridge_deepeval"}


def test_public_names_are_there_once_each() -> None:
    for name in bridge.__all__:
        assert getattr(bridge, name) is not None
    assert len(set(bridge.__all__)) == len(bridge.__all__)
    assert set(bridge.__all__) <= set(dir(bridge))
    name = "Nope"
    with pytest.raises(AttributeError, match="module 'bridge' has no attribute 'Nope'"):
        getattr(bridge, name)


def test_type_checkers_see_the_same_names() -> None:
    tree = syntax_tree((ROOT / "bridge" / "__init__.py").read_bytes())
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        alias.name: node.module
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(bridge.__all__)
    for name, module in seen.items():
        value = getattr(bridge, name)
        assert getattr(value, "__module__", module) == module, name


def test_names_people_know() -> None:
    case = bridge.Case(id="a", input="x", expected="y")
    found = bridge.evaluate(
        bridge.Check(scorer="equals"), case, bridge.Output(case_id="a", text="y")
    )
    assert isinstance(found, bridge.Measurement)
    assert found.status == "passed"
    assert bridge.scan("hello").action == "allow"
    assert issubclass(bridge.InputError, bridge.BridgeError)
