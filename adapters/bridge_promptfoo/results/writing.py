"""Scores as a promptfoo results file of version 3, which ``promptfoo import`` takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.score import VALUED, Score
from bridge.plugin.accounts.accounting import account_bundle
from bridge.plugin.carry import KEY
from bridge.plugin.results.writing import Scored, encode_scores, scored, version_of, write_claims
from bridge.plugin.scoring.shared import summarise
from bridge_promptfoo.cases import to_response, to_test
from bridge_promptfoo.records import ERROR
from bridge_promptfoo.rows import NAME
from bridge_promptfoo.seal import inert, seal

PROMPT = "recorded outputs"
HELD = {
    "cases": ("id", "input"),
    "outputs": ("system", "case_id", "text", "latency_s", "usage", "cost_usd", "error"),
    "scores": ("system", "case_id", "metric", "scorer", "value", "status", "reason", "threshold"),
}


def write_results(bundle: Bundle, dest: Path) -> ConversionReport:
    """Write a results file.

    Raises:
        InfrastructureError: If the disk does not take it.
    """
    answers = scored(bundle)
    systems = list(dict.fromkeys(inert(each.output.system) for each in answers))
    tests = {key: number for number, key in enumerate(dict.fromkeys(map(_test_key, answers)))}
    write_atomically(dest, _chunks(answers, systems, tests, version_of(bundle, NAME)))
    return account_bundle(bundle, write_claims(HELD, bundle, NAME), dest, NAME)


def _test_key(each: Scored) -> tuple[str, int]:
    return each.output.case_id, each.output.epoch


def _chunks(
    answers: Sequence[Scored],
    systems: Sequence[str],
    tests: dict[tuple[str, int], int],
    version: str,
) -> Iterator[str]:
    """The file row by row."""
    ended: Counter[str] = Counter()
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    prompts = [_column(system, answers) for system in systems]
    head = {"version": 3, "timestamp": now, "prompts": prompts}
    identity = f"eval-{uuid4().hex[:8]}-{now[:19]}"
    yield f'{{"evalId":"{identity}","results":{_json(head)[:-1]},"results":['
    for number, each in enumerate(answers):
        row = _row(each, tests[_test_key(each)], systems.index(inert(each.output.system)))
        ended["errors" if row["failureReason"] == ERROR else str(row["success"])] += 1
        yield f"{',' if number else ''}{_json(row)}\n"
    stats = {
        "successes": ended["True"],
        "failures": ended["False"],
        "errors": ended["errors"],
        "tokenUsage": {},
    }
    config = {"description": "written by bridge-evals", "tests": [], "providers": list(systems)}
    yield f'],"stats":{_json(stats)}}},"config":{_json(config)},"shareableUrl":null,'
    origin = {"exportedAt": now, **({"promptfooVersion": version} if version else {})}
    yield f'"metadata":{_json(origin)}}}\n'


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _column(system: str, answers: Sequence[Scored]) -> dict[str, Any]:
    own = [each for each in answers if inert(each.output.system) == system]
    rows = [_passed(each) for each in own]
    metrics = {
        "score": float(sum(rows)),
        "testPassCount": sum(rows),
        "testFailCount": len(rows) - sum(rows),
        "testErrorCount": 0,
        "assertPassCount": 0,
        "assertFailCount": 0,
        "totalLatencyMs": 0,
        "tokenUsage": {},
        "namedScores": {},
        "namedScoresCount": {},
        "cost": 0,
    }
    return {"raw": PROMPT, "label": PROMPT, "id": PROMPT, "provider": system, "metrics": metrics}


def _passed(each: Scored) -> bool:
    rows = [row for found in each.metrics.values() for row in found]
    return bool(rows) and all(row.status not in ("failed", "error") for row in rows)


def _row(each: Scored, test: int, prompt: int) -> dict[str, Any]:
    case, output = each.case, each.output
    held = to_test(case, [output])
    components = [_component(metric, rows) for metric, rows in each.metrics.items()]
    response = to_response(case, output.model_copy(update={"error": None}))
    if output.error is not None:
        response["error"] = output.error
    values = [part["score"] for part in components]
    passed = _passed(each)
    grading = {
        "pass": passed,
        "score": sum(values) / len(values) if values else 0,
        "reason": "every check passed" if passed else "a check did not pass",
        "namedScores": {part["assertion"]["metric"]: part["score"] for part in components},
        "componentResults": components,
    }
    latency = response.get("latencyMs", 0)
    return {
        "id": str(uuid4()),
        "testIdx": test,
        "promptIdx": prompt,
        "promptId": PROMPT,
        "prompt": {"raw": PROMPT, "label": PROMPT},
        "provider": {"id": inert(output.system), "label": inert(output.system)},
        "vars": {},
        "testCase": {**held, "vars": {}, "assert": [part["assertion"] for part in components]},
        "response": response,
        "gradingResult": grading,
        "namedScores": grading["namedScores"],
        "success": passed,
        "score": grading["score"],
        "failureReason": 0 if passed else 1,
        "latencyMs": latency,
        "cost": response.get("cost", 0),
        "metadata": {},
    }


def _component(metric: str, rows: Sequence[Score]) -> dict[str, Any]:
    summary = summarise(rows)
    first = rows[0]
    assertion: dict[str, Any] = {
        "type": "javascript",
        "value": f"// scored by {first.framework}: {first.scorer or metric}",
        "metric": inert(metric),
        "weight": first.weight,
    }
    if first.threshold is not None:
        assertion["threshold"] = first.threshold
    return {
        "pass": summary.status in VALUED - {"failed"} or summary.status == "skipped",
        "score": summary.value or 0.0,
        "reason": summary.error or summary.reason,
        "assertion": assertion,
        "metadata": {KEY: seal(encode_scores(rows))},
    }
