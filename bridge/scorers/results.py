"""What tools returned, as conversations hold it: messages and parts with the id of the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

CALL_IDS = ("tool_call_id", "tool_use_id", "call_id", "toolUseId", "toolCallId", "id")
"""Keys that hold the id of the call answered."""

ANSWERS = ("toolResult", "functionResponse", "function_response")
"""Keys under which Bedrock and Gemini put an answer."""

RESULTS = ("output", "result", "response", "content")
"""Keys that hold what was returned, the first present one counts."""

Fields = Callable[[Any], Mapping[str, Any] | None]


class Returned(NamedTuple):
    """What a tool returned, or how it failed."""

    value: Any
    failed: bool
    error: Any = None


def read_results(value: Any, fields_of: Fields) -> dict[str, Returned]:
    """The results in a conversation by the id of their call.

    Shapes: OpenAI's and Inspect's ``tool`` messages, LangChain's ``ToolMessage`` (``status``),
    Anthropic's ``tool_result`` parts (``is_error``), OpenAI's ``function_call_output`` items,
    Bedrock's ``toolResult``, Gemini's ``functionResponse`` with an id, ``tool-result`` parts of the
    AI SDK.

    Args:
        value: Messages, parts, or a list of these.
        fields_of: Reads a mapping or an object as a mapping.
    """
    return dict(_results(value, fields_of))


def _results(value: Any, fields_of: Fields) -> Iterator[tuple[str, Returned]]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _results(item, fields_of)
        return
    fields = None if isinstance(value, str) else fields_of(value)
    if fields is None:
        return
    inner = next((fields[key] for key in ANSWERS if fields.get(key) is not None), None)
    answer = fields_of(inner) if inner is not None else fields if _is_answer(fields) else None
    if answer is None:
        yield from _results(fields.get("content") or fields.get("parts"), fields_of)
        return
    name = next((answer[key] for key in CALL_IDS if isinstance(answer.get(key), str)), None)
    if name is not None:
        yield name, _returned(answer)


def _is_answer(fields: Mapping[str, Any]) -> bool:
    kinds = ("tool", "tool_result", "tool-result", "function_call_output")
    return fields.get("role") == "tool" or fields.get("type") in kinds


def _returned(answer: Mapping[str, Any]) -> Returned:
    value = next((answer[key] for key in RESULTS if answer.get(key) is not None), None)
    value, error = _text_of(value), answer.get("error")
    if error is None or error is False or error == "":
        failed = answer.get("is_error") is True or answer.get("status") == "error"
        error = value if value not in (None, "") else "the tool failed"
        return Returned(value, failed, error)
    return Returned(value, failed=True, error=error)


def _text_of(value: Any) -> Any:
    """The text of parts that are all text; anything else as it is."""
    if not isinstance(value, list | tuple) or not value:
        return value
    found = [part.get("text") if isinstance(part, Mapping) else None for part in value]
    texts = [each for each in found if isinstance(each, str)]
    return "\n".join(texts) if len(texts) == len(found) else value
