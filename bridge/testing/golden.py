"""Golden sets in ordinary Python tests: a case a test, checks as assertions.

::

    import pytest
    from bridge.testing import assert_case, golden_set

    from bot import answer


    @pytest.mark.parametrize("case", golden_set("cases.jsonl"))
    def test_the_bot(case):
        assert_case(case, answer(case.input), ["contains", {"word_count": {"max": 40}}])
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from bridge.execution.answers import read_answer
from bridge.files.golden import read_golden_set
from bridge.model.case import Case
from bridge.model.check import Check, Checks
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import VALUED, Measurement, Score
from bridge.report.inert import one_line
from bridge.scorers.evaluate import checks_with_turns, evaluate, threshold_of
from bridge.scorers.registry import validate_check

CHECKS: TypeAdapter[tuple[Check, ...]] = TypeAdapter(Checks)
LONGEST = 500
"""Most characters of a reason that are shown."""


class CheckError(AssertionError):
    """An answer does not pass, or cannot be scored; one line for each check that says so."""


def golden_set(*paths: str | PathLike[str], tags: Iterable[str] = ()) -> list[Any]:
    """The cases of golden sets as parameters of a test, each with its id.

    Args:
        paths: Files; relative ones, as in a suite, to the folder of the file that names them.
        tags: Only cases with one of these tags.

    Returns:
        A ``pytest.param`` a case, for ``@pytest.mark.parametrize("case", ...)``.

    Raises:
        InputError: On a faulty file, an id that stands twice, or where no case is left: pytest
            would skip a test without parameters, and nobody would notice.
    """
    named_in = sys._getframe(1).f_globals.get("__file__", "")  # noqa: SLF001  # there is no other way
    folder = Path(named_in).parent if named_in else Path()
    cases = read_golden_set(*(folder / path for path in paths)).cases
    wanted = set(tags)
    chosen = [case for case in cases if not wanted or wanted & set(case.tags)]
    if not chosen:
        tagged = ", ".join(sorted(wanted))
        what = f"no case with tag {tagged}" if paths else "no golden set is named"
        where = folder / paths[0] if paths else None
        raise InputError(what, where=where, fix="name cases to test")
    return [pytest.param(case, id=case.id) for case in chosen]


def assert_case(case: Case, answer: Any, checks: Sequence[Any] = ()) -> list[Measurement]:
    """Hold an answer to checks, in this process and with no framework.

    Args:
        case: The case; its own checks are added, or replace those of the same metric.
        answer: A text, JSON, a mapping with fields of an :class:`bridge.Output` (``text``,
            ``tool_calls``, ``turns``, ``latency_s``, ...), or an output.
        checks: As in a suite: a name, ``{name: parameters}``, or a :class:`bridge.Check`.

    Returns:
        What was found, a measurement for each check and turn.

    Raises:
        CheckError: If a check fails or cannot be scored, or nothing was scored at all.
        InputError: If a check is wrong, there is none, or the answer is none.
    """
    __tracebackhide__ = True
    output = _output(case, answer)
    rows = list(checks_with_turns(_checks(checks, case), case))
    if not rows:
        raise InputError(f"nothing is checked on case {case.id!r}", fix="name checks")
    found = [(check, evaluate(check, case, output, turn)) for check, turn in rows]
    faults = list(_faults(found))
    if faults:
        raise CheckError("\n".join(faults))
    return [each for _, each in found]


def _checks(checks: Sequence[Any], case: Case) -> tuple[Check, ...]:
    try:
        read = CHECKS.validate_python(tuple(checks))
    except ValidationError as error:
        raise InputError(f"checks: {explain(error)}", fix="see docs/scorers.md") from None
    for check in (*read, *case.all_checks):
        validate_check(check)
    return read


def _output(case: Case, answer: Any) -> Output:
    if isinstance(answer, Output) and answer.case_id != case.id:
        what = f"the output is one to case {answer.case_id!r}, not to {case.id!r}"
        raise InputError(what, fix="give the case and its own output")
    try:
        return Output.model_validate({**read_answer(answer), "case_id": case.id})
    except ValidationError as error:
        raise InputError(f"the answer: {explain(error)}", fix="see bridge.Output") from None


def _faults(found: Sequence[tuple[Check, Measurement]]) -> Iterator[str]:
    for check, each in found:
        if each.status in ("failed", "error", "unsupported"):
            yield told(each, threshold_of(check))
    if not any(each.status in VALUED for _, each in found):
        reasons = "; ".join(f"{each.metric}: {each.reason}" for _, each in found)
        yield f"nothing was scored ({one_line(reasons, LONGEST)})"


def told(found: Measurement | Score, threshold: float | None) -> str:
    """One line on a row: its metric, and value, status or threshold as they matter, and why."""
    turn = "" if found.turn is None else f", turn {found.turn}"
    why = one_line(found.error or found.reason, LONGEST)
    metric = one_line(found.metric)
    if found.value is None:
        return f"{metric}{turn}: {found.status}: {why}"
    needs = "" if threshold is None else f", needs {threshold:.3g}"
    return f"{metric}{turn}: {found.value:.3g}{needs}: {why}"
