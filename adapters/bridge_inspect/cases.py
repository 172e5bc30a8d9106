"""Cases and outputs as Inspect's samples and task states, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.case import Case
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.plugin.carry import KEY, held_metadata, pack, unpack
from bridge_inspect.calls import (
    Fields,
    answer_messages,
    held_calls,
    read_calls,
    read_messages,
    text_of,
    to_messages,
)
from bridge_inspect.held import (
    CASE,
    OUTPUT,
    TURNS_CASE,
    held_expected,
    held_stop,
    held_usage,
    turns_output,
)

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

# --- neutral to native ------------------------------------------------------------------------


def to_sample(case: Case) -> Sample:
    """A case as a sample; its input is what a system would be sent."""
    from inspect_ai.dataset import Sample

    held = TURNS_CASE if case.turns else CASE
    return Sample(
        id=case.id,
        input=_sent(case),
        target=held_expected(case.expected),
        choices=list(case.choices) or None,
        metadata={**case.metadata, KEY: {"case": pack(case, held)}},
    )


def _sent(case: Case) -> str | list[ChatMessage]:
    if case.turns:
        from inspect_ai.model import ChatMessageUser

        return [ChatMessageUser(content=case.turns[0].user)]
    if isinstance(case.input, tuple):
        return to_messages(case.input)
    return as_text(case.input)


def carried_output(case: Case, output: Output) -> dict[str, Any]:
    """What of an output goes beside the case, under the reserved key."""
    return pack(output, turns_output(len(case.turns)) if case.turns else OUTPUT)


def to_history(case: Case, output: Output) -> list[ChatMessage]:
    """The conversation from the sample's input to the last answer."""
    from inspect_ai.model import ChatMessageUser

    if case.turns:
        history: list[ChatMessage] = []
        answers = output.turns or ()
        for index, turn in enumerate(case.turns):
            history.append(ChatMessageUser(content=turn.user))
            if index < len(answers):
                answer = answers[index]
                history += answer_messages(answer.text, answer.tool_calls, len(history))
        return history
    if output.messages and _tells_the_answer(case, output):
        return to_messages(output.messages)
    sent = _sent(case)
    history = [ChatMessageUser(content=sent)] if isinstance(sent, str) else sent
    return history + answer_messages(output.text, output.tool_calls, len(history))


def _tells_the_answer(case: Case, output: Output) -> bool:
    """Whether the recorded messages hold the very answer and calls that will be scored."""
    from inspect_ai.model import ChatMessageUser

    messages = to_messages(output.messages)
    sent = _sent(case)
    start = [ChatMessageUser(content=sent)] if isinstance(sent, str) else sent
    dumped = [call.model_dump(mode="json", exclude_defaults=True) for call in output.tool_calls]
    return (
        messages[-1].role == "assistant"
        and text_of(messages[-1]) == as_text(output.text)
        and read_messages(messages[: len(start)]) == read_messages(start)
        and read_calls(messages[len(start) :]) == held_calls(dumped)
    )


def to_model_output(case: Case, output: Output) -> ModelOutput:
    """The answer as a model's output, with its usage, time, cost and error."""
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput

    answers = output.turns or ()
    text = answers[-1].text if case.turns and answers else output.text
    return ModelOutput(
        model=output.model or "",
        choices=[
            ChatCompletionChoice(
                message=ChatMessageAssistant(content=as_text(text)),
                stop_reason=_to_stop(output.stop_reason),
            )
        ],
        usage=_to_usage(output),
        time=output.latency_s,
        error=output.error,
    )


def _to_stop(reason: str | None) -> Any:
    """A stop reason as Inspect's literal."""
    return held_stop(reason) or "unknown"


def _to_usage(output: Output) -> ModelUsage | None:
    from inspect_ai.model import ModelUsage

    usage = output.usage
    tokens = held_usage({} if usage is None else usage.model_dump())
    if tokens is None and output.cost_usd is None:
        return None
    tokens = tokens or {"input_tokens": 0, "output_tokens": 0}
    return ModelUsage(**tokens, total_tokens=sum(tokens.values()), total_cost=output.cost_usd)


