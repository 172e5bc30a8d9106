"""The injection scanner's speed, and what it finds in folders of labelled texts.

    python benchmarks/injection.py speed
    python benchmarks/injection.py table FOLDER... [--missed N] [--false N]

``speed`` prints the time per prompt, for 1 MB of several inputs (hostile ones included), and how
the time grows when the input doubles. ``table`` reads ``*.jsonl`` files of
``{text, label, source}`` (label 1 = attack) and prints, for each file, recall or
false-positive rate with Wilson's 95 % interval, and recall at fixed false-positive rates by
the score.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path

from bridge.scorers.injection import ScanResult, load_rules, scan, scanner_version

_MB = 1 << 20
_FIXED_RATES = (0.002, 0.005, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Labelled:
    """Results of one file, for one label."""

    name: str
    attack: bool
    texts: list[str]
    results: list[ScanResult]

    def share(self, *actions: str) -> float:
        return sum(one.action in actions for one in self.results) / len(self.results)


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Wilson's score interval at 95 % for ``hits`` of ``n`` (Wilson 1927)."""
    z, p = 1.959964, hits / n
    centre, spread = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)


def read(folder: Path) -> Iterator[Labelled]:
    """Scan every text of the folder's files."""
    for file in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
        for attack in (True, False):
            texts = [row["text"] for row in rows if bool(row["label"]) == attack]
            if texts:
                yield Labelled(file.stem, attack, texts, [scan(text) for text in texts])


def print_table(sets: list[Labelled]) -> None:
    """One line a set, then means over sets, then recall at fixed false-positive rates."""
    print(f"scanner {scanner_version()}\n{'set':32} {'n':>6} {'flag+block %':>24} {'block %':>8}")
    for one in sets:
        found, n = one.share("flag", "block"), len(one.results)
        low, high = wilson(found * n, n)
        name = f"{one.name} ({'attack' if one.attack else 'benign'})"
        interval = f"{100 * found:.2f} [{100 * low:.2f}, {100 * high:.2f}]"
        print(f"{name:32} {n:6} {interval:>24} {100 * one.share('block'):8.2f}")
    for attack in (True, False):
        chosen = [one for one in sets if one.attack == attack]
        if chosen:
            mean = statistics.mean(one.share("flag", "block") for one in chosen)
            block = statistics.mean(one.share("block") for one in chosen)
            name = "mean recall" if attack else "mean false positives"
            print(f"{name:32} {len(chosen):6} {100 * mean:24.2f} {100 * block:8.2f}")
    print_fixed_rates(sets)


def print_fixed_rates(sets: list[Labelled]) -> None:
    """Mean recall over attack sets at the score that keeps mean false positives below a rate."""
    attacks = [[r.score for r in one.results] for one in sets if one.attack]
    benign = [[r.score for r in one.results] for one in sets if not one.attack]
    if not attacks or not benign:
        return

    def mean_above(groups: list[list[float]], threshold: float) -> float:
        return statistics.mean(sum(s > threshold for s in g) / len(g) for g in groups)

    thresholds = [0.0, *sorted({score for group in benign for score in group})]
    for rate in _FIXED_RATES:
        threshold = next(t for t in thresholds if mean_above(benign, t) <= rate)
        recall = mean_above(attacks, threshold)
        print(
            f"recall at {100 * rate:3.1f} % false positives: {100 * recall:5.1f} % (> {threshold})"
        )


def print_examples(sets: list[Labelled], missed: int, false: int) -> None:
    """A sample of errors, to read and not to copy."""
    chooser = random.Random(0)
    for one in sets:
        wrong = [
            (text, result)
            for text, result in zip(one.texts, one.results, strict=True)
            if (result.action == "allow") == one.attack
        ]
        for text, result in chooser.sample(wrong, min(missed if one.attack else false, len(wrong))):
            rules = ",".join(sorted({match.rule for match in result.matches}))
            print(f"{one.name} {'missed' if one.attack else 'false'} [{rules}] {text[:200]!r}")


