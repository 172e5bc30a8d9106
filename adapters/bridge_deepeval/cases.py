"""Cases and outputs as DeepEval's test cases, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.case import Case
from bridge.model.message import Passage, as_text, passage_text
from bridge.model.output import Output
from bridge.plugin.carry import (
    KEY,
    Held,
    held_input,
    held_metadata,
    held_reference,
    pack,
    unpack,
)
from bridge_deepeval.calls import Fields, read_calls, read_expected, to_calls, to_expected
from bridge_deepeval.held import CASE, OUTPUT, TURNS_CASE, held_usage, turns_output

if TYPE_CHECKING:
    from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn

UNNAMED = "unnamed"
"""Id of a test case that has no name."""


# --- neutral to native ------------------------------------------------------------------------


def to_test_case(case: Case, output: Output) -> LLMTestCase | ConversationalTestCase:
    """An answered case as a test case; conversational if the case has turns."""
    return to_conversation(case, output) if case.turns else to_single(case, output)


def to_single(case: Case, output: Output) -> LLMTestCase:
    """An answered case without turns."""
    from deepeval.test_case import LLMTestCase

    usage = output.usage
    return LLMTestCase(
        name=case.id,
        input=held_input(case.input),
        actual_output=as_text(output.text),
        expected_output=held_reference(case.expected) or None,
        context=_passages(case.reference_contexts),
        retrieval_context=_passages(output.retrieved_contexts),
        tools_called=to_calls(output.tool_calls),
        expected_tools=to_expected(case.expected_calls),
        token_cost=output.cost_usd,
        input_token_count=None if usage is None else usage.input_tokens,
        output_token_count=None if usage is None else usage.output_tokens,
        completion_time=output.latency_s,
        tags=list(case.tags) or None,
        metadata=_metadata(case, output, CASE, OUTPUT),
    )


def to_conversation(case: Case, output: Output) -> ConversationalTestCase:
    """An answered case with turns; the case's input is the scenario."""
    from deepeval.test_case import ConversationalTestCase

    return ConversationalTestCase(
        name=case.id,
        turns=_to_turns(case, output),
        scenario=held_input(case.input),
        expected_outcome=held_reference(case.expected) or None,
        context=_passages(case.reference_contexts),
        tags=list(case.tags) or None,
        metadata=_metadata(case, output, TURNS_CASE, turns_output(len(case.turns))),
    )


def _to_turns(case: Case, output: Output) -> list[Turn]:
    from deepeval.test_case import Turn

    turns: list[Turn] = []
    answers = output.turns or ()
    for index, turn in enumerate(case.turns):
        turns.append(Turn(role="user", content=turn.user))
        if index < len(answers):
            answer = answers[index]
            turns.append(
                Turn(
                    role="assistant",
                    content=as_text(answer.text),
                    retrieval_context=_passages(answer.retrieved_contexts),
                    tools_called=to_calls(answer.tool_calls),
                    latency_ms=None if answer.latency_s is None else answer.latency_s * 1000,
                )
            )
    return turns


def _passages(passages: Sequence[str | Passage]) -> list[Any] | None:
    return [passage_text(each) for each in passages] or None


def _metadata(case: Case, output: Output, case_held: Held, output_held: Held) -> Fields:
    carried = {"case": pack(case, case_held), "output": pack(output, output_held)}
    return {**case.metadata, KEY: carried}


# --- native to neutral ------------------------------------------------------------------------


def from_test_case(native: Any) -> tuple[Case, Output]:
    """Case and output from a test case, or from a row of a run file with its attributes."""
    metadata = native.metadata or {}
    carried = metadata.get(KEY)
    parts = carried if isinstance(carried, Mapping) else {}
    case: Fields = {
        "id": native.name or UNNAMED,
        "reference_contexts": read_passages(native.context),
        "tags": native.tags or (),
        "metadata": held_metadata(metadata),
    }
    if is_conversation(native):
        case["expected"] = native.expected_outcome or ""
        case["input"] = native.scenario or ""
        users, turns = read_turns(native.turns, KEY in metadata)
        case["turns"] = users
        answer: Fields = {"turns": turns}
        held = (TURNS_CASE, turns_output(len(users)))
    else:
        case["expected"] = _text(native.expected_output)
        case["input"] = _text(native.input)
        case["expected_calls"] = read_expected(native.expected_tools, KEY in metadata)
        answer = _read_answer(native)
        held = (CASE, OUTPUT)
    answer["case_id"] = case["id"]
    return (
        Case.model_validate(unpack(parts.get("case"), case, held[0])),
        Output.model_validate(unpack(parts.get("output"), answer, held[1])),
    )


def is_conversation(native: Any) -> bool:
    """Whether a test case is a conversational one."""
    return not hasattr(native, "input")


def _read_answer(native: Any) -> Fields:
    tokens = {
        "input_tokens": native.input_token_count,
        "output_tokens": native.output_token_count,
    }
    answer: Fields = {
        "text": _text(native.actual_output),
        "tool_calls": read_calls(native.tools_called),
        "retrieved_contexts": read_passages(native.retrieval_context),
        "latency_s": native.completion_time,
        "cost_usd": native.token_cost,
        "usage": held_usage(tokens),
    }
    if native.actual_output is None:
        answer["error"] = "the test case has no actual_output"
    return answer


def _text(value: Any) -> str:
    """A text; early run files have other JSON in its place."""
    return "" if value is None else as_text(value)


def read_turns(turns: Iterable[Any], ours: bool) -> tuple[tuple[Fields, ...], list[Fields]]:
    """The user turns of a conversation, and the answers to them.

    Args:
        turns: DeepEval's turns.
        ours: Whether an adapter wrote them: what run files leave out is carried then.
    """
    users: list[Fields] = []
    answers: list[Fields] = []
    for turn in turns:
        if turn.role == "user":
            users.append({"user": turn.content})
        elif len(answers) < len(users):
            answers += [{} for _ in range(len(users) - len(answers) - 1)]
            answers.append(_read_turn(turn, ours))
        elif users:
            _add_message(answers[-1], _read_turn(turn, ours))
    return tuple(users), answers


def _add_message(answer: Fields, more: Fields) -> None:
    """Add to an answer what the assistant said and did in a further message."""
    if "text" in more:
        answer["text"] = f"{answer['text']}\n{more['text']}" if "text" in answer else more["text"]
    for name in ("tool_calls", "retrieved_contexts"):
        if name in more:
            answer[name] = [*answer.get(name, ()), *more[name]]
    if "latency_s" in more:
        answer["latency_s"] = answer.get("latency_s", 0) + more["latency_s"]


def _read_turn(turn: Any, ours: bool) -> Fields:
    fields: Fields = {}
    if turn.content:
        fields["text"] = turn.content
    if turn.tools_called:
        fields["tool_calls"] = read_calls(turn.tools_called)
    if turn.retrieval_context:
        fields["retrieved_contexts"] = read_passages(turn.retrieval_context)
    if turn.latency_ms is not None and not ours:
        fields["latency_s"] = turn.latency_ms / 1000
    return fields


def read_passages(passages: Iterable[Any] | None) -> list[Any]:
    """Contexts; DeepEval's ``RetrievedContextData`` keeps its source."""
    return [
        each if isinstance(each, str) else {"text": each.context, "source": each.source}
        for each in passages or ()
    ]
