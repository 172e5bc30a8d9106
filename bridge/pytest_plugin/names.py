"""Names of nodes: stable, one a row, and such that pytest finds a node by its id again."""

from __future__ import annotations

import re

from bridge.model.score import RowKey

_MARKS = re.compile(r"[\\\[]|:(?=:|$)|(?<=:):|^:")
"""What pytest reads in a node id: ``::`` between nodes, ``[`` before parameters; and our escape."""


def node_name(text: str) -> str:
    """An id or a metric as a name; what pytest would read, or nobody could see, is escaped."""
    escaped = _MARKS.sub(lambda mark: f"\\x{ord(mark[0]):02x}", text)
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in escaped
    )


def row_name(key: RowKey, *, several: bool) -> str:
    """The name of a row within its case: its metric, and what tells it from its like.

    Args:
        key: The row.
        several: Whether the suite has several systems.
    """
    parts = [
        key.framework if key.framework != "core" else "",
        key.system if several else "",
        f"epoch{key.epoch}" if key.epoch > 1 else "",
        f"turn{key.turn}" if key.turn is not None else "",
    ]
    told = "-".join(node_name(part) for part in parts if part)
    return f"{node_name(key.metric)}[{told}]" if told else node_name(key.metric)
