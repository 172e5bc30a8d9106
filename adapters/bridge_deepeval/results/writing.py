"""Scores as a DeepEval run file, which ``TestRun.load`` and ``deepeval`` read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.case import Case, ExpectedCall
from bridge.model.conversion import ConversionReport
from bridge.model.message import ToolCall, as_text, passage_text
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import account_bundle
from bridge.plugin.carry import KEY, held_input, held_reference, plain
from bridge.plugin.results.writing import Scored, encode_scores, scored, version_of, write_claims
from bridge.plugin.scoring.shared import summarise
from bridge_deepeval.records import VERSION
from bridge_deepeval.rows import NAME, error_of, success_of

HELD = {
    "cases": ("id", "input", "expected", "reference_contexts", "tags", "metadata"),
    "outputs": (
        "case_id",
        "text",
        "retrieved_contexts",
        "latency_s",
        "usage",
        "cost_usd",
    ),
    "scores": ("case_id", "metric", "value", "status", "reason", "error", "threshold", "judge"),
}


def write_run(bundle: Bundle, dest: Path) -> ConversionReport:
    """Write a run file.

    Raises:
        InfrastructureError: If the disk does not take it.
    """
    cases = [_test_case(number, each) for number, each in enumerate(scored(bundle))]
    passed = sum(case["success"] for case in cases)
    version = version_of(bundle, NAME)
    run = {
        "testCases": cases,
        "conversationalTestCases": [],
        "metricsScores": list(_metrics_scores(cases)),
        "prompts": [],
        **({"hyperparameters": {VERSION: version}} if version else {}),
        "testPassed": passed,
        "testFailed": len(cases) - passed,
        "runDuration": 0.0,
    }
    write_atomically(dest, [msgspec.json.encode(run).decode(), "\n"])
    return account_bundle(bundle, write_claims(HELD, bundle, NAME), dest, NAME)


def _test_case(number: int, each: Scored) -> dict[str, Any]:
    case, output = each.case, each.output
    usage = output.usage
    metrics = [_metric(metric, rows) for metric, rows in each.metrics.items()]
    fields = {
        "name": case.id,
        "input": held_input(case.input),
        "actualOutput": as_text(output.text),
        "expectedOutput": held_reference(case.expected) or None,
        "context": [passage_text(one) for one in case.reference_contexts] or None,
        "retrievalContext": [passage_text(one) for one in output.retrieved_contexts] or None,
        "toolsCalled": [_call(call) for call in output.tool_calls] or None,
        "expectedTools": _expected(case),
        "tokenCost": output.cost_usd,
        "inputTokenCount": None if usage is None else usage.input_tokens,
        "outputTokenCount": None if usage is None else usage.output_tokens,
        "completionTime": output.latency_s,
        "tags": list(case.tags) or None,
        "metadata": {**case.metadata, KEY: {"case": plain(case), "output": plain(output)}},
        "metricsData": metrics,
        "success": bool(metrics) and all(metric.get("success") is not False for metric in metrics),
        "flaky": False,
        "order": number,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _call(call: ToolCall | ExpectedCall) -> dict[str, Any]:
    """A call as DeepEval has it: no id, no error, and arguments that are an object."""
    native: dict[str, Any] = {"name": call.name, "type": "FUNCTION"}
    if not isinstance(call.arguments, str):
        native["inputParameters"] = dict(call.arguments)
    result = call.result if isinstance(call, ToolCall) else None
    return native if result is None else {**native, "output": result}


def _expected(case: Case) -> list[dict[str, Any]] | None:
    if case.expected_calls is None:
        return None
    return [_call(call) for call in case.expected_calls.calls]


def _metric(metric: str, rows: Sequence[Score]) -> dict[str, Any]:
    summary, first = summarise(rows), rows[0]
    fields = {
        "name": metric,
        "threshold": first.threshold,
        "success": success_of(summary),
        "score": summary.value,
        "reason": summary.reason,
        "strictMode": False,
        "flaky": False,
        "evaluationModel": first.judge,
        "error": error_of(summary),
        "evaluationCost": first.cost_usd,
        "verboseLogs": msgspec.json.encode({KEY: {"rows": encode_scores(rows)}}).decode(),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _metrics_scores(cases: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    by_name: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        for metric in case["metricsData"]:
            by_name.setdefault(metric["name"], []).append(metric)
    for name, found in by_name.items():
        yield {
            "metric": name,
            "scores": [metric["score"] for metric in found if "score" in metric],
            "passes": sum(metric.get("success") is True for metric in found),
            "fails": sum(
                metric.get("success") is False and "error" not in metric for metric in found
            ),
            "errors": sum("error" in metric for metric in found),
        }
