"""Texts shown to a judge as data: bounded in length, between marks they cannot hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fenced:
    """Texts between marks.

    Attributes:
        text: All of them, for a prompt.
        boundary: The word in their marks.
        cut: Names of the texts of which a part was left out.
    """

    text: str
    boundary: str
    cut: tuple[str, ...]


def fence(parts: Sequence[tuple[str, str]], max_chars: int) -> Fenced:
    """Put texts between marks.

    The boundary is a digest of all that it encloses. Nobody can write a text that holds its own
    digest, so it is as hard to guess as a random one; yet equal texts get equal marks, and the
    judge's cache holds.

    Args:
        parts: (name, text) each, in order.
        max_chars: Most characters of each text; of a longer one the middle is left out.
    """
    shown = {name: _shorten(text, max_chars) for name, text in parts}
    boundary = _boundary(shown)
    blocks = [f"[{boundary} {name}]\n{text}\n[/{boundary} {name}]" for name, text in shown.items()]
    cut = tuple(name for name, text in parts if len(text) > max_chars)
    return Fenced("\n\n".join(blocks), boundary, cut)


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head, tail = most - most // 3, most // 3
    left_out = len(text) - most
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[len(text) - tail :]}"


def _boundary(shown: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name, text in shown.items():
        for each in (name, text):
            encoded = each.encode("utf-8", "replace")
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
    return f"data-{digest.hexdigest()[:32]}"
