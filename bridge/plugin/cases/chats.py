"""Other people's messages and tool calls, in the shapes of OpenAI, LangChain, RAGAS and Inspect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bridge.files.foreign.cells import is_blank, parse_cell, parse_object
from bridge.model.matcher import literal_arguments
from bridge.model.message import as_text
from bridge.plugin.accounts.accounting import untouched

Fields = dict[str, Any]
"""The fields of a neutral value as plain JSON, those at their default left out."""

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Neutral roles by the names that others have for them."""

_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = (
    "arguments",
    "args",
    "input_parameters",
    "inputParameters",
    "params",
    "parameters",
    "kwargs",
)
_RESULTS = ("result", "output")


def read_messages(value: Any, framework: str) -> list[Fields] | None:
    """A list of messages as the fields of neutral ones; ``None`` where it is none.

    Args:
        value: A list of objects with a ``role`` (or ``type``) and ``content``.
        framework: Name under which fields without a place are kept in ``extras``.
    """
    if not isinstance(value, list) or not value:
        return None
    found = [_read_message(each, framework) for each in value]
    return None if None in found else [each for each in found if each is not None]


def _read_message(value: Any, framework: str) -> Fields | None:
    if not isinstance(value, dict):
        return None
    key = "role" if "role" in value else "type"
    said = value.get(key)
    role = ROLES.get(said) if isinstance(said, str) else None
    content = value.get("content", "" if value.get("tool_calls") else None)
    content = "" if content is None and "content" in value else content
    parts = isinstance(content, list) and all(isinstance(part, dict) for part in content)
    if role is None or not (isinstance(content, str) or parts):
        return None
    fields: Fields = {"role": role}
    if content not in ("", []):
        fields["content"] = content
    taken = {key, "content"}
    if said != role:
        taken.discard(key)
    calls = value.get("tool_calls")
    if calls is not None:
        read = read_calls(calls, framework)
        if read is None:
            return None
        fields |= {"tool_calls": read} if read else {}
        taken.add("tool_calls")
    for name in ("tool_call_id", "name"):
        if isinstance(value.get(name), str):
            fields[name] = value[name]
            taken.add(name)
    return fields | kept_in_extras(untouched(value, taken), framework)


def read_calls(value: Any, framework: str) -> list[Fields] | None:
    """A list of tool calls as the fields of neutral ones; ``None`` where it is none.

    Args:
        value: Names, or objects with a name and arguments under any of their usual keys.
        framework: Name under which fields without a place are kept in ``extras``.
    """
    if not isinstance(value, list):
        return None
    found = [_read_call(each, framework) for each in value]
    return None if None in found else [each for each in found if each is not None]


def _read_call(value: Any, framework: str) -> Fields | None:
    if isinstance(value, str):
        return {"name": value} if value.strip() else None
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):  # OpenAI's
        read = _read_call(inner, framework)
        rest = untouched(value, {"function", "id"})
        return None if read is None else read | _id(value) | kept_in_extras(rest, framework)
    key = next((each for each in _NAMES if isinstance(value.get(each), str)), None)
    if key is None:
        return None
    fields: Fields = {"name": value[key]} | _id(value)
    taken = {key, "id"} if "id" in fields else {key}
    for each in _ARGUMENTS:
        if value.get(each) is not None and "arguments" not in fields:
            fields["arguments"] = _arguments(value[each])
            taken.add(each)
    for each in _RESULTS:
        if value.get(each) is not None and "result" not in fields:
            fields["result"] = value[each]
            taken.add(each)
    if isinstance(value.get("error"), str):
        fields["error"] = value["error"]
        taken.add("error")
    return fields | kept_in_extras(untouched(value, taken), framework)


def _id(value: Mapping[str, Any]) -> Fields:
    given = value.get("id")
    return {"id": given} if isinstance(given, str) and given.strip() else {}


def _arguments(value: Any) -> Any:
    """An object, from its JSON where it is written so; else the text that it is."""
    parsed = parse_cell(value)
    if isinstance(parsed, dict):
        return parsed
    return value if isinstance(value, str) else json.dumps(value)


def read_expected(value: Any, framework: str) -> Fields | None:
    """Tool calls that are expected, as the fields of expected calls; ``None`` where it is none.

    Without arguments any will do, and a ``$`` in a key is no matcher.
    """
    calls = read_calls(value, framework)
    if calls is None:
        return None
    found: list[Fields] = []
    for call in calls:
        arguments = call.get("arguments")
        made: Fields = {"name": call["name"]}
        if isinstance(arguments, dict):
            made["arguments"] = literal_arguments(arguments)
        else:
            made["extra"] = "allow"
        own = {**call.get("extras", {}).get(framework, {})}
        own |= {key: call[key] for key in ("id", "result", "error") if key in call}
        own |= {"arguments": arguments} if isinstance(arguments, str) else {}
        found.append(made | kept_in_extras(own, framework))
    return {"calls": found}


def kept_in_extras(rest: Mapping[str, Any], framework: str) -> Fields:
    """What has no neutral field, as the ``extras`` of a value."""
    there = {key: item for key, item in rest.items() if item is not None}
    return {"extras": {framework: there}} if there else {}


def own_extras(extras: Mapping[str, Any], framework: str) -> Mapping[str, Any]:
    """What a framework keeps in the ``extras`` of a value; empty if that is no object."""
    own = extras.get(framework)
    return own if isinstance(own, Mapping) else {}


def read_metadata(value: Any) -> Fields:
    """Metadata: an object, or its text in any spelling; any other value under a key of its own."""
    if is_blank(value):
        return {}
    found = parse_object(value)
    return {"metadata": value} if found is None else found


def read_input(value: Any, framework: str) -> Any:
    """What is asked: a text, messages or an object; other values as their text.

    Returns:
        ``None`` where nothing is asked.
    """
    if value is None or (isinstance(value, str) and not value.strip()) or value == []:
        return None
    if isinstance(value, dict | str):
        return value
    return read_messages(value, framework) or as_text(value)
