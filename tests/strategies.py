"""Hypothesis strategies for cases, outputs and scores, for the model's tests and round trips."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bridge.model.case import Case, ContextPattern, ExpectedCall, ExpectedCalls, Turn
from bridge.model.check import Check
from bridge.model.message import Message, Passage, Tool, ToolCall, Usage
from bridge.model.output import Output, OutputTurn, Prefilter
from bridge.model.panel import Panel
from bridge.model.score import Measurement, Raw, Score

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Texts of every kind that a file can hold: control characters, line ends, other scripts."""
WORDS = st.text("abz", min_size=1, max_size=4)
NAMES = TEXT.filter(lambda text: bool(text.strip()))
UNIT = st.floats(0, 1)
SECONDS = st.floats(0, 1e6)
WHOLE = st.integers(0, 10**6)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value."""
OBJECTS = st.dictionaries(TEXT, JSON, max_size=2)
PLAIN = st.dictionaries(WORDS, JSON, max_size=2)
"""Objects whose keys are no matcher."""


def some(items: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    """A short tuple."""
    return st.lists(items, min_size=least, max_size=2).map(tuple)


def maybe(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value or none."""
    return st.none() | items


EXTRAS: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.dictionaries(WORDS, PLAIN, max_size=1)
TOOL_CALLS = st.builds(
    ToolCall,
    name=TEXT,
    arguments=OBJECTS | TEXT,
    id=maybe(TEXT),
    result=JSON,
    error=maybe(TEXT),
    extras=EXTRAS,
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXT | some(PLAIN),
    tool_calls=some(TOOL_CALLS),
    tool_call_id=maybe(TEXT),
    name=maybe(TEXT),
    extras=EXTRAS,
)
PASSAGES = TEXT | st.builds(
    Passage,
    text=TEXT,
    id=maybe(TEXT),
    source=maybe(TEXT),
    score=maybe(st.floats(allow_nan=False, allow_infinity=False)),
)
TOOLS = st.builds(Tool, name=NAMES, description=TEXT, parameters=PLAIN, extras=EXTRAS)
USAGES = st.builds(Usage, input_tokens=maybe(WHOLE), output_tokens=maybe(WHOLE), extras=EXTRAS)
MATCHERS = st.sampled_from(
    [
        {"$any": True},
        {"$exact": {"$any": True}},
        {"$one_of": [1, {"$regex": "^a"}]},
        {"$approx": 1.5, "abs": 0.1},
        {"$type": "integer"},
        {"$contains": "a"},
        {"$unordered": ["a", "b"]},
        {"$normalised": "A b"},
    ]
)
EXPECTED_CALLS = st.builds(
    ExpectedCalls,
    calls=some(
        st.builds(
            ExpectedCall,
            name=NAMES,
            arguments=st.dictionaries(WORDS, JSON.filter(lambda v: "$" not in str(v)) | MATCHERS),
            extra=st.sampled_from(["forbid", "allow"]),
            extras=EXTRAS,
        )
    ),
    mode=st.sampled_from(["strict", "in_order", "any_order", "subset", "superset", "partial"]),
    extras=EXTRAS,
)


def _single(
    scorer: str, negate: bool, metric: str, judges: dict[str, Any], fields: dict[str, Any]
) -> Check:
    return Check(scorer=scorer, negate=negate, metric=metric, **judges, **fields)


PANELS = st.builds(
    Panel,
    names=st.lists(NAMES, min_size=2, max_size=3, unique=True).map(tuple),
    combine=st.sampled_from(["mean", "majority"]),
    quorum=maybe(st.integers(1, 2)),
)
SINGLE_CHECKS = st.builds(
    _single,
    scorer=st.sampled_from(["equals", "contains", "tool_use", "my.module:SCORER", "scorer"]),
    negate=st.booleans(),
    metric=st.just("") | NAMES,
    judges=st.builds(dict, judge=maybe(NAMES)) | st.builds(dict, judges=PANELS),
    fields=st.fixed_dictionaries(
        {
            "params": PLAIN | st.sampled_from([{"value": 1}, {"threshold": "a"}, {"params": {}}]),
            "threshold": maybe(UNIT),
            "weight": st.floats(0, 10),
            "gate": st.booleans(),
            "extras": EXTRAS,
        }
    ),
)


def _group(members: tuple[Check, ...], metric: str, threshold: float | None) -> Check:
    return Check(scorer="all", checks=members, metric=metric, threshold=threshold)


GROUPS = st.builds(
    _group,
    some(SINGLE_CHECKS.filter(lambda check: check.weight > 0), least=1),
    st.just("") | NAMES,
    maybe(UNIT),
)
CHECKS = SINGLE_CHECKS | GROUPS


