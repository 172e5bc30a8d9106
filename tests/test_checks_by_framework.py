"""``docs/checks-by-framework.md``: what it says can be written, and it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

from bridge.files.yaml import parse_yaml
from bridge.model import Check
from bridge.scorers import validate_check
from bridge_promptfoo.install import home

PAGE = (ROOT / "docs" / "checks-by-framework.md").read_text("utf-8")
ROW = re.compile(r"^\| `(?P<theirs>[^`]+)` \| (?P<here>`[^`]+`|none) \| (?P<differs>.*)\|$", re.MULTILINE)  # fmt: skip


def table(title: str) -> dict[str, tuple[str, str]]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [(row["theirs"], (row["here"], row["differs"].strip())) for row in ROW.finditer(section)]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) == len(lines) - 1, "a row is not read"
    assert len(dict(rows)) == len(rows), "a row is there twice"
    return dict(rows)


FRAMEWORKS = ("promptfoo", "Inspect AI", "RAGAS", "DeepEval")
CHECKS = sorted({here for name in FRAMEWORKS for here, _ in table(name).values() if here != "none"})


@pytest.mark.parametrize("written", CHECKS)
def test_what_is_written_is_a_check(written: str) -> None:
    read, _ = parse_yaml(written.strip("`").encode(), Path("page"))
    validate_check(Check.model_validate(read))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_has_no_home_has_a_reason(framework: str) -> None:
    for theirs, (here, differs) in table(framework).items():
        assert here != "none" or differs, theirs


def test_every_assertion_of_promptfoo_is_listed() -> None:
    sources = sorted((home() / "node_modules/promptfoo/dist/src").glob("tables-*.js"))
    assert sources, "promptfoo is not set up"
    text = sources[0].read_text("utf-8")
    known: set[str] = set()
    for name in ("BaseAssertionTypesSchema", "SpecialAssertionTypesSchema"):
        listed = text.partition(f"const {name} = ")[2].partition("]")[0]
        known |= set(re.findall(r'"([^"]+)"', listed))
    assert len(known) == 69
    assert set(table("promptfoo")) == known


def test_every_scorer_of_inspect_is_listed() -> None:
    from inspect_ai import scorer
    from inspect_ai._util.registry import is_registry_object, registry_info

    listed = {re.split(r"\(", name)[0] for name in table("Inspect AI")}
    public = {name for name in scorer.__all__ if name[0].islower()}
    found = {
        name
        for name in public
        if is_registry_object(getattr(scorer, name))
        and registry_info(getattr(scorer, name)).type == "scorer"
    }
    assert found
    assert found <= listed, found - listed
