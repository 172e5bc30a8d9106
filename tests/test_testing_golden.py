"""Golden sets in ordinary Python tests: cases as parameters, checks as assertions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, write_jsonl

from bridge import Case, Check, InputError, Output
from bridge.testing import CheckError, assert_case, golden_set

CASE = Case(id="a", input="Where is my refund?", expected="5-7 days")
CASES = golden_set("../cases/support_rag/cases.jsonl")


@pytest.mark.parametrize("case", CASES[:3])
def test_a_case_is_a_parameter_with_its_id(case: Case, request: pytest.FixtureRequest) -> None:
    assert request.node.name.endswith(f"[{case.id}]")


def test_paths_are_relative_to_the_file_that_names_them(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert golden_set("../cases/support_rag/cases.jsonl") == CASES
    assert golden_set(ROOT / "cases" / "support_rag" / "cases.jsonl") == CASES


def test_a_set_without_a_case_is_refused(tmp_path: Path) -> None:
    """pytest would skip a test without parameters."""
    path = write_jsonl(
        tmp_path / "c.jsonl", [{"id": "a", "input": "", "expected": "", "tags": ["t"]}]
    )
    assert [each.id for each in golden_set(path, tags=["t", "u"])] == ["a"]
    with pytest.raises(InputError, match="no case with tag x"):
        golden_set(path, tags=["x"])
    with pytest.raises(InputError, match="no golden set is named"):
        golden_set()
    with pytest.raises(InputError, match=r"gone\.jsonl"):
        golden_set("gone.jsonl")
    with pytest.raises(InputError, match="stands twice"):
        golden_set(path, path)


def test_an_answer_passes() -> None:
    checks = ["contains", {"word_count": {"max": 5}}, Check(scorer="latency", params={"max": 1})]
    found = assert_case(CASE, {"text": "In 5-7 days.", "latency_s": 0.2}, checks)
    assert [each.metric for each in found] == ["contains", "word_count", "latency"]
    assert {each.status for each in found} == {"passed"}
    assert assert_case(CASE, "5-7 days", ["equals"])[0].value == 1.0
    assert assert_case(CASE, Output(case_id="a", text="5-7 days"), ["equals"])


def test_the_checks_of_a_case_and_of_its_turns_count() -> None:
    turns = [{"user": "1", "expected": "x"}, {"user": "2", "expected": "y"}]
    case = Case.model_validate({"id": "t", "input": "", "expected": "", "turns": turns})
    with pytest.raises(CheckError, match=r"^equals, turn 1: 0, needs 1: "):
        assert_case(case, {"turns": [{"text": "x"}, {"text": "x"}]}, ["equals"])
    own = Case.model_validate({"id": "o", "input": "", "expected": "", "checks": ["refusal"]})
    with pytest.raises(CheckError, match=r"^refusal: 0, needs 1: "):
        assert_case(own, "Certainly.")


@pytest.mark.parametrize(
    ("answer", "checks", "said"),
    [
        ("soon", ["contains", "equals"], "contains: 0, needs 1: .*\nequals: 0, needs 1: "),
        ("soon\x1b[31m ::error::", ["equals"], r"^[^\x1b]*$"),
        ({"error": "HTTP 500"}, ["contains"], "contains: error: the system failed: HTTP 500"),
        ("soon", ["tool_use"], "nothing was scored .tool_use: no expected calls"),
        ("soon", ["tool_correctness"], "tool_correctness: unsupported: "),
        ("soon", [{"latency": {"max": 1}}], "nothing was scored|latency: "),
    ],
)
def test_an_answer_does_not(answer: Any, checks: list[Any], said: str) -> None:
    with pytest.raises(CheckError, match=said) as caught:
        assert_case(CASE, answer, checks)
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize(
    ("answer", "checks", "said"),
    [
        ("x", [], "nothing is checked on case 'a'"),
        ("x", ["equal"], "no scorer 'equal'"),
        ("x", ["equals", "equals"], "metric equals stands twice"),
        ("x", [{"contains": {"vlaue": 1}}], "vlaue"),
        (None, ["equals"], "the system returned nothing"),
        ({"txt": "x"}, ["equals"], "unknown keys: txt"),
        ({"latency_s": float("nan")}, ["equals"], "the answer: "),
        (Output(case_id="b", text="5-7 days"), ["equals"], "to case 'b', not to 'a'"),
    ],
)
def test_wrong_use_is_said(answer: Any, checks: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        assert_case(CASE, answer, checks)
