"""Coverage-guided fuzzing of every reader: no exception but ours, no hang, bounded memory.

``cd tests; python -m fuzz.readers [--minutes M] [FORMAT ...]`` takes each format in turn for M minutes
(default 10) in a process of its own, and says how many files it has read. ``atheris`` guides it
(``uv sync --group fuzz``; it has wheels for Linux); without it, the same mutations are made at
random. What is found is left in ``crash-*`` beside you: its first byte is the seed's number, the
rest is the file. ``--again FORMAT FILE`` reads such a file once more.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.mutation import LARGEST, mutated

if TYPE_CHECKING:
    from fuzz.seeds import Seed

MOST_SECONDS = 5.0
"""CPU seconds that a file of at most ``LARGEST`` bytes may take to be read."""
MOST_MEMORY = 500
"""MB that reading may take beyond what is taken before."""
GUIDE_MEMORY = 8000
"""MB that a whole guided run may take: what the guide itself holds grows with the files it made."""


def read_all(seed: Seed, folder: Path, content: bytes) -> str:
    """Read a file every way; anything but an :class:`InputError` goes through.

    Args:
        seed: What the file was made from.
        folder: Where it is put; the files beside it are there already.
        content: What is in it now.

    Returns:
        Why it was refused; "" if it was not.
    """
    from bridge.model.errors import InputError
    from bridge.plugin.format import ReadOptions, Streaming
    from bridge.plugin.registry import get_format

    path = folder / seed.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    format_ = get_format(seed.format)
    assert 0.0 <= format_.sniff(content[: 64 * 1024], path) <= 1.0
    source = folder / (seed.main or seed.name)
    start, before, peak = time.process_time(), _memory(), _most_memory()
    told = ""
    try:
        if isinstance(format_, Streaming):
            for answer in format_.stream(source, ReadOptions()):
                assert answer.key["case_id"]
        bundle, report = format_.read(source, ReadOptions())
        bundle.model_dump_json()
        report.model_dump_json()
    except InputError as error:
        told = str(error)
    assert "\n" not in told, told
    took = time.process_time() - start
    assert took < MOST_SECONDS or len(content) > LARGEST, f"{took:.1f} s for {len(content)} bytes"
    grown = _most_memory() - before if _most_memory() > peak else 0
    assert grown < MOST_MEMORY, f"{grown} MB for {len(content)} bytes"
    return told


class Bench:
    """The seeds of some formats, each with a folder to be read in.

    Args:
        root: Where the folders are made.
        formats: Whose seeds; all if empty.
    """

    def __init__(self, root: Path, formats: Sequence[str] = ()) -> None:
        from fuzz.seeds import seeds  # late: the guide marks what is imported while it looks

        self.seeds = [each for each in seeds() if not formats or each.format in formats]
        self._folders = [root / str(number) for number in range(len(self.seeds))]
        for folder, seed in zip(self._folders, self.seeds, strict=True):
            for name, content in seed.beside.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def read(self, number: int, content: bytes) -> str:
        """Read what a seed became; returns why it was refused."""
        return read_all(self.seeds[number], self._folders[number], content)

    def mutated(self, number: int, content: bytes, chance: random.Random) -> bytes:
        """What a seed becomes next."""
        return mutated(content, Path(self.seeds[number].name).suffix, chance)


def at_random(minutes: float, formats: Sequence[str] = (), seed: int = 0) -> int:
    """Mutate until the time is over; returns how many files were read."""
    chance = random.Random(seed)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), formats)
        end = time.monotonic() + minutes * 60  # making the seeds takes a while
        while time.monotonic() < end:
            number = chance.randrange(len(bench.seeds))
            data = bench.mutated(number, bench.seeds[number].content, chance)
            try:
                bench.read(number, data)
            except BaseException:
                print(bench.seeds[number].format, bench.seeds[number].name, data)
                raise
            count += 1
    return count


def guided(minutes: float, formats: Sequence[str]) -> None:
    """The same by atheris, which keeps what reaches new code; never returns."""
    atheris: Any = import_module("atheris")
    root = Path(tempfile.mkdtemp())
    with atheris.instrument_imports(include=["bridge", *_adapters()]):
        bench = Bench(root / "files", formats)
        _ready(bench, root / "corpus")

    def one(data: bytes) -> None:
        if data:
            bench.read(data[0] % len(bench.seeds), data[1:])

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        number = data[0] % len(bench.seeds) if data else 0
        made = bench.mutated(number, data[1:] or bench.seeds[number].content, chance)
        return (bytes([number]) + made)[:most]

    limits = (f"-max_total_time={int(minutes * 60)}", f"-rss_limit_mb={GUIDE_MEMORY}",
              f"-max_len={LARGEST}", "-timeout=60", "-print_final_stats=1", "-verbosity=0")  # fmt: skip
    atheris.Setup([sys.argv[0], str(root / "corpus"), *limits], one, custom_mutator=mutator)
    atheris.Fuzz()


def _ready(bench: Bench, corpus: Path) -> None:
    """Read every seed once, which imports all that is imported late, and lay them down."""
    corpus.mkdir()
    for number, seed in enumerate(bench.seeds):
        bench.read(number, seed.content)
        (corpus / str(number)).write_bytes(bytes([number]) + seed.content)


def _adapters() -> list[str]:
    return [
        path.name for path in (Path(__file__).parents[2] / "adapters").iterdir() if path.is_dir()
    ]


def _memory() -> int:
    """MB that this process holds."""
    from resource import getpagesize

    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize() >> 20


def _most_memory() -> int:
    """MB that this process has held at most."""
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss >> 10


def _in_turn(minutes: float, formats: Sequence[str]) -> int:
    """Each format in a process of its own; returns the first exit code that is not 0."""
    from fuzz.seeds import seeds

    failed = 0
    for name in formats or dict.fromkeys(each.format for each in seeds()):
        command = [sys.executable, "-m", "fuzz.readers", "--minutes", str(minutes), "--alone", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        count = re.search(
            r"number_of_executed_units: (\d+)|^(\d+) files", done.stdout + done.stderr
        )
        print(f"{name}: {(count[1] or count[2]) if count else 'no'} files in {minutes:g} minutes")
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-6000:], sep="\n")
            failed = failed or done.returncode
    return failed


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--again", type=Path, metavar="FILE", help="read a crash once more")
    parser.add_argument("formats", nargs="*")
    given = parser.parse_args()
    if given.again is not None:
        with tempfile.TemporaryDirectory() as folder:
            data = given.again.read_bytes()
            bench = Bench(Path(folder), given.formats)
            number = data[0] % len(bench.seeds)
            print(bench.seeds[number].format, bench.seeds[number].name)
            bench.read(number, data[1:])
        return 0
    if not given.alone:
        return _in_turn(given.minutes, given.formats)
    if find_spec("atheris") is None:
        print(f"{at_random(given.minutes, given.formats, int(time.time()))} files")
        return 0
    guided(given.minutes, given.formats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
