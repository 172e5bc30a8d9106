"""promptfoo's own assertions behind checks: what a migration is held against.

A check that was read from an assertion is carried out by that very assertion, its template
rendered by promptfoo; any other by the assertion that says the same, where there is one. Bundles
come from anywhere: an assertion counts only where reading it gives the check again, so that no
code reaches promptfoo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import GROUP, Check
from bridge.model.verification import LeftOut
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.assertions import AssertionReader, Graded, ReadAsserts
from bridge_promptfoo.config.checks import thawed
from bridge_promptfoo.config.files import Document, Node
from bridge_promptfoo.config.templates import escaped, is_template, render
from bridge_promptfoo.config.to_assertions import is_touched, restored, to_native
from bridge_promptfoo.rows import ASSERT_SET, NAME

_KEYS = ("type", "value", "threshold", "weight")
_UNSAID = "no check stands for it"
_WHOLE = "kept whole: its test has a threshold and an assertion that no check stands for"


def original_assertion(check: Check, variables: Mapping[str, Any]) -> Fields | None:
    """The assertion of promptfoo's own that a check was read from, or that says the same.

    Args:
        check: The check.
        variables: Those of the case, for the names in the assertion's value.

    Returns:
        ``None`` where promptfoo has none. A metric's name is left to the caller.
    """
    made = _set_of(check, variables) if check.scorer == GROUP else _single(check, variables)
    return None if made is None else thawed(made)


def _single(check: Check, variables: Mapping[str, Any]) -> Fields | None:
    original = check.extras.get(NAME)
    if not isinstance(original, Mapping):
        unnamed = check.model_copy(update={"metric": check.scorer})
        return _bare(to_native(unnamed))
    made = restored(check, original)
    if made is not None and is_template(original.get("value")):
        made = {**made, "value": _template(original["value"], made["value"], variables)}
    return _bare(made)


def _template(original: Any, meant: Any, variables: Mapping[str, Any]) -> Any:
    """A value for promptfoo to render, where it holds bare names only and means the same."""
    try:
        same = render(original, variables) == meant
    except ValueError:
        same = False
    return original if same else meant


def _bare(made: Mapping[str, Any] | None) -> Fields | None:
    return None if made is None else {key: made[key] for key in _KEYS if key in made}


def _set_of(check: Check, variables: Mapping[str, Any]) -> Fields | None:
    """A group as a set; a test's threshold is the same sum in promptfoo."""
    members = [original_assertion(member, variables) for member in check.checks]
    if check.negate or None in members:
        return None
    made: Fields = {"type": ASSERT_SET, "assert": members, "weight": check.weight}
    return made if check.threshold is None else {**made, "threshold": check.threshold}


def safe_variables(case: Case) -> Fields:
    """The variables of a case for promptfoo: bare names are left to it, anything else is inert."""
    known = thawed(case.vars)
    return {
        name: _safe(value, known) if isinstance(value, str) else value
        for name, value in known.items()
        if value is not None and not is_touched({name: "" if isinstance(value, str) else value})
    }


def _safe(text: str, variables: Mapping[str, Any]) -> str:
    if not is_touched(text):
        return text
    try:
        loads = is_touched(render(text, variables))
    except ValueError:
        loads = True
    return escaped(text) if loads else text


# --- what no check stands for --------------------------------------------------------------------


def left_out(bundle: Bundle) -> Iterator[LeftOut]:
    """The assertions of a bundle's config or results that no check stands for, and why.

    Each counts once for every output that it would have been carried out on.
    """
    answers = Counter(output.case_id for output in bundle.outputs)
    for_all = _kept(_kept_of(bundle.suite).get("defaultTest"))
    for each in _reasons(for_all, {}):
        yield each.model_copy(update={"count": sum(answers[case.id] for case in bundle.cases)})
    for case in bundle.cases:
        kept = _kept_of(case)
        whole = _WHOLE if "threshold" in kept else _UNSAID
        for each in _reasons(_kept(kept), case.vars) if answers[case.id] else ():
            yield LeftOut(type=each.type, reason=each.reason or whole, count=answers[case.id])


def _kept_of(value: Any) -> Mapping[str, Any]:
    kept = None if value is None else value.extras.get(NAME)
    return kept if isinstance(kept, Mapping) else {}


def _kept(where: Any) -> list[Any]:
    foreign = where.get("assert") if isinstance(where, Mapping) else None
    return list(thawed(foreign).values()) if isinstance(foreign, Mapping) else []


def _reasons(assertions: Sequence[Any], variables: Mapping[str, Any]) -> Iterator[LeftOut]:
    """Each assertion with the reason for which it is foreign; "" where it is not by itself."""
    for plain in assertions:
        kind = plain.get("type") if isinstance(plain, Mapping) else None
        read = ReadAsserts()
        node = Node(plain, Document(Path(NAME), "", plain, {}))
        AssertionReader().read([node], Graded(variables), read)
        claim = next(iter(read.reasons.values()), None)
        yield LeftOut(type=str(kind or "assertion"), reason=claim.reason if claim else "")
