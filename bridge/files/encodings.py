"""Other people's text files: which encoding, and what is no text at all."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

MAX_BYTES = 256 * 1024 * 1024
"""Largest text file read, in bytes."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = (
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer",
        "fetch it with git lfs pull",
    ),
    (b"PK\x03\x04", "a zip archive (a spreadsheet?)", "export it as CSV in UTF-8"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it"),
    (b"PAR1", "a Parquet file", "name it *.parquet"),
    (b"\xd0\xcf\x11\xe0", "an old office document", "export it as CSV in UTF-8"),
)
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
    for start, what, fix in _NO_TEXT:
        if data.startswith(start):
            raise InputError(f"{what}, no text", where=path, fix=fix)
    if encoding is not None:
        return _named(data, path, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _named(data[len(mark) :], path, name)
    if b"\0" in data:
        what = f"no text (a NUL at byte {data.index(0)})"
        raise InputError(what, where=path, fix="name a text file")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return _legacy(data, path, error.start)


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
