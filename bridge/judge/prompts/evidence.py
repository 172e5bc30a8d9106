"""What an answer may rest on: the conversation so far, tool results and passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bridge.judge.prompts.shown import (
    ANSWER,
    all_calls,
    answer_of,
    call_lines,
    message_line,
    passage_lines,
    spelled,
)
from bridge.model.case import Case
from bridge.model.message import Message, Passage, ToolCall, passage_text
from bridge.model.output import Output

Source = Literal["contexts", "conversation", "tool_results", "input"]

_NAMES: Mapping[Source, str] = {
    "input": "QUESTION",
    "conversation": "CONVERSATION",
    "tool_results": "TOOL RESULTS",
    "contexts": "CONTEXT",
}


@dataclass(frozen=True, slots=True)
class Grounds:
    """An answer and what it may rest on, as texts; "" for what there is not.

    Attributes:
        answer: What makes the claims.
        held: Each source's text.
    """

    answer: str
    held: Mapping[Source, str]

    def evidence(self, against: Sequence[Source]) -> list[tuple[str, str]]:
        """(name, text) of the sources; none where those asked for hold nothing.

        What the user said last always stands beside them, since an answer may repeat it.
        """
        if not any(self.held[source].strip() for source in against):
            return []
        wanted = {"input", *against}
        parts = [(name, self.held[source]) for source, name in _NAMES.items() if source in wanted]
        return [(name, text) for name, text in parts if text.strip()]

    @property
    def spoken(self) -> list[tuple[str, str]]:
        """(name, text) of what was said, the answer last: what a claim is to be understood by."""
        spoken: tuple[Source, ...] = ("conversation", "input")
        parts = [(_NAMES[source], self.held[source]) for source in spoken]
        return [*((name, text) for name, text in parts if text.strip()), (ANSWER, self.answer)]


def grounds_of(case: Case, output: Output, *, whole: bool) -> Grounds:
    """What the last answer may rest on, or all answers of a conversation.

    What the assistant said before its last answer is part of the conversation. Of a conversation as
    a whole only the user's words are: no answer is evidence of itself.

    Args:
        case: The case; with turns, up to the one whose answer is meant.
        output: Its output, as far.
        whole: Whether all answers are meant.
    """
    turns = output.turns or ()
    asked = [turn.user for turn in case.turns][: len(turns)] if turns else []
    if not asked:
        said, question, answer = _asked(case), _question(case), answer_of(output)
    elif whole:
        said, question = "\n".join(f"user: {user}" for user in asked), ""
        answer = answer_of(output)
    else:
        pairs = zip(asked[:-1], turns, strict=False)
        said = "\n".join(f"user: {user}\nassistant: {spelled(turn.text)}" for user, turn in pairs)
        question, answer = asked[-1], spelled(turns[len(asked) - 1].text)
    held: dict[Source, str] = {
        "input": question,
        "conversation": said,
        "tool_results": _results(output),
        "contexts": passage_lines(_passages(case, output)),
    }
    return Grounds(answer, held)


def _asked(case: Case) -> str:
    """The messages before the last one that a case without turns begins with."""
    messages = case.input if isinstance(case.input, tuple) else ()
    return "\n".join(message_line(each) for each in messages[:-1])


def _question(case: Case) -> str:
    last = case.input[-1] if isinstance(case.input, tuple) else case.input
    return last.text if isinstance(last, Message) else spelled(last)


def _results(output: Output) -> str:
    """What tools returned: of the recorded calls, else in the messages of tools."""
    calls = [call for call in all_calls(output) if _returned(call)]
    if calls:
        return call_lines(calls)
    return "\n".join(message_line(each) for each in output.messages if each.role == "tool")


def _returned(call: ToolCall) -> bool:
    return call.result is not None or call.error is not None


def _passages(case: Case, output: Output) -> Iterable[str | Passage]:
    """Every passage that was retrieved up to the answer, each once; else those of the case."""
    retrieved = {passage_text(each): each for each in _retrieved(output)}
    return retrieved.values() or case.reference_contexts


def _retrieved(output: Output) -> Iterator[str | Passage]:
    yield from output.retrieved_contexts
    for turn in output.turns or ():
        yield from turn.retrieved_contexts
