"""What travels beside a native object, and how rows travel inside a native score."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from strategies import CASES, MEASUREMENTS, OUTPUTS

from bridge.model import Case, Check, Measurement, Output, Score
from bridge.model.message import as_text
from bridge.plugin.carry import Held, Remembered, exactly, pack, plain, unpack
from bridge.plugin.scoring.shared import SharedMetric, decode, encode, shared_metrics, summarise

HELD: Held = {"id": exactly, "input": exactly, "expected": as_text}


@settings(max_examples=60)
@given(CASES, OUTPUTS)
def test_plain_is_a_dump_without_the_copying(case: Case, output: Output) -> None:
    for value in (case, output):
        dumped = value.model_dump(mode="json", exclude_defaults=True)
        assert json.dumps(plain(value)) == json.dumps(dumped)


@pytest.mark.parametrize(
    ("expected", "carried"), [("text", {}), ("", {}), ({"a": 1}, {"expected": {"a": 1}})]
)
def test_only_what_the_framework_loses_is_carried(expected: Any, carried: Any) -> None:
    case = Case(id="c", input="q", expected=expected)
    assert pack(case, HELD) == carried
    assert pack(case.model_copy(update={"tags": ("t",)}), HELD) == {**carried, "tags": ["t"]}


def test_a_carried_value_counts_while_the_framework_holds_its_native_form() -> None:
    case = Case(id="c", input="q", expected={"a": 1}, tags=("t",))
    native = {"id": "c", "input": "q", "expected": '{"a":1}'}
    assert Case.model_validate(unpack(pack(case, HELD), native, HELD)) == case
    changed = unpack(pack(case, HELD), {**native, "expected": "other"}, HELD)
    assert (changed["expected"], changed["tags"]) == ("other", ["t"])
    assert unpack(None, native, HELD) == native
    assert unpack("hostile", native, HELD) == native


def test_a_native_object_is_read_once_in_a_row() -> None:
    reads: list[object] = []
    answer = (Case(id="c", input="q", expected=""), Output(case_id="c"))

    def read(native: object) -> tuple[Case, Output]:
        reads.append(native)
        return answer

    remembered: Remembered[object] = Remembered(read)
    first, second = object(), object()
    for native in (first, first, second, first):
        assert remembered(native) is answer
    assert reads == [first, second, first]


@settings(max_examples=60)
@given(MEASUREMENTS)
def test_rows_survive_a_native_field(found: Measurement) -> None:
    check = Check.model_validate({"equals": {"metric": "m", "threshold": 0.25, "weight": 2}})
    found = found.model_copy(update={"metric": "m"})
    key = {"framework": "f", "framework_version": "1", "system": "s", "case_id": "c", "epoch": 2}
    stamp = {"scorer": "equals", "scorer_version": "1", "threshold": 0.25, "weight": 2}
    expected = Score.model_validate({**key, **stamp, **found.model_dump()})
    assert decode(json.loads(json.dumps(encode([(check, found)]))), key) == [expected]


def test_a_foreign_field_cannot_change_whose_row_it_is() -> None:
    row = {"metric": "m", "status": "passed", "value": 1, "case_id": "another", "epoch": 9}
    (score,) = decode([row], {"framework": "f", "case_id": "c", "epoch": 1})
    assert (score.case_id, score.epoch) == ("c", 1)


def test_several_rows_become_one_value_with_the_worst_status() -> None:
    def row(turn: int, value: float | None, status: Any, **more: Any) -> Measurement:
        return Measurement(turn=turn, value=value, status=status, reason=f"r{turn}", **more)

    assert summarise([row(0, 1.0, "passed"), row(1, 0.5, "failed"), row(2, None, "skipped")]) == (
        summarise(
            [Measurement(value=0.75, status="failed", reason="turn 0: r0; turn 1: r1; turn 2: r2")]
        )
    )
    broken = summarise([row(0, 1.0, "passed"), row(1, None, "error", error="boom")])
    assert (broken.value, broken.status, broken.error) == (None, "error", "turn 1: boom")


def test_metrics_of_a_job_are_the_suites_then_those_of_cases() -> None:
    case = Case.model_validate(
        {
            "id": "c",
            "input": "q",
            "expected": "",
            "checks": [{"regex": {"pattern": "a", "metric": "own"}}, "equals"],
            "turns": [{"user": "u", "checks": [{"contains": {"value": "b"}}]}],
        }
    )
    checks = [Check.model_validate("equals")]
    found = shared_metrics(checks, [case])
    assert [(each.metric, each.check is None) for each in found] == [
        ("equals", False),
        ("own", True),
        ("contains", True),
    ]


def test_reading_that_breaks_is_an_error_row() -> None:
    def broken() -> tuple[Case, Output]:
        raise SystemExit(2)

    ((check, found),) = SharedMetric("own", "regex").measure_native(broken)
    assert (check.metric, found.status) == ("own", "error")
    assert found.error == "the native case cannot be read (SystemExit: 2)"