def _inputs() -> dict[str, str]:
    examples = [text for rule in load_rules() for text in rule.positive]
    chooser = random.Random(0)
    words = " ".join(examples).split()
    prose = "The quick brown fox jumps over the lazy dog, and then it rests. "
    return {
        "prose": prose,
        "one letter": "a",
        "spaces": " ",
        "hex then spaces": '"hex"' + " " * 800 + "!",
        "keywords": "ignore all your previous " * 3,
        "examples": "\n".join(examples),
        "shuffled examples": " ".join(chooser.sample(words, len(words))),
        "rules' words, no match": _without_match(sorted(set(words))),
        "base64": base64.b64encode(prose.encode() * 20).decode(),
        "spaced letters": "i g n o r e a l l ",
        "digits": "0123456789",
        "percent": "%69%67%6e",
        "entities": "&#105;&lt;",
        "open comments": "<!-- ignore ",
        "Cyrillic": "Быстрая лиса прыгает через ленивую собаку. ",
        "CJK": "敏捷的棕色狐狸跳过了懒狗。",
        "Arabic ligature": "\ufdfa",
        "marks": "\u0316\u0300",
        "emoji": "\U0001f600\u200d",
        "random code points": "".join(chr(chooser.randrange(0x20, 0x2FFFF)) for _ in range(50_000)),
        "random ASCII": "".join(chr(chooser.randrange(32, 127)) for _ in range(50_000)),
        "reversed keywords": "snoitcurtsni suoiverp erongi ",
        "misspelt words": "ignroe previuos systme ",
    }


def _without_match(words: list[str]) -> str:
    """The words in an order that no rule matches: every rule has to look, none ends early."""
    text = ""
    for word in words:
        longer = f"{text}{word}. "
        if not scan(longer[-400:]).matches:
            text = longer
    return text


def _fill(unit: str, size: int) -> str:
    """``unit`` repeated to about ``size`` bytes of UTF-8."""
    encoded = unit.encode("utf-8", "replace")
    return unit * max(1, size // len(encoded))


def _best(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        function()
        times.append(time.thread_time() - begin)
    return min(times)


def print_speed(folders: list[Path]) -> None:
    """CPU time (other processes do not count) per prompt, for 1 MB, and for twice as much."""
    first = _best(lambda: scan("first use loads and compiles the rules"), 1)
    print(f"first scan {1000 * first:.0f} ms, {len(load_rules())} rules")
    for folder in folders:
        print_prompt_times(folder)
    print(f"{'input of 1 MB':28} {'ms':>8} {'time(2n)/time(n)':>18}")
    for name, unit in _inputs().items():
        half, whole = _fill(unit, _MB // 2), _fill(unit, _MB)
        times = [_best(partial(scan, text), 3) for text in (half, whole)]
        print(f"{name:28} {1000 * times[1]:8.1f} {times[1] / times[0]:18.2f}")


def print_prompt_times(folder: Path) -> None:
    """Percentiles of the time of one scan over a folder's texts of up to 2 KB."""
    times: list[float] = []
    allowed: list[str] = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            text = json.loads(line)["text"]
            if len(text.encode("utf-8", "replace")) <= 2048:
                times.append(_best(partial(scan, text), 3))
                if scan(text).action == "allow":
                    allowed.append(text)
    times.sort()
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"{folder.name}: n {len(times)}, p50 {1e6 * p50:.0f} us, p99 {1e6 * p99:.0f} us")
    random.Random(0).shuffle(allowed)
    joined = _fill("\n".join(allowed), _MB)[:_MB]
    print(
        f"{folder.name}: 1 MB of its allowed texts {1000 * _best(partial(scan, joined), 3):.0f} ms"
    )


def main() -> None:
    """Parse the command line and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "table"])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--missed", type=int, default=0, help="attacks to print per set")
    parser.add_argument("--false", type=int, default=0, help="false positives to print per set")
    arguments = parser.parse_args()
    if arguments.what == "speed":
        print_speed(arguments.folders)
        return
    sets = [one for folder in arguments.folders for one in read(folder)]
    print_table(sets)
    print_examples(sets, arguments.missed, arguments.false)


if __name__ == "__main__":
    main()
