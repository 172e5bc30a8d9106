"""What a framework's own metrics are called, and what each needs: data, importing no framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bridge.model.case import Case
from bridge.model.output import Output

Need = Literal[
    "input", "answer", "reference", "contexts", "reference_contexts", "expected_calls", "turns"
]
"""What of a case and its output a metric needs."""

Unit = Literal["", "context", "turn"]
"""What some of a metric's calls are counted by."""

_HELD: Mapping[Need, Callable[[Case, Output], bool]] = {
    "input": lambda case, _: bool(case.input),
    "answer": lambda case, output: any(map(_is_said, _said(case, output))),
    "reference": lambda case, _: bool(case.references),
    "contexts": lambda _, output: bool(output.retrieved_contexts),
    "reference_contexts": lambda case, _: bool(case.reference_contexts),
    "expected_calls": lambda case, _: case.expected_calls is not None,
    "turns": lambda case, _: bool(case.turns),
}

NEEDED: Mapping[Need, str] = {
    "input": "input",
    "answer": "answer",
    "reference": "reference",
    "contexts": "retrieved contexts",
    "reference_contexts": "reference contexts",
    "expected_calls": "expected calls",
    "turns": "turns",
}
"""Each need in words."""


def _said(case: Case, output: Output) -> list[Any]:
    """The answer; of a conversation that is scored as one, all of them."""
    return [turn.text for turn in output.turns or ()] if case.turns else [output.text]


def _is_said(text: Any) -> bool:
    return bool(text.strip()) if isinstance(text, str) else text is not None


@dataclass(frozen=True, slots=True)
class NativeMetric:
    """A neutral metric as one framework has it, or why it has not.

    Attributes:
        name: The neutral name.
        own: The framework's own class or assertion; "" where it has none.
        needs: What must be there to score against.
        calls: Requests to the judge for one output.
        more: Further requests for each ``per``.
        per: What ``more`` is counted by.
        embeds: Requests for embeddings.
        prompt_chars: Characters of the prompt itself in each call, on average
            (``benchmarks/judge_prompts.py``).
        shown: Share of the texts of case and output that each call shows, on average.
        why_not: Why there is none, or what it is short of.
        refuses: Why it cannot be carried out with some parameters; "" where it can.
    """

    name: str
    own: str = ""
    needs: tuple[Need, ...] = ()
    calls: int = 0
    more: int = 0
    per: Unit = ""
    embeds: int = 0
    prompt_chars: int = 1500
    shown: float = 0.4
    why_not: str = ""
    refuses: Callable[[Any], str] = lambda _: ""

    def lacking(self, case: Case, output: Output) -> tuple[Need, ...]:
        """What a case or its output lacks, as the metric sees them."""
        return tuple(need for need in self.needs if not _HELD[need](case, output))

    def calls_for(self, case: Case, output: Output | None) -> int:
        """About how many requests it makes of the judge for one output.

        Args:
            case: The case, as the metric sees it.
            output: Its output, where it is known.
        """
        if self.per == "turn":
            return self.calls + self.more * max(1, len(case.turns))
        if self.per == "context":
            found = case.reference_contexts if output is None else output.retrieved_contexts
            return self.calls + self.more * max(1, len(found))
        return self.calls


def by_name(metrics: Sequence[NativeMetric]) -> dict[str, NativeMetric]:
    """The metrics that a framework has, by neutral name."""
    return {metric.name: metric for metric in metrics if metric.own}
