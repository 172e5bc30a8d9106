"""The accounting of large JSON documents: item by item, then what stands around the items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from bridge.files.json_items import JsonItems, Place
from bridge.files.json_marks import count_leaves_of
from bridge.plugin.accounting import EACH, Claim, Claims, Tally, dropped

SMALL = 64
"""Bytes of a scalar that needs no look at its commas."""
_PARTS = msgspec.json.Decoder(dict[str, msgspec.Raw])

Items = Mapping[Place, Claims]
"""What is claimed of the items of each list."""

AGGREGATE = dropped("an aggregate: the rows decide")
REPEATED = dropped("it repeats what the rows hold")
SETTING = dropped("how the run was made")
TIMING = dropped("when it was, and how long it took")
TRANSCRIPT = dropped("a transcript of the run; the messages are read")


BATCH = 1 << 20
"""Bytes of JSON text whose leaves are counted at a time."""


class Account:
    """Counts the leaves of documents in JSON text.

    What is claimed as a whole is never parsed: it is collected by field, and its leaves are counted
    by its commas.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._whole: dict[tuple[str, Claim], list[bytes]] = {}
        self._bytes = 0

    def add(self, content: bytes, claims: Claims, field: str) -> None:
        """Count a document.

        Args:
            content: The document.
            claims: What is claimed of it.
            field: Its own place, before each field.
        """
        if claims.claim is not None and not claims:
            self._collect(field, claims.claim, content)
            return
        parts = None if claims.claim is not None else _parts(content)
        if not parts:
            self._tally.document(plain_json(content), claims, field)
            return
        for key, part in parts.items():
            found = list(claims.at(key))
            text = bytes(part)
            if len(found) == 1 and found[0].claim is not None and not found[0]:
                self._collect(f"{field}.{key}" if field else key, found[0].claim, text)
            else:
                self._tally.document({key: plain_json(text)}, claims, field)

    def _collect(self, field: str, claim: Claim, content: bytes) -> None:
        if len(content) < SMALL and not content.startswith((b"{", b"[")):
            self._tally.add(field, claim)
            return
        self._whole.setdefault((field, claim), []).append(content)
        self._bytes += len(content)
        if self._bytes > BATCH:
            self.finish()

    def finish(self) -> None:
        """Count what was collected."""
        for (field, claim), texts in self._whole.items():
            commas = count_leaves_of([b"\n".join(texts)]) - 1
            self._tally.add(field, claim, commas + len(texts))
        self._whole.clear()
        self._bytes = 0


def account_items(tally: Tally, document: JsonItems, items: Items, around: Claims) -> None:
    """Count every leaf of a document.

    Args:
        tally: Where they are counted.
        document: The document, with every list that has claims indexed.
        items: What is claimed of the items of a list, by list.
        around: What is claimed of the rest.
    """
    account = Account(tally)
    for place, claims in items.items():
        field = f"{'.'.join(place)}{EACH}"
        for item in document.items(place):
            account.add(item, claims, field)
    account.finish()
    if not document.head:
        return
    head = plain_json(document.head)
    for place in items:
        if document.count(place):
            _take_out(head, place)
    if isinstance(head, dict | list) and head:
        tally.document(head, around)


def _parts(content: bytes) -> dict[str, msgspec.Raw] | None:
    """The outermost keys of an object with the text of their values; ``None`` if it is none."""
    try:
        return _PARTS.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return None


def plain_json(content: bytes) -> Any:
    """JSON as data, with NaN as other tools write it."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return json.loads(content.decode("utf-8", "replace"))


def _take_out(head: Any, place: Place) -> None:
    """Remove the list that was emptied, which is no leaf of the source."""
    if not place:
        if isinstance(head, list):
            head.clear()
        return
    *parents, last = place
    for key in parents:
        head = head[key]
    del head[last]
