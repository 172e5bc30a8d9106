"""The scorers by name, each found by an import string so that none is loaded before it is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from pydantic import ValidationError

from bridge.model.check import GROUP, Check, judges_named
from bridge.model.errors import InputError, MissingDependency
from bridge.model.explain import explain, nearest
from bridge.model.score import Measurement
from bridge.model.values import Model
from bridge.scorers.matching.identity import Itself

BUILT_IN = {
    "equals": "bridge.scorers.text.literal:EQUALS",
    "contains": "bridge.scorers.text.literal:CONTAINS",
    "starts_with": "bridge.scorers.text.literal:STARTS_WITH",
    "regex": "bridge.scorers.text.literal:REGEX",
    "match": "bridge.scorers.text.match:MATCH",
    "pattern": "bridge.scorers.text.extraction:PATTERN",
    "answer": "bridge.scorers.text.extraction:ANSWER",
    "choice": "bridge.scorers.text.choice:CHOICE",
    "number": "bridge.scorers.text.number:NUMBER",
    "word_count": "bridge.scorers.text.words:WORD_COUNT",
    "exact": "bridge.scorers.text.words:EXACT",
    "f1": "bridge.scorers.text.words:F1",
    "levenshtein": "bridge.scorers.text.similarity:LEVENSHTEIN",
    "similarity": "bridge.scorers.text.similarity:SIMILARITY",
    "rouge_n": "bridge.scorers.text.rouge:ROUGE_N",
    "rouge": "bridge.scorers.text.rouge:ROUGE",
    "bleu": "bridge.scorers.text.bleu:BLEU",
    "gleu": "bridge.scorers.text.bleu:GLEU",
    "sacrebleu": "bridge.scorers.text.bleu:SACREBLEU",
    "chrf": "bridge.scorers.text.bleu:CHRF",
    "passage_recall": "bridge.scorers.retrieval:PASSAGE_RECALL",
    "passage_precision": "bridge.scorers.retrieval:PASSAGE_PRECISION",
    "is_json": "bridge.scorers.structure.json_text:IS_JSON",
    "contains_json": "bridge.scorers.structure.json_text:CONTAINS_JSON",
    "is_xml": "bridge.scorers.structure.xml:IS_XML",
    "contains_xml": "bridge.scorers.structure.xml:CONTAINS_XML",
    "is_html": "bridge.scorers.structure.html:IS_HTML",
    "contains_html": "bridge.scorers.structure.html:CONTAINS_HTML",
    "is_sql": "bridge.scorers.structure.sql:IS_SQL",
    "contains_sql": "bridge.scorers.structure.sql:CONTAINS_SQL",
    "refusal": "bridge.scorers.text.refusal:REFUSAL",
    "latency": "bridge.scorers.budget:LATENCY",
    "cost": "bridge.scorers.budget:COST",
    "tokens": "bridge.scorers.budget:TOKENS",
    "finish_reason": "bridge.scorers.budget:FINISH_REASON",
    "tool_use": "bridge.scorers.tool_use:TOOL_USE",
    "tool_precision": "bridge.scorers.tool_use:TOOL_PRECISION",
    "tool_recall": "bridge.scorers.tool_use:TOOL_RECALL",
    "tool_f1": "bridge.scorers.tool_use:TOOL_F1",
    "tool_arguments": "bridge.scorers.tool_use:TOOL_ARGUMENTS",
    "tool_order": "bridge.scorers.tool_use:TOOL_ORDER",
    "tool_schema": "bridge.scorers.tool_use:TOOL_SCHEMA",
    "injection": "bridge.scorers.injection.check:INJECTION",
    "injection_resistance": "bridge.scorers.resistance.scorer:INJECTION_RESISTANCE",
    "context_retention": "bridge.scorers.conversation:CONTEXT_RETENTION",
    "consistency": "bridge.scorers.conversation:CONSISTENCY",
    "repetition": "bridge.scorers.conversation:REPETITION",
    "coherence": "bridge.scorers.conversation:COHERENCE",
}
"""Import strings of our own scorers. Any other scorer is named ``module:attribute`` in a check."""

JUDGED = {
    "groundedness": "bridge.judge.scorers.groundedness:GROUNDEDNESS",
    "rubric": "bridge.judge.scorers.rubric:RUBRIC",
    "decision_graph": "bridge.judge.scorers.graph:DECISION_GRAPH",
}
"""Import strings of those that ask a judge."""

NATIVE = {
    name: f"bridge.scorers.native:{name.upper()}"
    for name in (
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
        "context_relevancy",
        "answer_correctness",
        "hallucination",
        "g_eval",
        "summarization",
        "toxicity",
        "bias",
        "tool_correctness",
        "task_completion",
        "role_adherence",
        "knowledge_retention",
        "topic_adherence",
        "conversation_completeness",
        "turn_relevancy",
    )
}
"""Import strings of the neutral names under which frameworks' own metrics are asked for."""

ALIASES = {
    "exact_match": "equals",
    "json_schema": "is_json",
    "rouge_l": "rouge",
    "rouge_score": "rouge",
    "bleu_score": "sacrebleu",
    "chrf_score": "chrf",
    "string_similarity": "similarity",
}
"""Other names under which people know a scorer."""


