"""Inspect archives that are damaged, cut off, or made to harm: each is refused in one line."""

from __future__ import annotations

import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

from bridge.model import Bundle, ConversionReport, InputError
from bridge.plugin.format import ReadOptions
from bridge_inspect.format import FORMAT

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NATIVE = ROOT / "tests" / "native" / "inspect"


def read(path: Path) -> tuple[Bundle, ConversionReport]:
    return FORMAT.read(path, ReadOptions())


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def refused(path: Path, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "no Inspect log"),
        (b"[]", "no Inspect log"),
        (b"null", "no Inspect log"),
        (b'{"status": "success", "eval": {', "the file is cut off"),
        (b'{"status": 7, "eval": {}}', "no Inspect log"),
        (b'{"samples": [NaN]}', "row 1 is no object"),
        (b'{"samples": {"a": NaN}}', "holds no row"),
        (b"[" * 100_000, "the file is cut off"),
        (b"[" * 100_000 + b"]" * 100_000, "no Inspect log"),
        (b"\xff\xfe\x00", "text in UTF-16; save it as UTF-8"),
        (b"PK\x03\x04", "no zip archive"),
        (b"PK\x05\x06", "its directory is damaged"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(tmp_path: Path, content: bytes, match: str) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    refused(path, match)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "gone.eval", "cannot be read")
    refused(tmp_path, "no Inspect log in this folder; name a log")


def test_another_archive_is_refused(tmp_path: Path) -> None:
    refused(write_zip(tmp_path / "x.eval", {"word/document.xml": b"<x/>"}), "no Inspect log")


def test_every_cut_of_an_archive_is_refused(tmp_path: Path) -> None:
    whole = (NATIVE / "foreign.eval").read_bytes()
    path = tmp_path / "cut.eval"
    for end in range(4, len(whole) - 1, 97):
        path.write_bytes(whole[:end])
        refused(path, "cut off|damaged|no zip archive")


def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    whole = (NATIVE / "foreign.eval").read_bytes()
    expected, _ = read(NATIVE / "foreign.eval")
    path = tmp_path / "flipped.eval"
    refusals = []
    for at in range(0, len(whole), 61):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        try:
            bundle, report = read(path)
        except InputError as error:
            refusals.append(str(error))
        else:  # a place that is not read, or a member that lost its name and is missed
            assert bundle.scores == expected.scores or "the file holds" in str(report.notes)
    assert len(refusals) > 50
    assert not any("\n" in refusal for refusal in refusals)


def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    path.write_bytes(raw_zip("header.json", b"x" * 1000, method=8, size=300_000_000))
    refused(path, "it would unpack to 300,000,000 bytes")
    path.write_bytes(raw_zip("header.json", b"x" * 2_000_000, method=8, size=300_000_000))
    refused(path, "member header.json would unpack to 300,000,000 bytes")


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    """A declared size bounds what is unpacked, whatever the packed bytes hold."""
    content = b"0" * 3_000_000
    path = write_zip(tmp_path / "liar.eval", {"header.json": content})
    data = path.read_bytes()
    size, lie = struct.pack("<L", len(content)), struct.pack("<L", 1000)
    path.write_bytes(data.replace(size, lie))
    refused(path, "damaged")


def test_zstd_frames_are_bounded_too(tmp_path: Path) -> None:
    packed = zstd.compress(b"0" * 50_000_000)
    path = tmp_path / "bomb.eval"
    path.write_bytes(raw_zip("header.json", packed, method=93, size=1000))
    refused(path, "damaged")


def test_several_zstd_frames_are_one_member(tmp_path: Path) -> None:
    log = json.dumps({"status": "success", "eval": {"task": "t"}}).encode()
    packed = zstd.compress(log[:10]) + zstd.compress(log[10:])
    path = tmp_path / "frames.eval"
    path.write_bytes(raw_zip("header.json", packed, 93, len(log), zlib.crc32(log)))
    refused(path, "holds no row")


def raw_zip(name: str, packed: bytes, method: int, size: int, crc: int = 0) -> bytes:
    """A zip archive with one member, said to be so large and packed so."""
    common = struct.pack("<5H3L2H", 45, 0, method, 0, 33, crc, len(packed), size, len(name), 0)
    local = b"PK\x03\x04" + common + name.encode()
    entry = b"PK\x01\x02\x2d\x00" + common + struct.pack("<3H2L", 0, 0, 0, 0, 0) + name.encode()
    offset = len(local) + len(packed)
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 1, 1, len(entry), offset, 0)
    return local + packed + entry + end


