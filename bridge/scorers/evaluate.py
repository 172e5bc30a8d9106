"""Checks on a case and its output: the one place where a measurement gets its status.

Every framework's native metric ends here, which is what makes a shared check bit-identical
in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bridge.model.case import Case
from bridge.model.check import GROUP, Check, resolve_checks
from bridge.model.output import Output
from bridge.model.score import VALUED, Measurement, error_measurement
from bridge.scorers.panel import Vote, combine, summed
from bridge.scorers.registry import Scorer, get_scorer, is_native, read_params

LONGEST_ERROR = 1000
"""Most characters of an exception kept in an error."""

Row = tuple[str, int | None]
"""(metric, turn): what one check owes for one output."""

Native = Callable[[Check, Case, Output], Measurement]
"""Carries out a check by a framework's own metric: the check, and what it sees of case and output.
"""


def version_of(check: Check, native: str = "") -> str:
    """The version of a check's scorer; of a group, its members' joined.

    Args:
        check: The check.
        native: What stands for the version of a metric of the frameworks' own.
    """
    if check.scorer == GROUP:
        return "+".join(version_of(member, native) for member in check.checks)
    scorer = get_scorer(check.scorer)
    return native if scorer.native else scorer.version


def native_version(framework: str, version: str) -> str:
    """The version of a framework's own metrics, by which the gate tells them from shared checks."""
    return f"{framework} {version}"


def threshold_of(check: Check) -> float | None:
    """The threshold in force, on the value as the check shows it: its own, else its scorer's.

    Of a graded scorer, whose value a negated check shows as 1 - value, the default is turned round
    too: what passes from 0.75 on passes negated up to 0.75.
    """
    if check.threshold is not None or check.scorer == GROUP:
        return check.threshold
    default = get_scorer(check.scorer).threshold
    return 1.0 - default if check.negate and default < 1.0 else default


def per_turn(check: Check) -> bool:
    """Whether a check scores each turn of a case with turns."""
    if check.scorer == GROUP:
        return all(per_turn(member) for member in check.checks)
    decides = get_scorer(check.scorer).per_turn
    return decides if isinstance(decides, bool) else decides(read_params(check))


def checks_with_turns(suite: Sequence[Check], case: Case) -> Iterator[tuple[Check, int | None]]:
    """Every (check, turn) of a case, in the order of its rows."""
    for check in resolve_checks(suite, case.checks):
        if not case.turns or not per_turn(check):
            yield check, None
            continue
        for index, turn in enumerate(case.turns):
            own = {each.metric: each for each in turn.checks}
            yield own.get(check.metric, check), index
    if not case.turns:
        return
    known = {check.metric for check in resolve_checks(suite, case.checks) if per_turn(check)}
    for index, turn in enumerate(case.turns):
        for check in turn.checks:
            if check.metric not in known:
                yield check, index


def shared_with_turns(suite: Sequence[Check], case: Case) -> Iterator[tuple[Check, int | None]]:
    """Those of a case's (check, turn) that are the same in every framework."""
    return ((check, turn) for check, turn in checks_with_turns(suite, case) if not is_native(check))


def expected_rows(suite: Sequence[Check], case: Case) -> list[Row]:
    """The rows that a complete run has for one output of ``case``."""
    return [(check.metric, turn) for check, turn in checks_with_turns(suite, case)]


def evaluate(
    check: Check,
    case: Case,
    output: Output,
    turn: int | None = None,
    native: Native | None = None,
) -> Measurement:
    """Carry out one check; never raises.

    Args:
        check: What to measure.
        case: The whole case.
        output: The whole output.
        turn: The turn to score (0-based), or ``None`` for the case as a whole.
        native: Carries out metrics of the framework's own; unsupported without one.

    Returns:
        A measurement with its metric, turn and final status.
    """
    try:
        found, decided = _measure(check, case, output, turn, native)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a failed scorer is a row
        found, decided = error_measurement(_said(error)), {}
    return found.model_copy(update={**decided, "metric": check.metric, "turn": turn})