class NoParams(Model):
    """For scorers without parameters."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """A scorer: (case, output, params) to measurements.

    Attributes:
        name: The field's own name for it.
        version: Goes into every score; a new one whenever equal input may give another value.
        score: Pure and deterministic; returns one measurement. Sees outputs without an error,
            and each turn as a case of its own if ``per_turn``. May return a skipped measurement
            (:func:`skip`), and may raise: that is an error row.
        params: Type of its parameters.
        threshold: Where a measurement passes if the check says nothing: 1.0 for binary scorers,
            0.5 for graded ones.
        per_turn: Scores each turn of a case with turns; otherwise the case as a whole. A function
            where the parameters decide.
        with_history: Sees, beside the turn it scores, those before it: case and output end at the
            turn, and an earlier turn may have an error.
        summary: One line for the docs.
        source: Where the check is defined: web addresses, the one that is followed first.
        needs: Modules of the extra ``text`` without which it cannot be carried out.
        judged: Asks a judge; ``score`` then takes the name of the check's judge as its fourth
            argument, and is as deterministic as that judge: within a run it is asked once.
        requests: Of a judged scorer, the requests it makes for one output with these parameters.
        judges: Of a judged scorer, the judges that its parameters name beside the check's own.
        native: A metric of the frameworks' own under a neutral name: each carries out its own, and
            ``score`` says that it is unsupported where there is none.
    """

    name: str
    version: str
    score: Callable[..., Sequence[Measurement]]
    params: type[Model] = NoParams
    threshold: float = 1.0
    per_turn: bool | Callable[[Any], bool] = True
    with_history: bool = False
    summary: str = ""
    source: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    judged: bool = False
    requests: Callable[[Any], int] = lambda _: 1
    judges: Callable[[Any], Iterable[str]] = lambda _: ()
    native: bool = False


def is_native(check: Check) -> bool:
    """Whether a check is carried out by each framework's own metric; a group, if a member is."""
    if check.checks:
        return any(is_native(member) for member in check.checks)
    return check.scorer in NATIVE


def skip(reason: str) -> Measurement:
    """A measurement for which there is nothing to score against."""
    return Measurement(status="skipped", reason=reason)


def binary(passed: bool, reason: str, **fields: Any) -> Measurement:
    """A measurement of 1.0 or 0.0."""
    return Measurement(value=1.0 if passed else 0.0, reason=reason, **fields)


@lru_cache(maxsize=256)
def get_scorer(name: str) -> Scorer:
    """The scorer of that name, alias or import string.

    Raises:
        InputError: If there is none.
    """
    own = ALIASES.get(name, name)
    target = BUILT_IN.get(own) or JUDGED.get(own) or NATIVE.get(own, name)
    if ":" not in target:
        known = sorted([*BUILT_IN, *JUDGED, *NATIVE, *ALIASES])
        meant = nearest(name, known)
        every = f"use one of {', '.join(known)}, or module:attribute"
        fix = every if meant is None else f"did you mean {meant}? docs/scorers.md has them all"
        raise InputError(f"no scorer {name!r}", fix=fix)
    module, _, attribute = target.partition(":")
    try:
        scorer = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # users' modules may do anything
        what = f"scorer {name!r} cannot be imported ({type(error).__name__}: {error})"
        raise InputError(what, fix="check module:attribute") from None
    if not isinstance(scorer, Scorer):
        raise InputError(
            f"{name!r} is a {type(scorer).__name__}, not a Scorer",
            fix="wrap it as bridge.Scorer(name, version, function)",
        )
    return scorer


def read_params(check: Check) -> Model:
    """The parameters of a check as its scorer's own type.

    Raises:
        InputError: On an unknown or wrong parameter.
    """
    try:
        return _read_params(check.scorer, Itself(check.params))
    except ValidationError as error:
        what = f"check {check.metric}: {explain(error)}"
        raise InputError(what, fix="see docs/scorers.md") from None


@lru_cache(maxsize=4096)
def _read_params(scorer: str, params: Itself) -> Model:
    return get_scorer(scorer).params.model_validate(params.value)


def validate_check(check: Check) -> None:
    """Make sure that a check can be carried out, before anything is run.

    Raises:
        InputError: On an unknown scorer, a wrong parameter, or a judge that is not named.
        MissingDependency: If what its scorer needs is not installed.
    """
    if check.scorer == GROUP:
        for member in check.checks:
            validate_check(member)
    else:
        _ensure_needs(check)
        read_params(check)
        _ensure_judge(check)


def _ensure_judge(check: Check) -> None:
    judged = get_scorer(check.scorer).judged
    if judged and check.judge_name is None:
        what = f"check {check.metric} asks a judge and names none"
        raise InputError(what, fix="name one of the suite's judges by judge:")
    if check.judges is not None and (not judged or is_native(check)):
        asks = "one judge" if judged else "no judge"
        what = f"check {check.metric} asks {asks} and names a panel"
        raise InputError(what, fix="leave judges: out")


def judges_of(check: Check) -> tuple[str, ...]:
    """The judges that a check asks, its members' and those in parameters included, each once.

    Raises:
        InputError: On an unknown scorer or a wrong parameter.
    """
    own = () if check.scorer == GROUP else get_scorer(check.scorer).judges(read_params(check))
    members = (name for member in check.checks for name in judges_of(member))
    return tuple(dict.fromkeys([*judges_named(check), *own, *members]))


INSTALL = "run: pip install 'bridge-evals[text]'"


def _ensure_needs(check: Check) -> None:
    missing = [name for name in get_scorer(check.scorer).needs if find_spec(name) is None]
    if missing:
        what = f"check {check.metric} needs {', '.join(missing)}, which is not installed"
        raise MissingDependency(what, fix=INSTALL)


def needs_of(checks: Iterable[Check]) -> tuple[str, ...]:
    """The modules of the extra ``text`` without which some of the checks cannot be carried out."""
    needs: set[str] = set()
    for check in checks:
        needs.update(needs_of(check.checks) if check.checks else get_scorer(check.scorer).needs)
    return tuple(sorted(needs))
