"""Files that hold no data though they are named as if: what they are, told by their first bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from bridge.model.errors import InputError
from bridge.model.values import clean_text

LOOKED_AT = 4096
"""Bytes that are looked at."""
TITLE = 60
"""Characters of a page's title that are shown."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks and the encodings that they tell."""

_STARTS = (
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the file",
        "fetch it with git lfs pull",
    ),
    (b"PK\x03\x04", "a zip archive (a workbook or a log?), no text", "export it as text"),
    (b"PK\x05\x06", "an empty zip archive, no text", "get a complete copy of the file"),
    (b"\x1f\x8b", "compressed with gzip, no text", "unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd, no text", "unpack it"),
    (b"PAR1", "a Parquet file, no text", "name it *.parquet"),
    (b"%PDF-", "a PDF file, no text", "get the data itself"),
    (b"\xd0\xcf\x11\xe0", "an old office document, no text", "export it as CSV in UTF-8"),
)
_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{1,500})</title>", re.IGNORECASE)


def refuse_no_data(head: bytes, path: Path, *, text: str = "UTF-8") -> None:
    """Refuse a file that holds no data, or is in an encoding that its reader does not take.

    Args:
        head: Its first bytes.
        path: The file, for the error.
        text: The encodings that its reader takes: ``UTF-8``, or ``any`` with a byte order mark.

    Raises:
        InputError: If it is a page of HTML, packed, a document, a pointer, UTF-16 or zero bytes.
    """
    head = head[:LOOKED_AT]
    for start, what, fix in _STARTS:
        if head.startswith(start):
            raise InputError(what, where=path, fix=fix)
    mark = mark_of(head)
    if mark not in ("", "utf-8"):
        head = head.decode(mark, "ignore").encode("utf-8", "replace").removeprefix(codecs.BOM_UTF8)
        if text != "any":
            name = mark[:-3].upper()
            raise InputError(f"text in {name}", where=path, fix="save it as UTF-8")
    if _PAGE.match(head.removeprefix(codecs.BOM_UTF8)):
        raise InputError(
            f"a page of HTML{_title(head)}", where=path, fix="download the file itself"
        )
    first = head.split(b"\n", 1)[0]  # a later one is found by the reader, which knows the line
    if b"\0" in first:
        what = f"no text (a NUL at byte {first.index(0)})"
        raise InputError(what, where=path, fix="name a text file")


def mark_of(head: bytes) -> str:
    """The encoding that a byte order mark tells; "" where there is none."""
    return next((name for mark, name in MARKS if head.startswith(mark)), "")


def _title(head: bytes) -> str:
    found = _TITLE.search(head)
    if found is None:
        return ""
    words = " ".join(clean_text(found[1].decode("utf-8", "replace")).split())
    return f" ({words[:TITLE]!r})"
