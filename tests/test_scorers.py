"""Every built-in scorer: in the table, in every framework alike, and in the docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import write_jsonl
from scorer_examples import CHECKS, pairs
from test_conformance import FRAMEWORKS, NATIVE

from bridge.model import Check
from bridge.scorers.registry import ALIASES, BUILT_IN, get_scorer
from bridge.testing import Scored, score
from bridge.testing.scored import by_key, differences

pytestmark = pytest.mark.xdist_group("conformance")


def test_every_scorer_has_its_examples() -> None:
    missing = set(BUILT_IN) - set(CHECKS)
    assert not missing, f"add {missing} to tests/scorer_examples.py"
    assert set(CHECKS) <= set(BUILT_IN)
    for name, checks in CHECKS.items():
        assert {Check.model_validate(each).scorer for each in checks} == {name}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_scorer_says_what_it_is(name: str) -> None:
    scorer = get_scorer(name)
    assert scorer.name == name
    assert scorer.version
    assert scorer.summary.endswith(".")
    assert scorer.score.__doc__
    assert all(address.startswith("https://") for address in scorer.source)


def test_aliases_are_no_scorers_and_lead_to_one() -> None:
    assert not set(ALIASES) & set(BUILT_IN)
    assert set(ALIASES.values()) <= set(BUILT_IN)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """All examples through all frameworks."""
    folder: Path = tmp_path_factory.mktemp("scorers")
    write_jsonl(folder / "cases.jsonl", [case for case, _ in pairs()])
    write_jsonl(folder / "outputs.jsonl", [output for _, output in pairs()])
    suite = {
        "name": "scorers",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "outputs.jsonl"},
        "checks": [check for checks in CHECKS.values() for check in checks],
    }
    (folder / "bridge.yaml").write_text(json.dumps(suite), "utf-8")
    return score(folder / "bridge.yaml", FRAMEWORKS, folder / "R")


@pytest.mark.parametrize("name", CHECKS)
def test_the_examples_pass_and_fail(table: Scored, name: str) -> None:
    rows = [row for row in table.given("core") if row["scorer"] == name]
    assert {row["status"] for row in rows} >= {"passed", "failed"}
    assert {row["scorer_version"] for row in rows} == {get_scorer(name).version}


@pytest.mark.parametrize("framework", NATIVE)
def test_parity_of_every_scorer(table: Scored, framework: str) -> None:
    ours, theirs = by_key(table.given("core")), by_key(table.given(framework))
    assert len(theirs) == len(ours) == len(table.owed(framework))
    assert differences(ours, theirs) == []
