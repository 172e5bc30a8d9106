"""The public contracts over every framework and format, against the real thing.

Each framework goes through the contract twice: with the contract's own suite, and with every golden
set there is. One run serves all frameworks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.plugin.registry import framework_names, get_framework
from bridge.testing import (
    ArtefactContract,
    FrameworkContract,
    Scored,
    score,
    shuffled_suite,
    write_contract_suite,
)
from bridge.testing.framework import small_bundle

pytestmark = [pytest.mark.xdist_group("conformance"), pytest.mark.timeout(900)]

FRAMEWORKS = framework_names()
NATIVE = [name for name in FRAMEWORKS if name != "core"]
HEAVY = frozenset({"deepeval", "inspect_ai", "ragas", "langchain", "openai", "pandas", "promptfoo"})


def all_golden_sets(folder: Path) -> Path:
    """The example's suite over every golden set; what it has no answer to is answered "Hello."."""
    example = ROOT / "examples" / "support_bot"
    paths = sorted((ROOT / "cases").glob("*/cases.jsonl"))
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    recorded = (example / "v1.outputs.jsonl").read_text("utf-8").splitlines()
    answered = {json.loads(line)["case_id"] for line in recorded}
    lacking = [case for line in lines if (case := json.loads(line)["id"]) not in answered]
    hello = {"system": json.loads(recorded[0])["system"], "text": "Hello.", "latency_s": 0.1}
    recorded += [json.dumps({**hello, "case_id": case, "cost_usd": 0.0001}) for case in lacking]
    (folder / "cases.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "v1.outputs.jsonl").write_text("\n".join(recorded), "utf-8")
    text = (example / "bridge.yaml").read_text("utf-8")
    head, rest = text.split("golden_set:")[0], text.split("frameworks:")[1]
    system = "golden_set: cases.jsonl\nsystem: {recorded: v1.outputs.jsonl}\nframeworks:"
    suite = folder / "bridge.yaml"
    suite.write_text(f"{head}{system}{rest}", "utf-8")
    return suite


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """The contract's own suite."""
    suite = write_contract_suite(tmp_path_factory.mktemp("hostile"))
    return score(suite, FRAMEWORKS, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def hostile_shuffled(hostile: Scored, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    return score(shuffled_suite(hostile.suite), FRAMEWORKS, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """All golden sets, in file order."""
    suite = all_golden_sets(tmp_path_factory.mktemp("golden"))
    return score(suite, FRAMEWORKS, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def golden_shuffled(golden: Scored, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """A third of the cases in another order, with other neighbours."""
    suite = shuffled_suite(golden.suite, 1 / 3)
    return score(suite, FRAMEWORKS, tmp_path_factory.mktemp("run"))


class OnHostile:
    """The contract's own suite, shared by all frameworks."""

    @pytest.fixture(scope="class")
    @classmethod
    def scored(cls, hostile: Scored) -> Scored:
        return hostile

    @pytest.fixture(scope="class")
    @classmethod
    def shuffled(cls, hostile_shuffled: Scored) -> Scored:
        return hostile_shuffled


class OnGolden:
    """All golden sets, shared by all frameworks."""

    @pytest.fixture(scope="class")
    @classmethod
    def scored(cls, golden: Scored) -> Scored:
        return golden

    @pytest.fixture(scope="class")
    @classmethod
    def shuffled(cls, golden_shuffled: Scored) -> Scored:
        return golden_shuffled


def held_to(contract: type, name: str, fields: Mapping[str, Any], *on: type) -> None:
    """A test class of a contract, as its subclass would be written by hand."""
    title = f"Test_{name}_{'_'.join(each.__name__ for each in on)}".rstrip("_")
    globals()[title] = type(title, (*on, contract), dict(fields))


for name in FRAMEWORKS:
    kind = FrameworkContract if name == "core" else ArtefactContract
    for on in (OnHostile, OnGolden):
        held_to(kind, name, {"framework": name, "artefact": name, "heavy": HEAVY}, on)


def test_the_golden_sets_are_large_enough(golden: Scored, golden_shuffled: Scored) -> None:
    rows = golden.given("core")
    assert len({row["case_id"] for row in rows}) >= 500
    assert {row["status"] for row in rows} >= {"passed", "failed", "skipped"}
    assert len({row["case_id"] for row in golden_shuffled.given("core")}) >= 150


@pytest.mark.parametrize("name", NATIVE)
def test_the_cheap_route_was_taken_and_held_against_the_public_one(
    golden: Scored, name: str
) -> None:
    record = golden.record_of(name)
    assert len(record.routes) == 1
    route = record.routes[0]
    assert route["framework"] == name
    assert route["route"] in ("direct", "eval")  # promptfoo has one route, its own command
    if route["route"] == "eval":
        return
    assert route["probe"]["cases"] >= 20
    assert route["probe"]["differences"] == []


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_to_native_gives_objects_of_the_framework_or_plain_data(name: str) -> None:
    framework = get_framework(name)
    native = framework.to_native(small_bundle())
    distribution = framework.info.distribution.replace("-", "_")
    module = type(native).__module__.split(".")[0]
    assert module in (distribution, "builtins", "bridge", f"bridge_{name}")


def test_the_tool_metrics_were_scored_and_not_skipped(hostile: Scored) -> None:
    names = ("tool_precision", "tool_recall", "tool_f1", "tool_arguments", "tool_order")
    for name in (*names, "tool_schema", "allowed", "whole"):
        found = {row["value"] for row in hostile.given("core") if row["metric"] == name}
        assert found >= {0.0, 1.0}, name


def test_the_hostile_run_holds_every_kind_of_status(hostile: Scored) -> None:
    rows = hostile.given("core")
    assert {row["status"] for row in rows} == {"passed", "failed", "skipped", "error"}
    resisted = {row["value"] for row in rows if row["metric"] == "injection_resistance"}
    assert resisted == {0.0, 1.0, None}
    broken = {row["case_id"]: row["error"] for row in rows if row["metric"] == "broken"}
    assert broken["json"] == "SystemExit: 0"
    assert "no value in [0, 1]" in broken["h 7"]
