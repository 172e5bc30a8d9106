"""Every Eval Ever, instance level (schema 0.2): one JSON row a sample.

The aggregate file beside it holds averages alone and is refused with the name of this one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.files.shape import leading_keys
from bridge.plugin.accounts.accounting import NATIVE, Claims, dropped
from bridge.plugin.accounts.itemised import REPEATED, SETTING
from bridge.plugin.format import FormatInfo
from bridge.plugin.formats.sample_rows import Parts, Row, SampleFormat, SampleRows, sample_document
from bridge.plugin.results.imported import Scales, seconds

INFO = FormatInfo(
    name="every_eval_ever",
    title="Every Eval Ever instances",
    patterns=("*_samples.jsonl", "*.jsonl"),
    reads=frozenset({"cases", "outputs", "scores"}),
)
CLAIMS = Claims(
    {
        **dict.fromkeys(
            (
                "sample_id",
                "sample_idx",
                "model_id",
                "evaluation_name",
                "input.raw",
                "input.reference",
                "input.choices",
                "output.raw",
                "evaluation.score",
                "evaluation.is_correct",
                "token_usage.input_tokens",
                "token_usage.output_tokens",
                "performance.latency_ms",
                "error",
                "metadata",
            ),
            NATIVE,
        ),
        "answer_attribution": REPEATED,
        **dict.fromkeys(("schema_version", "evaluation_id", "evaluation_result_id"), SETTING),
        "interaction_type": SETTING,
        "sample_hash": dropped("a digest"),
    }
)


def _sure(head: bytes, path: Path) -> float:
    del path
    keys = set(leading_keys(head.removeprefix(b"[").lstrip()))
    if b'"instance_level_eval' in head[:256]:
        return 0.97
    if {"evaluation_id", "model_id", "evaluation_name"} <= keys:
        return 0.9
    return 0.9 if {"evaluation_id", "schema_version"} <= keys else 0.0


def _open(source: Path, scales: Scales) -> SampleRows:
    document = sample_document(source, "name its instance-level file (*.jsonl)")
    return SampleRows(INFO.name, document, CLAIMS, scales, _Instances())


class _Instances:
    """Reads rows; the same sample of a model again is another epoch, or has another metric."""

    def __init__(self) -> None:
        self._epochs: dict[int, int] = {}
        self._seen: set[int] = set()

    def __call__(self, row: Row) -> Parts:
        name = row.get("sample_id", row.get("sample_idx"))
        if not isinstance(name, int | str) or isinstance(name, bool) or not str(name).strip():
            raise ValueError(f"sample_id is {name!r}")
        metric = str(row.get("evaluation_name") or "score")
        system = str(row.get("model_id") or "default")
        place = hash((system, str(name), metric))
        epoch = self._epochs[place] = self._epochs.get(place, 0) + 1
        answered = hash((system, str(name), epoch))
        again = answered in self._seen
        self._seen.add(answered)
        key = {"system": system, "case_id": str(name), "epoch": epoch}
        error = row.get("error")
        failure = None if error in (None, "") else str(error)
        return Parts(key, {metric: _value(row)}, failure, _case(row), _output(row), again)


def _part(row: Row, name: str) -> dict[str, Any]:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _value(row: Row) -> Any:
    found = _part(row, "evaluation")
    score = found.get("score")
    return found.get("is_correct") if score is None else score


def _case(row: Row) -> dict[str, Any]:
    given = _part(row, "input")
    raw, reference = given.get("raw"), given.get("reference")
    if isinstance(reference, list) and len(reference) == 1:
        reference = reference[0]
    choices = given.get("choices")
    return {
        "input": raw if isinstance(raw, str) else "",
        "expected": "" if reference is None else reference,
        "choices": [each for each in choices or () if isinstance(each, str)],
        "metadata": _part(row, "metadata"),
    }


def _output(row: Row) -> dict[str, Any]:
    raw, usage = _part(row, "output").get("raw"), _part(row, "token_usage")
    if isinstance(raw, list) and len(raw) == 1:
        raw = raw[0]
    output: dict[str, Any] = {"text": raw, "model": str(row.get("model_id") or "") or None}
    tokens = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    if all(isinstance(each, int) for each in tokens.values()):
        output["usage"] = tokens
    if (taken := seconds(_part(row, "performance").get("latency_ms"))) is not None:
        output["latency_s"] = taken
    return output


EVERY_EVAL_EVER = SampleFormat(INFO, _sure, _open)
