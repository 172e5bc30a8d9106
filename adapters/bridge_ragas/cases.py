"""Cases and outputs as RAGAS's samples, and back.

RAGAS holds tool calls in multi-turn samples only, and contexts in single-turn samples only. So a
case is a multi-turn sample where it has turns, expects calls or was answered with calls, and a
single-turn sample otherwise; either can be asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.message import Message, as_text
from bridge.model.output import Output
from bridge.plugin.carry import (
    KEY,
    Carried,
    Held,
    held_input,
    held_reference,
    pack,
    restore,
    unpack,
)
from bridge_ragas.calls import (
    Fields,
    answer_messages,
    read_calls,
    read_expected,
    read_messages,
    role_of,
    to_expected,
    to_messages,
)
from bridge_ragas.held import (
    CALLS_CASE,
    CALLS_OUTPUT,
    CASE,
    MULTI,
    ONLY_RAGAS,
    ONLY_RAGAS_ANSWERS,
    OUTPUT,
    SINGLE,
    TURNS_CASE,
    TURNS_OUTPUT,
    Kind,
    held_own,
    held_persona,
    read_passages,
    to_ids,
    to_texts,
)
from bridge_ragas.rows import NAME

if TYPE_CHECKING:
    from ragas.dataset_schema import MultiTurnSample, SingleTurnSample

    from bridge_ragas.calls import NativeMessage

# --- neutral to native ------------------------------------------------------------------------


def kind_of(case: Case, output: Output) -> Kind:
    """The kind of sample that holds most of an answered case."""
    asks_for_calls = case.expected_calls is not None or bool(output.tool_calls)
    return MULTI if case.turns or asks_for_calls else SINGLE


def to_sample(
    case: Case, output: Output, kind: Kind | None = None
) -> SingleTurnSample | MultiTurnSample:
    """An answered case as a sample, of the kind that holds most of it if none is given.

    Raises:
        InputError: If a case with turns is to be a single-turn sample.
    """
    kind = kind or kind_of(case, output)
    if kind == MULTI:
        return to_conversation(case, output)
    if case.turns:
        raise InputError(f"case {case.id!r} has turns, which no single-turn sample holds")
    return to_single(case, output)


def to_single(case: Case, output: Output) -> SingleTurnSample:
    """An answered case without turns."""
    from ragas.dataset_schema import SingleTurnSample

    sample = SingleTurnSample(
        user_input=held_input(case.input),
        response=as_text(output.text),
        reference=held_reference(case.expected) or None,
        reference_contexts=to_texts(case.reference_contexts),
        reference_context_ids=to_ids(case.reference_contexts),
        retrieved_contexts=to_texts(output.retrieved_contexts),
        retrieved_context_ids=to_ids(output.retrieved_contexts),
        persona_name=held_persona(case.persona),
        **held_own(case.extras, ONLY_RAGAS[SINGLE]),
        **held_own(output.extras, ONLY_RAGAS_ANSWERS),
    )
    # not a field: RAGAS drops unknown fields, and its files and metrics see only its own
    vars(sample)[KEY] = {"case": case, "output": output}
    return sample


def to_conversation(case: Case, output: Output) -> MultiTurnSample:
    """An answered case as a conversation with its tool calls."""
    from ragas.dataset_schema import MultiTurnSample

    sent = [] if case.turns else _sent(case)
    if case.turns:
        answer = _to_turns(case, output)
    else:
        answer = answer_messages(output.text, output.tool_calls)
    sample = MultiTurnSample(
        user_input=[*sent, *answer],
        reference=held_reference(case.expected) or None,
        reference_tool_calls=to_expected(case.expected_calls),
        **held_own(case.extras, ONLY_RAGAS[MULTI]),
    )
    vars(sample)[KEY] = {"case": case, "output": output, "sent": len(sent)}
    return sample


def _sent(case: Case) -> list[NativeMessage]:
    """What a system would be sent."""
    if isinstance(case.input, tuple):
        return to_messages(case.input)
    return to_messages([Message(role="user", content=as_text(case.input))])


def _to_turns(case: Case, output: Output) -> list[NativeMessage]:
    native: list[NativeMessage] = []
    answers = output.turns or ()
    for index, turn in enumerate(case.turns):
        native += to_messages([Message(role="user", content=turn.user)])
        if index < len(answers):
            native += answer_messages(answers[index].text, answers[index].tool_calls)
    return native


# --- native to neutral ------------------------------------------------------------------------


def is_conversation(native: Any) -> bool:
    """Whether a sample is a multi-turn one."""
    return isinstance(native.user_input, list)


def from_sample(native: Any) -> tuple[Case, Output]:
    """Case and output from a sample, or from a row of a file with its attributes."""
    carried = native.__dict__.get(KEY)
    kept: Mapping[str, Any] = carried if isinstance(carried, Mapping) else {}
    case: Fields = {"expected": native.reference or ""}
    answer: Fields = {}
    held = held_by(native)
    if not is_conversation(native):
        case |= _read_single_case(native)
        answer = _read_single_answer(native)
    else:
        case["extras"] = _read_own(native, ONLY_RAGAS[MULTI])
        if held[0] is TURNS_CASE:
            case["turns"], answer["turns"] = read_turns(native.user_input)
        else:
            case["expected_calls"] = read_expected(native.reference_tool_calls, bool(kept))
            case["input"], answer = _read_exchange(native.user_input, kept.get("sent"))
    if not kept:
        case["id"] = answer["case_id"] = digest_of(native)
    return (
        _with_carried(Case, kept.get("case"), case, held[0]),
        _with_carried(Output, kept.get("output"), answer, held[1]),
    )


def _with_carried(model: type[Carried], kept: Any, native: Fields, held: Held) -> Carried:
    """A case or output of native fields and of what was carried: the very value, or it packed."""
    if isinstance(kept, model):
        return restore(kept, native, held)
    return model.model_validate(unpack(kept, native, held))


def held_by(native: Any) -> tuple[Held, Held]:
    """What a sample holds of its case and of its output."""
    if not is_conversation(native):
        return CASE, OUTPUT
    case = (native.__dict__.get(KEY) or {}).get("case")
    turns = case.turns if isinstance(case, Case) else (case or {}).get("turns")
    return (TURNS_CASE, TURNS_OUTPUT) if turns else (CALLS_CASE, CALLS_OUTPUT)


def packed(native: Any) -> Fields:
    """What a sample of ours carries as plain JSON, as :func:`from_sample` reads it from a file."""
    kept, held = native.__dict__[KEY], held_by(native)
    case, output = pack(kept["case"], held[0]), pack(kept["output"], held[1])
    return {**kept, "case": case, "output": output}


def digest_of(native: Any) -> str:
    """An id for a sample without one: the same for the same question and reference."""
    asked = native.user_input
    if isinstance(asked, list):
        asked = [[role_of(each), each.content] for each in asked if each.type == "human"]
    text = as_text([asked, native.reference])
    return f"sample-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _read_single_case(native: Any) -> Fields:
    return {
        "input": native.user_input or "",
        "reference_contexts": read_passages(
            native.reference_contexts, native.reference_context_ids
        ),
        "persona": native.persona_name,
        "extras": _read_own(native, ONLY_RAGAS[SINGLE]),
    }


def _read_single_answer(native: Any) -> Fields:
    answer: Fields = {
        "text": native.response or "",
        "retrieved_contexts": read_passages(
            native.retrieved_contexts, native.retrieved_context_ids
        ),
        "extras": _read_own(native, ONLY_RAGAS_ANSWERS),
    }
    if native.response is None:
        answer["error"] = "the sample has no response"
    return answer


def _read_exchange(messages: Sequence[Any], sent: int | None) -> tuple[Any, Fields]:
    """What was sent and what was answered.

    Args:
        messages: The conversation.
        sent: How many messages were sent; ``None`` in anyone else's sample, where all calls of the
            conversation count, since that is what RAGAS's reference calls are held against.
    """
    humans = [index for index, each in enumerate(messages) if each.type == "human"]
    split = sent if sent is not None else (humans[-1] + 1 if humans else 0)
    said = [each for each in messages[split:] if each.type == "ai"]
    answer: Fields = {
        "text": said[-1].content if said else "",
        "tool_calls": read_calls(messages if sent is None else messages[split:]),
    }
    if sent is None:
        answer["messages"] = read_messages(messages)
    if not said:
        answer["error"] = "the conversation has no answer"
    return _read_sent(messages[:split]), answer


def _read_sent(messages: Sequence[Any]) -> Any:
    """What was sent: a text if a user sent nothing else, as :func:`held_sent` has it."""
    if not messages:
        return ""
    if len(messages) == 1 and role_of(messages[0]) == "user":
        return messages[0].content
    return read_messages(messages)


def read_turns(messages: Sequence[Any]) -> tuple[tuple[Fields, ...], list[Fields] | None]:
    """The user turns of a conversation, and the answers to them if there are any."""
    starts = [index for index, each in enumerate(messages) if each.type == "human"]
    users = tuple({"user": messages[index].content} for index in starts)
    answers: list[Fields] = []
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
        said = [each for each in messages[start:end] if each.type == "ai"]
        if not said:
            break
        answer: Fields = {}
        if said[-1].content:
            answer["text"] = said[-1].content
        if calls := read_calls(messages[start:end]):
            answer["tool_calls"] = calls
        answers.append(answer)
    return users, answers or None


def _read_own(native: Any, names: Iterable[str]) -> Fields:
    found = {name: getattr(native, name) for name in names if getattr(native, name) is not None}
    return {NAME: found} if found else {}
