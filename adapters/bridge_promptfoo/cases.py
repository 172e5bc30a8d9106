"""Cases and outputs as promptfoo's tests and provider responses, and back.

promptfoo has fields for what a provider answers: text, tokens, cost and time. Everything else is
carried, sealed, under the reserved key of the test's metadata. ``replay.cjs``, the provider, finds
its answer there too: the ``providerOutput`` of a test is a template, cannot be empty, and has no
cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.model.case import Case
from bridge.model.message import as_text, passage_text
from bridge.model.output import Output
from bridge.plugin.carry import KEY, pack, unpack
from bridge.plugin.results.imported import seconds
from bridge_promptfoo.calls import Fields, read_calls
from bridge_promptfoo.held import CASE, OUTPUT, TURNS_OUTPUT, held_usage
from bridge_promptfoo.seal import inert, seal, unseal

UNNAMED = "unnamed"
"""Id of a case whose test says no other."""
SHOWN = 100
"""Characters of an input in a test's description."""


# --- neutral to native ------------------------------------------------------------------------


def to_test(case: Case, outputs: Sequence[Output]) -> Fields:
    """A case in one epoch, with the output of each system, as a test without assertions."""
    test = to_bare_test(case, outputs)
    return {**test, "metadata": {**test["metadata"], KEY: seal(test["metadata"][KEY])}}


def to_bare_test(case: Case, outputs: Sequence[Output]) -> Fields:
    """:func:`to_test` with what is carried still open.

    Args:
        case: The case.
        outputs: What each system answered in one epoch; none where nothing is recorded.
    """
    answers = {
        inert(output.system): {
            "response": to_response(case, output),
            "carried": pack(output, TURNS_OUTPUT if case.turns else OUTPUT),
        }
        for output in outputs
    }
    shown = " ".join(text_sent(case).split())
    return {
        "description": inert(f"{case.id}: {shown[:SHOWN]}"),
        "metadata": {
            "case_id": inert(case.id),
            "epoch": outputs[0].epoch if outputs else 1,
            KEY: {"case": pack(case, CASE), "outputs": answers},
        },
    }


def to_response(case: Case, output: Output) -> Fields:
    """An output as what a promptfoo provider returns; its metadata is for people to look at."""
    if output.error is not None:
        return {"error": output.error}
    answers = output.turns or ()
    text = answers[-1].text if case.turns and answers else output.text
    shown = {
        "input": text_sent(case),
        "expected": case.expected,
        "retrieved_contexts": [passage_text(each) for each in output.retrieved_contexts],
        "tool_calls": [call.model_dump(mode="json") for call in output.tool_calls],
        "messages": to_chat(case, output),
    }
    response: Fields = {
        "output": as_text(text),
        "metadata": {name: value for name, value in shown.items() if value},
    }
    if output.cost_usd is not None:
        response["cost"] = output.cost_usd
    if output.latency_s is not None:
        response["latencyMs"] = output.latency_s * 1000
    tokens = held_usage({} if output.usage is None else output.usage.model_dump())
    if tokens is not None:
        sent, received = tokens["input_tokens"], tokens["output_tokens"]
        response["tokenUsage"] = {"prompt": sent, "completion": received, "total": sent + received}
    return response


def to_chat(case: Case, output: Output) -> list[Fields]:
    """A conversation as chat messages; empty for a case without turns."""
    chat: list[Fields] = []
    answers = output.turns or ()
    for index, turn in enumerate(case.turns):
        chat.append({"role": "user", "content": turn.user})
        if index < len(answers) and answers[index].error is None:
            calls = [call.model_dump(mode="json") for call in answers[index].tool_calls]
            answer = {"role": "assistant", "content": as_text(answers[index].text)}
            chat.append({**answer, "tool_calls": calls} if calls else answer)
    return chat


def text_sent(case: Case) -> str:
    """What a case asks, as one text."""
    if case.turns:
        return "\n".join(turn.user for turn in case.turns)
    if isinstance(case.input, tuple):
        return "\n".join(message.text for message in case.input)
    return as_text(case.input)


# --- native to neutral ------------------------------------------------------------------------


def from_native(
    test: Mapping[str, Any], system: str, response: Mapping[str, Any], prompt: Any = ""
) -> tuple[Case, Output]:
    """Case and output from a test and what its provider answered.

    Args:
        test: ``metadata``, ``vars`` and ``description`` of the test.
        system: The provider's label.
        response: The provider's response, after promptfoo's transforms; empty where promptfoo
            lost it, as it does when an assertion throws.
        prompt: The rendered prompt, the input of a case that is not ours.

    Raises:
        ValueError: If it is ours but was damaged, or no neutral value can hold it.
    """
    sealed = (test.get("metadata") or {}).get(KEY)
    if sealed is None:
        return _from_foreign(test, system, _read_answer(response), prompt)
    parts = unseal(sealed)
    recorded = parts["outputs"].get(system)
    if recorded is None:
        return _from_live(parts["case"], system, _read_answer(response))
    answer = _read_answer(response or recorded["response"])
    held = OUTPUT
    if parts["case"].get("turns"):
        held = TURNS_OUTPUT
        del answer["text"]
    return (
        Case.model_validate(parts["case"]),
        Output.model_validate(unpack(recorded["carried"], answer, held)),
    )


def _from_live(case: Fields, system: str, answer: Fields) -> tuple[Case, Output]:
    """Our case, answered by a provider just now; its tool calls are in what it said."""
    calls = read_calls(answer["text"])
    said = {"text": "", "tool_calls": calls} if calls else {}
    fields = {**answer, **said, "system": system, "case_id": case["id"]}
    return Case.model_validate(case), Output.model_validate(fields)


def _read_answer(response: Mapping[str, Any]) -> Fields:
    tokens = response.get("tokenUsage") or {}
    latency, error = response.get("latencyMs"), response.get("error")
    return {
        "text": response.get("output"),
        "latency_s": seconds(latency),
        "cost_usd": response.get("cost"),
        "usage": held_usage(
            {"input_tokens": tokens.get("prompt"), "output_tokens": tokens.get("completion")}
        ),
        "error": None if error is None else as_text(error),
    }


def _from_foreign(
    test: Mapping[str, Any], system: str, answer: Fields, prompt: Any
) -> tuple[Case, Output]:
    """Someone else's test, by the names that promptfoo's own metrics go by."""
    metadata, given = test.get("metadata") or {}, test.get("vars") or {}
    name = metadata.get("case_id") or metadata.get("id") or test.get("description") or UNNAMED
    asked = given.get("query") or given.get("input") or prompt or ""
    case = Case.model_validate(
        {
            "id": str(name),
            "input": asked if isinstance(asked, str) else as_text(asked),
            "expected": given.get("expected") or "",
            "vars": given,
            "metadata": metadata,
        }
    )
    calls = read_calls(answer["text"])
    contexts = given.get("context") or ()
    if isinstance(contexts, str):
        contexts = [contexts]
    if not isinstance(contexts, list) or not all(isinstance(each, str) for each in contexts):
        contexts = ()  # a variable like any other
    return case, Output.model_validate(
        {
            **answer,
            "system": system,
            "case_id": case.id,
            "text": "" if calls else answer["text"],
            "tool_calls": calls,
            "retrieved_contexts": contexts,
        }
    )