def _apart(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    return tuple({check.metric: check for check in checks}.values())


CHECK_LISTS = some(CHECKS).map(_apart)
"""Checks side by side, each with a metric of its own."""
TURNS = st.builds(
    Turn,
    user=TEXT,
    expected=JSON,
    expected_calls=maybe(EXPECTED_CALLS),
    context_refs=some(TEXT | st.builds(ContextPattern, regex=WORDS)),
    checks=CHECK_LISTS,
    extras=EXTRAS,
)
CASES = st.builds(
    Case,
    id=NAMES,
    input=TEXT | some(MESSAGES, least=1) | OBJECTS,
    expected=JSON,
    reference_contexts=some(PASSAGES),
    vars=OBJECTS,
    choices=some(TEXT),
    tools=some(TOOLS),
    expected_calls=maybe(EXPECTED_CALLS),
    turns=some(TURNS),
    persona=JSON,
    checks=CHECK_LISTS,
    tags=some(TEXT),
    failure_mode=maybe(TEXT),
    metadata=OBJECTS,
    extras=EXTRAS,
)
CASE_LISTS = st.lists(CASES, min_size=1, max_size=3, unique_by=lambda case: case.id)
ANSWERS = JSON.map(lambda value: "" if value is None else value)
PREFILTERS = st.builds(
    Prefilter,
    action=st.sampled_from(["allow", "flag", "block"]),
    blocked=st.booleans(),
    score=UNIT,
    rules=some(TEXT),
    scanner_version=TEXT,
)
OUTPUT_TURNS = st.builds(
    OutputTurn,
    text=ANSWERS,
    tool_calls=some(TOOL_CALLS),
    retrieved_contexts=some(PASSAGES),
    latency_s=maybe(SECONDS),
    usage=maybe(USAGES),
    error=maybe(TEXT),
    prefilter=maybe(PREFILTERS),
    extras=EXTRAS,
)
OUTPUTS = st.builds(
    Output,
    system=NAMES,
    case_id=NAMES,
    epoch=st.integers(1, 5),
    text=ANSWERS,
    messages=some(MESSAGES),
    turns=maybe(some(OUTPUT_TURNS)),
    tool_calls=some(TOOL_CALLS),
    retrieved_contexts=some(PASSAGES),
    latency_s=maybe(SECONDS),
    usage=maybe(USAGES),
    cost_usd=maybe(SECONDS),
    model=maybe(TEXT),
    stop_reason=maybe(TEXT),
    error=maybe(TEXT),
    prefilter=maybe(PREFILTERS),
    extras=EXTRAS,
)
OUTPUT_LISTS = st.lists(OUTPUTS, max_size=3, unique_by=lambda output: output.key)
RAWS = st.builds(
    Raw,
    value=JSON,
    scale=maybe(st.just((0.0, 10.0))),
    direction=st.sampled_from(["higher", "lower"]),
)
VALUED = st.tuples(UNIT, st.sampled_from(["passed", "failed", "scored"]))
UNVALUED = st.tuples(st.none(), st.sampled_from(["error", "unsupported", "skipped"]))


def _measurement(value_and_status: tuple[float | None, Any], **fields: Any) -> Measurement:
    value, status = value_and_status
    return Measurement(value=value, status=status, **fields)


def _score(value_and_status: tuple[float | None, Any], **fields: Any) -> Score:
    value, status = value_and_status
    return Score(value=value, status=status, **fields)


MEASUREMENTS = st.builds(
    _measurement,
    value_and_status=VALUED | UNVALUED,
    metric=TEXT,
    turn=maybe(WHOLE),
    reason=TEXT,
    label=maybe(TEXT),
    error=maybe(TEXT),
    details=OBJECTS,
    raw=maybe(RAWS),
)
SCORES = st.builds(
    _score,
    value_and_status=VALUED | UNVALUED,
    framework=NAMES,
    framework_version=TEXT,
    system=NAMES,
    metric=NAMES,
    scorer=TEXT,
    scorer_version=TEXT,
    case_id=NAMES,
    epoch=st.integers(1, 5),
    turn=maybe(WHOLE),
    label=maybe(TEXT),
    threshold=maybe(UNIT),
    weight=st.floats(0, 10),
    reason=TEXT,
    error=maybe(TEXT),
    raw=maybe(RAWS),
    latency_s=maybe(SECONDS),
    usage=maybe(USAGES),
    cost_usd=maybe(SECONDS),
    judge=maybe(TEXT),
    details=OBJECTS,
    extras=EXTRAS,
)
SCORE_LISTS = st.lists(SCORES, max_size=3)
