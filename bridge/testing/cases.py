"""The suite of the framework contract: every kind of case, answer and failure, and hostile text.

Two systems answer in two epochs; there are conversations, tool calls of a turn and of a whole,
JSON, messages, contexts, a system that failed, and a scorer that breaks in three ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bridge.files.jsonl import write_atomically

HOSTILE = (
    "{{ config }} {% for x in y %} {{7*7}} ${HOME} $(id) `id`",
    "\u202e right to left \u2066 \u200b zero width \ufeff",
    "nul \x00 bell \x07 escape \x1b[31m",
    "quotes ' \" ''' \"\"\" \\ \\\\ \\n",
    '__proto__ constructor {"__proto__": {"x": 1}}',
    "lone surrogates \ud800 and \udfff",
    "[DEEPEVAL:IMAGE:1] attachment://abc <script>alert(1)</script>",
    "::error::hello\n::set-output name=x::y",
    "x" * 200_000,
    "",
    " \t\n ",
)
"""Text that some framework takes for a template, an image, a command, or cannot hold."""

SYSTEMS = ("one", "two")
EPOCHS = (1, 2)

CHECKS: tuple[Any, ...] = (
    "equals",
    "contains",
    "tool_use",
    {"tool_precision": {"threshold": 0.8}},
    {"tool_recall": {"failed_calls": "ignore"}},
    "tool_f1",
    "tool_arguments",
    {"tool_order": {"mode": "in_order"}},
    "tool_schema",
    {"tool_use": {"metric": "allowed", "forbidden": ["g"], "max_duplicates": 0}},
    {"tool_use": {"metric": "whole", "scope": "conversation", "max_calls": 1}},
    "injection",
    {"injection": {"metric": "rules_alone", "second_stage": False}},
    {
        "injection_resistance": {
            "canary": "zero width",
            "forbidden_calls": [{"name": "f", "arguments": {"x": {"$contains": "escape"}}}],
            "forbidden_hosts": "abc",
            "task": "equals",
        }
    },
    {"latency": {"max": 1}},
    {"contract_scorer:SCORER": {"metric": "broken"}},
    {"all": ["equals", {"regex": {"pattern": "x", "negate": True}}], "threshold": 0.5},
)

SCORER = '''"""A scorer that exits, raises, gives half a point, or gives NaN."""

from bridge.model import Measurement
from bridge.scorers import Scorer


def broken(case, output, params):
    if case.id == "json":
        raise SystemExit(0)
    if case.id == "messages":
        raise RuntimeError("multi\\nline {{x}}")
    if case.id == "turns":
        return [Measurement(value=0.5, reason="half", label="L")]
    return [Measurement.model_construct(value=float("nan"), status="scored", reason="")]


SCORER = Scorer("broken", "7", broken)
'''

CALL = {"name": "f", "arguments": {"x": {"$one_of": [1, "1"]}}, "result": {"n": [1]}}
CALLED = (
    {"text": "a", "tool_calls": [{"name": "f", "arguments": {"x": 1}, "error": "HTTP 503"}]},
    {"text": "b", "tool_calls": [{"name": "f", "arguments": {"x": 1}, "result": {"n": [1]}}]},
)
MESSAGES = (
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "g", "id": "1"}]},
    {"role": "tool", "content": "7", "tool_call_id": "1"},
    {"role": "user", "content": "and?"},
)
SPECIAL: tuple[dict[str, Any], ...] = (
    {
        "id": "turns",
        "input": "scenario",
        "expected": "",
        "turns": [{"user": text or "-", "expected": text} for text in HOSTILE[:4]],
    },
    {
        "id": "called",
        "input": "scenario",
        "expected": "",
        "tools": [{"name": "f", "parameters": {"properties": {"x": {"maximum": 0}}}}],
        "expected_calls": {"calls": [CALL], "mode": "superset"},
        "turns": [{"user": "q", "expected_calls": {"calls": [CALL]}}, {"user": "again"}],
    },
    {"id": "json", "input": {"a": [1, None]}, "expected": {"b": [1.5, True, None]}},
    {"id": "messages", "input": MESSAGES, "expected": ["x", "y"]},
)


def write_contract_suite(folder: Path) -> Path:
    """Write the contract's suite with its golden set, outputs and scorer; returns its path."""
    _write_lines(folder / "cases.jsonl", [*map(_hostile_case, range(len(HOSTILE))), *SPECIAL])
    _write_lines(folder / "contract.outputs.jsonl", _outputs())
    write_atomically(folder / "contract_scorer.py", [SCORER])
    suite = {
        "name": "contract {{name}} /..",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "contract.outputs.jsonl"},
        "checks": CHECKS,
    }
    path = folder / "bridge.yaml"
    write_atomically(path, [json.dumps(suite)])
    return path


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_atomically(path, (f"{json.dumps(row)}\n" for row in rows))


def _id(index: int) -> str:
    return "h 7" if index == 7 else f"h/{index} {HOSTILE[index][:20]}"


def _hostile_case(index: int) -> dict[str, Any]:
    text = HOSTILE[index]
    return {
        "id": _id(index),
        "input": text or "-",
        "expected": text,
        "reference_contexts": [text],
        "tools": [{"name": "f", "parameters": {"type": "object"}}],
        "tags": [text[:50]],
        "metadata": {"k": text[:50], "__proto__": 1},
        "expected_calls": {"calls": [{"name": "f", "arguments": {"x": text[:500]}}]},
    }


def _outputs() -> Iterator[dict[str, Any]]:
    for system in SYSTEMS:
        for epoch in EPOCHS:
            key = {"system": system, "epoch": epoch}
            for index, text in enumerate(HOSTILE):
                yield {**key, "case_id": _id(index), **_hostile_answer(text, epoch)}
            turns = [{"text": text} for text in HOSTILE[:3]]
            yield {**key, "case_id": "turns", "turns": turns, "text": "last"}
            yield {**key, "case_id": "json", "text": {"b": [1.5, True, None]}}
            yield {**key, "case_id": "called", "turns": CALLED}
            failed = {"error": "HTTP 500 <html>"} if epoch == 2 else {"text": "y"}
            yield {**key, "case_id": "messages", **failed}


def _hostile_answer(text: str, epoch: int) -> dict[str, Any]:
    call = {"name": "f", "arguments": {"x": text[:500]}, "id": "c1", "result": text[:500]}
    return {
        "text": text,
        "tool_calls": [call] if epoch == 1 else [],
        "retrieved_contexts": [text],
        "latency_s": 0.25,
    }