def _said(error: BaseException) -> str:
    """An exception in one line of bounded length, whatever it does when asked for its text."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  # users' exceptions may break on being read
        text = type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"


def _measure(
    check: Check, case: Case, output: Output, turn: int | None, native: Native | None
) -> tuple[Measurement, dict[str, Any]]:
    """What the scorer found, and what the check makes of it."""
    scorer = None if check.scorer == GROUP else get_scorer(check.scorer)
    history = scorer is not None and scorer.with_history
    seen = (case, output) if turn is None else _at_turn(case, output, turn, history)
    failure = seen[1].error if history and turn is not None else failure_of(*seen)
    if failure is not None:
        return error_measurement(f"the system failed: {failure}"), {}
    if history and turn is None and case.turns and per_turn(check):
        what = f"{check.metric} scores each turn, and here the conversation is scored as a whole"
        return error_measurement(f"{what}; take it out of the group"), {}
    if scorer is None:
        found = _measure_group(check, case, output, turn, native)
    elif scorer.native and native is not None:
        found = native(check, *seen)
    else:
        found = _carry_out(scorer, check, *seen)
    return _decide(check, found)


def seen_at(case: Case, output: Output, turn: int | None) -> tuple[Case, Output]:
    """What a scorer without history sees of a case: all of it, or the turn that it scores."""
    return (case, output) if turn is None else _at_turn(case, output, turn, history=False)


def _at_turn(case: Case, output: Output, turn: int, history: bool) -> tuple[Case, Output]:
    """The turn to score as a case of its own, or as the last of those so far."""
    if history:
        return case.until(turn), output.until(turn)
    return case.at_turn(turn), output.at_turn(turn)


def _carry_out(scorer: Scorer, check: Check, case: Case, output: Output) -> Measurement:
    given = (case, output, read_params(check))
    if not scorer.judged:
        return _single(scorer.score(*given))
    if check.judges is None:
        return _single(scorer.score(*given, check.judge))
    votes = []
    for name in check.judges.names:
        found = _single(scorer.score(*given, name))
        shown, decided = _decide(check, found)
        votes.append(Vote(name, shown, decided.get("status") == "passed"))
    return combine(votes, check.judges, negate=check.negate)


def _single(found: Sequence[Measurement]) -> Measurement:
    if type(found) is list and len(found) == 1 and type(found[0]) is Measurement:
        return found[0]
    if not isinstance(found, list | tuple) or not all(isinstance(x, Measurement) for x in found):
        raise TypeError(f"the scorer returned a {type(found).__name__}, not a list of measurements")
    if len(found) != 1:
        raise ValueError(f"the scorer returned {len(found)} measurements, not one")
    return found[0]


def failure_of(case: Case, output: Output) -> str | None:
    """Why an output cannot be scored as a whole: its own error, or that of one of its turns."""
    if output.error is not None:
        return output.error
    if not output.turns and not case.turns:
        return None
    turns = output.turns or ()
    broken = next((i for i, turn in enumerate(turns) if turn.error is not None), None)
    if broken is not None:
        return f"turn {broken}: {turns[broken].error}"
    if len(turns) < len(case.turns):
        return f"{len(turns)} of {len(case.turns)} turns were answered"
    return None


def _decide(check: Check, found: Measurement) -> tuple[Measurement, dict[str, Any]]:
    if found.status == "error":
        return error_measurement(found.error or found.reason or "no reason given"), {}
    if found.status not in VALUED:
        return found, {"value": None}
    value = found.value
    if value is None or not 0.0 <= value <= 1.0:
        return error_measurement(f"{check.scorer} gave no value in [0, 1]: {value}"), {}
    value = 1.0 - value if check.negate else value
    threshold = threshold_of(check)
    if threshold is not None:
        status = "passed" if value >= threshold else "failed"
    elif check.scorer == GROUP:
        status = "passed" if _all_pass(check, found) != check.negate else "failed"
    else:
        status = "scored"
    return found, {"value": value, "status": status}


def _all_pass(check: Check, found: Measurement) -> bool:
    """Whether every member passes; one of weight 0 is shown and decides nothing."""
    members = zip(check.checks, found.details["members"], strict=True)
    passing = ("passed", "scored", "skipped")
    return all(member["status"] in passing for each, member in members if each.weight > 0)


def _measure_group(
    check: Check, case: Case, output: Output, turn: int | None, native: Native | None
) -> Measurement:
    """Weighted mean of the members, skipped ones left out (promptfoo's ``assert-set``)."""
    members = [(each, evaluate(each, case, output, turn, native)) for each in check.checks]
    broken = [found for _, found in members if found.status == "error"]
    if broken:
        return error_measurement(f"{broken[0].metric}: {broken[0].error}")
    lacking = [found for _, found in members if found.status == "unsupported"]
    if lacking:
        reason = f"{lacking[0].metric}: {lacking[0].reason}"
        return Measurement(status="unsupported", reason=reason)
    scored = [(each.weight, found) for each, found in members if found.value is not None]
    weight = math.fsum(share for share, _ in scored)
    if weight == 0:
        return Measurement(status="skipped", reason="no member with a weight was scored")
    value = math.fsum(share * (found.value or 0.0) for share, found in scored) / weight
    reason = "; ".join(f"{found.metric} {found.status}: {found.reason}" for _, found in members)
    kept = [found.model_dump(include={"metric", "value", "status"}) for _, found in members]
    took = summed([found for _, found in members])
    value = min(1.0, max(0.0, value))
    return Measurement(value=value, reason=reason, details={"members": kept}, **took)
