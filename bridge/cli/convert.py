"""``bridge convert``: from one format to another."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from bridge.conversion.sides import Given
    from bridge.model.conversion import Conversion
    from bridge.model.errors import InputError


def convert(
    source: Path = typer.Argument(
        ..., metavar="SRC", help="What is read: a file, or a run directory."
    ),
    target: Path = typer.Argument(..., metavar="DST", help="What is written: a file, or a folder."),
    read_as: str = typer.Option(
        None, "--from", metavar="FORMAT", help="Format of the source; detected if left out."
    ),
    write_as: str = typer.Option(
        None, "--to", metavar="FORMAT", help="Format of the target; told by its name if left out."
    ),
    strict: bool = typer.Option(False, "--strict", help="Exit 1 if anything is dropped."),
    report: Path = typer.Option(
        None, metavar="FILE", help="Write the conversion report (JSON) here."
    ),
    read_option: list[str] = typer.Option(
        None, metavar="KEY=VALUE", help="Option of the source's format."
    ),
    column: list[str] = typer.Option(
        None, "--map", metavar="FIELD=COLUMN", help="Read a table: which column is which field."
    ),
    write_option: list[str] = typer.Option(
        None, metavar="KEY=VALUE", help="Option of the target's format."
    ),
    as_json: bool = typer.Option(False, "--json", help="The conversion report on stdout."),
    verify: bool = typer.Option(
        False,
        "--verify",
        help="Score the recorded outputs on both sides; exit 1 where verdicts differ.",
    ),
    outputs: Path = typer.Option(
        None, metavar="FILE", help="Recorded outputs to verify with, in any format."
    ),
    suite: Path = typer.Option(None, metavar="SUITE", help="Suite whose checks to verify with."),
    verify_in: str = typer.Option(
        None, metavar="FRAMEWORK", help="Framework of the target's side; told by its format."
    ),
    verify_dir: Path = typer.Option(
        None, metavar="DIR", help="Keep both runs of the verification here."
    ),
) -> int:
    """Convert cases, configs, outputs or results; every value of the source is accounted for."""
    from bridge.conversion.convert import convert as convert_files
    from bridge.conversion.sides import Given
    from bridge.plugin.format import ReadOptions, WriteOptions
    from bridge.plugin.registry import get_format

    read_with = _options(read_option, "--read-option")
    if column:
        read_with["map"] = _pairs(column, "--map")
        read_as = read_as or "table"
    read_options = ReadOptions(options=read_with)
    given = Given(read_options, outputs, suite, verify_in, verify_dir)
    if not verify and given != Given(read_options):
        raise _without_verify()
    done = convert_files(
        source,
        target,
        reader=get_format(read_as) if read_as else None,
        writer=get_format(write_as) if write_as else None,
        read_options=read_options,
        write_options=WriteOptions(options=_options(write_option, "--write-option")),
    )
    if verify:
        done = _verified(done, source, given, read_as, write_as)
    _tell(done, report, as_json)
    differs = done.verification is not None and not done.verification.proven
    return 1 if differs or (strict and done.dropped) else 0


def _tell(done: Conversion, report: Path | None, as_json: bool) -> None:
    """Write the report, and print it as JSON or for a person."""
    from bridge.files.jsonl import write_atomically
    from bridge.report.conversion import conversion_to_terminal
    from bridge.report.inert import json_text

    document = done.model_dump_json(indent=1) + "\n"
    if report is not None:
        write_atomically(report, [document])
    if as_json:
        print(json_text(document), end="")
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(conversion_to_terminal(done, width), end="")


def _verified(
    done: Conversion, source: Path, given: Given, read_as: str | None, write_as: str | None
) -> Conversion:
    """A conversion with its proof."""
    from bridge.cli.progress import ProgressLines
    from bridge.conversion.verify import verify
    from bridge.plugin.registry import get_format

    reader = get_format(read_as or done.read.format)
    writer = get_format(write_as or done.written.format)
    with ProgressLines() as progress:
        telling = replace(given, tell=progress.update)
        proof = verify(source, Path(done.written.source), reader, writer, telling)
    return done.model_copy(update={"verification": proof})


def _without_verify() -> InputError:
    from bridge.model.errors import InputError

    what = "--outputs, --suite, --verify-in and --verify-dir are for --verify"
    return InputError(what, fix="add --verify, or leave them out")


def _options(given: Sequence[str] | None, flag: str) -> dict[str, Any]:
    """``KEY=VALUE`` pairs; a value is read as YAML, so that it may be a number or a list."""
    from bridge.files.yaml import parse_yaml

    options: dict[str, Any] = {}
    for key, value in _pairs(given, flag).items():
        options[key], _ = parse_yaml(value.encode("utf-8", "replace"), Path(f"{flag} {key}"))
    return options


def _pairs(given: Sequence[str] | None, flag: str) -> dict[str, str]:
    """``KEY=VALUE`` pairs as text."""
    from bridge.model.errors import InputError

    pairs: dict[str, str] = {}
    for pair in given or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{flag} {pair!r}", fix="write KEY=VALUE")
        pairs[key] = value
    return pairs
