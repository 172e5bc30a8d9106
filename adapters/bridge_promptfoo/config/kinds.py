"""promptfoo's assertion types, each with what stands for it here: the one map, both ways.

:mod:`bridge_promptfoo.results.counterparts` shows them in the guides of ``docs/migrate``. Types and
meanings are those of promptfoo 0.123.1
(https://www.promptfoo.dev/docs/configuration/expected-outputs/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bridge.model.check import Check
from bridge.model.conversion import Fate
from bridge.model.errors import InputError
from bridge.scorers.evaluate import threshold_of as threshold_in_force
from bridge.scorers.registry import BUILT_IN, JUDGED, NATIVE, read_params
from bridge_promptfoo.config import judged, params
from bridge_promptfoo.config.graders import EMBEDDING
from bridge_promptfoo.config.params import Params, Parts, Reader, Writer

UNSAID = "no scorer of ours says it: kept"


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
        graded: Its default threshold, where that is on the scale of its score.
        needs: What it is told of a case beside the answer: ``reference`` (its value, the case's to
            us), the variables ``query`` and ``context``, and its grader's ``embedding``s.
        inverts: Whether promptfoo heeds ``not-`` before it.
    """

    type: str
    scorer: str = ""
    judge: str = ""
    read: Reader | None = None
    write: Writer | None = None
    fate: Fate = "carried"
    why: str = ""
    graded: float | None = None
    needs: tuple[str, ...] = ()
    inverts: bool = True

    @property
    def name(self) -> str:
        """The scorer, or the metric of a judge, that stands for it; "" where there is none."""
        return self.scorer or self.judge

    @property
    def reference(self) -> bool:
        """Whether its value is the reference answer."""
        return "reference" in self.needs

    @property
    def reason(self) -> str:
        """Why it is kept as it is, where no scorer stands for it."""
        return UNSAID if self.scorer or not self.why else self.why

    @property
    def is_mapped(self) -> bool:
        """Whether a scorer that is installed stands for it."""
        return (self.scorer in BUILT_IN or self.asks_judge) and self.read is not None

    @property
    def asks_judge(self) -> bool:
        """Whether a check asks a judge for it, which it then has to name."""
        return self.name in JUDGED or self.name in NATIVE


_CASE = "case is folded by Unicode's rules, not by toLowerCase"
_JUDGE = "a check once a grader is named, or --read-option judge=MODEL"
_QUERY = f"{_JUDGE}; it is told the case's input where promptfoo has the variable query"
_EMBEDDING = "needs embeddings: kept"
_CODE = "code is never run on import"
_TRACE = "reads an OpenTelemetry trace, which a recorded output has not"
_NO_INVERSE = "promptfoo ignores not- here"


def _rag(name: str, metric: str, why: str, *needs: str) -> Kind:
    """A metric of retrieval, which has parameters in neither."""
    write = params.write_nothing(name)
    return Kind(
        name, judge=metric, read=params.nothing, write=write, why=why, graded=0.5,
        needs=needs,
    )  # fmt: skip