@pytest.mark.parametrize("method", [0, 8, 93])
def test_zip64_archives_are_read(tmp_path: Path, method: int) -> None:
    head = json.dumps({"status": "success", "eval": {"task": "t"}}).encode()
    deflate = zlib.compressobj(wbits=-15)
    pack: dict[int, Callable[[], bytes]] = {
        0: lambda: head,
        8: lambda: deflate.compress(head) + deflate.flush(),
        93: lambda: zstd.compress(head),
    }
    packed = pack[method]()
    path = tmp_path / "large.eval"
    path.write_bytes(raw_zip64("header.json", packed, method, len(head), zlib.crc32(head)))
    refused(path, "holds no row")


def raw_zip64(name: str, packed: bytes, method: int, size: int, crc: int) -> bytes:
    """The same with every number in its 64-bit place."""
    full = 0xFFFFFFFF
    local = (
        b"PK\x03\x04"
        + struct.pack("<5H3L2H", 45, 0, method, 0, 33, crc, full, full, len(name), 0)
        + name.encode()
    )
    extra = struct.pack("<2H3Q", 1, 24, size, len(packed), 0)
    entry = (
        b"PK\x01\x02\x2d\x00"
        + struct.pack("<5H3L2H", 45, 0, method, 0, 33, crc, full, full, len(name), len(extra))
        + struct.pack("<3H2L", 0, 0, 0, 0, full)
        + name.encode()
        + extra
    )
    offset = len(local) + len(packed)
    end64 = b"PK\x06\x06" + struct.pack("<Q2H2L4Q", 44, 45, 45, 0, 0, 1, 1, len(entry), offset)
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, offset + len(entry), 1)
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 0xFFFF, 0xFFFF, full, full, 0)
    return local + packed + entry + end64 + locator + end


def test_an_encrypted_or_strangely_packed_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.eval"
    path.write_bytes(raw_zip("header.json", b"{}", 12, 2))
    refused(path, "unknown compression method 12")
    locked = bytearray(raw_zip("header.json", b"{}", 0, 2))
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(locked)
    refused(path, "encrypted")


def _listed(extra: bytes = b"", size: int = 10, offset: int = 0) -> bytes:
    """The directory's entry of a log's head."""
    name = b"header.json"
    fields = (20, 20, 0, 0, 0, 0, 0, 10, size, len(name), len(extra), 0, 0, 0, 0, offset)
    return struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *fields) + name + extra


def _end(count: int, size: int, offset: int) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, size, offset, 0)


_BEGIN = b"PK\x03\x04" + b"\x00" * 40
_FULL, _BEYOND = 0xFFFFFFFF, 2**64 - 1
_LACKING = _listed(struct.pack("<HH", 1, 0), size=_FULL)
_FAR_MEMBER = _listed(struct.pack("<HHQ", 1, 8, _BEYOND), offset=_FULL)
_FAR_LOCATOR = struct.pack("<4sLQL", b"PK\x06\x07", 0, _BEYOND, 1)
_NEAR_LOCATOR = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(_BEGIN), 1)
_FAR_DIRECTORY = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 0, 0, 0, 0, 1, 1, 10, _BEYOND)


@pytest.mark.parametrize(
    ("rest", "match"),
    [
        (_LACKING + _end(1, len(_LACKING), len(_BEGIN)), "it would unpack to 4,294,967,295 bytes"),
        (_FAR_MEMBER + _end(1, len(_FAR_MEMBER), len(_BEGIN)), "member header.json is damaged"),
        (_FAR_LOCATOR + _end(1, 0, _FULL), "its directory is damaged"),
        (_FAR_DIRECTORY + _NEAR_LOCATOR + _end(1, 0, _FULL), "its directory is damaged"),
    ],
    ids=["a size that is not there", "a member", "a locator", "a directory"],
)
def test_zip64_fields_that_lead_nowhere_are_refused(
    tmp_path: Path, rest: bytes, match: str
) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(_BEGIN + rest)
    refused(path, match)
