"""Every error the package raises on purpose.

::

    BridgeError                     exit code
    ├── InputError                  2   a file, a configuration or a call is wrong
    ├── MissingDependency           2   a framework is not installed, or too old
    └── InfrastructureError         3   a worker died or hung, a disk is full

Each says in one line what is wrong, where (``path:line``), and what to do next.
"""

from __future__ import annotations

from pathlib import Path


class BridgeError(Exception):
    """Base of all errors raised on purpose.

    Args:
        what: What is wrong, without a final full stop.
        where: The file, with its line where one is known.
        line: 1-based line in ``where``.
        fix: What to do next.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, where: str | Path | None = None, line: int | None = None, fix: str = ""
    ) -> None:
        self.what = what
        self.where = str(where) if where is not None else None
        self.line = line
        self.fix = fix
        super().__init__(str(self))

    def __str__(self) -> str:
        place = self.where or ""
        if place and self.line is not None:
            place = f"{place}:{self.line}"
        text = f"{place}: {self.what}" if place else self.what
        text = f"{text}; {self.fix}" if self.fix else text
        return " ".join(text.split())

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.line, self.fix))


def _rebuild(
    kind: type[BridgeError], what: str, where: str | None, line: int | None, fix: str
) -> BridgeError:
    return kind(what, where=where, line=line, fix=fix)


class InputError(BridgeError):
    """A file, a configuration or a call is wrong; mending it is the caller's part."""

    exit_code = 2


class MissingDependency(BridgeError):  # noqa: N818  # the name design and users know
    """A framework is not installed or has an unsupported version; ``fix`` is the mending line."""

    exit_code = 2


class InfrastructureError(BridgeError):
    """What runs the evaluation broke: a worker died or hung, the disk is full."""

    exit_code = 3
