"""promptfoo's assertion types, each with what stands for it here: the one map, both ways.

``python -m bridge_promptfoo.config.kinds`` prints it as the table of ``docs/migrate``. Types and
meanings are those of promptfoo 0.123.1
(https://www.promptfoo.dev/docs/configuration/expected-outputs/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.yaml import parse_yaml
from bridge.model.check import Check
from bridge.model.conversion import Fate
from bridge.model.errors import InputError
from bridge.scorers.registry import BUILT_IN, validate_check
from bridge_promptfoo.config.lists import comma_separated
from bridge_promptfoo.config.templates import js_text

Params = dict[str, Any]
NATIVE_PARTS = Mapping[str, Any]
"""Keys of a native assertion: ``type``, ``value``, ``threshold``."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One assertion type.

    Attributes:
        type: promptfoo's name.
        scorer: Our scorer that measures the same, "" where there is none.
        judge: The neutral metric of a judge that measures the same, "" where there is none.
        read: Parameters of the scorer from value and threshold; raises ValueError where the
            scorer cannot say the same.
        write: Native parts from a check's parameters; ``None`` where promptfoo cannot say it.
        fate: What becomes of it where no scorer of ours stands for it.
        why: The reason then, or else how the two differ.
        graded: Whether its threshold is on the scale of its score.
    """

    type: str
    scorer: str = ""
    judge: str = ""
    read: Callable[[Any, float | None], Params] | None = None
    write: Callable[[Params], NATIVE_PARTS | None] | None = None
    fate: Fate = "carried"
    why: str = ""
    graded: bool = False

    @property
    def is_mapped(self) -> bool:
        """Whether a scorer that is installed stands for it."""
        return self.scorer in BUILT_IN and self.read is not None


# --- what stands for each -----------------------------------------------------------------------


def _text(value: Any) -> str:
    text = js_text(value)
    if text is None:
        raise ValueError("its value is no text")
    return text


def _needle(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("its value is empty, which is in every answer")
    return text


def _texts(value: Any) -> list[str]:
    items = list(comma_separated(value)) if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise ValueError("its value is no list")
    return [_needle(item) for item in items]


def _equals(value: Any, _: float | None) -> Params:
    if value is None:
        raise ValueError("it has no value")
    return {"value": value if isinstance(value, dict | list) else _text(value), "strip": False}


def _write_equals(params: Params) -> NATIVE_PARTS | None:
    value = params.get("value")
    if params.get("strip", True) or not isinstance(value, str | dict | list):
        return None
    return {"type": "equals", "value": value} if set(params) <= {"value", "strip"} else None


def _contains(
    key: str, read: Callable[[Any], Any], ignore_case: bool
) -> Callable[[Any, float | None], Params]:
    fold = {"ignore_case": True} if ignore_case else {}
    return lambda value, _: {key: read(value), **fold}


def _write_contains(params: Params) -> NATIVE_PARTS | None:
    rest = dict(params)
    prefix = "i" if rest.pop("ignore_case", False) else ""
    if len(rest) != 1:
        return None
    (key, value), suffixes = next(iter(rest.items())), {"value": "", "all": "-all", "any": "-any"}
    if key == "value" and isinstance(value, list):
        key = "all"
    wanted = str if key == "value" else list
    if key not in suffixes or not value or not isinstance(value, wanted):
        return None
    return {"type": f"{prefix}contains{suffixes[key]}", "value": value}


_JS_AND_RE2 = re.compile(
    r"(?:[^\\()\[\]{}]|\\[dDwWsSbBntrfv.*+?()\[\]{}|^$/\\-]|\((?:\?:)?(?!\?)|\)|"
    r"\[\^?(?:[^\\\[\]&~|-]|\\[dDwWsSntr.*+?()\[\]{}|^$/\\-]|-)+\]|\{\d+(?:,\d*)?\})*"
)
"""Patterns that JavaScript and RE2 read alike."""


def _regex(value: Any, _: float | None) -> Params:
    if not isinstance(value, str) or not value:
        raise ValueError("its value is no text")
    return {"pattern": value}


def _write_regex(params: Params) -> NATIVE_PARTS | None:
    pattern = params.get("pattern", params.get("value"))
    if len(params) != 1 or not isinstance(pattern, str) or not _JS_AND_RE2.fullmatch(pattern):
        return None
    return {"type": "regex", "value": pattern} if pattern else None


def _schema(value: Any, _: float | None) -> Params:
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        value = _schema_text(value)
    if not isinstance(value, dict):
        raise ValueError("its schema is no object")
    return {"schema": value}


def _schema_text(text: str) -> Any:
    """A schema that is written as YAML or JSON in a text."""
    try:
        value, _ = parse_yaml(text.encode("utf-8", "replace"), Path("schema"))
    except InputError as error:
        raise ValueError(f"its schema: {error.what}") from None
    return value


_PLAIN_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "description",
        "enum",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "properties",
        "required",
        "title",
        "type",
    }
)
"""Keywords that mean the same in every draft, and that promptfoo's validator does not refuse."""


