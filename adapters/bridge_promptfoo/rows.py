"""Native results as score rows: those that we made, and those of other people's assertions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.score import Score, Status, error_measurement
from bridge.model.values import is_number
from bridge.plugin.carry import KEY
from bridge.plugin.results.imported import Scales, imported_row
from bridge.plugin.scoring.shared import decode, encode, recorded
from bridge.scorers.evaluate import evaluate, shared_with_turns
from bridge_promptfoo.judge import judge_error_of
from bridge_promptfoo.records import ERROR, Component, Grading, Row
from bridge_promptfoo.seal import unseal

NAME = "promptfoo"
ASSERT_SET = "assert-set"
OTHER_THRESHOLDS = frozenset({"latency", "cost", "levenshtein", "perplexity", "word-count"})
"""Assertions whose threshold is in a unit of its own, not on the scale of their score."""

_THREW = "Custom function threw error: "
_NOT_SCORED = re.compile(
    r"(Custom function threw error|(Python|Ruby) code execution failed"
    r"|Error running (Python|Ruby) script|Webhook error|Invalid regex pattern)\b"
)
_GRADER = re.compile(
    r"(API key is not set|API error|API call error|API response error|Moderation API error"
    r"|No output$|No embedding|Embedding not found|Unknown error fetching|Invalid similarity score"
    r"|Error parsing output|Could not (extract|parse|perform)|Request failed|Request timed out)"
)
_GRADED = re.compile(
    r"(not-)?(llm-rubric|g-eval|factuality|model-graded-|similar|answer-relevance|context-"
    r"|conversation-relevance|moderation|classifier|pi$|search-rubric|agent-rubric|select-best)"
)


def failure_of(row: Row, *, verdicts: bool = False) -> str | None:
    """Why a row was not scored at all, in one line; ``None`` if it was.

    Args:
        row: The row.
        verdicts: Whether rows of this file have a verdict of their own and no more.
    """
    told = row.error or row.answer.get("error")
    lost = verdicts and bool(told) and row.answer.get("output") is None
    if row.failure_reason != ERROR and not lost:
        if row.grading_result is not None:
            return _thrown(row.grading_result)
        if verdicts and row.success is not None:
            return None
        asserted = bool(row.test.assertions)  # the grading was stripped from the export
        if row.failure_reason == 1 or (row.success and asserted and not told):
            return None
    text = told or "promptfoo gave no result"
    return " ".join(str(text).partition("\n")[0].removeprefix("Error: ").split())


def _thrown(grading: Grading) -> str | None:
    """What a check of ours threw where promptfoo has that as a failure: a file's throw is none."""
    for native in grading.component_results or ():
        ours = native is not None and KEY in ((native.assertion or {}).get("config") or {})
        if native is not None and ours and (native.reason or "").startswith(_THREW):
            return (native.reason or "").partition("\n")[0].removeprefix(_THREW)
    return None


def unscored(
    case: Case, output: Output, checks: Sequence[Check], why: str, key: Mapping[str, Any]
) -> list[Score]:
    """Error rows of a case of ours: as every framework has them if the system failed, or why."""
    answers = [
        (
            check,
            error_measurement(why, metric=check.metric, turn=turn)
            if output.error is None
            else evaluate(check, case, output, turn),
        )
        for check, turn in shared_with_turns(checks, case)
    ]
    return decode(encode(answers), key)


def read_score(
    native: Component, key: Mapping[str, Any], scales: Scales | None = None
) -> Sequence[Score | ScoreRow]:
    """The rows that a native result stands for.

    Args:
        native: What one assertion found.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
    """
    own = _own_rows(native, key)
    return own if own is not None else [_foreign(native, key, scales or Scales())]


def read_left_out(metadata: Mapping[str, Any] | None, key: Mapping[str, Any]) -> Iterator[Score]:
    """The rows of our skipped and unsupported checks, from the metadata of a row's grading."""
    aside = (metadata or {}).get(KEY)
    for each in aside if isinstance(aside, list) else ():
        try:
            rows = decode(unseal(each["rows"]), key)
        except (TypeError, ValueError, KeyError):
            continue
        yield from rows


def _own_rows(native: Component, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the score was edited since."""
    sealed = native.metadata.get(KEY) if native.metadata else None
    if sealed is None:
        return None
    try:
        rows = unseal(sealed)
    except ValueError:
        return None
    found = recorded(rows, key, native.score)
    if found is None and native.score == 0:  # promptfoo's word for no value, too
        found = recorded(rows, key, None)
    return found or None  # a test has no assertion for a check that its case has not


def name_of(assertion: Mapping[str, Any]) -> str:
    """The metric an assertion goes by: its own name for it, else its type."""
    metric = assertion.get("metric")
    if isinstance(metric, str) and metric.strip():
        return metric
    kind = assertion.get("type")
    return kind if isinstance(kind, str) and kind else "assertion"


def _foreign(native: Component, key: Mapping[str, Any], scales: Scales) -> ScoreRow:
    assertion = native.assertion or (native.metadata or {}).get("assertionSet")
    assertion = assertion if isinstance(assertion, Mapping) else {}
    kind = str(assertion.get("type") or "assertion")
    reason = str(native.reason or "")
    fields = {**key, "metric": name_of(assertion), "scorer": kind, "reason": reason}
    threshold, weight = assertion.get("threshold"), assertion.get("weight")
    if is_number(threshold) and kind.removeprefix("not-") not in OTHER_THRESHOLDS:
        fields["threshold"] = float(threshold)
    if is_number(weight) and weight >= 0:
        fields["weight"] = float(weight)
    status: Status = "passed" if native.passed else "failed"
    if weight == 0:
        status = "scored"  # promptfoo makes it a pass whatever was found
    number, why = native.score, fault_of(native, kind)
    if not is_number(number) or why:
        number, why = None, why or "promptfoo gave no score"
    return imported_row(number, fields, scales, why=why, status=status)


def read_verdict(row: Row, metric: str, key: Mapping[str, Any], scales: Scales) -> list[ScoreRow]:
    """The rows of a row that says no more than how it ended, and its named scores."""
    grading = row.grading_result
    score = row.score if grading is None else grading.score
    passed = row.success if grading is None else grading.passed
    reason = str((grading.reason if grading is not None else row.error) or "")
    fault = fault_of(Component(passed=passed, reason=reason), "assertion")
    if score is None and passed is not None:
        score = float(passed)
    fields = {**key, "metric": metric, "scorer": metric, "reason": reason}
    status: Status = "passed" if passed else "failed"
    why = fault or f"{score!r} is no score"
    number = score if is_number(score) and not fault else None
    named = [
        imported_row(
            value if is_number(value) else None,
            {**key, "metric": name, "scorer": name},
            scales,
            why=f"{value!r} is no score",
        )
        for name, value in (row.named_scores or {}).items()
        if name.strip() and name != metric
    ]
    return [imported_row(number, fields, scales, why=why, status=status), *named]


def fault_of(native: Component, kind: str) -> str:
    """Why an assertion could not be carried out: promptfoo has that as a failure with score 0."""
    reason = str(native.reason or "").strip()
    first = reason.partition("\n")[0]
    if (native.metadata or {}).get("graderError") is True or judge_error_of(reason):
        return first or "the grader failed"
    if native.passed is None:
        return "promptfoo does not say whether it passed"
    broken = _NOT_SCORED.match(reason) or (_GRADED.match(kind) and _GRADER.match(reason))
    return first if broken and not native.passed else ""
