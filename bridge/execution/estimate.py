"""What a run will ask of its judges and what that will cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bridge.execution.judging import requests_of
from bridge.execution.plan import Plan, judges_used
from bridge.model.case import Case
from bridge.model.check import Check, judges_named
from bridge.model.errors import InputError
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output, OutputTurn
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import NEEDED, NativeMetric, by_name
from bridge.plugin.registry import get_framework
from bridge.plugin.scoring.applicable import known_of, leaves_of
from bridge.plugin.scoring.native import Work, native_works
from bridge.scorers.evaluate import checks_with_turns, failure_of, seen_at
from bridge.scorers.registry import is_native

CHARS_PER_TOKEN = 4
"""Of English; 1 to 3 of most other scripts."""
PROMPT_CHARS = 1000
SHOWN = 0.8
"""The prompts of our own judged scorers, as those of a ``NativeMetric``: measured likewise."""
REPLY_TOKENS = 150
"""About what a reply takes: a guess, since models differ in how much they say."""

Pair = tuple[Case, Output]


@dataclass(slots=True)
class Estimate:
    """What one judge will be asked at most, before anything is found in its cache.

    Attributes:
        calls: Requests, those for embeddings included.
        input_tokens: About how many tokens are sent.
        output_tokens: About how many come back.
        questions: Requests that are answered with text.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    questions: int = 0

    def add(self, calls: int, embeds: int, texts: int, prompt: int, shown: float) -> None:
        """Count requests.

        A later question on an output also shows what was replied to the one before.

        Args:
            calls: Questions on one output.
            embeds: Requests for embeddings.
            texts: Characters of the texts that they are about.
            prompt: Characters of the prompt itself in each question.
            shown: Share of the texts that each question shows.
        """
        self.calls += calls + embeds
        self.questions += calls
        sent = calls * (prompt + shown * texts) + embeds * texts
        self.input_tokens += round(sent / CHARS_PER_TOKEN) + max(0, calls - 1) * REPLY_TOKENS
        self.output_tokens += calls * REPLY_TOKENS

    def most_output_tokens(self, config: JudgeConfig) -> int:
        """The most that can come back: every reply as long as it may be."""
        return self.questions * config.max_tokens

    def cost_usd(self, config: JudgeConfig) -> float | None:
        """US dollars, where the judge's price is known."""
        price = config.price
        if price is None:
            return None
        return (self.input_tokens * price.input + self.output_tokens * price.output) / 1e6


def estimate(plan: Plan, outputs: Sequence[Output] | None = None) -> dict[str, Estimate]:
    """What every judge in use will be asked, by name.

    Args:
        plan: The run.
        outputs: The answers, where they are recorded.
    """
    found = {name: Estimate() for name in judges_used(plan.suite, plan.cases)}
    pairs = list(_pairs(plan, outputs))
    for case, output in pairs:
        for check, turn in checks_with_turns(plan.suite.checks, case):
            if not is_native(check):
                _add_shared(found, check, *seen_at(case, output, turn))
    for framework in plan.suite.frameworks:
        info = get_framework(framework.name).info
        for leaf, metric, case, output in _scored(info, plan, pairs):
            if leaf.judge is not None:
                calls = metric.calls_for(case, output)
                texts = text_chars(case, output)
                found[leaf.judge].add(
                    calls, metric.embeds, texts, metric.prompt_chars, metric.shown
                )
    return found


def _add_shared(found: dict[str, Estimate], check: Check, case: Case, output: Output) -> None:
    """A shared check's requests, which are made once for all frameworks."""
    for name in set(judges_named(check)):
        texts = text_chars(case, output)
        found[name].add(requests_of(check), 0, texts, PROMPT_CHARS, SHOWN)


def _pairs(plan: Plan, outputs: Sequence[Output] | None) -> Iterator[Pair]:
    by_id = {case.id: case for case in plan.cases}
    if outputs is not None:
        yield from ((by_id[output.case_id], output) for output in outputs)
        return
    for case in plan.cases:
        for epoch in range(1, plan.suite.epochs + 1):
            yield case, _stand_in(case, epoch)


def _stand_in(case: Case, epoch: int) -> Output:
    """An answer with all that a metric may need, about as long as what is known of the case."""
    contexts = case.reference_contexts or ("?",)
    text = "?" * 400
    turns = tuple(OutputTurn(text=text, retrieved_contexts=contexts) for _ in case.turns)
    return Output(
        case_id=case.id, epoch=epoch, text=text, retrieved_contexts=contexts, turns=turns or None
    )


def text_chars(case: Case, output: Output) -> int:
    """How many characters the texts of a case and its output are."""
    shown = case.model_dump_json(include={"input", "expected", "reference_contexts", "turns"})
    answer = output.model_dump_json(include={"text", "retrieved_contexts", "turns"})
    return len(shown) + len(answer)


Scored = tuple[Check, NativeMetric, Case, Output]


def _scored(info: FrameworkInfo, plan: Plan, pairs: Iterable[Pair]) -> Iterator[Scored]:
    """The native metrics that a framework will carry out, and what each sees."""
    metrics = by_name(info.native_metrics)
    for work in native_works(pairs, plan.suite.checks):
        case, output = seen_at(work.case, work.output, work.turn)
        if failure_of(case, output) is None:
            for leaf in leaves_of(work.check):
                if known_of(info, plan.suite.judges, leaf, case, output) is None:
                    yield leaf, metrics[leaf.scorer], case, output


def refuse_unscorable(plan: Plan, outputs: Sequence[Output]) -> None:
    """Make sure, before a judge is paid, that every native check has something to score.

    Raises:
        InputError: If one is skipped on every output, in every framework that has it.
    """
    pairs = list(_pairs(plan, outputs))
    if not any(True for _ in native_works(pairs, plan.suite.checks)):
        return
    infos = [get_framework(each.name).info for each in plan.suite.frameworks]
    lacks: dict[str, list[tuple[str, ...]]] = {}
    for work in native_works(pairs, plan.suite.checks):
        for leaf in leaves_of(work.check):
            lacks.setdefault(work.check.metric, []).extend(_lacks(infos, plan, work, leaf))
    for metric, found in lacks.items():
        if found and all(found):
            needs = " and ".join(dict.fromkeys(need for lacking in found for need in lacking))
            what = f"check {metric} has nothing to score: no case or output has {needs}"
            fix = "add them, or take the check away"
            raise InputError(what, where=plan.path, fix=fix)


def _lacks(
    infos: Sequence[FrameworkInfo], plan: Plan, work: Work, leaf: Check
) -> Iterator[tuple[str, ...]]:
    """What a check lacks, in each framework that has it; nothing where it can be scored."""
    case, output = seen_at(work.case, work.output, work.turn)
    if failure_of(case, output) is not None:
        return
    for info in infos:
        known = known_of(info, plan.suite.judges, leaf, case, output)
        metric = by_name(info.native_metrics).get(leaf.scorer)
        if metric is not None and (known is None or known.status != "unsupported"):
            skipped = known is not None and known.status == "skipped"
            needs = metric.lacking(case, output) if skipped else ()
            yield tuple(NEEDED[need] for need in needs)
