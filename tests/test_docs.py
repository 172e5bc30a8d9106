"""What is generated is up to date, and what is written is true."""

from __future__ import annotations

import re

from conftest import ROOT, Bridge

from bridge.cli.main import COMMANDS
from bridge.scorers.catalogue import catalogue

PAGE = re.compile(r"\b((?:docs|adapters)/[\w./-]+\.(?:md|json))")


def test_the_scorers_page_is_generated_from_the_code() -> None:
    assert (ROOT / "docs" / "scorers.md").read_text("utf-8") == catalogue()


def test_the_readme_names_every_command_and_no_other() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"^\| `bridge (\w+)", text, re.MULTILINE)) == set(COMMANDS)


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


def test_each_command_says_what_it_does(bridge: Bridge) -> None:
    for name in COMMANDS:
        done = bridge(name, "--help")
        assert done.returncode == 0
        assert f"Usage: bridge {name}" in done.stdout
