"""Suites: their short forms, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import (
    BridgeError,
    FrameworkConfig,
    GoldenSetRef,
    InfrastructureError,
    InputError,
    MetricPolicy,
    MissingDependency,
    Suite,
)

SUITE: dict[str, Any] = {"name": "s", "golden_set": "g.jsonl", "system": {"recorded": "o.jsonl"}}


def read(**fields: Any) -> Suite:
    return Suite.model_validate({**SUITE, **fields})


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("a.jsonl", (GoldenSetRef(path="a.jsonl"),)),
        ({"path": "a", "version": "sha256:1"}, (GoldenSetRef(path="a", version="sha256:1"),)),
        (["a", {"path": "b"}], (GoldenSetRef(path="a"), GoldenSetRef(path="b"))),
    ],
)
def test_golden_sets(written: Any, read_as: Any) -> None:
    assert read(golden_set=written).golden_set == read_as


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (["core"], (FrameworkConfig(name="core"),)),
        (["m:F", {"ragas": None}], (FrameworkConfig(name="m:F"), FrameworkConfig(name="ragas"))),
        (
            [{"ragas": {"python": "../py", "timeout_s": 5, "deep": {"a": 1}}}],
            (
                FrameworkConfig(
                    name="ragas", python="../py", timeout_s=5, options={"deep": {"a": 1}}
                ),
            ),
        ),
        (
            [{"name": "core", "options": {"a": 1}}],
            (FrameworkConfig(name="core", options={"a": 1}),),
        ),
    ],
)
def test_frameworks(written: Any, read_as: Any) -> None:
    assert read(frameworks=written).frameworks == read_as


def test_defaults() -> None:
    suite = read()
    assert [framework.name for framework in suite.frameworks] == ["core"]
    assert suite.system.recorded == ("o.jsonl",)
    assert (suite.epochs, suite.checks, suite.gate.confidence) == (1, (), 0.95)
    assert suite.gate.on_change.golden_set == "shared"


def test_short_policies() -> None:
    gate = read(gate={"metrics": {"a": 0.8, "b": {"min_pass_rate": 1}, "c": None}}).gate
    assert gate.metrics == {
        "a": MetricPolicy(min=0.8),
        "b": MetricPolicy(min_pass_rate=1.0),
        "c": MetricPolicy(),
    }


@pytest.mark.parametrize("weights", [[1.0], [0.6, 0.4], [0.1] * 10, [1 / 3] * 3, [0.7, 0.2, 0.1]])
def test_weights_that_sum_to_one(weights: list[float]) -> None:
    metrics = {f"m{index}": {"weight": weight} for index, weight in enumerate(weights)}
    assert len(read(gate={"metrics": {**metrics, "free": 0.5}}).gate.metrics) == len(weights) + 1


@pytest.mark.parametrize("weights", [[0.5], [0.6, 0.5], [0.333, 0.333, 0.333], [0.0]])
def test_weights_that_do_not(weights: list[float]) -> None:
    metrics = {f"m{index}": {"weight": weight} for index, weight in enumerate(weights)}
    with pytest.raises(ValidationError, match="the given weights sum to"):
        read(gate={"metrics": metrics})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"golden_set": []}, "at least one golden set"),
        ({"golden_set": None}, "golden_set"),
        ({"golden_set": " "}, "must not be empty"),
        ({"system": {}}, "a system is"),
        ({"system": {"recorded": "a", "python": "b:c"}}, "a system is"),
        ({"system": {"recorded": []}}, "a system is"),
        ({"system": {"ftp": "x"}}, "Extra inputs"),
        ({"system": {"python": "a:b", "concurrency": 0}}, "greater than or equal to 1"),
        ({"system": {"python": "a:b", "timeout_s": 0}}, "greater than 0"),
        ({"frameworks": []}, "at least one framework"),
        ({"frameworks": ["core", {"core": {"a": 1}}]}, "framework core stands twice"),
        ({"frameworks": [{"ragas": "python3"}]}, "ragas takes options by name"),
        ({"frameworks": [{"a": {}, "b": {}}]}, "frameworks"),
        ({"checks": ["equals", {"contains": {"metric": "equals"}}]}, "metric equals stands twice"),
        ({"checks": [{"g_eval": {"judge": "main"}}]}, "names judge main, not in judges"),
        ({"checks": [{"all": [{"g_eval": {"judge": "main"}}]}]}, "names judge main, not in judges"),
        ({"judges": {"main": {}}}, "model"),
        ({"epochs": 0}, "greater than or equal to 1"),
        ({"version": 2}, "version"),
        ({"cases": []}, "Extra inputs"),
        ({"gate": {"confidence": 1}}, "less than 1"),
        ({"gate": {"margin": 0}}, "greater than 0"),
        ({"gate": {"metrics": {"a": 1.5}}}, "less than or equal to 1"),
        ({"gate": {"metrics": {"a": True}}}, "metrics"),
        ({"gate": {"on_change": {"scorer": "shared"}}}, "refuse"),
        ({"gate": {"on_inconclusive": "pass"}}, "warn"),
    ],
)
def test_faulty_suites(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        read(**fields)


def test_a_judge_that_is_there() -> None:
    suite = read(
        checks=[{"g_eval": {"judge": "main"}}],
        judges={"main": {"model": "m", "api_key_env": "KEY"}},
    )
    assert suite.judges["main"].api_key_env == "KEY"


@pytest.mark.parametrize(
    ("kind", "code"), [(InputError, 2), (MissingDependency, 2), (InfrastructureError, 3)]
)
def test_errors_are_one_line_with_a_place_and_a_way_out(kind: type[BridgeError], code: int) -> None:
    error = kind("what\nis wrong", where="f.jsonl", line=3, fix="mend it")
    assert str(error) == "f.jsonl:3: what is wrong; mend it"
    assert error.exit_code == code
    assert str(kind("what")) == "what"
