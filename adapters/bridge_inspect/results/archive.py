"""Reading ``.eval`` archives: a bounded walk over a zip file that trusts nothing in it.

Inspect compresses members with zstd (zip method 93), which the standard library's ``zipfile``
cannot read before Python 3.14. The layout is that of PKWARE's APPNOTE.TXT, sections 4.3 and 4.4.
"""

from __future__ import annotations

import mmap
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_MEMBER = 256 * 1024 * 1024
"""Most bytes that one member may unpack to."""
MAX_TOTAL = 16 * 1024**3
"""Most bytes that all members together may unpack to."""
MAX_RATIO = 200
"""Most bytes that one byte of a file may unpack to, beyond what one member may."""

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_FULL = 0xFFFFFFFF
_MAX_COMMENT = 65535


@dataclass(frozen=True, slots=True)
class Member:
    """One member as the central directory has it."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    encrypted: bool


class Archive:
    """The members of an open archive by name; of members with one name, the last counts."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        try:
            self.members = {member.name: member for member in self._walk()}
        except (struct.error, OverflowError, UnicodeDecodeError):
            raise self._refuse("its directory is damaged") from None
        total = sum(member.size for member in self.members.values())
        if total > min(MAX_TOTAL, max(MAX_MEMBER, MAX_RATIO * len(data))):
            raise self._refuse(f"it would unpack to {total:,} bytes")

    def read(self, name: str) -> bytes:
        """The content of a member, its length and checksum verified.

        Raises:
            InputError: If it is damaged, too large, or packed in an unknown way.
        """
        member = self.members[name]
        if member.size > MAX_MEMBER:
            raise self._refuse(f"member {name} would unpack to {member.size:,} bytes")
        try:
            content = self._unpack(member)
        except (
            zlib.error,
            zstd.ZstdError,
            EOFError,
            struct.error,
            ValueError,
            OverflowError,
        ) as error:
            raise self._refuse(f"member {name} is damaged ({error})") from None
        if len(content) != member.size or zlib.crc32(content) != member.crc:
            raise self._refuse(f"member {name} is damaged (its length or checksum is wrong)")
        return content

    def _unpack(self, member: Member) -> bytes:
        if member.encrypted:
            raise ValueError("it is encrypted")
        head = _LOCAL.unpack_from(self._data, member.offset)
        if head[0] != b"PK\x03\x04":
            raise ValueError("no member begins where it should")
        start = member.offset + _LOCAL.size + head[9] + head[10]
        packed = self._data[start : start + member.packed]
        if len(packed) != member.packed:
            raise ValueError("it is cut off")
        if member.method == 0:
            return packed
        if member.method == 8:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.size + 1)
        if member.method == 93:
            return _unpack_zstd(packed, member.size + 1)
        raise ValueError(f"unknown compression method {member.method}")

    def _walk(self) -> Iterator[Member]:
        position, count = self._directory()
        for _ in range(count):
            entry = _ENTRY.unpack_from(self._data, position)
            if entry[0] != b"PK\x01\x02":
                raise self._refuse("its directory is damaged (an entry is missing)")
            flags, method, crc = entry[3], entry[4], entry[7]
            packed, size, offset = entry[8], entry[9], entry[16]
            name_at = position + _ENTRY.size
            extra_at = name_at + entry[10]
            position = extra_at + entry[11] + entry[12]
            name = self._data[name_at:extra_at].decode("utf-8" if flags & 0x800 else "cp437")
            if _FULL in (packed, size, offset):
                extra = self._data[extra_at : extra_at + entry[11]]
                size, packed, offset = _zip64(extra, size, packed, offset)
            yield Member(name, method, crc, packed, size, offset, bool(flags & 1))

    def _directory(self) -> tuple[int, int]:
        """Offset of the central directory, and its number of entries."""
        tail = max(0, len(self._data) - _END.size - _MAX_COMMENT)
        at = self._data.rfind(b"PK\x05\x06", tail)
        if at < 0:
            raise self._refuse("it is no zip archive, or it is cut off")
        end = _END.unpack_from(self._data, at)
        count, offset = end[4], end[6]
        if count == 0xFFFF or offset == _FULL:
            locator = _LOCATOR64.unpack_from(self._data, at - _LOCATOR64.size)
            if locator[0] == b"PK\x06\x07":
                end64 = _END64.unpack_from(self._data, locator[2])
                count, offset = end64[7], end64[9]
        if count > len(self._data) // _ENTRY.size:
            raise self._refuse("its directory is damaged (too many entries)")
        return offset, count

    def _refuse(self, what: str) -> InputError:
        return InputError(what, where=self._path, fix="get a complete copy of the log")


def _zip64(extra: bytes, *short: int) -> tuple[int, int, int]:
    """Size, packed size and offset, those that did not fit taken from the extra field.

    What a damaged field lacks stays as it is: larger than what is read.
    """
    values = list(short)
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            long = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            values = [next(long, value) if value == _FULL else value for value in values]
        at += 4 + length
    size, packed, offset = values
    return size, packed, offset


def _unpack_zstd(packed: bytes, most: int) -> bytes:
    """Frames of zstd, one after the other, as far as ``most`` bytes."""
    parts: list[bytes] = []
    room = most
    while packed and room > 0:
        frame = zstd.ZstdDecompressor()
        part = frame.decompress(packed, room)
        parts.append(part)
        room -= len(part)
        if not frame.eof:
            break
        packed = frame.unused_data
    return b"".join(parts)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """An archive for reading.

    Raises:
        InputError: If it cannot be read or is no zip archive.
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                raise InputError("empty file", where=path, fix="get a complete copy of the log")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield Archive(path, data)
    except OSError as error:
        raise unreadable(path, error) from None


def is_archive(head: bytes) -> bool:
    """Whether a file with these first bytes is a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))
