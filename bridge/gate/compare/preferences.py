"""The answers of two runs, held against each other by a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from bridge.gate.compare.runs import Side
from bridge.gate.findings.shown import answers
from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Judge
from bridge.judge.scorers.pairwise import Preference, prefer
from bridge.model.case import Case
from bridge.model.comparison import CasePreference, Preferences
from bridge.model.errors import InfrastructureError, InputError
from bridge.model.output import Output
from bridge.stats import exact_sign_test, wilson

MOST = 200
"""Most cases listed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One case with the answers of both sides; ``where`` is its ``path:line``, if known."""

    case: Case
    first: Output
    second: Output
    where: str | None = None


def answered_pairs(first: Side, second: Side) -> list[Pair]:
    """The cases that both runs answered, by their first epoch.

    Left out are cases that are no longer what was run or changed between the runs, and answers of
    a system that failed.

    Raises:
        InputError: If there is none.
    """
    cases = {case.id: case for side in (first, second) for case in side.answered.cases}
    given = [_answers(side) for side in (first, second)]
    pairs = [
        Pair(case, given[0][name], given[1][name], _where(name, first, second))
        for name, case in cases.items()
        if name in given[0] and name in given[1] and _is_the_same(name, first, second)
    ]
    if not pairs:
        what = f"{first.name} and {second.name} have no case with an answer of both"
        raise InputError(what, fix="compare run directories whose golden set is still there")
    return sorted(pairs, key=lambda pair: pair.case.id)


def _answers(side: Side) -> dict[str, Output]:
    (system,) = side.evidence.table.system_names
    return {
        output.case_id: output
        for output in side.answered.outputs
        if output.epoch == 1 and output.system == system and not _failed(output)
    }


def _failed(output: Output) -> bool:
    return output.error is not None or any(turn.error is not None for turn in output.turns or ())


def _where(name: str, *sides: Side) -> str | None:
    known = (side.evidence.cases.get(name) for side in sides)
    return next((each.where for each in known if each is not None and each.where), None)


def _is_the_same(name: str, first: Side, second: Side) -> bool:
    known = [side.evidence.cases.get(name) for side in (first, second)]
    return len({each.digest for each in known if each is not None and each.digest}) <= 1


def compare_answers(
    pairs: Sequence[Pair],
    judge: Judge,
    name: str,
    question: str,
    *,
    threads: int = 4,
    progress: Callable[[int, int], None] = lambda _done, _owed: None,
) -> Preferences:
    """Ask a judge for the better answer of every pair, in both orders.

    Args:
        pairs: What to compare.
        judge: Who is asked.
        name: The judge's name.
        question: By what it compares.
        threads: Pairs at a time.
        progress: Told (done, owed).

    Raises:
        InfrastructureError: If the judge gave no usable answer at all.
    """

    def ask(pair: Pair) -> Preference | JudgeError:
        try:
            return prefer(judge, pair.case, pair.first, pair.second, question)
        except JudgeError as error:
            return error

    with ThreadPoolExecutor(threads, thread_name_prefix="preferred") as pool:
        waiting = [pool.submit(ask, pair) for pair in pairs]
        for done, _ in enumerate(as_completed(waiting), 1):
            progress(done, len(pairs))
    found = [each.result() for each in waiting]
    errors = [each for each in found if isinstance(each, JudgeError)]
    if len(errors) == len(found):
        raise InfrastructureError(str(errors[0]), fix=f"see to judge {name}, then compare again")
    heard = [
        (pair, each)
        for pair, each in zip(pairs, found, strict=True)
        if not isinstance(each, JudgeError)
    ]
    kinds = Counter(error.kind for error in errors)
    return _summed(heard, name, question, dict(sorted(kinds.items())))


Heard = Sequence[tuple[Pair, Preference]]


def _summed(heard: Heard, name: str, question: str, errors: dict[str, int]) -> Preferences:
    counts = Counter(each.choice for _, each in heard)
    first, second = counts["first"], counts["second"]
    rate = wilson(second, first + second) if first + second else None
    flips = [each for _, each in heard if each.flipped]
    told = sorted(_listed(heard), key=lambda each: (each.choice == "tie", not each.flipped))
    return Preferences(
        judge=name,
        question=question,
        n=len(heard),
        first=first,
        second=second,
        ties=counts["tie"],
        p=exact_sign_test(first, second),
        rate=second / (first + second) if rate is not None else None,
        low=rate.low if rate is not None else None,
        high=rate.high if rate is not None else None,
        flips=len(flips),
        flip_rate=len(flips) / len(heard),
        shown_first=sum(each.for_the_one_shown_first for each in flips),
        errors=errors,
        cases=tuple(told[:MOST]),
        more=max(0, len(told) - MOST),
    )


def _listed(heard: Heard) -> Iterable[CasePreference]:
    for pair, each in heard:
        if each.rationales:
            yield CasePreference(
                case_id=pair.case.id,
                choice=each.choice,
                flipped=each.flipped,
                rationales=each.rationales,
                answers=(_text(pair.first), _text(pair.second)),
                sway=each.sway,
                where=pair.where,
            )


def _text(output: Output) -> str:
    return answers([output])[output.case_id]
