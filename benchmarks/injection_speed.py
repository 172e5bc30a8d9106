"""The injection scanner's speed: prompts of up to 2 KB, and 1 MB of anything, hostile or not."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bridge.scorers.injection import load_rules, scan

_MB = 1 << 20
_PROMPTS = 3_000


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
    print(f"{'input of 1 MB':28} {'ms':>8} {'time(2n)/time(n)':>18} {'with second stage':>18}")
    for name, unit in _inputs().items():
        half, whole = _fill(unit, _MB // 2), _fill(unit, _MB)
        times = [_best(partial(scan, text, second_stage=False), 3) for text in (half, whole)]
        both = _best(partial(scan, whole), 3)
        ratio = times[1] / times[0]
        print(f"{name:28} {1000 * times[1]:8.1f} {ratio:18.2f} {1000 * both:18.1f}")


def print_prompt_times(folder: Path) -> None:
    """Percentiles of the time of one scan over 3,000 of a folder's texts of up to 2 KB."""
    texts = [
        text
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        if len((text := json.loads(line)["text"]).encode("utf-8", "replace")) <= 2048
    ]
    random.Random(0).shuffle(texts)
    texts = texts[:_PROMPTS]
    for stage, name in ((False, "rules alone"), (True, "with the second stage")):
        times = sorted(_best(partial(scan, text, second_stage=stage), 3) for text in texts)
        p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
        print(
            f"{folder.name}, {name}: n {len(times)}, p50 {1e6 * p50:.0f} us, p99 {1e6 * p99:.0f} us"
        )
    allowed = [text for text in texts if scan(text).action == "allow"]
    joined = _fill("\n".join(allowed), _MB)[:_MB]
    took = _best(partial(scan, joined), 3)
    print(f"{folder.name}: 1 MB of its allowed texts {1000 * took:.0f} ms")