def _write_schema(params: Params) -> NATIVE_PARTS | None:
    schema = params.get("schema", params.get("value"))
    if not params:
        return {"type": "is-json"}
    return {"type": "is-json", "value": schema} if schema and _is_plain(schema) else None


def _is_plain(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return isinstance(schema, bool)
    properties = schema.get("properties", {})
    inner = [*properties.values()] if isinstance(properties, Mapping) else [None]
    inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    typed = "type" in schema or not schema  # its strict mode wants a type beside most keywords
    return typed and _PLAIN_KEYWORDS.issuperset(schema) and all(map(_is_plain, inner))


def _budget(per_unit: float) -> Callable[[Any, float | None], Params]:
    def read(_: Any, threshold: float | None) -> Params:
        if threshold is None or threshold < 0:
            raise ValueError("it has no threshold")
        return {"max": threshold / per_unit}

    return read


def _write_budget(kind: str, per_unit: float) -> Callable[[Params], NATIVE_PARTS | None]:
    def write(params: Params) -> NATIVE_PARTS | None:
        most = params.get("max", params.get("value"))
        if len(params) != 1 or isinstance(most, bool) or not isinstance(most, int | float):
            return None
        return {"type": kind, "threshold": most * per_unit}

    return write


_CASE = "case is folded by Unicode's rules, not by toLowerCase"
_LLM = "asks a judge: kept until judges are configured"
_EMBEDDING = "needs embeddings: kept"
_CODE = "code is never run on import"
_TRACE = "reads an OpenTelemetry trace, which a recorded output has not"
_NO_INVERSE = "promptfoo ignores not- here"

_KINDS = (
    Kind("equals", "equals", read=_equals, write=_write_equals),
    Kind("contains", "contains", read=_contains("value", _needle, False), write=_write_contains),
    Kind("icontains", "contains", read=_contains("value", _needle, True), why=_CASE),
    Kind("contains-all", "contains", read=_contains("all", _texts, False)),
    Kind("icontains-all", "contains", read=_contains("all", _texts, True), why=_CASE),
    Kind("contains-any", "contains", read=_contains("any", _texts, False)),
    Kind("icontains-any", "contains", read=_contains("any", _texts, True), why=_CASE),
    Kind(
        "regex", "regex", read=_regex, write=_write_regex,
        why="RE2: no look-around, no back-references; such a pattern is kept as it is",
    ),
    Kind(
        "is-json", "is_json", read=_schema, write=_write_schema,
        why="a schema is read by draft 2020-12 unless it names another",
    ),
    Kind("latency", "latency", read=_budget(1000.0), write=_write_budget("latency", 1000.0)),
    Kind("cost", "cost", read=_budget(1.0), write=_write_budget("cost", 1.0)),
    Kind("llm-rubric", judge="rubric", why=_LLM),
    Kind("g-eval", judge="g_eval", why=_LLM),
    Kind("factuality", judge="answer_correctness", why=f"{_LLM}; {_NO_INVERSE}"),
    Kind("model-graded-factuality", judge="answer_correctness", why=f"{_LLM}; {_NO_INVERSE}"),
    Kind("model-graded-closedqa", judge="rubric", why=f"{_LLM}; {_NO_INVERSE}"),
    Kind("answer-relevance", judge="answer_relevancy", why=_LLM),
    Kind("context-faithfulness", judge="faithfulness", why=_LLM),
    Kind("context-recall", judge="context_recall", why=_LLM),
    Kind("context-relevance", judge="context_relevancy", why=_LLM),
    Kind("conversation-relevance", judge="conversation_relevancy", why=_LLM),
    Kind("search-rubric", judge="rubric", why="asks a judge that searches the web: kept"),
    Kind("agent-rubric", judge="rubric", why="asks an agent: kept"),
    Kind("trajectory:goal-success", judge="goal_success", why=_TRACE),
    Kind("similar", why=_EMBEDDING),
    Kind("similar:cosine", why=_EMBEDDING),
    Kind("similar:dot", why=_EMBEDDING),
    Kind("similar:euclidean", why=_EMBEDDING),
    Kind("javascript", fate="executable", why=_CODE),
    Kind("python", fate="executable", why=_CODE),
    Kind("ruby", fate="executable", why=_CODE),
    Kind("webhook", fate="executable", why="calls an address: never called on import"),
    Kind("classifier", why="needs a classification provider: kept"),
    Kind("moderation", why="needs a moderation provider: kept"),
    Kind("pi", why=f"needs a service: kept; {_NO_INVERSE}"),
    Kind("guardrails", why="reads what a provider's guardrails said: kept"),
    Kind("is-refusal", why="no scorer of ours has its list of phrases: kept"),
    Kind("starts-with", why="no scorer of ours says it: kept"),
    Kind("contains-json", why="no scorer of ours says it: kept"),
    Kind("is-html", why="no scorer of ours says it: kept"),
    Kind("contains-html", why="no scorer of ours says it: kept"),
    Kind("is-xml", why="no scorer of ours says it: kept"),
    Kind("contains-xml", why="no scorer of ours says it: kept"),
    Kind("is-sql", why="no scorer of ours says it: kept"),
    Kind("contains-sql", why="no scorer of ours says it: kept"),
    Kind("levenshtein", why="no scorer of ours says it: kept"),
    Kind("rouge-n", why="no scorer of ours says it: kept"),
    Kind("bleu", why="no scorer of ours says it: kept"),
    Kind("gleu", why="no scorer of ours says it: kept"),
    Kind("meteor", why="no scorer of ours says it: kept"),
    Kind("word-count", why="no scorer of ours says it: kept"),
    Kind("finish-reason", why="no scorer of ours says it: kept"),
    Kind("perplexity", why="needs log probabilities: kept"),
    Kind("perplexity-score", why="needs log probabilities: kept"),
    Kind("tool-call-f1", why="names alone, without arguments: no scorer of ours says it"),
    Kind("skill-used", why="reads a provider's metadata: kept"),
    Kind(
        "is-valid-function-call",
        why=f"its schema is the provider's, not the test's: kept; {_NO_INVERSE}",
    ),
    Kind(
        "is-valid-openai-function-call",
        why=f"its schema is the provider's, not the test's: kept; {_NO_INVERSE}",
    ),
    Kind(
        "is-valid-openai-tools-call",
        why=f"its schema is the provider's, not the test's: kept; {_NO_INVERSE}",
    ),
    Kind("trajectory:tool-used", why=_TRACE),
    Kind("trajectory:tool-sequence", why=_TRACE),
    Kind("trajectory:step-count", why=_TRACE),
    Kind("trajectory:tool-args-match", why=_TRACE),
    Kind("trace-span-count", why=_TRACE),
    Kind("trace-span-duration", why=_TRACE),
    Kind("trace-error-spans", why=_TRACE),
)  # fmt: skip
BASE_TYPES = tuple(kind.type for kind in _KINDS)
"""The types that may stand behind ``not-``."""
_SPECIAL = (
    Kind("select-best", judge="pairwise", why="compares systems: bridge compare does that on runs"),
    Kind("max-score", why="compares systems: bridge compare does that on runs"),
    Kind("human", why="a person's part: kept"),
)
KINDS = {kind.type: kind for kind in (*_KINDS, *_SPECIAL)}
"""Every type by its name, without ``not-``."""
UNKNOWN = Kind("", why="promptfoo knows no such assertion")
REDTEAM = Kind("", why="a red-team grader of promptfoo's: kept")


def kind_of(given: str) -> Kind:
    """What an assertion's type is, its ``not-`` left out."""
    if given.startswith("promptfoo:redteam:"):
        return REDTEAM
    name = given.removeprefix("not-")
    kind = KINDS.get(name, UNKNOWN)
    return kind if name == given or kind.type in BASE_TYPES else UNKNOWN


_WRITERS = {kind.scorer: kind.write for kind in _KINDS if kind.write is not None}


def to_params(kind: Kind, value: Any, threshold: float | None) -> Params:
    """The parameters of the scorer that stands for an assertion.

    Raises:
        ValueError: If it cannot say the same; why.
    """
    if kind.read is None or not kind.is_mapped:
        raise ValueError(kind.why)
    params = kind.read(value, threshold)
    try:
        validate_check(Check.model_validate({"scorer": kind.scorer, "params": params}))
    except InputError as error:
        raise ValueError(error.what) from None
    return params


def to_parts(check: Check) -> NATIVE_PARTS | None:
    """A check's scorer and parameters as a native assertion's type, value and threshold.

    Returns:
        ``None`` where promptfoo has none that says the same.
    """
    write = _WRITERS.get(check.scorer)
    if write is None or check.checks:
        return None
    parts = write(dict(check.params))
    if parts is None or not check.negate:
        return parts
    return {**parts, "type": f"not-{parts['type']}"}
