"""Other people's text files: which encoding, and what is no text at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import unreadable
from bridge.files.no_data import mark_of, refuse_no_data
from bridge.model.errors import InputError

MAX_BYTES = 256 * 1024 * 1024
"""Largest text file read, in bytes."""

_LEGACY = ("cp1252", "mac-roman")
_TITLES = {"cp1252": "Windows-1252", "mac-roman": "Mac Roman"}
_USUAL = frozenset("äöüÄÖÜßéèêëÉàâáãçîïíìôóòõùûúñÑåæøœ’‘“”„«»–—…€£°§·•")
"""Characters that people write in western languages; the wrong encoding turns them into others."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with the encoding it was read as.

    Attributes:
        text: Without a byte order mark.
        encoding: Python's name of the encoding.
        note: What a reader should know, where the encoding was guessed.
    """

    text: str
    encoding: str
    note: str = ""


def read_text(path: Path, encoding: str | None = None) -> Decoded:
    """A whole file as text.

    UTF-8, or UTF-16 and UTF-32 by their marks; anything else is taken for Windows-1252 or Mac
    Roman, whichever gives more of the letters that people write, and the guess is noted.

    Args:
        path: The file.
        encoding: The encoding, where it is known.

    Raises:
        InputError: If it cannot be read, is no text, or not in the named encoding.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            what = f"larger than {MAX_BYTES >> 20} MiB"
            raise InputError(what, where=path, fix="split it")
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return _decode(data, path, encoding)


def _decode(data: bytes, path: Path, encoding: str | None) -> Decoded:
    if encoding is not None:
        return _named(data, path, encoding)
    refuse_no_data(data, path, text="any")
    if mark := mark_of(data):
        return _named(data, path, mark)
    if b"\0" in data:
        what = f"no text (a NUL at byte {data.index(0)})"
        raise InputError(what, where=path, fix="name a text file")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return _legacy(data, path, error.start)


def encoding_of(head: bytes, path: Path) -> tuple[str, str]:
    """The encoding of a text whose first bytes these are, and what a reader should know of it.

    As :func:`read_text` tells it, by the first bytes alone: a file that is in UTF-8 as far as they
    go is taken for it.

    Args:
        head: The first bytes; a character may be cut off at their end.
        path: The file, for errors.

    Raises:
        InputError: If it is no text.
    """
    refuse_no_data(head, path, text="any")
    if mark := mark_of(head):
        return ("utf-8-sig", "") if mark == "utf-8" else (mark[:-3], "")
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(head) or error.reason != "unexpected end of data":
            legacy = _legacy(head, path, error.start)
            return legacy.encoding, legacy.note
    return "utf-8", ""


def decoded_head(head: bytes) -> str:
    """The first bytes of a file as text, as far as they are some; for whoever sniffs at it."""
    return head.decode(mark_of(head) or "utf-8", "replace").removeprefix("\ufeff")


def _named(data: bytes, path: Path, encoding: str) -> Decoded:
    try:
        text = data.decode(encoding)
    except LookupError:
        raise InputError(f"no encoding of text is called {encoding!r}", fix="write utf-8") from None
    except (UnicodeError, ValueError) as error:
        what = f"not in {encoding} ({error})"
        raise InputError(what, where=path, fix="name its encoding, or save it as UTF-8") from None
    return Decoded(text.removeprefix("\ufeff"), encoding)


def _legacy(data: bytes, path: Path, byte: int) -> Decoded:
    fits: dict[str, str] = {}
    for name in _LEGACY:
        try:
            fits[name] = data.decode(name)
        except UnicodeDecodeError:
            continue
    if not fits:
        fix = "save it as UTF-8"
        raise InputError(f"not UTF-8 (byte {byte})", where=path, fix=fix)
    best = max(fits, key=lambda name: sum(map(fits[name].count, _USUAL)))
    note = f"not UTF-8 (byte {byte}): read as {_TITLES[best]}; name another with encoding"
    return Decoded(fits[best], best, note)
