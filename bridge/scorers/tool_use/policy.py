"""What a check asks of calls beside those that a case expects."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from bridge.model.message import ToolCall
from bridge.scorers.calls import read_arguments
from bridge.scorers.matching.matchers import json_key
from bridge.scorers.tool_use.comparison import Made, Mismatch
from bridge.scorers.tool_use.pairing import fits
from bridge.scorers.tool_use.params import ToolUseParams


def policy_faults(calls: Sequence[ToolCall], params: ToolUseParams) -> Iterator[Mismatch]:
    """Where calls break the policy of a check; the worst first."""
    if params.forbidden:
        yield from _forbidden(calls, params)
    if params.failed_calls == "forbid":
        for index, call in enumerate(calls):
            if call.error is not None:
                yield Mismatch("tool_error", call.name, index, actual=call.error)
    if params.max_calls is not None and len(calls) > params.max_calls:
        yield Mismatch("calls", "", expected=params.max_calls, actual=len(calls))
    if params.max_duplicates is not None:
        for index in _repeated(calls)[params.max_duplicates :]:
            call = calls[index]
            arguments = read_arguments(call.arguments)
            yield Mismatch("duplicate", call.name, index, "", params.max_duplicates, arguments)


def _forbidden(calls: Sequence[ToolCall], params: ToolUseParams) -> Iterator[Mismatch]:
    by_name = {call.name for call in params.forbidden if not call.pattern and call.result is None}
    for index, call in enumerate(calls):
        made = Made(call.name, read_arguments(call.arguments), call.result)
        if call.name in by_name or any(fits(each, made) for each in params.forbidden):
            yield Mismatch("forbidden", call.name, index, actual=made.arguments)


def _repeated(calls: Sequence[ToolCall]) -> list[int]:
    """Calls made again with equal arguments, after the tool had done its work."""
    done: set[Hashable] = set()
    found = []
    for index, call in enumerate(calls):
        key = (call.name, json_key(read_arguments(call.arguments)))
        if key in done:
            found.append(index)
        elif call.error is None:
            done.add(key)
    return found
