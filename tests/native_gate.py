"""A framework's own result file through ``bridge gate``, in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import write_jsonl

from bridge.cli.gate import decide_and_report


@dataclass(frozen=True)
class Gated:
    """What the gate decided: its exit code, and reasons and notes as one text each."""

    code: int
    reasons: str
    notes: str
    metrics: Mapping[str, Any]


def gate(result: Path, cases: Iterable[str] = (), **least: float) -> Gated:
    """Gate a result file.

    Args:
        result: The file.
        cases: The golden set that it should hold; any if left out.
        least: The least mean of metrics by name.

    Raises:
        InputError: Where the command would end with exit code 2.
    """
    suite = _suite(result.with_suffix(".suite"), list(cases), least) if cases else None
    with redirect_stdout(io.StringIO()) as out:
        code = decide_and_report([result], suite=suite, as_json=True)
    report = json.loads(out.getvalue())
    reasons, notes = ("\n".join(report[name]) for name in ("reasons", "notes"))
    return Gated(code, reasons, notes, report["metrics"])


def _suite(folder: Path, cases: list[str], least: Mapping[str, float]) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [{"id": case, "input": "q", "expected": "a"} for case in cases]
    write_jsonl(folder / "cases.jsonl", rows)
    suite = {
        "name": "own",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "outputs.jsonl"},
        "checks": ["equals"],
        "gate": {"metrics": {name: {"min": value} for name, value in least.items()}},
    }
    path = folder / "bridge.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path
