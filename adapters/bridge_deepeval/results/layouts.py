"""The files that hold test cases with results: runs of every wrapping, and the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from bridge.files.foreign.json_items import JsonItems, Place, index_json
from bridge.files.foreign.lenient import Lenient
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.accounts.itemised import account_items, plain_json
from bridge_deepeval import records
from bridge_deepeval.results import accounts

T = TypeVar("T")
Native = records.TestCase | records.Conversation

SINGLE: tuple[Place, ...] = (("testCases",), ("testRunData", "testCases"))
TALKS: tuple[Place, ...] = (
    ("conversationalTestCases",),
    ("testRunData", "conversationalTestCases"),
)
CACHE: Place = ("test_cases_lookup_map",)


class RunLayout(Protocol):
    """A file, open for one walk over its test cases."""

    @property
    def run(self) -> records.Run:
        """The run without its test cases."""
        ...

    @property
    def cached(self) -> bool:
        """Whether it is a cache, in which results are missing that ended in an error."""
        ...

    def cases(self) -> Iterator[Native]:
        """Every test case."""
        ...

    def metrics(self) -> Iterator[records.MetricData]:
        """Every result, without the rest of its test case."""
        ...

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        ...

    def notes(self) -> list[str]:
        """What was mended while reading."""
        ...


def open_run(source: Path) -> RunLayout:
    """A run file or a cache.

    Raises:
        InputError: If it is damaged, neither, or only a link to a run kept elsewhere.
    """
    document = index_json(source, (*SINGLE, *TALKS), maps=[CACHE])
    if CACHE in document.spans:
        return _Cache(document)
    return _Run(document)


class _Run:
    cached = False

    def __init__(self, document: JsonItems) -> None:
        self._document = document
        self._single: Lenient[records.TestCase] = Lenient(records.TestCase)
        self._talk: Lenient[records.Conversation] = Lenient(records.Conversation)
        path = document.path
        file: records.File = _decode(Lenient(records.File), document.head, path)
        if not document.spans:
            linked = file.test_run_link is not None
            what = "it only links to a run kept elsewhere" if linked else "it holds no test cases"
            raise _refuse(path, what)
        self.run: records.Run = file if file.test_run_data is None else file.test_run_data

    def cases(self) -> Iterator[Native]:
        for where in SINGLE:
            for number, item in enumerate(self._document.items(where), 1):
                yield _decode(self._single, item, self._document.path, f"test case {number}")
        for where in TALKS:
            for number, item in enumerate(self._document.items(where), 1):
                yield _decode(self._talk, item, self._document.path, f"conversation {number}")

    def metrics(self) -> Iterator[records.MetricData]:
        decoder: Lenient[records.MetricsOnly] = Lenient(records.MetricsOnly)
        for where in (*SINGLE, *TALKS):
            for number, item in enumerate(self._document.items(where), 1):
                case = _decode(decoder, item, self._document.path, f"test case {number}")
                yield from case.metrics_data or case.metrics_metadata or ()

    def account(self, tally: Tally) -> None:
        items = {**dict.fromkeys(SINGLE, accounts.CASE), **dict.fromkeys(TALKS, accounts.TALK)}
        account_items(tally, self._document, items, accounts.HEAD)

    def notes(self) -> list[str]:
        both = Lenient[records.TestCase](records.TestCase)
        both.nulled = self._single.nulled + self._talk.nulled
        both.replaced = self._single.replaced + self._talk.replaced
        return both.notes()


class _Cache:
    cached = True
    run = records.Run()

    def __init__(self, document: JsonItems) -> None:
        self._document = document
        self._decoder: Lenient[dict[str, records.Cached]] = Lenient(dict[str, records.Cached])

    def _items(self) -> Iterator[tuple[str, records.Cached]]:
        for number, item in enumerate(self._document.items(CACHE), 1):
            text = b"{" + item.strip(b", \t\r\n") + b"}"
            path = self._document.path
            yield from _decode(self._decoder, text, path, f"cached case {number}").items()

    def _texts(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and value of each cached case as JSON text."""
        for item in self._document.items(CACHE):
            text = b"{" + item.strip(b", \t\r\n") + b"}"
            for key, value in plain_json(text).items():
                yield key.encode("utf-8", "replace"), json.dumps(value).encode()

    def cases(self) -> Iterator[Native]:
        key: Lenient[records.CachedCase] = Lenient(records.CachedCase)
        for number, (text, found) in enumerate(self._items()):
            data = text.encode("utf-8", "replace")
            known = _decode(key, data, self._document.path, f"the key of cached case {number + 1}")
            yield records.TestCase(
                input=known.input,
                actual_output=known.actual_output,
                expected_output=known.expected_output,
                context=known.context,
                retrieval_context=known.retrieval_context,
                metrics_data=found.metrics_data,
                order=number,
            )

    def metrics(self) -> Iterator[records.MetricData]:
        for _, found in self._items():
            yield from found.metrics_data

    def account(self, tally: Tally) -> None:
        for key, found in self._texts():
            tally.document(plain_json(key), accounts.CACHED_KEY, "test_cases_lookup_map{}")
            tally.document(plain_json(found), accounts.CACHED, "test_cases_lookup_map.*")

    def notes(self) -> list[str]:
        told = "a cache: results that ended in an error are not in it, nor are names of cases"
        return [told, *self._decoder.notes()]


def _decode(decoder: Lenient[T], content: bytes, source: Path, item: str = "") -> T:
    try:
        return decoder.decode(content)
    except ValueError as error:
        why = f"{item}: {error}" if item else str(error)
    raise _refuse(source, why)


def _refuse(source: Path, why: str) -> InputError:
    fix = "get a complete copy of the file"
    return InputError(f"no DeepEval run ({why})", where=source, fix=fix)
