"""The accounting of large JSON documents: item by item, then what stands around the items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from bridge.files.json_items import JsonItems, Place
from bridge.plugin.accounting import EACH, Claims, Tally, dropped

Items = Mapping[Place, Claims]
"""What is claimed of the items of each list."""

AGGREGATE = dropped("an aggregate: the rows decide")
REPEATED = dropped("it repeats what the rows hold")
SETTING = dropped("how the run was made")
TIMING = dropped("when it was, and how long it took")
TRANSCRIPT = dropped("a transcript of the run; the messages are read")


def account_items(tally: Tally, document: JsonItems, items: Items, around: Claims) -> None:
    """Count every leaf of a document.

    Args:
        tally: Where they are counted.
        document: The document, with every list that has claims indexed.
        items: What is claimed of the items of a list, by list.
        around: What is claimed of the rest.
    """
    for place, claims in items.items():
        field = f"{'.'.join(place)}{EACH}"
        for item in document.items(place):
            tally.document(plain_json(item), claims, field)
    if not document.head:
        return
    head = plain_json(document.head)
    for place in items:
        if document.count(place):
            _take_out(head, place)
    if isinstance(head, dict | list) and head:
        tally.document(head, around)


def plain_json(content: bytes) -> Any:
    """JSON as data, with NaN as other tools write it."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return json.loads(content)


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
