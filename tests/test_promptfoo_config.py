"""Cases as a promptfoo config, the checks behind its assertions, and values that stay whole."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bridge_promptfoo
from bridge.model import Bundle, Suite
from bridge.model.errors import InputError
from bridge_promptfoo.cases import from_native
from bridge_promptfoo.child import answer, serve
from bridge_promptfoo.scorers import SCORERS, measure, to_metric
from bridge_promptfoo.seal import inert, seal, unseal

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from('{}%#\\"\x7f\x00'))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
def test_a_sealed_value_comes_back_and_holds_no_template(value: Any) -> None:
    sealed = seal(value)
    assert unseal(sealed) == value
    for tag in ("{{", "{%", "{#"):
        assert tag not in sealed
    assert sealed.isascii()
    assert sealed.isprintable()


@given(TEXTS)
def test_an_inert_text_starts_no_template(text: str) -> None:
    assert not any(tag in inert(text) for tag in ("{{", "{%", "{#"))


def test_what_is_not_sealed_is_refused() -> None:
    for value in (None, 3, "plain", '{"json": 1}', "bridge:{"):
        with pytest.raises(ValueError):  # noqa: PT011
            unseal(value)


def bundle(**fields: Any) -> Bundle:
    suite = Suite.model_validate(
        {
            "name": "s",
            "golden_set": "-",
            "system": {"recorded": "-"},
            "checks": ["equals", {"contains": {"value": "x", "weight": 2, "threshold": 0.5}}],
        }
    )
    return Bundle.model_validate({"suite": suite, **fields})


def test_a_column_a_system_and_a_test_a_case_and_epoch() -> None:
    config = bridge_promptfoo.to_config(
        bundle(
            cases=[
                {"id": "a", "input": "q", "expected": "x"},
                {"id": "b", "input": "q", "expected": ""},
            ],
            outputs=[
                {"case_id": "a", "system": "one"},
                {"case_id": "a", "system": "two"},
                {"case_id": "a", "system": "one", "epoch": 2},
                {"case_id": "b", "system": "two"},
            ],
        )
    )
    assert [each["label"] for each in config["providers"]] == ["one", "two"]
    keys = [(t["metadata"]["case_id"], t["metadata"]["epoch"]) for t in config["tests"]]
    assert keys == [("a", 1), ("a", 2), ("b", 1)]
    assert [test.get("providers") for test in config["tests"]] == [None, ["one"], ["two"]]


def test_a_test_has_the_checks_of_its_case_only() -> None:
    config = bridge_promptfoo.to_config(
        bundle(
            cases=[
                {"id": "a", "input": "q", "expected": "x", "checks": [{"regex": {"pattern": "x"}}]},
                {"id": "b", "input": "q", "expected": "", "checks": [{"equals": {"weight": 7}}]},
            ],
            outputs=[{"case_id": "a"}, {"case_id": "b"}],
        )
    )
    shown = [
        {each["metric"]: (each["weight"], each["threshold"]) for each in test["assert"]}
        for test in config["tests"]
    ]
    assert shown == [
        {"equals": (1.0, 1.0), "contains": (2.0, 0.5), "regex": (1.0, 1.0)},
        {"equals": (7.0, 1.0), "contains": (2.0, 0.5)},
    ]


def test_without_an_output_there_is_no_config() -> None:
    with pytest.raises(InputError, match="no output"):
        bridge_promptfoo.to_config(bundle(cases=[{"id": "a", "input": "q", "expected": ""}]))


def ask(assertion: Any, output: Any, **test: Any) -> dict[str, Any]:
    """What one of our assertions says of someone else's test."""
    sealed = assertion["config"]["bridge"]
    request = {
        "test": test,
        "system": "bot",
        "prompt": "What is the weather?",
        "response": {"output": output},
        "metrics": [sealed],
    }
    found: dict[str, Any] = measure(request)[sealed]
    return found


def test_a_shared_scorer_works_on_other_peoples_tests() -> None:
    """From promptfoo's own fields alone: output, vars, metadata."""
    assert ask(SCORERS["equals"](), "yes", vars={"expected": "yes"})["pass"] is True
    assert ask(SCORERS["equals"](), "yes", vars={})["status"] == "skipped"
    assert ask(SCORERS["contains"](value="sun", negate=True), "rain")["pass"] is True
    assert SCORERS["contains"](value="sun", negate=True)["metric"] == "not_contains"


def test_tool_calls_are_read_from_an_output_in_openais_shape() -> None:
    call: dict[str, Any] = {"id": "1", "function": {"name": "f", "arguments": '{"city": "Bern"}'}}
    for said in ([call], {"content": None, "tool_calls": [call]}):
        _, output = from_native({"vars": {}}, "bot", {"output": said})
        assert [(made.name, made.arguments) for made in output.tool_calls] == [
            ("f", {"city": "Bern"})
        ]
    others: list[Any] = [[1], [{"function": {"name": 3}}], {"tool_calls": "x"}, "text", []]
    for said in others:
        _, output = from_native({"vars": {}}, "bot", {"output": said})
        assert output.tool_calls == ()
        assert output.text == said


def test_a_faulty_request_is_an_error_row_not_a_pass() -> None:
    found = ask(SCORERS["equals"](), "yes", metadata={"bridge": "bridge:{}"})
    assert (found["pass"], found["status"], found["score"]) == (False, "error", 0.0)
    assert "the native case cannot be read" in found["reason"]
    request = json.dumps({"id": 5, "metrics": ["nonsense"], "test": {}}).encode()
    assert answer(request)["error"].startswith("ValueError: ")


def test_a_wrong_parameter_is_refused_when_the_assertion_is_made() -> None:
    with pytest.raises(InputError, match="valeu: unknown key"):
        SCORERS["contains"](valeu="sun")


def test_the_metric_travels_with_the_assertion() -> None:
    assertion = SCORERS["contains"](value="{{ name }}", metric="{{ m }}", weight=0.5)
    assert assertion["metric"] == "{ { m }}"
    metric = to_metric(assertion["config"]["bridge"])
    assert metric.metric == "{{ m }}"
    assert metric.check is not None
    assert metric.check.params == {"value": "{{ name }}"}


def test_one_answer_a_line() -> None:
    requests = io.BytesIO(b'{"id": 1, "metrics": []}\n{"id": 2, "metrics": ["x"]}\n')
    replies = io.BytesIO()
    serve(requests, replies)
    first, second = map(json.loads, replies.getvalue().splitlines())
    assert first == {"id": 1, "results": {}}
    assert second["id"] == 2
    assert "error" in second
