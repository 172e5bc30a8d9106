"""Writes the guides: ``python -m bridge.conversion.guide docs/migrate``."""

from __future__ import annotations

import sys
from pathlib import Path

from bridge.conversion.guide import guides
from bridge.files.jsonl import write_atomically

if __name__ == "__main__":
    for path, text in list(guides(Path(sys.argv[1]))):
        write_atomically(path, [text])
