"""Result files read: CPU seconds and memory against what people use today.

An Inspect log of 10,000 samples as ``.eval`` and as ``.json``, read by Inspect's ``read_eval_log``,
by ours for a gate (scores alone) and by ours for a conversion (cases, outputs, scores, every leaf
accounted for). Two promptfoo results of 10,000 rows (about 1.6 KB each), read and gated by
``bridge gate NOW --baseline BEFORE``. And what a reader holds of a row: the difference of its peak
between two files, one twice as long. Each measurement is a process of its own; imports are not
counted. Samples and rows are copies, under new ids, of what the frameworks themselves wrote.

Run: python benchmarks/formats.py [SAMPLES]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

REPEATS = 2
AIMS = {"eval": 1 / 15, "json": 1 / 8}
MAX_GATE_S = 1.5
MAX_GATE_MB = 200
MAX_ROW_BYTES = 200

READ_NATIVE = """
import sys, time
from inspect_ai.log import read_eval_log
start = time.process_time()
log = read_eval_log(sys.argv[1])
n = len(log.samples)
"""
STREAM = """
import sys, time
from pathlib import Path
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format
path = Path(sys.argv[1])
format_ = detect_format(path)
start = time.process_time()
n = sum(1 for _ in format_.stream(path, ReadOptions()))
"""
READ = STREAM.replace(
    "n = sum(1 for _ in format_.stream(path, ReadOptions()))",
    "n = len(format_.read(path, ReadOptions())[0].outputs)",
)
TOLD = """
took = time.process_time() - start
from pathlib import Path
status = Path("/proc/self/status").read_text().split()
print(n, took, int(status[status.index("VmHWM:") + 1]) / 1024)
"""
HELD = """
import sys, tracemalloc
from pathlib import Path
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format
path = Path(sys.argv[1])
format_ = detect_format(path)
for _ in format_.stream(path, ReadOptions()): pass
tracemalloc.start()
for _ in format_.stream(path, ReadOptions()): pass
print(tracemalloc.get_traced_memory()[1])
"""
RECORD = """
import sys
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

@solver
def replay():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mock/one", "The ferry leaves at 7:15. " * 4)
        state.messages.append(state.output.message)
        return state
    return solve

def make(name):
    @scorer(metrics=[mean()], name=name)
    def factory():
        async def score(state, target):
            return Score(value=0.5, answer="7:15", explanation="compared word for word")
        return score
    return factory()

samples = [Sample(input="When does ferry %d leave? " % n * 4, target="7:15", id=n) for n in range(5)]
eval(Task(dataset=samples, solver=replay(), scorer=[make("one"), make("two"), make("three")]),
     model=None, display="none", log_dir=sys.argv[1], log_format="json")
"""


def run(code: str, *arguments: str | Path) -> str:
    """What a process of its own prints last."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def best(code: str, path: Path) -> tuple[float, float]:
    """The least CPU seconds and the largest peak in MB of some repeats."""
    found = [tuple(map(float, run(code + TOLD, path).split())) for _ in range(REPEATS)]
    return min(took for _, took, _ in found), max(peak for *_, peak in found)


def write_logs(folder: Path, count: int) -> tuple[Path, Path]:
    """An archive and a JSON document of so many samples, as Inspect writes them."""
    run(RECORD, folder / "recorded")
    log = json.loads(next((folder / "recorded").glob("*.json")).read_bytes())
    kinds = log.pop("samples")
    samples = [{**kinds[n % len(kinds)], "id": n + 1} for n in range(count)]
    ids = [sample["id"] for sample in samples]
    log["eval"]["dataset"] |= {"samples": count, "sample_ids": ids}
    log["results"] |= {"total_samples": count, "completed_samples": count}
    log.pop("reductions", None)
    archive = folder / "log.eval"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"]}))
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        file.writestr("summaries.json", "[]")
        file.writestr("header.json", json.dumps(log))
    document = folder / "2026-01-01T00-00-00+00-00_t_x.json"
    document.write_text(json.dumps({**log, "samples": samples}, indent=2), encoding="utf-8")
    return archive, document


