"""The tables of the migration guides: ``python -m bridge_promptfoo.config.guide docs/migrate``.

Each guide is written by hand around a table, which stands between two marks and is made from
:mod:`bridge_promptfoo.config.kinds`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge_promptfoo.config.kinds import KINDS, Kind

BEGIN, END = "<!-- assertions: generated -->", "<!-- end of assertions -->"
GUIDES = ("promptfoo-to-bridge.md", "bridge-to-promptfoo.md")


def from_promptfoo() -> str:
    """What becomes of each assertion type."""
    rows = [(f"`{kind.type}`", _here(kind), kind.why) for kind in KINDS.values()]
    return _table(("promptfoo", "here", "note"), rows)


def to_promptfoo() -> str:
    """What each scorer is written as."""
    native = {kind.scorer for kind in KINDS.values() if kind.write is not None}
    written: dict[str, list[str]] = {}
    for kind in KINDS.values():
        if kind.scorer in native:
            written.setdefault(kind.scorer, []).append(f"`{kind.type}`")
    rows = [(f"`{scorer}`", ", ".join(types)) for scorer, types in written.items()]
    rows.append(("`all`", "`assert-set`, or the test's `threshold`"))
    rows.append(
        ("any other, or one that promptfoo says otherwise", "`javascript`, which runs ours")
    )
    return _table(("here", "promptfoo"), rows)


def _here(kind: Kind) -> str:
    if kind.scorer:
        return f"`{kind.scorer}`"
    told = "kept as code" if kind.fate == "executable" else "kept"
    return f"{told}; judged: `{kind.judge}`" if kind.judge else told


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def with_table(guide: str, table: str) -> str:
    """A guide with its table made anew.

    Raises:
        ValueError: If the marks are not there.
    """
    before, _, rest = guide.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"no {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def guides(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each guide with its text as it should be."""
    for name, table in zip(GUIDES, (from_promptfoo(), to_promptfoo()), strict=True):
        yield folder / name, with_table((folder / name).read_text("utf-8"), table)


if __name__ == "__main__":
    for path, text in guides(Path(sys.argv[1])):
        write_atomically(path, [text])
