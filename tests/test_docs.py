"""What is generated is up to date, and what is written is true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from conftest import ROOT, Bridge
from test_architecture import ROOMS

from bridge.cli.main import COMMANDS
from bridge.plugin.metric_table import metric_table
from bridge.scorers.catalogue import catalogue

TEST = re.compile(r"`(\w+(?:\.py)?)((?:::\w+)+)`")
FRAMEWORKS = ("deepeval", "inspect", "promptfoo", "ragas")


def test_the_scorers_page_is_generated_from_the_code() -> None:
    assert (ROOT / "docs" / "scorers.md").read_text("utf-8") == catalogue()


def test_the_table_of_native_metrics_is_that_of_the_adapters() -> None:
    committed = (ROOT / "docs" / "metrics-by-framework.md").read_text("utf-8")
    assert committed == metric_table(), "run: python -m bridge.plugin.metric_table"


def test_the_readme_names_every_command_and_no_other() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"^\| `bridge (\w+)", text, re.MULTILINE)) == set(COMMANDS)


def test_the_house_is_drawn_with_all_its_rooms() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    drawn = re.findall(r"^(\w+)/ +\w", text, re.MULTILINE)
    assert drawn == [*ROOMS, "adapters"]


def test_local_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/*/README.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_error_texts_name_pages_that_exist() -> None:
    named = {
        name
        for path in ROOT.glob("bridge/**/*.py")
        for name in re.findall(
            r"\b((?:docs|adapters)/[\w./-]+\.(?:md|json))", path.read_text("utf-8")
        )
    }
    assert named
    for name in named:
        assert (ROOT / name).exists(), name


def names_of(file: str) -> Iterator[str]:
    """The tests of a file as pytest names them, those of a class with its name in front."""
    for node in ast.parse((ROOT / "tests" / file).read_text("utf-8")).body:
        body, place = (
            (node.body, f"::{node.name}") if isinstance(node, ast.ClassDef) else ([node], "")
        )
        for each in body:
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
                yield f"{place}::{each.name}"


def test_every_test_that_keeps_the_gate_from_a_false_green_is_there() -> None:
    text = (ROOT / "docs" / "never-green.md").read_text("utf-8")
    named: dict[str, set[str]] = {}
    for file, test in TEST.findall(text):
        path = file if file.endswith(".py") else f"test_{file}_never_green.py"
        named.setdefault(path, set()).add(test)
    for file, tests in named.items():
        assert tests <= set(names_of(file)), file
    for framework in FRAMEWORKS:
        file = f"test_{framework}_never_green.py"
        assert named[file] == set(names_of(file)), f"{file}: not all of it is on the page"


def test_each_command_says_what_it_does_in_80_columns(bridge: Bridge) -> None:
    for name in (*COMMANDS, ""):
        done = bridge(*name.split(), "--help", COLUMNS="80")
        assert done.returncode == 0
        assert done.stdout.startswith(f"Usage: bridge {name}".rstrip())
        assert max(map(len, done.stdout.splitlines())) <= 80, name


def test_wrong_usage_names_the_help_of_its_command(bridge: Bridge) -> None:
    done = bridge("gate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "bridge: Missing argument 'RESULT'; see: bridge gate --help\n"