def write_results(path: Path, count: int, wrong: int) -> Path:
    """promptfoo results: rows of a recorded file under new ids; every ``wrong``-th fails."""
    library = Path(__file__).parents[1] / "tests" / "native" / "promptfoo" / "library.json"
    data = json.loads(library.read_bytes())
    kind = next(
        row
        for row in data["results"]["results"]
        if row["failureReason"] != 2 and len(row["gradingResult"]["componentResults"]) == 2
    )
    rows = [_row(kind, number, number % wrong == 0) for number in range(count)]
    failed = sum(not row["success"] for row in rows)
    data["results"] |= {"results": rows, "prompts": data["results"]["prompts"][:1]}
    data["results"]["stats"] = {"successes": count - failed, "failures": failed, "errors": 0}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def _row(kind: dict[str, Any], number: int, fails: bool) -> dict[str, Any]:
    row = json.loads(json.dumps(kind))
    row |= {"testIdx": number, "promptIdx": 0, "success": not fails, "id": f"{number:036d}"}
    row["testCase"] |= {"metadata": {"case_id": f"case-{number:06d}"}, "description": None}
    for each in row["gradingResult"]["componentResults"]:
        each |= {"pass": not fails, "score": float(not fails), "reason": "Assertion passed"}
    return row


def gate(now: Path, before: Path, warm: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of one ``bridge gate``, after one of a small file that imports all."""
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from bridge.cli.gate import decide_and_report\n"
        "decide_and_report([Path(sys.argv[3])], baseline=Path(sys.argv[3]))\n"
        "start, n = time.process_time(), 0\n"
        "decide_and_report([Path(sys.argv[1])], baseline=Path(sys.argv[2]))"
    )
    found = [run(code + TOLD, now, before, warm).split() for _ in range(REPEATS)]
    return min(float(each[1]) for each in found), max(float(each[2]) for each in found)


def held(shorter: Path, longer: Path, rows: int) -> float:
    """Bytes that a reader holds of a row."""
    return (int(run(HELD, longer)) - int(run(HELD, shorter))) / rows


def show_logs(folder: Path, count: int) -> None:
    """Inspect logs against ``read_eval_log``."""
    for path in write_logs(folder, count):
        kind = path.suffix[1:]
        theirs, peak = best(READ_NATIVE, path)
        size = path.stat().st_size / 1e6
        print(f".{kind}, {count:,} samples, {size:.0f} MB")
        print(f"  read_eval_log        {theirs:6.2f} s {peak:5.0f} MB")
        for name, code in (("scores, for a gate", STREAM), ("cases, outputs, scores", READ)):
            ours, peak = best(code, path)
            ratio = f"1/{theirs / ours:.1f} (aim 1/{1 / AIMS[kind]:.0f})"
            print(f"  {name:22} {ours:5.2f} s {peak:5.0f} MB  {ratio}")


def show_results(folder: Path, count: int) -> None:
    """promptfoo results read and gated, and what is held of a row."""
    now = write_results(folder / "now.json", count, 50)
    before = write_results(folder / "before.json", count, 70)
    warm = write_results(folder / "warm.json", 20, 5)
    took, peak = gate(now, before, warm)
    size = now.stat().st_size / count
    print(f"two promptfoo results of {count:,} rows, {size:.0f} bytes a row, read and gated")
    print(f"  {took:.2f} s (aim {MAX_GATE_S}), {peak:.0f} MB (aim {MAX_GATE_MB})")
    longer = write_results(folder / "longer.json", 2 * count, 50)
    print(f"  {held(now, longer, count):.0f} bytes held a row (aim {MAX_ROW_BYTES})")


def main() -> None:
    """Print all figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        show_results(Path(name), count)
        show_logs(Path(name), count)


if __name__ == "__main__":
    main()
