"""Cache keys by identity."""

from __future__ import annotations

from typing import Any


class Itself:
    """A cache key that equals itself only: Python takes 1, 1.0 and true for the same.

    It holds its value, so that no other value comes to have the same identity while it is a key.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
