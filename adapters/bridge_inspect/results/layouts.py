"""The two files that hold a log: an archive with a member a sample, and one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from bridge.files.foreign.json_items import MAX_WHOLE, JsonItems, Place, index_json
from bridge.files.foreign.lenient import Lenient
from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import Claims, Tally
from bridge.plugin.accounts.itemised import Account, account_items
from bridge_inspect.records import SCORES, Log, Sample
from bridge_inspect.results import accounts
from bridge_inspect.results.archive import Archive, is_archive, open_archive

T = TypeVar("T")

SAMPLES: Place = ("samples",)
SKIPPED: tuple[Place, ...] = (("reductions",), ("logging",))
HEADS = ("header.json", "_journal/start.json")
"""Where the head of an archive is; a run that was not finished has the second alone."""


class LogLayout(Protocol):
    """A log, open for one walk over its samples."""

    @property
    def head(self) -> Log:
        """The log without its samples."""
        ...

    def samples(self) -> Iterator[Sample]:
        """Every sample."""
        ...

    def account(self, tally: Tally) -> None:
        """Count every leaf of the log."""
        ...

    def notes(self) -> list[str]:
        """What was mended while reading."""
        ...


def open_log(source: Path) -> LogLayout:
    """A log of either kind, told by its first bytes.

    Raises:
        InputError: If it is damaged, no log, or larger than can be read safely.
    """
    try:
        with source.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise unreadable(source, error) from None
    if not head:
        raise _refuse(source, "it is empty")
    if is_archive(head):
        return _Archived(source)
    return _Document(source, index_json(source, [SAMPLES], SKIPPED))


class _Archived:
    def __init__(self, source: Path) -> None:
        self._source = source
        self._sample = sample_decoder()
        with open_archive(source) as archive:
            self._head_at = next((name for name in HEADS if name in archive.members), "")
            if not self._head_at:
                what = "no Inspect log in this archive"
                raise InputError(what, where=source, fix="name another file")
            self.head = decode_head(archive.read(self._head_at), source)

    def samples(self) -> Iterator[Sample]:
        with open_archive(self._source) as archive:
            for name in _sample_names(archive):
                content = archive.read(name)
                yield _decode(self._sample, content, self._source, f"member {name}")

    def account(self, tally: Tally) -> None:
        account = Account(tally)
        head = accounts.head_claims(self.head)
        with open_archive(self._source) as archive:
            for name in archive.members:
                place, claims = ("", head) if name == self._head_at else _claims(name)
                account.add(archive.read(name), claims, place)
        account.finish()

    def notes(self) -> list[str]:
        return self._sample.notes()


class _Document:
    def __init__(self, source: Path, document: JsonItems) -> None:
        self._source = source
        self._document = document
        self._sample = sample_decoder()
        self.head = decode_head(document.head, source)

    def samples(self) -> Iterator[Sample]:
        for number, content in enumerate(self._document.items(SAMPLES), 1):
            yield _decode(self._sample, content, self._source, f"sample {number}")

    def account(self, tally: Tally) -> None:
        items = {SAMPLES: accounts.SAMPLE, ("reductions",): accounts.REDUCTION}
        document = index_json(self._source, items, most=MAX_WHOLE)
        account_items(tally, document, items, accounts.head_claims(self.head))

    def notes(self) -> list[str]:
        return self._sample.notes()


def sample_decoder() -> Lenient[Sample]:
    """Decodes samples; a score may be NaN, which says that there is none."""
    return Lenient(Sample, keep=SCORES)


def decode_head(content: bytes, source: Path) -> Log:
    """The head of a log.

    Raises:
        InputError: If it is none.
    """
    log: Log = _decode(Lenient(Log, keep=("metrics",)), content, source, "")
    return log


def _claims(member: str) -> tuple[str, Claims]:
    """What a member beside the head is called in a report, and what becomes of it."""
    if member.startswith("samples/"):
        return "samples[]", accounts.SAMPLE
    return member.partition(".")[0], accounts.SUMMARY


def _sample_names(archive: Archive) -> Iterator[str]:
    for name in archive.members:
        if name.startswith("samples/") and name.endswith(".json"):
            yield name


def _decode(decoder: Lenient[T], content: bytes, source: Path, member: str) -> T:
    try:
        return decoder.decode(content)
    except ValueError as error:
        why = str(error) or type(error).__name__
    raise _refuse(source, why, member)


def _refuse(source: Path, why: str, member: str = "") -> InputError:
    what = f"no Inspect log ({why})"
    what = f"{member} is {what}" if member else what
    return InputError(what, where=source, fix="get a complete copy of the log")