_KINDS = (
    Kind("equals", "equals", read=params.equals, write=params.write_equals),
    Kind(
        "contains", "contains",
        read=params.contains("value", params.needle, False), write=params.write_contains,
    ),
    Kind("icontains", "contains", read=params.contains("value", params.needle, True), why=_CASE),
    Kind("contains-all", "contains", read=params.contains("all", params.texts, False)),
    Kind("icontains-all", "contains", read=params.contains("all", params.texts, True), why=_CASE),
    Kind("contains-any", "contains", read=params.contains("any", params.texts, False)),
    Kind("icontains-any", "contains", read=params.contains("any", params.texts, True), why=_CASE),
    Kind(
        "regex", "regex", read=params.regex, write=params.write_regex,
        why="RE2: no look-around, no back-references; such a pattern is kept as it is",
    ),
    Kind(
        "is-json", "is_json", read=params.schema, write=params.write_schema,
        why="a schema is read by draft 2020-12 unless it names another",
    ),
    Kind(
        "latency", "latency",
        read=params.budget(1000.0), write=params.write_budget("latency", 1000.0),
    ),
    Kind("cost", "cost", read=params.budget(1.0), write=params.write_budget("cost", 1.0)),
    Kind(
        "llm-rubric", judge="rubric",
        read=judged.criterion(), write=judged.write_criterion, graded=0.5,
        why=f"{_JUDGE}; it passes by its score, not by what the grader calls a pass",
    ),
    Kind(
        "g-eval", judge="g_eval",
        read=judged.criteria, write=judged.write_criteria, graded=0.7, why=_JUDGE,
    ),
    *(
        Kind(
            name, judge="answer_correctness",
            read=params.nothing, write=params.write_nothing("factuality"),
            needs=("reference",), inverts=False, why=f"{_JUDGE}; {_NO_INVERSE}",
        )
        for name in ("factuality", "model-graded-factuality")
    ),
    Kind(
        "model-graded-closedqa", judge="rubric",
        read=judged.criterion("input"), inverts=False, why=f"{_JUDGE}; {_NO_INVERSE}",
    ),
    _rag("answer-relevance", "answer_relevancy", _QUERY, "query", EMBEDDING),
    _rag("context-faithfulness", "faithfulness", _QUERY, "query", "context"),
    _rag("context-recall", "context_recall", _JUDGE, "reference", "context"),
    _rag("context-relevance", "context_relevancy", _QUERY, "query", "context"),
    Kind(
        "conversation-relevance", judge="turn_relevancy",
        why="its conversation is a variable, and no turns: kept",
    ),
    Kind("search-rubric", judge="rubric", why="asks a judge that searches the web: kept"),
    Kind("agent-rubric", judge="rubric", why="asks an agent: kept"),
    Kind("trajectory:goal-success", judge="task_completion", why=_TRACE),
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
    Kind(
        "is-refusal", "refusal", read=params.nothing,
        why="in 15 languages; a polite opening and a quotation are none",
    ),
    Kind(
        "starts-with", "starts_with",
        read=params.one_text, write=params.write_value("starts-with"),
    ),
    Kind(
        "contains-json", "contains_json", read=params.schema,
        why="JSON only: promptfoo takes YAML in braces too",
    ),
    Kind("is-html", "is_html", read=params.nothing, write=params.write_nothing("is-html")),
    Kind(
        "contains-html", "contains_html",
        read=params.nothing, write=params.write_nothing("contains-html"),
    ),
    Kind("is-xml", "is_xml", read=params.elements),
    Kind("contains-xml", "contains_xml", read=params.elements, why="well-formed XML only"),
    Kind("is-sql", "is_sql", read=params.sql, why="sqlglot in place of node-sql-parser"),
    Kind(
        "contains-sql", "contains_sql",
        read=params.sql, why="sqlglot in place of node-sql-parser",
    ),
    Kind("levenshtein", "levenshtein", read=params.edits, write=params.write_edits),
    Kind(
        "rouge-n", "rouge_n",
        read=params.one_text, write=params.write_value("rouge-n"), graded=0.75,
    ),
    Kind("bleu", "bleu", read=params.texts_or_one, write=params.write_value("bleu"), graded=0.5),
    Kind("gleu", "gleu", read=params.texts_or_one, write=params.write_value("gleu"), graded=0.5),
    Kind("meteor", why="needs WordNet, and ends in an error in promptfoo: kept"),
    Kind("word-count", "word_count", read=params.words, write=params.write_words),
    Kind(
        "finish-reason", "finish_reason",
        read=params.one_text, write=params.write_value("finish-reason"),
        why="an unknown reason is an error, and never passes",
    ),
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


_WRITERS = {kind.name: kind.write for kind in _KINDS if kind.write and kind.is_mapped}


def to_params(kind: Kind, value: Any, threshold: float | None) -> Params:
    """The parameters of the scorer that stands for an assertion.

    Raises:
        ValueError: If it cannot say the same; why.
    """
    if kind.read is None or not kind.is_mapped:
        raise ValueError(kind.reason)
    read = kind.read(value, threshold)
    try:
        read_params(Check.model_validate({"scorer": kind.name, "params": read}))
    except InputError as error:
        raise ValueError(error.what) from None
    except ImportError as error:
        raise ValueError(f"its scorer needs {error.name}, which is not installed") from None
    return read


def to_parts(check: Check) -> Parts | None:
    """A check's scorer and parameters as a native assertion's type, value and threshold.

    Returns:
        ``None`` where promptfoo has none that says the same.
    """
    write = _WRITERS.get(check.scorer)
    if write is None or check.checks:
        return None
    parts = write(dict(check.params))
    if parts is None:
        return None
    kind = KINDS[parts["type"]]
    graded = kind.graded is not None
    threshold = threshold_in_force(check) if kind.asks_judge else check.threshold
    if check.negate and not kind.inverts:
        return None
    if graded and threshold is not None:
        parts = {**parts, "threshold": across(threshold, check.negate)}
    elif graded or not (check.threshold in (None, 1.0) or (kind.asks_judge and check.threshold)):
        return None  # a threshold that promptfoo has not
    return {**parts, "type": f"not-{parts['type']}"} if check.negate else parts


def threshold_of(kind: Kind, given: float | None, negate: bool) -> float | None:
    """The threshold of a graded check; ``None`` where the scorer's own is meant.

    Raises:
        ValueError: If it is not in [0, 1].
    """
    if kind.graded is None:
        return None
    threshold = kind.graded if given is None else given
    if not 0 <= threshold <= 1:
        raise ValueError(f"its threshold is {threshold:g}")
    return across(threshold, negate)


def across(threshold: float, negate: bool) -> float:
    """A threshold of a value as that of 1 - value, and back."""
    return round(1.0 - threshold, 12) if negate else threshold
