"""JSON Lines in and out: streaming, located errors, writes that survive a crash."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Never, Self, TypeVar

from pydantic import BaseModel, ValidationError

from bridge.files.no_data import LOOKED_AT, refuse_no_data
from bridge.model.errors import InfrastructureError, InputError
from bridge.model.explain import explain
from bridge.model.values import count_surrogates

M = TypeVar("M", bound=BaseModel)

BOM = b"\xef\xbb\xbf"

MAX_LINE = 64 * 1024 * 1024
"""Longest line read, in bytes."""

BLOCK = 1 << 17
"""Bytes read at a time; the line that they end in is read to its end.

What is made of so few stays in the processor's cache until it is used."""

SYNC_EVERY_S = 1.0
"""Longest time between two fsyncs of an appended file."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based line number, line without its end) of every line that is not blank.

    Raises:
        InputError: If the file cannot be read or a line is longer than ``MAX_LINE``.
    """
    for first, lines in read_blocks(path):
        for number, line in enumerate(lines, first):
            if stripped := line.strip():
                yield number, stripped


def read_blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (1-based number of the first line, lines) of about ``BLOCK`` bytes at a time.

    Blank lines are among them, line feeds are not.

    Raises:
        InputError: If the file cannot be read or a line is longer than ``MAX_LINE``.
    """
    try:
        with BufferedReader(path.open("rb", buffering=0), BLOCK) as file:
            refuse_no_data(file.peek(LOOKED_AT), path)
            yield from _blocks(path, file)
    except OSError as error:
        raise unreadable(path, error) from None


def _blocks(path: Path, file: BufferedReader[FileIO]) -> Iterator[tuple[int, list[bytes]]]:
    first = 1
    while block := file.read1(BLOCK):
        if not block.endswith(b"\n"):
            block += file.readline(MAX_LINE + 1)
        if first == 1:
            block = block.removeprefix(BOM)
        lines = block.removesuffix(b"\n").split(b"\n")
        if len(block) > MAX_LINE:
            yield from _up_to_long(path, first, lines)
        else:
            yield first, lines
        first += len(lines)


def _up_to_long(path: Path, first: int, lines: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    for place, line in enumerate(lines):
        if len(line) > MAX_LINE:
            yield first, lines[:place]
            what = f"line longer than {MAX_LINE >> 20} MiB"
            raise InputError(what, where=path, line=first + place, fix="split it")
    yield first, lines


def read_whole(path: Path, limit: int, fix: str) -> bytes:
    """A whole text file without its byte order mark; arguments as of :func:`read_bytes`.

    Raises:
        InputError: If it cannot be read, is larger, or is no text.
    """
    data = read_bytes(path, limit, fix)
    refuse_no_data(data, path)
    return data.removeprefix(BOM)


def read_bytes(path: Path, limit: int, fix: str) -> bytes:
    """A whole file.

    Args:
        path: The file.
        limit: Most bytes read.
        fix: What to do with a larger file.

    Raises:
        InputError: If it cannot be read, or is larger.
    """
    try:
        if path.stat().st_size > limit:
            size = f"{limit >> 30} GiB" if limit >> 30 else f"{limit >> 20} MiB"
            raise InputError(f"larger than {size}", where=path, fix=fix)
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> InputError:
    """The error for a file that the operating system does not hand over."""
    fixes = {FileNotFoundError: "check the path", IsADirectoryError: "name a file in it"}
    fix = fixes.get(type(error), "check its permissions")
    return InputError(f"cannot be read ({error.strerror or error})", where=path, fix=fix)


def parse_object(data: bytes, path: Path, number: int | None) -> dict[str, Any]:
    """One line, or a whole file, as a JSON object: no NaN, no repeated keys, UTF-8 only.

    Args:
        data: The text.
        path: Where it is from, for the errors.
        number: The line it is, 1-based; ``None`` for a whole file.

    Raises:
        InputError: With ``path:line`` and what to mend.
    """
    one = "one JSON object a line" if number is not None else "the file is one JSON object"
    value = parse_json(data, path, number, one)
    if isinstance(value, dict):
        return value
    raise InputError(f"{_kind(value)}, not an object", where=path, line=number, fix=one)


def parse_json(data: bytes, path: Path, number: int | None, fix: str = "mend it") -> Any:
    """One line, or a whole file, as any JSON value, by the rules of :func:`parse_object`.

    Args:
        data: The text.
        path: Where it is from, for the errors.
        number: The line it is, 1-based; ``None`` for a whole file.
        fix: What to do where it is no JSON.

    Raises:
        InputError: With ``path:line`` and what to mend.
    """
    line = number
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        what, fix = f"not UTF-8 (byte {error.start})", "save the file as UTF-8"
    except json.JSONDecodeError as error:
        line = line or error.lineno
        what = f"not JSON ({error.msg} at column {error.colno})"
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        fix = "mend it"
    raise InputError(what, where=path, line=line, fix=fix)


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def read_object(path: Path) -> dict[str, Any]:
    """A whole file as one JSON object.

    Raises:
        InputError: If it cannot be read or is none.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    refuse_no_data(data, path)
    return parse_object(data.removeprefix(BOM), path, None)


def lone_surrogates(line: bytes, value: Any) -> int:
    """How many lone surrogates a parsed line holds; the model replaces them by U+FFFD."""
    return count_surrogates(value) if b"\\ud" in line.lower() else 0


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"key {twice!r} stands twice in one object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_constant(text)


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON number")


def read_models(path: Path, model: type[M]) -> Iterator[tuple[int, M]]:
    """Stream a JSONL file of our own as (line number, value).

    Raises:
        InputError: At the first line that is not such a value.
    """
    for number, line in read_lines(path):
        data = parse_object(line, path, number)
        try:
            yield number, model.model_validate(data)
        except ValidationError as error:
            raise InputError(explain(error), where=path, line=number, fix="mend the line") from None


def write_atomically(path: Path, chunks: Iterable[str | bytes]) -> None:
    """Write a file so that it is there whole or not at all; text in UTF-8.

    Raises:
        InfrastructureError: If it cannot be written (a full disk, no permission).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(
                    chunk if isinstance(chunk, bytes) else chunk.encode() for chunk in chunks
                )
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> InfrastructureError:
    """The error for a file that cannot be written."""
    wrong = isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError)
    fix = "check the path" if wrong else "free some space or choose another directory"
    return InfrastructureError(
        f"cannot be written ({error.strerror or error})", where=path, fix=fix
    )


class Appender:
    """Appends lines to a file.

    Each line is handed to the operating system at once, so that it survives a killed process;
    it is synced to disk with the next line after ``SYNC_EVERY_S``, and on closing.

    Raises:
        InfrastructureError: From every method, if the disk does not take the line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise unwritable(path, error) from None
        self._synced = time.monotonic()

    def append(self, line: str) -> None:
        """Add one line."""
        try:
            self._file.write(line + "\n")
            self._file.flush()
            if time.monotonic() - self._synced >= SYNC_EVERY_S:
                self._sync()
        except OSError as error:
            raise unwritable(self._path, error) from None

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close."""
        try:
            with self._file:
                self._sync()
        except OSError as error:
            raise unwritable(self._path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
