"""Coverage-guided fuzzing of every reader: no exception but ours, for as long as you let it run.

By hand: ``python tests/fuzz/readers.py [MINUTES]``, with ``atheris`` installed where it has a
wheel (``pip install atheris``); without it, files are mutated at random from the same seeds.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NATIVE = Path(__file__).parents[1] / "native"
TOKENS = (b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"NaN", b"\xff", b"\x00", b"\\ud83d", b"1e999",
          b"null", b"\n", b";", b"'", b"-1", b"<!DOCTYPE", b"PK\x05\x06")  # fmt: skip
"""What a mutation puts in."""


def seeds() -> Iterator[tuple[str, str, bytes]]:
    """Format, suffix and content of each file that is mutated."""
    for folder, name in (("inspect", "inspect"), ("deepeval", "deepeval"), ("ragas", "ragas")):
        for path in sorted((NATIVE / folder).iterdir()):
            if path.suffix in (".eval", ".json", ".jsonl", ".csv"):
                yield name, path.suffix, path.read_bytes()
    row = b'{"testIdx":0,"success":true,"gradingResult":{"pass":true,"score":1,"componentResults":[]}}'
    yield "promptfoo", ".json", b'{"results":{"version":3,"results":[' + row + b"]}}"
    yield "promptfoo", ".jsonl", row + b"\n" + row
    yield "promptfoo", ".csv", b'q,[e] p,Status,Score,Named Scores\na,b,PASS,1.0,"{}"\n'
    yield "promptfoo", ".csv", b'q,p\na,"[PASS] (1.00, m: 0.5) x"\n'
    cache = b'{"test_cases_lookup_map":{"{\\"input\\":\\"a\\"}":{"cached_metrics_data":[]}}}'
    yield "deepeval", ".json", cache
    yield (
        "junit",
        ".xml",
        b'<testsuite tests="1"><testcase name="a"><failure/></testcase></testsuite>',
    )
    yield (
        "lm_eval",
        ".jsonl",
        b'{"doc_id":1,"doc":{},"target":"a","filtered_resps":["a"],"acc":1.0}',
    )
    yield (
        "every_eval_ever",
        ".jsonl",
        b'{"evaluation_id":"e","model_id":"m","evaluation_name":"n","sample_id":1,"evaluation":{"score":1}}',
    )


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A file with a few of its bytes cut, doubled, replaced or put in."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((0, 1, 1, 4, 40)))
        token = chance.choice((b"", chance.choice(TOKENS), data[at:end] * 2, chance.randbytes(1)))
        data[at:end] = token
    return bytes(data[: chance.choice((len(data), len(data), chance.randrange(len(data) + 1)))])


def read_all(name: str, path: Path, content: bytes) -> None:
    """Read a file every way; anything but an :class:`InputError` goes through."""
    from bridge.model.errors import InputError
    from bridge.plugin.format import ReadOptions
    from bridge.plugin.registry import get_format

    path.write_bytes(content)
    format_ = get_format(name)
    assert 0.0 <= format_.sniff(content[: 64 * 1024], path) <= 1.0
    told = ""
    try:
        for answer in format_.stream(path, ReadOptions()):  # type: ignore[attr-defined]
            assert answer.key["case_id"]
        format_.read(path, ReadOptions())
    except InputError as error:
        told = str(error)
    assert "\n" not in told


def at_random(minutes: float, seed: int = 0) -> int:
    """Mutate until the time is over; returns how many files were read."""
    chance = random.Random(seed)
    known, count = list(seeds()), 0
    end = time.monotonic() + minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            name, suffix, content = chance.choice(known)
            data = mutated(content, chance)
            try:
                read_all(name, Path(folder) / f"x{suffix}", data)
            except Exception:
                print(name, suffix, data)
                raise
            count += 1
    return count


def guided(minutes: float) -> None:
    """The same by atheris, which keeps what reaches new code."""
    atheris: Any = import_module("atheris")  # not among the test tools: it builds on few machines
    with atheris.instrument_imports():
        import bridge.plugin.registry  # noqa: F401
        import bridge_ragas.format  # noqa: F401
    known = list(seeds())
    folder = Path(tempfile.mkdtemp())
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, (_, _, content) in enumerate(known):
        (corpus / str(number)).write_bytes(bytes([number]) + content)

    def one(data: bytes) -> None:
        if data:
            name, suffix, _ = known[data[0] % len(known)]
            read_all(name, folder / f"x{suffix}", data[1:])

    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={int(minutes * 60)}"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    for_minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    if find_spec("atheris") is None:
        print(f"{at_random(for_minutes, seed=int(time.time()))} mutated files read")
    else:
        guided(for_minutes)
