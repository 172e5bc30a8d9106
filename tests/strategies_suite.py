"""Hypothesis strategies for suites, bundles and the files of a run."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st
from strategies import (
    CASE_LISTS,
    CHECK_LISTS,
    EXTRAS,
    JSON,
    NAMES,
    OBJECTS,
    OUTPUT_LISTS,
    SCORE_LISTS,
    TEXT,
    UNIT,
    WHOLE,
    maybe,
    some,
)

from bridge.files.digest import set_digest
from bridge.model.baseline import Baseline
from bridge.model.bundle import Bundle
from bridge.model.check import Check, judges_named
from bridge.model.conversion import Conversion, ConversionLine, ConversionReport
from bridge.model.judge import JudgeConfig
from bridge.model.policy import GatePolicy, MetricPolicy, OnChange
from bridge.model.run import ExpectedRows, MetricRecord
from bridge.model.suite import FrameworkConfig, GoldenSetRef, Suite
from bridge.model.system import AnswerPointers, ChatConfig, HttpConfig, Secret, SystemConfig


def _policy(weights: list[int], entries: list[MetricPolicy], **fields: Any) -> GatePolicy:
    total = math.fsum(weights)
    metrics = {
        f"metric {index}": entry.model_copy(update={"weight": weight / total})
        for index, (weight, entry) in enumerate(zip(weights, entries, strict=False))
    }
    complete = len(metrics) == len(weights)
    return GatePolicy(metrics=metrics if complete else {}, **fields)


POLICIES = st.builds(
    _policy,
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    entries=st.lists(
        st.builds(MetricPolicy, min=maybe(UNIT), min_pass_rate=maybe(UNIT), gate=st.booleans()),
        max_size=3,
    ),
    baseline=maybe(TEXT),
    confidence=st.floats(0.6, 0.99),
    min_effect=UNIT,
    margin=maybe(st.floats(0.01, 1)),
    min_detectable=maybe(st.floats(0.01, 1)),
    must_pass=some(NAMES),
    on_change=st.builds(
        OnChange,
        golden_set=st.sampled_from(["refuse", "warn", "shared"]),
        judge=st.sampled_from(["refuse", "warn"]),
    ),
    on_inconclusive=st.sampled_from(["warn", "fail"]),
)
JUDGES = st.builds(
    JudgeConfig,
    model=NAMES,
    base_url=st.sampled_from([None, "http://127.0.0.1:8080/v1", "https://judge.example/v1"]),
    api_key_env=maybe(NAMES),
    temperature=maybe(UNIT),
    seed=maybe(WHOLE),
    options=st.dictionaries(st.sampled_from(["top_p", "stop", "user"]), JSON, max_size=2),
)
URLS = st.sampled_from(["http://127.0.0.1:1/x", "https://bot.example/chat?a=1"])
POINTERS = st.sampled_from(["", "/", "/a/0", "/a~1b/~0"])
HTTP = st.builds(
    HttpConfig,
    url=URLS,
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH"]),
    headers=st.dictionaries(NAMES, TEXT | st.builds(Secret, env=NAMES, prefix=TEXT), max_size=2),
    query=st.dictionaries(NAMES, TEXT, max_size=1),
    body=JSON,
    answer=maybe(st.builds(AnswerPointers, text=POINTERS, tool_calls=maybe(POINTERS))),
    retries=st.integers(0, 10),
)
CHAT = st.builds(
    ChatConfig,
    model=NAMES,
    base_url=maybe(URLS),
    api_key_env=maybe(NAMES),
    system_prompt=maybe(TEXT),
    temperature=maybe(UNIT),
    seed=maybe(WHOLE),
    options=OBJECTS,
)


def _asked(kind: dict[str, Any], **fields: Any) -> SystemConfig:
    return SystemConfig(**kind, **fields)


SYSTEMS = st.builds(
    SystemConfig, recorded=some(NAMES, least=1), name=NAMES, timeout_s=st.floats(0.1, 100)
) | st.builds(
    _asked,
    kind=st.one_of(
        st.builds(dict, python=NAMES),
        st.builds(dict, http=HTTP),
        st.builds(dict, command=some(TEXT, least=1)),
        st.builds(dict, openai=CHAT),
    ),
    name=NAMES,
    concurrency=st.integers(1, 9),
    tools=maybe(NAMES),
    max_steps=st.integers(1, 9),
    on_turn_error=st.sampled_from(["stop", "continue"]),
    prefilter=st.sampled_from(["off", "flag", "block"]),
)
FRAMEWORKS = st.lists(
    st.builds(
        FrameworkConfig,
        name=NAMES,
        python=maybe(TEXT),
        timeout_s=st.floats(0.1, 1000),
        options=OBJECTS,
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda config: config.name,
).map(tuple)


def _suite(judge: JudgeConfig, checks: tuple[Check, ...], **fields: Any) -> Suite:
    named = {name for check in checks for name in judges_named(check)}
    return Suite(checks=checks, judges=dict.fromkeys(sorted(named), judge), **fields)


SUITES = st.builds(
    _suite,
    judge=JUDGES,
    checks=CHECK_LISTS,
    name=NAMES,
    golden_set=some(st.builds(GoldenSetRef, path=NAMES, version=st.none()), least=1),
    system=SYSTEMS,
    frameworks=FRAMEWORKS,
    epochs=st.integers(1, 5),
    gate=POLICIES,
    extras=EXTRAS,
)
BUNDLES = st.builds(
    Bundle,
    suite=maybe(SUITES),
    cases=CASE_LISTS.map(tuple),
    outputs=OUTPUT_LISTS.map(tuple),
    scores=SCORE_LISTS.map(tuple),
)
METRIC_RECORDS = st.builds(
    MetricRecord,
    scorer=TEXT,
    version=TEXT,
    threshold=maybe(UNIT),
    gate=st.booleans(),
    judge=maybe(TEXT),
    params_digest=TEXT,
)


def _baseline(scores: dict[str, Any], with_cases: bool, **fields: Any) -> Baseline:
    ids = {case_id for each in scores.values() if isinstance(each, dict) for case_id in each}
    cases = {case_id: f"sha256:{index}" for index, case_id in enumerate(sorted(ids))}
    if not with_cases:
        return Baseline(scores=scores, **fields)
    return Baseline(scores=scores, cases=cases, golden_digest=set_digest(cases.values()), **fields)


BASELINES = st.builds(
    _baseline,
    scores=st.dictionaries(
        TEXT,
        UNIT | st.dictionaries(TEXT, UNIT, min_size=1, max_size=2),
        min_size=1,
        max_size=2,
    ),
    with_cases=st.booleans(),
    created=TEXT,
    suite=TEXT,
    system=maybe(TEXT),
    metrics=st.dictionaries(TEXT, METRIC_RECORDS, max_size=2),
    frameworks=st.dictionaries(TEXT, TEXT, max_size=2),
)
EXPECTED_ROWS = st.builds(
    ExpectedRows,
    system=NAMES,
    case_id=NAMES,
    epoch=st.integers(1, 5),
    digest=TEXT,
    tags=some(TEXT),
    failure_mode=maybe(TEXT),
    where=maybe(TEXT),
    rows=some(st.tuples(TEXT, maybe(WHOLE))),
)
REPORTS = st.builds(
    ConversionReport,
    source=TEXT,
    format=TEXT,
    lines=some(
        st.builds(
            ConversionLine,
            field=TEXT,
            fate=st.sampled_from(["native", "carried", "dropped", "executable"]),
            count=WHOLE,
            reason=TEXT,
        )
    ),
    notes=some(TEXT),
)
CONVERSIONS = st.builds(
    Conversion, read=REPORTS, written=REPORTS, cases=WHOLE, outputs=WHOLE, scores=WHOLE
)
