"""From what a scorer says to the status of a row: thresholds, groups, turns, and what breaks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output, OutputTurn, Turn
from bridge.model.score import error_measurement
from bridge.model.values import Model
from bridge.scorers import (
    NoParams,
    Scorer,
    checks_with_turns,
    evaluate,
    expected_rows,
    get_scorer,
    skip,
    validate_check,
)
from bridge.scorers.evaluate import per_turn, threshold_of, version_of
from bridge.scorers.registry import ALIASES, BUILT_IN, read_params
from bridge.scorers.text.literal import EqualsParams

CASE = Case(id="a", input="q", expected="")
OUTPUT = Output(case_id="a", text="x")


class ValueParams(Model):
    value: Any = None


def graded(_: Case, output: Output, params: ValueParams) -> list[Measurement]:
    """The value it is told to give."""
    return [Measurement(value=params.value, reason=f"told {params.value}")]


def says(found: Any) -> Callable[..., Any]:
    return lambda case, output, params: found


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises(error: BaseException) -> Callable[..., Any]:
    def score(*_: object) -> Sequence[Measurement]:
        raise error

    return score


BROKEN: dict[str, Callable[..., Any]] = {
    "nothing": says([]),
    "two": says([Measurement(value=1.0), Measurement(value=0.0)]),
    "a_number": says(1.0),
    "a_measurement": says(Measurement(value=1.0)),
    "numbers": says([1.0]),
    "no_value": says([Measurement()]),
    "too_high": lambda *_: [Measurement(value=7.0)],
    "not_finite": lambda *_: [Measurement(value=float("nan"))],
    "around_validation": says([Measurement.model_construct(value=7.0)]),
    "verdict_without_value": says([Measurement(status="passed")]),
    "an_error": says([error_measurement("broke")]),
    "an_error_without_text": says([Measurement(status="error")]),
    "an_error_with_value": says([Measurement(status="error", value=1.0, error="broke")]),
    "raises": raises(ZeroDivisionError("by zero")),
    "exits": raises(SystemExit(0)),
    "many_lines": raises(ValueError("line\n" * 5000)),
    "unreadable": raises(UnreadableError()),
    "too_deep": raises(RecursionError()),
    "no_memory": raises(MemoryError()),
    "asserts": raises(AssertionError("no")),
}
FINE: dict[str, Callable[..., Any]] = {
    "graded": graded,
    "skips": says([skip("nothing there")]),
    "skips_with_value": says([Measurement(status="skipped", value=1.0)]),
    "unsupported": says([Measurement(status="unsupported", reason="cannot")]),
    "says_passed": says([Measurement(status="passed", value=0.2)]),
    "says_failed": says([Measurement(status="failed", value=0.9)]),
}


@pytest.fixture(autouse=True)
def scorers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("mine")
    for name, score in {**BROKEN, **FINE}.items():
        params = ValueParams if name == "graded" else NoParams
        threshold = 0.5 if name == "graded" else 1.0
        vars(module)[name] = Scorer(name, "3", score, params, threshold)
    vars(module)["whole"] = Scorer("whole", "1", graded, ValueParams, per_turn=False)
    vars(module)["function"] = graded
    monkeypatch.setitem(sys.modules, "mine", module)
    get_scorer.cache_clear()
    yield
    get_scorer.cache_clear()


def measure(check: Any, case: Case = CASE, output: Output = OUTPUT, turn: int | None = None) -> Any:
    return evaluate(Check.model_validate(check), case, output, turn)


def test_negated_a_graded_default_threshold_is_turned_round() -> None:
    for answer, passed in (("the cat sat", False), ("a dog ran", True), ("the cat ran", True)):
        case = Case(id="a", input="q", expected="the cat sat")
        output = Output(case_id="a", text=answer)
        plain = evaluate(Check(scorer="rouge_n"), case, output)
        negated = evaluate(Check(scorer="rouge_n", negate=True), case, output)
        assert (plain.status == "passed") is not passed
        assert (negated.status == "passed") is passed
        assert plain.value is not None
        assert negated.value == 1 - plain.value


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("negate", [False, True])
def test_what_breaks_is_an_error_and_never_a_value(name: str, negate: bool) -> None:
    found = measure({f"mine:{name}": {"negate": negate, "metric": "m"}})
    assert (found.status, found.value, found.metric) == ("error", None, "m")
    assert found.error
    assert found.reason == found.error
    assert "\n" not in found.error
    assert len(found.error) <= 1000


def test_what_is_said_of_a_broken_scorer() -> None:
    assert measure("mine:raises").error == "ZeroDivisionError: by zero"
    assert measure("mine:exits").error == "SystemExit: 0"
    assert (
        measure("mine:nothing").error == "ValueError: the scorer returned 0 measurements, not one"
    )
    assert "returned a float, not a list" in measure("mine:a_number").error
    assert measure("mine:too_high").error.startswith("ValidationError: 1 validation error")
    assert "no value in [0, 1]: 7.0" in measure("mine:around_validation").error
    assert measure("mine:unreadable").error == "UnreadableError"


def test_interrupts_are_not_swallowed() -> None:
    vars(sys.modules["mine"])["stops"] = Scorer("s", "1", raises(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        measure("mine:stops")


@pytest.mark.parametrize(
    ("value", "fields", "status", "result"),
    [
        (0.5, {}, "passed", 0.5),
        (0.49, {}, "failed", 0.49),
        (0.8, {"threshold": 0.8}, "passed", 0.8),
        (0.8, {"threshold": 0.81}, "failed", 0.8),
        (0.0, {"threshold": 0}, "passed", 0.0),
        (0.2, {"negate": True}, "passed", 0.8),
        (0.8, {"negate": True}, "failed", pytest.approx(0.2)),
        (1.0, {"negate": True, "threshold": 0}, "passed", 0.0),
        (1, {}, "passed", 1.0),
    ],
)
def test_thresholds_and_negation(
    value: float, fields: dict[str, Any], status: str, result: Any
) -> None:
    found = measure({"mine:graded": {"value": value, **fields}})
    assert (found.status, found.value) == (status, result)
    assert found.reason == f"told {value}"


@pytest.mark.parametrize("name", ["skips", "skips_with_value", "unsupported"])
def test_what_has_no_value_stays_as_it_is(name: str) -> None:
    for negate in (False, True):
        found = measure({f"mine:{name}": {"negate": negate, "threshold": 0.5}})
        assert found.status == name.split("_")[0].replace("skips", "skipped")
        assert found.value is None


def test_the_threshold_decides_not_the_scorer() -> None:
    assert measure({"mine:says_passed": {"threshold": 0.5}}).status == "failed"
    assert measure({"mine:says_failed": {"threshold": 0.5}}).status == "passed"
    assert measure({"mine:says_passed": {"threshold": 0.5, "negate": True}}).status == "passed"


def group(*members: Any, **fields: Any) -> Any:
    return measure({"all": list(members), **fields})


def told(value: float, **fields: Any) -> dict[str, Any]:
    return {"mine:graded": {"value": value, **fields}}


def test_a_group_is_the_weighted_mean_of_its_members() -> None:
    found = group(told(1.0, weight=3), told(0.0, metric="b", weight=1), metric="g", threshold=0.7)
    assert (found.value, found.status, found.metric) == (0.75, "passed", "g")
    assert found.details["members"] == [
        {"metric": "mine:graded", "value": 1.0, "status": "passed"},
        {"metric": "b", "value": 0.0, "status": "failed"},
    ]
    assert found.reason == "mine:graded passed: told 1.0; b failed: told 0.0"
    assert group(told(1.0), told(0.0), threshold=0.51).status == "failed"


def test_a_group_without_a_threshold_passes_when_all_pass() -> None:
    assert group(told(0.6), told(0.6)).status == "passed"
    assert group(told(1.0), told(0.4)).status == "failed"
    assert group(told(1.0), told(0.4), negate=True).status == "passed"
    assert group(told(1.0), told(1.0), negate=True).status == "failed"


def test_a_member_without_weight_decides_nothing() -> None:
    found = group(told(1.0), told(0.0, weight=0))
    assert (found.value, found.status) == (1.0, "passed")
    assert group(told(0.0), told(1.0, weight=0), threshold=0.5).status == "failed"


def test_skipped_members_are_left_out() -> None:
    found = group(told(0.6), "mine:skips", threshold=0.6)
    assert (found.value, found.status) == (0.6, "passed")
    assert group("mine:skips").status == "skipped"
    assert group("mine:skips", told(1.0, weight=0)).status == "skipped"
    assert group("mine:skips", negate=True).status == "skipped"


def test_a_broken_member_breaks_the_group() -> None:
    for fields in ({}, {"threshold": 0.1}, {"negate": True}):
        found = group(told(1.0), {"mine:raises": {"weight": 0}}, **fields)
        assert (found.status, found.value) == ("error", None)
        assert found.error == "mine:raises: ZeroDivisionError: by zero"


def test_groups_within_groups() -> None:
    inner = {"all": [told(1.0), told(0.0)], "threshold": 0.5, "metric": "inner"}
    assert group(inner, told(1.0)).value == 0.75
    assert group(inner, told(1.0)).status == "passed"


def test_an_output_with_an_error_is_never_scored() -> None:
    output = OUTPUT.model_copy(update={"error": "timed out"})
    for check in ("equals", told(1.0), {"all": [told(1.0)]}, {"equals": {"negate": True}}):
        found = measure(check, output=output)
        assert (found.status, found.error) == ("error", "the system failed: timed out")


TALK = Case(
    id="t",
    input="a conversation",
    expected="",
    turns=(
        Turn(user="u", expected="one"),
        Turn.model_validate({"user": "v", "expected": "two", "checks": [{"contains": "x"}]}),
    ),
)
ANSWERS = Output(case_id="t", turns=(OutputTurn(text="one"), OutputTurn(text="not two")))


def test_each_turn_is_scored_as_a_case_of_its_own() -> None:
    first, second = (measure("equals", TALK, ANSWERS, turn) for turn in (0, 1))
    assert (first.value, first.turn) == (1.0, 0)
    assert (second.value, second.turn) == (0.0, 1)


def test_rows_of_a_conversation() -> None:
    suite = [Check.model_validate(check) for check in ("equals", {"mine:whole": {"value": 1}})]
    assert expected_rows(suite, CASE) == [("equals", None), ("mine:whole", None)]
    assert expected_rows(suite, TALK) == [
        ("equals", 0),
        ("equals", 1),
        ("mine:whole", None),
        ("contains", 1),
    ]


def test_a_turn_overrides_and_a_case_overrides() -> None:
    suite = [Check.model_validate({"contains": "suite"}), Check.model_validate("equals")]
    case = TALK.model_copy(update={"checks": (Check.model_validate({"equals": {"value": 5}}),)})
    found = {
        (check.metric, turn): check.params.get("value")
        for check, turn in checks_with_turns(suite, case)
    }
    assert found == {
        ("contains", 0): "suite",
        ("contains", 1): "x",
        ("equals", 0): 5,
        ("equals", 1): 5,
    }
    assert len(found) == len(list(checks_with_turns(suite, case))), "every row once"


def test_rows_are_owed_once() -> None:
    """A turn's check that scores a whole conversation elsewhere is still that turn's own row."""
    suite = [Check.model_validate({"latency": 2})]
    case = Case.model_validate(
        {
            "id": "a",
            "input": "x",
            "expected": "",
            "turns": [{"user": "u", "checks": [{"latency": 1}]}, {"user": "v"}],
        }
    )
    assert expected_rows(suite, case) == [("latency", None), ("latency", 0)]


@pytest.mark.parametrize(
    ("turns", "turn", "message"),
    [
        ((OutputTurn(text="one"),), 1, "turn 1 was not answered"),
        (None, 0, "turn 0 was not answered (0 turns recorded)"),
        ((OutputTurn(text="one"), OutputTurn(error="broke")), 1, "the system failed: broke"),
        ((OutputTurn(text="one"), OutputTurn(error="broke")), None, "turn 1: broke"),
        ((OutputTurn(text="one"),), None, "1 of 2 turns were answered"),
        (None, None, "0 of 2 turns were answered"),
    ],
)
def test_turns_that_are_missing_or_broken(turns: Any, turn: int | None, message: str) -> None:
    check = told(1.0) if turn is not None else {"mine:whole": {"value": 1.0}}
    found = measure(check, TALK, Output(case_id="t", turns=turns), turn)
    assert (found.status, found.value, found.turn) == ("error", None, turn)
    assert message in found.error


def test_a_good_turn_of_a_broken_conversation_counts() -> None:
    turns = (OutputTurn(text="one"), OutputTurn(error="broke"))
    assert measure("equals", TALK, Output(case_id="t", turns=turns), 0).value == 1.0


def test_a_turn_that_does_not_exist() -> None:
    assert measure("equals", TALK, ANSWERS, 5).status == "error"


def test_the_same_in_any_order() -> None:
    checks = [told(0.3), told(1, metric="int"), {"equals": 1}, {"equals": True}, {"equals": "1"}]
    cases = [Case(id=str(i), input="q", expected=i) for i in range(4)]
    pairs = [(check, case) for check in checks for case in cases]
    found = [measure(check, case, Output(case_id=case.id, text="1")) for check, case in pairs]
    again = [
        measure(check, case, Output(case_id=case.id, text="1")) for check, case in reversed(pairs)
    ]
    assert [each.model_dump_json() for each in found] == [
        each.model_dump_json() for each in reversed(again)
    ]


def test_parameters_of_equal_looking_checks_are_kept_apart() -> None:
    values = [1, True, 1.0, "1"]
    read = [read_params(Check.model_validate({"equals": {"value": value}})) for value in values]
    kinds = [type(params.value) for params in read if isinstance(params, EqualsParams)]
    assert kinds == [int, bool, float, str]


def test_versions_and_thresholds_of_groups() -> None:
    check = Check.model_validate({"all": ["equals", told(1.0)], "threshold": 0.3})
    assert version_of(check) == f"{get_scorer('equals').version}+3"
    assert threshold_of(check) == 0.3
    assert threshold_of(Check.model_validate({"all": ["equals"]})) is None
    assert threshold_of(Check.model_validate("equals")) == 1.0
    assert threshold_of(Check.model_validate(told(1.0))) == 0.5
    assert per_turn(check)
    assert not per_turn(Check.model_validate({"all": ["equals", {"latency": 1}]}))


@pytest.mark.parametrize("name", [*BUILT_IN, *ALIASES])
def test_every_built_in_scorer(name: str) -> None:
    scorer = get_scorer(name)
    assert scorer is get_scorer(ALIASES.get(name, name))
    assert scorer.name in BUILT_IN
    assert scorer.summary.endswith(".")
    assert scorer.version
    assert 0 <= scorer.threshold <= 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "no scorer 'nope'; use one of .*equals.* or module:attribute"),
        ("contans", r"no scorer 'contans'; did you mean contains\?"),
        ("gone:x", "cannot be imported .*ModuleNotFoundError"),
        ("mine:gone", "cannot be imported .*AttributeError"),
        ("mine:function", "is a function, not a Scorer; wrap it as bridge.Scorer"),
        (":", "cannot be imported"),
        ("exits_when_imported:x", "cannot be imported .*SystemExit"),
    ],
)
def test_scorers_that_are_not_there(
    name: str, message: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exits_when_imported.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    for check in ({name: {"a": 1}}, {"all": ["equals", name]}):
        with pytest.raises(InputError, match=message):
            validate_check(Check.model_validate(check))


def test_a_scorer_that_vanishes_during_a_run_is_an_error_row() -> None:
    assert "no scorer 'nope'" in measure("nope").error
    assert "unknown key" in measure({"equals": {"odd": 1}}).error