# --- native to neutral ------------------------------------------------------------------------


def from_state(state: TaskState, target: Target) -> tuple[Case, Output]:
    """Case and output from what a scorer is given."""
    return from_native(
        id=state.sample_id,
        epoch=state.epoch,
        input=state.input,
        target=list(target),
        choices=[choice.value for choice in state.choices],
        messages=state.messages,
        output=state.output,
        metadata=state.metadata,
    )


def from_sample(sample: Any) -> tuple[Case, Output]:
    """Case and output from a sample of a log."""
    target = sample.target
    return from_native(
        id=sample.id,
        epoch=sample.epoch,
        input=sample.input,
        target=[target] if isinstance(target, str) else target,
        choices=sample.choices or (),
        messages=sample.messages,
        output=sample.output,
        metadata=sample.metadata or {},
    )


def from_native(
    *,
    id: str | int,  # noqa: A002
    epoch: int,
    input: Any,  # noqa: A002
    target: Sequence[str],
    choices: Sequence[str],
    messages: Sequence[Any],
    output: Any,
    metadata: Mapping[str, Any],
) -> tuple[Case, Output]:
    """Case and output from native fields; what they cannot hold comes from the reserved key."""
    carried = metadata.get(KEY)
    parts = carried if isinstance(carried, Mapping) else {}
    turns = bool(parts.get("case", {}).get("turns"))
    case: Fields = {
        "id": id,
        "expected": target[0] if len(target) == 1 else list(target),
        "choices": list(choices),
        "metadata": held_metadata(metadata),
    }
    answer = _read_output(output) | {"case_id": str(id), "epoch": epoch}
    if turns:
        case["turns"], answer["turns"] = read_turns(messages)
    else:
        case["input"] = input if isinstance(input, str) else read_messages(input)
        answer["text"] = _completion(output)
        answer["tool_calls"] = read_calls(_after_input(messages, input))
    if KEY not in metadata:
        answer["messages"] = read_messages(messages)
    held = (TURNS_CASE, turns_output(len(case["turns"]))) if turns else (CASE, OUTPUT)
    return (
        Case.model_validate(unpack(parts.get("case"), case, held[0])),
        Output.model_validate(unpack(parts.get("output"), answer, held[1])),
    )


def _completion(output: Any) -> str:
    """The answer; older logs have it in the choices only."""
    if output.completion or not output.choices:
        return output.completion or ""
    return text_of(output.choices[0].message)


def _read_output(output: Any) -> Fields:
    fields: Fields = {
        "latency_s": output.time,
        "model": output.model or None,
        "stop_reason": held_stop(output.choices[0].stop_reason if output.choices else None),
        "error": output.error,
    }
    if output.usage is not None:
        fields["cost_usd"] = output.usage.total_cost
        tokens = {
            "input_tokens": output.usage.input_tokens,
            "output_tokens": output.usage.output_tokens,
        }
        fields["usage"] = held_usage(tokens)
    return fields


def _after_input(messages: Sequence[Any], sent: Any) -> list[Any]:
    """The messages of the answer: those after the assistant messages that the input holds."""
    given = 0 if isinstance(sent, str) else sum(each.role == "assistant" for each in sent)
    for index, message in enumerate(messages):
        if message.role == "assistant":
            if given == 0:
                return list(messages[index:])
            given -= 1
    return []


def read_turns(messages: Sequence[Any]) -> tuple[tuple[Fields, ...], list[Fields]]:
    """The user turns of a conversation, and the answers to them."""
    starts = [index for index, each in enumerate(messages) if each.role == "user"]
    users = tuple({"user": text_of(messages[index])} for index in starts)
    answers: list[Fields] = []
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
        said = [each for each in messages[start:end] if each.role == "assistant"]
        if not said:
            break
        answer: Fields = {}
        if text := text_of(said[-1]):
            answer["text"] = text
        if calls := read_calls(messages[start:end]):
            answer["tool_calls"] = calls
        answers.append(answer)
    return users, answers
