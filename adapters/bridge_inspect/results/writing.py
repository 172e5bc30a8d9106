"""Scores as an Inspect log (``.eval`` or ``.json``), which ``inspect view`` opens."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import account_bundle
from bridge.plugin.carry import KEY, plain
from bridge.plugin.results.writing import Scored, encode_scores, scored, version_of, write_claims
from bridge.plugin.scoring.shared import summarise
from bridge_inspect.calls import Fields
from bridge_inspect.held import held_expected, held_stop, held_usage
from bridge_inspect.messages import to_answer, to_messages
from bridge_inspect.rows import NAME, REASONS

HELD = {
    "cases": ("id", "input", "expected", "choices", "metadata"),
    "outputs": ("case_id", "epoch", "text", "tool_calls", "latency_s", "usage", "model", "error"),
    "scores": ("case_id", "epoch", "metric", "value", "reason"),
}


def write_log(bundle: Bundle, dest: Path) -> ConversionReport:
    """Write a log.

    Raises:
        InputError: If there are answers of several systems: a log is of one model.
        InfrastructureError: If the disk does not take it.
    """
    answers = scored(bundle)
    systems = list(dict.fromkeys(each.output.system for each in answers))
    if len(systems) > 1:
        what = f"answers of several systems: {', '.join(systems[:5])}"
        raise InputError(what, where=dest, fix="write a log for each of them")
    samples = [_sample(each) for each in answers]
    head = _head(answers, systems, version_of(bundle, NAME))
    if dest.suffix == ".json":
        write_atomically(dest, [_json({**head, "samples": samples}).decode(), "\n"])
    else:
        _write_archive(dest, head, samples)
    return account_bundle(bundle, write_claims(HELD, bundle, NAME), dest, NAME)


def _write_archive(dest: Path, head: Fields, samples: Sequence[Fields]) -> None:
    content = io.BytesIO()
    summaries = [
        {name: each[name] for name in ("id", "epoch", "input", "target", "scores")}
        for each in samples
    ]
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        start = {"version": 2, "eval": head["eval"], "plan": head["plan"]}
        file.writestr("_journal/start.json", _json(start))
        for number, each in enumerate(samples, 1):
            name = f"samples/{number}_epoch_{each['epoch']}.json"
            file.writestr(name, _json(each))
        file.writestr("summaries.json", _json(summaries))
        file.writestr("header.json", _json(head))
    write_atomically(dest, [content.getvalue()])


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _head(answers: Sequence[Scored], systems: Sequence[str], version: str) -> Fields:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ids = list(dict.fromkeys(each.case.id for each in answers))
    metrics = list(dict.fromkeys(name for each in answers for name in each.metrics))
    epochs = max((each.output.epoch for each in answers), default=1)
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": now,
            "task": "bridge",
            "task_id": uuid4().hex,
            "run_id": uuid4().hex,
            "dataset": {"name": "bridge", "samples": len(ids), "sample_ids": ids},
            "model": "none/none",
            "config": {"epochs": epochs},
            "packages": {"inspect_ai": version} if version else {},
            "tags": [KEY],
            "metadata": {KEY: {"system": systems[0] if systems else "default"}},
            "scorers": [{"name": name, "options": {}, "metadata": {}} for name in metrics],
        },
        "plan": {"name": "plan", "steps": [{"solver": "recorded_outputs", "params": {}}]},
        "results": {
            "total_samples": len(answers),
            "completed_samples": len(answers),
            "scores": [_result(name, answers) for name in metrics],
        },
        "stats": {"started_at": now, "completed_at": now},
    }


def _result(metric: str, answers: Sequence[Scored]) -> Fields:
    found = [summarise(each.metrics[metric]).value for each in answers if metric in each.metrics]
    values = [value for value in found if value is not None]
    mean = sum(values) / len(values) if values else 0.0
    return {
        "name": metric,
        "scorer": metric,
        "scored_samples": len(values),
        "unscored_samples": len(found) - len(values),
        "params": {},
        "metrics": {"mean": {"name": "mean", "value": mean, "params": {}}},
    }


def _sample(each: Scored) -> Fields:
    case, output = each.case, each.output
    sent = _sent(case)
    answer = {"role": "assistant", "content": as_text(output.text)}
    usage = held_usage({} if output.usage is None else output.usage.model_dump())
    completion: Fields = {
        "model": output.model or "",
        "choices": [{"message": answer, "stop_reason": held_stop(output.stop_reason) or "unknown"}],
        "completion": as_text(output.text),
        "time": output.latency_s,
        "error": output.error,
    }
    if usage is not None:
        completion["usage"] = {**usage, "total_tokens": sum(usage.values())}
        if output.cost_usd is not None:
            completion["usage"]["total_cost"] = output.cost_usd
    carried = {"case": plain(case), "output": plain(output)}
    return {
        "id": case.id,
        "epoch": output.epoch,
        "input": sent,
        "target": held_expected(case.expected),
        "choices": list(case.choices) or None,
        "messages": _messages(case, output, sent),
        "output": completion,
        "scores": {metric: _score(rows) for metric, rows in each.metrics.items()},
        "metadata": {**case.metadata, KEY: carried},
        "uuid": uuid4().hex,
    }


def _sent(case: Case) -> str | list[Fields]:
    """What a system was sent: a text, or messages."""
    if case.turns:
        return case.turns[0].user
    return to_messages(case.input) if isinstance(case.input, tuple) else as_text(case.input)


def _messages(case: Case, output: Output, sent: str | list[Fields]) -> list[Fields]:
    """The conversation as it would have gone."""
    if not case.turns:
        before = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
        return [*before, *to_answer(output.text, output.tool_calls, len(before))]
    messages: list[Fields] = []
    answers = output.turns or ()
    for number, turn in enumerate(case.turns):
        messages.append({"role": "user", "content": turn.user})
        if number < len(answers):
            said = answers[number]
            messages += to_answer(said.text, said.tool_calls, len(messages))
    return messages


def _score(rows: Sequence[Score]) -> Fields:
    summary = summarise(rows)
    score: Fields = {
        "value": msgspec.Raw(b"NaN") if summary.value is None else summary.value,
        "explanation": summary.reason or summary.error,
        "metadata": {KEY: {"status": summary.status, "rows": encode_scores(rows)}},
    }
    reason = REASONS.get(summary.status)
    return score if reason is None else {**score, "reason": reason}
