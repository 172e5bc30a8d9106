"""The evaluators of pydantic-evals as checks, and checks as evaluators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bridge.model.check import Check
from bridge.model.values import is_number
from bridge.plugin.accounts.accounting import (
    KEPT,
    NATIVE,
    Claims,
    Step,
    carried,
    dropped,
    executable,
)

NAME = "pydantic_evals"
CLASS = "evaluator"
"""Key of a check's extras for the evaluator it was read from."""

_WHY = {
    "LLMJudge": "asks a judge: kept as it is",
    "IsInstance": "a type of Python's, which a recorded output has not: kept",
    "HasMatchingSpan": "reads OpenTelemetry spans, which a recorded output has not: kept",
    "Python": "code is never run on import",
}
_OWN = "an evaluator of the dataset's own code: kept"
_UNSAID = "no scorer of ours says it with these arguments: kept"
_FIRST = {"Equals": "value", "Contains": "value", "MaxDuration": "seconds"}
"""The argument that may stand alone."""


class EvaluatorReader:
    """Reads the evaluators of one dataset.

    Args:
        claims: Where it is said what became of each.
    """

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    def read(self, given: Any, *at: Step) -> tuple[list[Check], dict[str, Any]]:
        """Checks, and what no check stands for, by its place.

        Args:
            given: The list of evaluators.
            at: Where it stands.
        """
        if given is None:
            return [], {}
        if not isinstance(given, list):
            self._claims.put(KEPT, *at)
            return [], {"evaluators": given}
        names: Counter[str] = Counter()
        checks: list[Check] = []
        kept: dict[str, Any] = {}
        for place, each in enumerate(given):
            name, arguments = _parts(each)
            fields = None if arguments is None else _check(name, arguments)
            if fields is None:
                why = _WHY.get(name) or (_UNSAID if name in _KNOWN else _OWN)
                self._claims.put((executable if name == "Python" else carried)(why), *at, place)
                kept[str(place)] = each
                continue
            self._claims.put(NATIVE, *at, place)
            metric = str((arguments or {}).get("evaluation_name") or name)
            names[metric] += 1
            metric = metric if names[metric] == 1 else f"{metric} ({names[metric]})"
            extras = {NAME: {CLASS: each}}
            checks.append(Check.model_validate({**fields, "metric": metric, "extras": extras}))
        return checks, {"evaluators": kept} if kept else {}


def _parts(each: Any) -> tuple[str, dict[str, Any] | None]:
    """An evaluator's name and arguments: ``Name``, ``{Name: value}`` or ``{Name: {...}}``."""
    if isinstance(each, str):
        return each, {}
    if not isinstance(each, Mapping) or len(each) != 1:
        return "", None
    name, body = next(iter(each.items()))
    if isinstance(body, Mapping):
        return name, dict(body)
    return name, {_FIRST[name]: body} if name in _FIRST else None


def _check(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a check; ``None`` where no scorer says it."""
    given = {key: value for key, value in arguments.items() if key != "evaluation_name"}
    if name == "EqualsExpected" and not given:
        return {"scorer": "equals", "params": {"strip": False}}
    if name == "Equals" and set(given) == {"value"} and _is_reference(given["value"]):
        return {"scorer": "equals", "params": {"value": given["value"], "strip": False}}
    if name == "Contains" and isinstance(given.get("value"), str) and given["value"]:
        if not set(given) <= {"value", "case_sensitive", "as_strings"}:
            return None
        fold = {} if given.get("case_sensitive", True) else {"ignore_case": True}
        return {"scorer": "contains", "params": {"value": given["value"], **fold}}
    if name == "MaxDuration" and set(given) == {"seconds"} and _is_amount(given["seconds"]):
        return {"scorer": "latency", "params": {"max": given["seconds"]}}
    return None


_KNOWN = frozenset({"EqualsExpected", "Equals", "Contains", "MaxDuration"})


def _is_reference(value: Any) -> bool:
    return isinstance(value, str | dict) and bool(value)


def _is_amount(value: Any) -> bool:
    return is_number(value) and value >= 0


def to_evaluators(checks: Iterable[Check], kept: Any, claims: Claims, *at: Step) -> list[Any]:
    """Checks as evaluators, with those that no check stood for back in their places.

    Args:
        checks: The checks.
        kept: What no check stood for, by its place.
        claims: Where it is said what became of each check.
        at: Where the checks stand.
    """
    if isinstance(kept, list):
        return kept
    places = dict(kept) if isinstance(kept, Mapping) else {}
    made: list[Any] = []
    for index, check in enumerate(checks):
        while str(len(made)) in places:
            made.append(places.pop(str(len(made))))
        evaluator = _evaluator(check)
        if evaluator is None:
            claims.put(dropped("pydantic-evals has no evaluator for it"), *at, "checks", index)
        else:
            claims.put(NATIVE, *at, "checks", index)
            made.append(evaluator)
    return [*made, *places.values()]


def _evaluator(check: Check) -> Any:
    """A check as an evaluator: what was read, else the one that says the same."""
    original = check.extras.get(NAME, {}).get(CLASS)
    name, arguments = _parts(original) if original is not None else ("", None)
    fields = None if arguments is None else _check(name, arguments)
    plain = check.threshold in (None, 1.0) and not check.negate and not check.checks
    if not plain or check.weight != 1.0 or check.judge_name is not None:
        return None
    if fields and fields["scorer"] == check.scorer and fields["params"] == check.params:
        return original
    return _made(check)


def _made(check: Check) -> Any:
    params, named = dict(check.params), {}
    if check.metric != check.scorer:
        named = {"evaluation_name": check.metric}
    if check.scorer == "equals" and params.pop("strip", True) is False:
        if not params:
            return {"EqualsExpected": named} if named else "EqualsExpected"
        return {"Equals": {**params, **named}} if set(params) == {"value"} else None
    if check.scorer == "contains" and isinstance(params.get("value"), str):
        fold = params.pop("ignore_case", False)
        shown = {"case_sensitive": False} if fold else {}
        return {"Contains": {**params, **shown, **named}} if set(params) == {"value"} else None
    if check.scorer == "latency" and set(params) == {"max"}:
        return {"MaxDuration": {"seconds": params["max"]}}
    return None
