"""The verdict as SARIF 2.1.0, for code scanning: each failed case at its golden set's line.

A rule is a metric; a result is a case that failed in it. Reasons of the verdict that belong to no
line are notifications of the invocation. Source:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from bridge.model.verdict import MetricResult, Verdict
from bridge.report import words
from bridge.report.inert import json_text, one_line
from bridge.report.places import place_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 5000
"""GitHub shows no more of one run."""

Fields = dict[str, Any]


def to_sarif(verdict: Verdict) -> str:
    """The verdict as a SARIF log with one run."""
    names = list(verdict.metrics)
    lines = [line for line in words.case_lines(verdict.failures) if line.worst.metric in names]
    run = {
        "tool": {"driver": _driver(verdict)},
        "invocations": [_invocation(verdict)],
        "results": [_result(verdict, line, names) for line in lines[:MOST_RESULTS]],
        "properties": {"verdict": verdict.verdict, "passed": verdict.passed},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(json.dumps(log, indent=2, ensure_ascii=False)) + "\n"


def _driver(verdict: Verdict) -> Fields:
    return {
        "name": "bridge-evals",
        "version": version("bridge-evals"),
        "rules": [_rule(name, result) for name, result in verdict.metrics.items()],
    }


def _rule(name: str, result: MetricResult) -> Fields:
    shown = one_line(name, 100)
    return {
        "id": shown,
        "shortDescription": {"text": f"The answer of a case in metric {shown}"},
        "defaultConfiguration": {"level": _level(result)},
        "properties": {"status": result.status, "mean": result.mean, "n": result.n},
    }


def _level(result: MetricResult) -> str:
    """What blocks is an error; a failed case of a metric that passed is a note."""
    return {"failed": "error", "error": "error", "inconclusive": "warning"}.get(
        result.status, "note"
    )


def _result(verdict: Verdict, line: words.CaseLine, names: Sequence[str]) -> Fields:
    worst = line.worst
    result = verdict.metrics[worst.metric]
    place = place_of(worst.where)
    why = one_line(worst.reason) or worst.status
    fields: Fields = {
        "ruleId": one_line(worst.metric, 100),
        "ruleIndex": names.index(worst.metric),
        "level": "error" if worst.status == "error" else _level(result),
        "message": {"text": f"{one_line(line.case, 120)}: {why}"},
        "partialFingerprints": {"caseAndMetric/v1": _fingerprint(worst.case_id, worst.metric)},
        "properties": {"value": worst.case_value, "baseline": worst.baseline},
    }
    if place is not None:
        region = {"region": {"startLine": place.line}} if place.line else {}
        fields["locations"] = [
            {"physicalLocation": {"artifactLocation": {"uri": place.uri}, **region}}
        ]
    return fields


def _fingerprint(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _invocation(verdict: Verdict) -> Fields:
    level = {"passed": "note", "inconclusive": "warning"}.get(verdict.verdict, "error")
    headline = words.headline(verdict, one_line(verdict.suite, 80))
    told = [headline, *(one_line(reason, 400) for reason in verdict.reasons)]
    return {
        "executionSuccessful": verdict.verdict != "error",
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}} for text in told
        ],
    }
