"""What the gate takes: CPU seconds and peak memory, beyond starting up.

Two flat scores files, one of them the baseline, as ``bridge gate NOW --baseline BEFORE`` reads
them. Each measurement is a process of its own; start-up is what the same process takes for files
of one case. Run: python benchmarks/gate.py
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

AIMS = {(10_000, 1): (0.4, 1024.0), (100_000, 10): (15.0, 1024.0)}
"""Cases and metrics: CPU seconds beyond start-up, peak memory in MB."""

REPEATS = 2


def write(path: Path, cases: int, metrics: int, seed: int) -> Path:
    """A scores file; every second metric is graded, with values that hardly repeat."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for case in range(cases):
            for metric in range(metrics):
                graded = metric % 2 == 1
                value = round(chance.random(), 4) if graded else float(chance.random() < 0.9)
                row = {
                    "framework": "core",
                    "framework_version": "0.1.0",
                    "system": "default",
                    "metric": f"metric_{metric}",
                    "scorer": "similarity" if graded else "equals",
                    "scorer_version": "1",
                    "case_id": f"case-{case:06d}",
                    "epoch": 1,
                    "turn": None,
                    "value": value,
                    "label": None,
                    "status": "passed" if value >= 0.5 else "failed",
                    "threshold": 0.5,
                    "weight": 1.0,
                    "reason": "the answer is the expected one, but for blanks and case",
                    "details": {"expected": "5-7 business days", "actual": "a week"},
                }
                file.write(json.dumps(row) + "\n")
    return path


def measure(now: Path, before: Path, report: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of one ``bridge gate``."""
    command = [sys.executable, "-m", "bridge", "gate", str(now), "--baseline", str(before)]
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [*command, "--report-dir", str(report)], stdout=subprocess.DEVNULL
    ) as process:
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _peak_mb(process.pid))
            try:
                process.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
    return cpu, peak


def _peak_mb(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    high = next((line for line in status.splitlines() if line.startswith("VmHWM:")), "")
    return int(high.split()[1]) / 1024 if high else 0.0


def best(folder: Path, cases: int, metrics: int) -> tuple[float, float]:
    """The least CPU seconds of some repeats, and the largest peak."""
    now = write(folder / "now.jsonl", cases, metrics, 1)
    before = write(folder / "before.jsonl", cases, metrics, 2)
    found = [measure(now, before, folder / "report") for _ in range(REPEATS)]
    return min(cpu for cpu, _ in found), max(peak for _, peak in found)


def main() -> None:
    """Print one line a size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start, _ = best(folder, 1, 1)
        print(f"start-up: {start:.2f} CPU s")
        for (cases, metrics), (cpu_aim, memory_aim) in AIMS.items():
            cpu, peak = best(folder, cases, metrics)
            print(
                f"{cases * metrics:>9,} rows x 2 ({metrics} metrics, {cases:,} cases): {cpu - start:.2f} CPU s "
                f"(aim {cpu_aim}), peak {peak:.0f} MB (aim {memory_aim:.0f})"
            )


if __name__ == "__main__":
    main()
