"""JSON as other people's tools write it: NaN, infinities and halves of emojis included."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

import msgspec

from bridge.model.values import clean_text

T = TypeVar("T")

MAX_DEPTH = 200
"""Deepest nesting of a record that is no strict JSON."""


class Lenient(Generic[T]):
    """Decodes records; counts what was no JSON and had to be replaced.

    Args:
        kind: The record, a msgspec type. What it does not name is skipped.
        keep: Keys whose numbers stay NaN, since that is what they say.
        prepare: Called with the plain data of a record that is no strict JSON.

    Attributes:
        nulled: Numbers that were NaN or infinite, and are null now.
        replaced: Texts with half an emoji, which have U+FFFD there now.
    """

    def __init__(
        self,
        kind: Any,
        keep: Collection[str] = (),
        prepare: Callable[[Any], None] | None = None,
    ) -> None:
        self._kind = kind
        self._keep = frozenset(keep)
        self._prepare = prepare
        self._strict: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)
        self.nulled = 0
        self.replaced = 0

    def decode(self, data: bytes) -> T:
        """JSON text as a record.

        Raises:
            ValueError: If it is no JSON, not of that shape, or nested too deeply.
        """
        try:
            return self._strict.decode(data)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            pass
        except RecursionError:
            raise ValueError("nested too deeply") from None
        return self.mend(data)

    def mend(self, data: bytes) -> T:
        """The same by the slow way.

        Raises:
            ValueError: As :meth:`decode`.
        """
        try:
            value = self._mended(json.loads(data))
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if self._prepare is not None:
            self._prepare(value)
        converted: T = msgspec.convert(value, self._kind)
        return converted

    def _mended(self, value: Any, depth: int = 0, *, keep: bool = False) -> Any:
        if isinstance(value, float) and not math.isfinite(value) and not keep:
            self.nulled += 1
            return None
        if isinstance(value, str):
            clean = clean_text(value)
            self.replaced += clean is not value
            return clean
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        if isinstance(value, list):
            return [self._mended(each, depth + 1, keep=keep) for each in value]
        if isinstance(value, dict):
            return {
                clean_text(name): self._mended(each, depth + 1, keep=keep or name in self._keep)
                for name, each in value.items()
            }
        return value

    def notes(self) -> list[str]:
        """What a reader should know of the replaced values."""
        notes = []
        if self.nulled:
            notes.append(f"{self.nulled} numbers are NaN or infinite: read as null")
        if self.replaced:
            notes.append(f"{self.replaced} texts hold half of an emoji: read as U+FFFD")
        return notes
