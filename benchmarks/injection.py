"""The injection scanner measured: what it finds, what it costs.

    python benchmarks/injection.py table FOLDER... [--held-out] [--missed N] [--false N]
    python benchmarks/injection.py evasions
    python benchmarks/injection.py speed [FOLDER...]

A folder holds ``*.jsonl`` files of ``{text, label, source}`` (label 1 = attack). ``table`` prints,
for each source, recall or false positives with Wilson's interval, and recall at fixed rates of
false positives, for rules alone and with the second stage. With ``--held-out`` the second stage
of each source is trained without it, on the others and what the package itself brings.
``evasions`` prints 20 attacks in 19 disguises; ``speed`` the time per prompt and for 1 MB.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from injection_evasions import print_evasions
from injection_speed import print_speed
from injection_table import print_examples, print_table, scan_sets

from bridge.model import InputError
from bridge.scorers.injection.model import Weights
from bridge.scorers.injection.model.dataset import own_examples, prepare, read_folder
from bridge.scorers.injection.model.phrases import Example
from bridge.scorers.injection.model.train import Settings, held_out


def print_tables(folders: list[Path], held: bool, missed: int, false: int) -> None:
    """Read, train if asked to, scan, print."""
    examples = [one for folder in folders for one in read_folder(folder)]
    trained = _held_out(examples) if held else {}
    sets = scan_sets(examples, lambda source: trained.get(source, True))
    print_table(sets)
    print_examples(sets, missed, false)


def _held_out(examples: list[Example]) -> dict[str, Weights]:
    settings = Settings()
    own = prepare(own_examples(), settings.windows)
    return held_out(prepare(examples, settings.windows), own, settings)


def main() -> int:
    """Parse the command line and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["table", "evasions", "speed"])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--held-out", action="store_true", help="train without the source tested")
    parser.add_argument("--missed", type=int, default=0, help="attacks to print per set")
    parser.add_argument("--false", type=int, default=0, help="false positives to print per set")
    given = parser.parse_args()
    try:
        if given.what == "evasions":
            print_evasions()
        elif given.what == "speed":
            print_speed(given.folders)
        else:
            print_tables(given.folders, given.held_out, given.missed, given.false)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
