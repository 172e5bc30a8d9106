"""The accounting of large JSON documents: item by item, then what stands around the items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from bridge.files.foreign.json_items import JsonItems, Place
from bridge.files.foreign.json_marks import count_leaves_of
from bridge.plugin.accounts.accounting import EACH, MAX_KEYS, Claim, Claims, Tally, dropped

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


class _Whole:
    """A field that is claimed as a whole, with the texts of it that wait to be counted."""

    __slots__ = ("claim", "field", "scalars", "texts")

    def __init__(self, field: str, claim: Claim) -> None:
        self.field = field
        self.claim = claim
        self.scalars = 0
        self.texts: list[bytes] = []


class _Plan:
    """What becomes of each outermost key of the items of one list."""

    def __init__(self, claims: Claims, field: str) -> None:
        self._claims = claims
        self._field = field
        self._keys: dict[str, _Whole | None] = {}

    def of(self, key: str) -> _Whole | None:
        """The field that is claimed as a whole; ``None`` where it has to be looked at."""
        if key in self._keys:
            return self._keys[key]
        found = list(self._claims.at(key))
        claim = found[0].claim if len(found) == 1 and not found[0] else None
        field = f"{self._field}.{key}" if self._field else key
        whole = None if claim is None else _Whole(field, claim)
        if whole is None and len(self._keys) >= MAX_KEYS:
            return None
        self._keys[key] = whole
        return whole

    def wholes(self) -> Iterator[_Whole]:
        """The fields that are claimed as a whole and were met."""
        return (each for each in self._keys.values() if each is not None)


class Account:
    """Counts the leaves of documents in JSON text.

    What is claimed as a whole is never parsed: it is collected by field, and its leaves are counted
    by its commas.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._plans: dict[tuple[int, str], _Plan] = {}
        self._bytes = 0

    def add(self, content: bytes, claims: Claims, field: str) -> None:
        """Count a document.

        Args:
            content: The document.
            claims: What is claimed of it, the same as long as this account is kept.
            field: Its own place, before each field.
        """
        if claims.claim is not None and not claims:
            whole = _Whole(field, claims.claim)
            self._collect(whole, content)
            self._count(whole)
            return
        parts = None if claims.claim is not None else _parts(content)
        if not parts:
            self._tally.document(plain_json(content), claims, field)
            return
        plan = self._plans.get((id(claims), field))
        if plan is None:
            plan = self._plans[id(claims), field] = _Plan(claims, field)  # which holds the claims
        rest = {}
        for key, part in parts.items():
            found = plan.of(key)
            if found is None:
                rest[key] = plain_json(bytes(part))
            else:
                self._collect(found, bytes(part))
        if rest:
            self._tally.document(rest, claims, field)
        if self._bytes > BATCH:
            self.finish()

    def _collect(self, whole: _Whole, content: bytes) -> None:
        if len(content) < SMALL and not content.startswith((b"{", b"[")):
            whole.scalars += 1
            return
        whole.texts.append(content)
        self._bytes += len(content)

    def _count(self, whole: _Whole) -> None:
        leaves = whole.scalars
        if whole.texts:
            leaves += count_leaves_of([b"\n".join(whole.texts)]) - 1 + len(whole.texts)
        self._tally.add(whole.field, whole.claim, leaves)
        whole.scalars = 0
        whole.texts.clear()

    def finish(self) -> None:
        """Count what was collected."""
        for plan in self._plans.values():
            for whole in plan.wholes():
                self._count(whole)
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
