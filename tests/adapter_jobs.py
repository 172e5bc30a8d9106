"""One small job with every kind of row, for the adapters' own tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bridge.model import Case, Job, JobSpec, Measurement, Output, Score
from bridge.plugin.registry import get_framework
from bridge.scorers import NoParams, Scorer

CASES: list[dict[str, Any]] = [
    {"id": "right", "input": "q", "expected": "yes", "tags": ["t"], "metadata": {"k": 1}},
    {"id": "wrong", "input": "q", "expected": ["no", "never"]},
    {"id": "open", "input": {"ask": "q"}, "expected": ""},
    {"id": "json", "input": "q", "expected": {"a": [1, None]}},
    {
        "id": "tool/1",
        "input": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "q"}],
        "expected": "",
        "expected_calls": {"calls": [{"name": "f", "arguments": {"x": {"$approx": 1.0}}}]},
        "checks": [{"regex": {"pattern": "done", "metric": "own check"}}],
    },
    {
        "id": "talk",
        "input": "a customer asks twice",
        "expected": "",
        "turns": [
            {"user": "one?", "expected": "1"},
            {"user": "two?", "expected": "2", "checks": [{"contains": {"value": "2"}}]},
        ],
    },
    {"id": "broken", "input": "q", "expected": "yes"},
    {"id": "exits", "input": "q", "expected": "yes"},
    {"id": "failed", "input": "q", "expected": "yes"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"case_id": "right", "text": "yes", "latency_s": 0.5, "usage": {"input_tokens": 1}},
    {"case_id": "wrong", "text": "yes", "retrieved_contexts": ["c"]},
    {"case_id": "open", "text": "\u2028 [DEEPEVAL:IMAGE:1] attachment://0123"},
    {"case_id": "json", "text": {"a": [1, None]}},
    {
        "case_id": "tool/1",
        "text": "done",
        "tool_calls": [{"name": "f", "arguments": {"x": 1}, "result": {"ok": True}}],
    },
    {"case_id": "talk", "turns": [{"text": "1"}, {"text": "two", "latency_s": 0.1}]},
    {"case_id": "broken", "text": "yes"},
    {"case_id": "exits", "text": "yes"},
    {"case_id": "failed", "error": "HTTP 500"},
]
CHECKS: list[Any] = [
    "equals",
    {"equals": {"metric": "not equal", "negate": True, "threshold": 0.5, "weight": 2}},
    "tool_use",
    {f"{__name__}:FRAGILE": {"metric": "fragile"}},
    {"all": ["equals", {"regex": {"pattern": "e"}}], "metric": "group/all"},
]


def fragile(case: Case, output: Output, params: NoParams) -> list[Measurement]:
    """Half a point, except where it breaks."""
    del output, params
    if case.id == "broken":
        raise RuntimeError("no\nluck")
    if case.id == "exits":
        raise SystemExit(3)
    return [Measurement(value=0.5, reason="half", label="L", details={"of": [1, {"two": None}]})]


FRAGILE = Scorer("fragile", "7", fragile, threshold=0.25, per_turn=False)


def make_job(framework: str, folder: Path, **changes: Any) -> Job:
    """The job, its native folder inside ``folder``."""
    cases = changes.pop("cases", CASES)
    outputs = changes.pop("outputs", OUTPUTS)
    spec = {
        "framework": framework,
        "suite": "Small suite",
        "checks": CHECKS,
        "native_dir": folder / "native",
        **changes,
    }
    return Job(
        spec=JobSpec.model_validate(spec),
        cases=tuple(Case.model_validate(each) for each in cases),
        outputs=tuple(Output.model_validate(each) for each in outputs),
    )


def core_rows(job: Job) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What ``core`` says of a job."""
    return comparable(get_framework("core").run(job))


def comparable(rows: Iterable[Score]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by key, without the framework they came through."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row.key)[1:]
        assert key not in found, f"{key} stands twice"
        found[key] = row.model_dump(mode="json", exclude={"framework", "framework_version"})
    return found
