"""promptfoo's own model-graded assertions as they stand in a test, with the judge as provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.judge import JudgeConfig
from bridge.model.message import as_text, passage_text
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.plugin.carry import held_reference
from bridge.plugin.framework import FrameworkInfo, version_of
from bridge.plugin.metrics import by_name
from bridge.plugin.scoring.applicable import known_of
from bridge.plugin.scoring.measurer import tag_of, varies
from bridge.plugin.scoring.shared import Answer
from bridge.scorers.evaluate import checks_with_turns, failure_of, native_version, threshold_of
from bridge.scorers.registry import is_native, read_params
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.cases import text_sent
from bridge_promptfoo.config.templates import escaped as as_data
from bridge_promptfoo.judge import to_judge
from bridge_promptfoo.scorers import to_known_assertion
from bridge_promptfoo.seal import inert

PROMPT = {"raw": "{{query}}", "label": "what was asked"}
"""What assertions take for the question where they have no variable of it."""

_VALUES: Mapping[str, Callable[[Case, Any], str]] = {
    "context_recall": lambda case, _: held_reference(case.expected),
    "answer_correctness": lambda case, _: held_reference(case.expected),
    "g_eval": lambda _, params: str(params.criteria),
}
"""What an assertion is told beside the answer."""

_GROUPED = "a config has no group whose members promptfoo scores itself"
_TURNED = "a config's tests have one answer, and no turns"
_NEGATED = "an assertion's threshold cannot be turned round"


def to_variables(case: Case, output: Output) -> Fields:
    """What assertions read of a case and its output."""
    variables: Fields = {"query": as_data(text_sent(case))}
    if passages := [passage_text(each) for each in output.retrieved_contexts]:
        variables["context"] = [as_data(each) for each in passages if each]
    if case.turns:
        variables["_conversation"] = _conversation(case, output)
    return variables


def _conversation(case: Case, output: Output) -> list[Fields]:
    answers = output.turns or ()
    return [
        {"input": as_data(turn.user), "output": as_data(as_text(answer.text))}
        for turn, answer in zip(case.turns, answers, strict=False)
    ]


def to_own_assertion(name: str, own: str, check: Check, case: Case, judge: Fields) -> Fields:
    """A check as an assertion of promptfoo's own.

    Args:
        name: What the assertion goes by.
        own: Its type.
        check: The check, no group.
        case: The case as the metric sees it.
        judge: The provider that grades.
    """
    threshold = 0.0 if check.negate else threshold_of(check)
    made: Fields = {"type": own, "metric": name, "threshold": threshold}
    value = _VALUES.get(check.scorer)
    if value is not None:
        made["value"] = as_data(value(case, read_params(check)))
    return {**made, "provider": judge}


def has_own(case: Case, checks: Sequence[Check]) -> bool:
    """Whether any check on a case is to be carried out by an assertion of promptfoo's own."""
    return any(is_native(check) for check, _ in checks_with_turns(checks, case))


def own_assertions(
    info: FrameworkInfo,
    judges: Mapping[str, JudgeConfig],
    checks: Sequence[Check],
    case: Case,
    output: Output,
) -> Iterator[Fields]:
    """The native checks on an output, for a config that people run themselves.

    What has nothing to score against, or what a config has no place for, is an assertion of ours
    that says so: nothing leaves without a word.

    Args:
        info: The framework.
        judges: The suite's judges.
        checks: The suite's checks.
        case: The case.
        output: One of its outputs.
    """
    known: dict[str, list[Answer]] = {}
    failed = failure_of(case, output) is not None
    for check, turn in checks_with_turns(checks, case):
        if not is_native(check):
            continue
        found = None if failed else _known(info, judges, check, turn, case, output)
        if found is None:
            judge = to_judge(
                check.judge or "", tag_of(info, check, output), vary=varies(judges, check)
            )
            own = by_name(info.native_metrics).get(check.scorer)
            kind = own.own if own is not None else check.scorer
            made = to_own_assertion(inert(check.metric), kind, check, case, judge)
            yield {**made, "weight": check.weight}
        else:
            named = found.model_copy(update={"metric": check.metric, "turn": turn})
            known.setdefault(check.metric, []).append((check, named))
    yield from _known_assertions(known.values(), native_version(info.name, version_of(info)))


def _known_assertions(known: Iterable[list[Answer]], stamp: str) -> Iterator[Fields]:
    for answers in known:
        yield to_known_assertion(tuple(answers), stamp)


def _known(
    info: FrameworkInfo,
    judges: Mapping[str, JudgeConfig],
    check: Check,
    turn: int | None,
    case: Case,
    output: Output,
) -> Measurement | None:
    """What is known of a check without asking; ``None`` where an assertion finds it."""
    why = _GROUPED if check.checks else _NEGATED if check.negate else _TURNED
    if check.checks or check.negate or turn is not None:
        return Measurement(status="unsupported", reason=f"{why}: score by bridge run")
    return known_of(info, judges, check, case, output)
