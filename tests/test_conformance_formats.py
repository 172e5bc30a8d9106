"""The public contract of a format, over every format that is installed."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz.seeds import Seed, seeds
from test_accounted import CELLS, READ_INTO, documents

from bridge.plugin.registry import detect_format, format_names
from bridge.testing import FormatContract

pytestmark = pytest.mark.xdist_group("formats")

FOLDER = Path(tempfile.mkdtemp(prefix="samples-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

OURS = {"golden_set": "cases", "outputs": "outputs", "scores": "scores"}
"""Formats whose lines are a part of a bundle."""
ELSEWHERE = {"suite", "run", "junit", "promptfoo_config"}
"""Several files, or XML: held to account in their own tests."""
ACCOUNT = "test_every_field_is_found_again_or_has_a_line"
MOST = 4
"""Samples of one format."""


def made(seed: Seed) -> Path:
    """A seed with what is beside it, in a folder of its own."""
    folder = FOLDER / seed.format / seed.name.replace("/", "_")
    for name, content in {**seed.beside, seed.name: seed.content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / (seed.main or seed.name)


def samples_of(name: str) -> Iterator[Path]:
    """What frameworks left, and files by hand, that are known for this format's own."""
    for seed in seeds():
        if seed.format == name and b"bridge" not in seed.content:
            path = made(seed)
            if detect_format(path).info.name == name:
                yield path


class OurFormat(FormatContract):
    """What our tests know of our files beside what the contract does."""

    def documents(self, path: Path) -> list[Any]:
        whole = documents(Seed(self.format, path.name, path.read_bytes()), FOLDER)
        return [{OURS[self.format]: whole[0]}] if self.format in OURS else whole


for name in format_names():
    if name == "baseline":
        continue  # for --baseline alone: nothing can be read from it
    samples = tuple(samples_of(name))[:MOST]
    columns = {f"[].{column}" for column in CELLS}
    fields: dict[str, Any] = {
        "format": name,
        "samples": samples,
        "changed": {*READ_INTO.get(name, ()), *columns},
        "may_be_empty": name in ("outputs", "scores"),
    }
    if name in ELSEWHERE:
        fields[ACCOUNT] = None
    globals()[f"Test_{name}"] = type(f"Test_{name}", (OurFormat,), fields)
