"""Inspect's scorers, and what says the same here.

Which of them agree is held against Inspect itself by ``tests/test_agreement_inspect.py``. Source:
https://inspect.aisi.org.uk/scorers.html#built-in-scorers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.plugin.numbering import Numbered
from bridge.plugin.results.counterparts import JUDGED, Counterpart, by_recorded_name, check_of
from bridge.scorers.registry import read_params
from bridge_inspect.records import Scorer

_PROBABILITIES = "needs log probabilities"
COUNTERPARTS = (
    Counterpart("includes()", ("includes",), {"contains": {"ignore_case": True}}),
    Counterpart(
        "match()", ("match",), "match",
        note="a target of nothing but punctuation matches nothing, there everything",
    ),
    Counterpart(
        "pattern()", ("pattern",), "pattern", note="RE2: no look-around, no back-references"
    ),
    Counterpart("answer()", ("answer",), "answer"),
    Counterpart("choice()", ("choice",), "choice", note="shuffled options are not put back"),
    Counterpart("exact()", ("exact",), "exact"),
    Counterpart("f1()", ("f1",), "f1", note="not rounded to two decimals", digits=2),
    Counterpart("math()", ("math",), note="LaTeX by sympy: `number` compares numbers"),
    Counterpart("perplexity()", ("perplexity",), note=_PROBABILITIES),
    *(
        Counterpart(f"{name}()", (name,), judged="answer_correctness", note=JUDGED)
        for name in ("model_graded_qa", "model_graded_fact")
    ),
)  # fmt: skip
_KNOWN = by_recorded_name(COUNTERPARTS)
_RENAMED = {("answer", "pattern"): "kind"}


def checks_of(scorers: Iterable[Scorer]) -> dict[str, Check]:
    """The checks that say the same as the scorers of a log, by the names of their scores.

    A scorer that stands twice is numbered, as Inspect does; one with an option that no parameter of
    ours says (a function, an unknown name) is left out.
    """
    found: dict[str, Check] = {}
    names = Numbered("{}{}", first=1)
    for scorer in scorers:
        name = names.of(scorer.name)
        check = _check(scorer.name, scorer.options or {})
        if check is not None:
            found[name] = check
    return found


def _check(name: str, options: Mapping[str, Any]) -> Check | None:
    like = check_of(_KNOWN.get(name))
    if like is None:
        return None
    given = {_RENAMED.get((name, key), key): value for key, value in options.items()}
    params = {**like.params, **{key: value for key, value in given.items() if value is not None}}
    try:
        check = Check.model_validate({"scorer": like.scorer, "params": params})
        read_params(check)
    except (ValidationError, InputError, ImportError):
        return None
    return check
