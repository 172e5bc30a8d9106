"""Binary tables read in a process of their own, with limits of memory and time.

A Parquet file of 600 bytes can unpack to terabytes, one sheet of a workbook to a row of a billion
cells, and what reads them builds it all before anybody can count (pyarrow's reader is native code
besides). Whatever happens costs that process alone, and ends here in one line.

The process writes lines to its standard output: a mark, then JSON.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.foreign.encodings import MAX_BYTES
from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

MAX_ROWS = 1 << 20
"""Most rows of a table; as many as a workbook's sheet has."""
MAX_COLUMNS = 1000
MAX_UNPACKED = 4 * MAX_BYTES
"""Most bytes that a file may say it unpacks to, and that its rows may be as JSON."""
MAX_MEMORY = 4 << 30
"""Most bytes of memory that the process may take (where there is ``setrlimit``)."""
MAX_SECONDS = 60
"""Most seconds of one core that it may take."""
SPLIT = "split it"

_ROW, _NOTE, _FAULT = b"R", b"N", b"F"
_OUT_OF_TIME = tuple(getattr(signal, name) for name in ("SIGXCPU",) if hasattr(signal, name))
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Threads that nobody needs take memory that is limited."""

Row = tuple[int, dict[str, Any]]
"""A row's number and its cells by column."""


class FaultError(Exception):
    """What is wrong with a file, and what to do; raised in the process that reads it."""


# --- the process that asks ------------------------------------------------------------------------


def read_apart(module: str, path: Path, *more: str) -> tuple[list[Row], list[str]]:
    """The rows of a file and notes on it, as ``module`` reads it when it is run with the path.

    Raises:
        InputError: If it is damaged, or too large.
    """
    try:
        path.open("rb").close()
    except OSError as error:
        raise unreadable(path, error) from None
    notes: list[str] = []
    with _reading(module, path, more) as process:
        rows = list(_received(process, path, notes))
    if process.returncode:
        what = f"damaged, or far too large: what reads it {_ended(process.returncode)}"
        raise InputError(what, where=path, fix="save it again, or as CSV")
    return rows, notes


@contextmanager
def _reading(module: str, path: Path, more: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which does not outlive the block."""
    command = [sys.executable, "-P", "-m", module, str(path.absolute()), *more]
    with subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ONE_THREAD},
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def _received(process: subprocess.Popen[bytes], path: Path, notes: list[str]) -> Iterator[Row]:
    assert process.stdout is not None
    size = 0
    for line in process.stdout:
        size += len(line)
        if size > MAX_UNPACKED:
            what = f"unpacks to more than {MAX_UNPACKED >> 20} MiB"
            raise InputError(what, where=path, fix=SPLIT)
        if not line.endswith(b"\n"):  # the process died while it wrote
            return
        mark, value = line[:1], msgspec.json.decode(line[1:])
        if mark == _FAULT:
            what, fix, number = value
            raise InputError(what, where=path, line=number, fix=fix)
        if mark == _NOTE:
            notes.append(value)
        else:
            yield value[0], value[1]


def _ended(code: int) -> str:
    if -code in _OUT_OF_TIME:
        return f"took more than {MAX_SECONDS} s"
    if code > 0:
        return f"ended with {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


# --- the process that reads -----------------------------------------------------------------------


def fault(what: str, fix: str, number: int | None = None) -> FaultError:
    """An error about the file, or a row of it."""
    return FaultError(what, fix, number)


def answer(rows: Iterable[Row | str], kind: str) -> None:
    """Write rows, and notes between them, to the standard output; or why there are no more.

    Args:
        rows: What reads the file; whatever it raises is about the file.
        kind: What the file is to be ("Parquet file").
    """
    _limit()
    out = sys.stdout.buffer
    try:
        for row in rows:
            mark = _NOTE if isinstance(row, str) else _ROW
            out.write(mark + msgspec.json.encode(row) + b"\n")
    except FaultError as error:
        said = error.args
    except MemoryError:
        said = (f"needs more than {MAX_MEMORY >> 30} GiB to be read", SPLIT, None)
    except RecursionError:
        said = ("nested too deeply", "flatten it", None)
    except Exception as error:  # noqa: BLE001 - a damaged file breaks in any of its parts
        why = (str(error).splitlines() or [""])[0][:120]
        said = (f"no {kind} ({type(error).__name__}: {why})", "save it again, or as CSV", None)
    else:
        return
    out.write(_FAULT + msgspec.json.encode(said) + b"\n")


def _limit() -> None:
    """Let the system end what takes too much; not on Windows."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, MAX_SECONDS)):
        _, hard = resource.getrlimit(kind)
        fits = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (fits, hard))


def columns_of(names: Sequence[str], number: int | None = None) -> None:
    """Refuse columns of one name, and too many.

    Raises:
        FaultError: If there are such.
    """
    if len(names) > MAX_COLUMNS:
        raise fault(f"more than {MAX_COLUMNS} columns", "leave some out", number)
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise fault(f"column {name!r} stands twice", "give one of them another name", number)
        seen.add(name)


def row_number(number: int) -> int:
    """The number of a row, if there may be so many.

    Raises:
        FaultError: If there may not.
    """
    if number > MAX_ROWS:
        raise fault(f"more than {MAX_ROWS} rows", SPLIT)
    return number
