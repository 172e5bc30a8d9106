"""A conversion: read in one format, written in another, accounted for on both halves of the way."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bridge.conversion.target import held_parts, target_format
from bridge.files.jsonl import unwritable
from bridge.model.bundle import Bundle
from bridge.model.conversion import Conversion, ConversionReport
from bridge.model.errors import BridgeError, InputError
from bridge.plugin.accounts.secrets import redacted
from bridge.plugin.format import Format, ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format

NO_READ_OPTIONS = ReadOptions()
NO_WRITE_OPTIONS = WriteOptions()


def convert(
    source: Path,
    target: Path,
    *,
    reader: Format | None = None,
    writer: Format | None = None,
    read_options: ReadOptions = NO_READ_OPTIONS,
    write_options: WriteOptions = NO_WRITE_OPTIONS,
) -> Conversion:
    """Read ``source`` and write ``target``.

    Args:
        source: File, or directory of a format that is one.
        target: File, or a folder, in which the format's usual name is taken.
        reader: Format of the source; detected if left out.
        writer: Format of the target; told by its name if left out.
        read_options: Options of the reader.
        write_options: Options of the writer.

    Returns:
        What became of every value. The target's files are all there, or none of them is.

    Raises:
        InputError: If the source is faulty, the target cannot hold anything of it, or would
            overwrite it.
        InfrastructureError: If the target cannot be written.
    """
    reader = reader or detect_format(source)
    bundle, read = redacted(*reader.read(source, read_options))
    writer = writer or target_format(target, bundle)
    if not held_parts(writer, bundle):
        raise _nothing_to_write(source, bundle, writer)
    dest = _named(target, writer)
    with _all_or_nothing(dest, source) as folder:
        written = writer.write(bundle, folder / dest.name, write_options)
    return Conversion(
        read=read,
        written=_of(written, dest),
        cases=len(bundle.cases),
        outputs=len(bundle.outputs),
        scores=len(bundle.scores),
    )


def _named(target: Path, writer: Format) -> Path:
    """A folder stands for the file of the format's usual name in it."""
    is_folder = target.is_dir() or not target.suffix
    return target / writer.info.patterns[0] if is_folder else target


def _of(report: ConversionReport, dest: Path) -> ConversionReport:
    return report.model_copy(update={"source": str(dest)})


def _nothing_to_write(source: Path, bundle: Bundle, writer: Format) -> InputError:
    parts = ("suite", "cases", "outputs", "scores")
    there = ", ".join(part for part in parts if getattr(bundle, part)) or "nothing"
    holds = ", ".join(sorted(writer.info.writes)) or "nothing (it is only read)"
    what = f"{writer.info.name} holds {holds}; in the source there is {there}"
    return InputError(what, where=source, fix="name another format with --to")


@contextmanager
def _all_or_nothing(dest: Path, source: Path) -> Iterator[Path]:
    """A folder beside ``dest`` whose files are moved there once all of them are written."""
    try:
        dest.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=dest.parent, prefix=f".{dest.name}."))
    except OSError as error:
        raise unwritable(dest, error) from None
    try:
        yield folder
        written = sorted(folder.iterdir())
        for path in written:
            _refuse_source(dest.parent / path.name, source)
        for path in written:
            path.replace(dest.parent / path.name)
    except BridgeError as error:
        raise _of_target(error, folder, dest.parent) from None
    except OSError as error:
        raise unwritable(dest, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _of_target(error: BridgeError, folder: Path, parent: Path) -> BridgeError:
    """An error about a file in the folder as one about the file that it was to be."""
    where = Path(error.where) if error.where is not None else None
    if where is None or where.parent != folder:
        return error
    return type(error)(error.what, where=parent / where.name, line=error.line, fix=error.fix)


def _refuse_source(path: Path, source: Path) -> None:
    """A conversion never overwrites what it reads.

    Raises:
        InputError: If ``path`` is the source, or lies in it.
    """
    if not path.exists():
        return
    if path.samefile(source) or (source.is_dir() and path.resolve().parent == source.resolve()):
        raise InputError("is what is read", where=path, fix="write into another folder")
