"""JSON Lines in and out: what is refused where, and writes that survive a crash."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.files.jsonl import (
    Appender,
    lone_surrogates,
    parse_object,
    read_lines,
    read_object,
    read_whole,
    write_atomically,
)
from bridge.model.errors import InfrastructureError, InputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.jsonl"


@pytest.mark.parametrize(("limit", "said"), [(3 << 20, "3 MiB"), (2 << 30, "2 GiB")])
def test_a_whole_file_that_is_too_large(file: Path, limit: int, said: str) -> None:
    with file.open("wb") as made:
        made.truncate(limit + 1)
    with pytest.raises(InputError, match=f"larger than {said}; split it"):
        read_whole(file, limit, "split it")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n\r\n \n\t\n", []),
        (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        (b"a\nb", [(1, b"a"), (2, b"b")]),
        (b"a\r\n\r\nb\r\n", [(1, b"a"), (3, b"b")]),
        (b"\xef\xbb\xbfa\nb", [(1, b"a"), (2, b"b")]),
        (b"\xef\xbb\xbf\n  a  ", [(2, b"a")]),
        ("ä\u2028ö\n".encode(), [(1, "ä\u2028ö".encode())]),
    ],
)
def test_lines(file: Path, data: bytes, lines: list[tuple[int, bytes]]) -> None:
    file.write_bytes(data)
    assert list(read_lines(file)) == lines


def test_a_line_of_65_mib_is_refused_with_its_number(file: Path) -> None:
    with file.open("wb") as out:
        out.write(b'{"a": 1}\n')
        out.seek(65 * 1024 * 1024, os.SEEK_CUR)
        out.write(b"\n")
    lines = read_lines(file)
    assert next(lines) == (1, b'{"a": 1}')
    with pytest.raises(InputError, match=r"file\.jsonl:2: line longer than 64 MiB"):
        next(lines)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "No such file"),
        (".", "Is a directory.; name a file in it"),
        ("file/below", "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "file").write_text("x")
    for read in (lambda p: list(read_lines(p)), read_object):
        with pytest.raises(InputError, match=message):
            read(tmp_path / path)


DEEP = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[1]", "a list, not an object"),
        (b'"a"', "a text, not an object"),
        (b"7", "a number, not an object"),
        (b"null", "null, not an object"),
        (b"true", "true or false, not an object"),
        (b'{"a": 1', r"not JSON \(Expecting ',' delimiter at column 8\)"),
        (b'{"a": 1} {"b": 2}', r"not JSON \(Extra data at column 10\)"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": [Infinity]}', "Infinity is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1, "a": 2}', "key 'a' stands twice"),
        (b'{"x": {"b": 1, "c": 2, "b": 1}}', "key 'b' stands twice"),
        (b'{"a": "\x00"}', "not JSON"),
        (b"\x00" * 40, "not JSON"),
        (b'{"a": "\xff"}', r"not UTF-8 \(byte 7\)"),
        ('{"a": 1}'.encode("utf-16"), r"not UTF-8 \(byte 0\)"),
        ('{"a": "ü"}'.encode("cp1252"), r"not UTF-8 \(byte 7\)"),
        (b'{"a": "\xed\xa0\x80"}', r"not UTF-8 \(byte 7\)"),
        (DEEP, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
        (b"version https://git-lfs.github.com/spec/v1", "not JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_lines_that_are_no_object(line: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_object(line, Path("f.jsonl"), 3)
    assert str(caught.value).startswith("f.jsonl:3: ")
    assert caught.value.fix


def test_the_line_of_a_fault_in_a_whole_file(file: Path) -> None:
    file.write_bytes(b'{\n"a": 1,\n"b" 2}')
    with pytest.raises(InputError, match=r"file\.jsonl:3: not JSON .* the file is one JSON object"):
        read_object(file)
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_object(file) == {"a": 1}


def test_a_repeated_key_among_many_is_found_in_time() -> None:
    keys = ",".join(f'"k{index}":1' for index in range(100_000))
    started = time.process_time()
    with pytest.raises(InputError, match="stands twice"):
        parse_object(f'{{{keys},"k9":1}}'.encode(), Path("f"), 1)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("line", "count"),
    [
        (rb'{"a": "x"}', 0),
        (rb'{"a": "\ud83d\ude00"}', 0),
        (rb'{"a": "\ud83d"}', 1),
        (rb'{"a": ["\uD800\ud800", {"\udfff": 1}]}', 3),
        (rb'{"a": "\\ud800"}', 0),
    ],
)
def test_lone_surrogates_are_counted(line: bytes, count: int) -> None:
    assert lone_surrogates(line, parse_object(line, Path("f"), 1)) == count


def test_a_file_is_there_whole_or_not_at_all(file: Path) -> None:
    file.write_text("old")

    def chunks() -> Iterator[str]:
        yield "new" * 100_000
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        write_atomically(file, chunks())
    assert file.read_text() == "old"
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    write_atomically(file, ["né", "w\n"])
    assert file.read_bytes() == "néw\n".encode()


def test_folders_are_made(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b" / "c", ["x"])
    with Appender(tmp_path / "d" / "e") as appender:
        appender.append("y")
    assert (tmp_path / "a" / "b" / "c").read_text() == "x"
    assert (tmp_path / "d" / "e").read_text() == "y\n"


@pytest.mark.parametrize("kind", ["directory", "file as folder"])
def test_paths_that_cannot_be_written(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("x")
    path = tmp_path if kind == "directory" else tmp_path / "file" / "below"
    with pytest.raises(InfrastructureError, match="cannot be written"):
        write_atomically(path, ["x"])
    with pytest.raises(InfrastructureError, match="cannot be written"):
        Appender(path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


FULL_DISK = """
import resource, sys
from pathlib import Path
from bridge.files.jsonl import Appender, write_atomically
from bridge.model.errors import InfrastructureError
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
path = Path(sys.argv[1])
try:
    write_atomically(path, ["x" * 100_000])
except InfrastructureError as error:
    print(error)
try:
    with Appender(path.with_name("rows")) as rows:
        for index in range(100_000):
            rows.append(f"row {index}")
except InfrastructureError as error:
    print(error)
"""


def test_a_full_disk_is_an_error_and_the_old_file_stays(file: Path) -> None:
    file.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert all("cannot be written (File too large); free some space" in line for line in lines)
    assert done.stderr == ""
    assert file.read_text() == "old"
    assert sorted(path.name for path in file.parent.iterdir()) == ["file.jsonl", "rows"]
    assert file.with_name("rows").read_text().startswith("row 0\nrow 1\n")


def test_appended_lines_are_with_the_system_at_once(file: Path) -> None:
    appender = Appender(file)
    appender.append("a")
    assert file.read_text() == "a\n"
    appender.close()
    with Appender(file) as again:
        again.append("ü")
    assert file.read_text(encoding="utf-8") == "a\nü\n"


@pytest.mark.parametrize(("seconds", "syncs"), [(1000.0, 1), (0.0, 4)])
def test_appended_lines_are_synced_in_batches(
    file: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, syncs: int
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("bridge.files.jsonl.SYNC_EVERY_S", seconds)
    monkeypatch.setattr("os.fsync", synced.append)
    with Appender(file) as appender:
        for _ in range(3):
            appender.append("a")
    assert len(synced) == syncs
