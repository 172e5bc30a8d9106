"""What became of every leaf of a source: the accounting that all formats share.

A *leaf* is a value that holds no other: a scalar, or an empty list or object. A reader claims the
places of a document that it understood; each leaf below a claimed place has the fate of the
closest claim above it. What nobody claimed is counted all the same, under a path of its own, so
that the counts of a report always add up to the source's own count.

Places are claimed by path (:meth:`Claims.put`), where it depends on a value what becomes of it, or
by a table of fields, where it does not::

    claims = Claims({"tests[].vars": NATIVE, "tests[].*": KEPT})
    claims.put(executable("JavaScript"), "tests", 3, "assert", 0, "value")
    tally = Tally()
    tally.document(config, claims)
    return bundle, tally.report(source, "acme")
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionLine, ConversionReport, Fate
from bridge.plugin.carry import plain

EACH = "[]"
"""Step of a path: every item of a list."""
ANY = "*"
"""Step of a path: every key of an object."""

ANY_ITEM = -1
"""Step to the items of a list that are claimed alike."""

MAX_FIELD = 120
"""Most characters of a field's path in a report."""
MAX_FIELDS = 500
"""Most fields told apart that nobody claimed; further ones are counted under their first key."""

MAX_KEYS = 1000
"""Most keys of one place that are remembered from document to document."""

_STEP = re.compile(r"\[\]|[^.\[\]]+")

Step = str | int


@dataclass(frozen=True, slots=True)
class Claim:
    """What became of something, and why if it is not native."""

    fate: Fate
    reason: str = ""


NATIVE = Claim("native")
KEPT = Claim("carried", "kept in extras")
UNREAD = Claim("dropped", "no neutral field holds it")


def carried(reason: str) -> Claim:
    """Kept where our reader finds it again; the target does not use it."""
    return Claim("carried", reason)


def dropped(reason: str) -> Claim:
    """Lost, and why."""
    return Claim("dropped", reason)


def executable(reason: str) -> Claim:
    """Code or a template: kept as text, never run by us."""
    return Claim("executable", reason)


class Claims:
    """Claimed places of a document.

    Args:
        fields: Claims by field: keys joined by dots, ``[]`` for the items of a list, ``*`` for
            any key. A key with a dot or a bracket in it is claimed with :meth:`put`.
    """

    __slots__ = ("below", "claim", "version")

    def __init__(self, fields: Mapping[str, Claim] | None = None) -> None:
        self.claim: Claim | None = None
        self.below: dict[Step, Claims] = {}
        self.version = 0
        for field, claim in (fields or {}).items():
            self.put(claim, *_STEP.findall(field))

    def put(self, claim: Claim, *path: Step) -> None:
        """Claim what is below a place; claims further down win."""
        self.version += 1
        place = self
        for step in path:
            below = place.below.get(step)
            if below is None:
                below = place.below[step] = Claims()
            place = below
        place.claim = claim

    def at(self, step: Step) -> Iterator[Claims]:
        """What is claimed below a key or an item: by its name first, then by ``[]`` or ``*``."""
        for each in (step, EACH if isinstance(step, int) else ANY):
            if (found := self.below.get(each)) is not None:
                yield found

    def __bool__(self) -> bool:
        """Whether anything further down is claimed."""
        return bool(self.below)


class _Place:
    """A place of a document with what is claimed there; like places of like documents are one.

    Attributes:
        field: Its field.
        claim: The claim in force, the closest one above or at it.
        claimed: The field of that claim.
        is_whole: Whether nothing below it is claimed otherwise.
        leaves: How many were counted here.
        below: Places below it, by step.
    """

    __slots__ = (
        "_has_numbers",
        "_here",
        "below",
        "claim",
        "claimed",
        "field",
        "is_whole",
        "leaves",
    )

    def __init__(
        self, here: list[Claims], field: str, claim: Claim | None = None, claimed: str = ""
    ) -> None:
        own = next((each.claim for each in here if each.claim is not None), None)
        self.field = field
        self.claim, self.claimed = (claim, claimed) if own is None else (own, field)
        self.is_whole = self.claim is not None and not any(here)
        self.leaves = 0
        self.below: dict[Step, _Place] = {}
        self._here = here
        self._has_numbers = any(type(step) is int for each in here for step in each.below)

    def at(self, step: Step) -> tuple[_Place, bool]:
        """The place below a key or an item, and whether it is that of no other document."""
        if type(step) is int and not (
            self._has_numbers and any(step in each.below for each in self._here)
        ):
            step = ANY_ITEM
        found = self.below.get(step)
        if found is not None:
            return found, False
        here = [claims for each in self._here for claims in each.at(step)]
        place = _Place(here, _field(self.field, step), self.claim, self.claimed)
        is_apart = step != ANY_ITEM and (type(step) is int or len(self.below) >= MAX_KEYS)
        if not is_apart:
            self.below[step] = place
        return place, is_apart


class Tally:
    """Leaves counted by field, fate and reason."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Claim]] = Counter()
        self._unclaimed: set[str] = set()
        self._roots: dict[tuple[int, int, str, Claim], tuple[Claims, _Place]] = {}

    def add(self, field: str, claim: Claim = NATIVE, count: int = 1) -> None:
        """Count leaves of a field that was read without a document, such as a column."""
        if count:
            self._counts[field[:MAX_FIELD], claim] += count

    def document(self, value: Any, claims: Claims, at: str = "", otherwise: Claim = UNREAD) -> None:
        """Count every leaf of a document.

        Args:
            value: The document, as JSON data.
            claims: What was claimed of it.
            at: The document's own place, before each field.
            otherwise: The fate of what nobody claimed.
        """
        key = (id(claims), claims.version, at, otherwise)
        if key not in self._roots:
            self._roots[key] = (claims, _Place([claims], at))  # held: its id is of no other
        waiting: list[tuple[Any, _Place]] = [(value, self._roots[key][1])]
        apart: list[_Place] = []
        while waiting:
            item, place = waiting.pop()
            if place.is_whole:
                place.leaves += count_leaves(item)
            elif not _holds_more(item):
                place.leaves += 1
            else:
                for step, below in _items(item):
                    found, is_apart = place.at(step)
                    waiting.append((below, found))
                    if is_apart:
                        apart.append(found)
        for place in apart:
            self._take(place, otherwise)

    def _take(self, place: _Place, otherwise: Claim) -> None:
        """Count what was counted at a place and below it."""
        waiting = [place]
        while waiting:
            each = waiting.pop()
            if each.leaves:
                self._leaf(each, otherwise)
                each.leaves = 0
            waiting.extend(each.below.values())

    def _leaf(self, place: _Place, otherwise: Claim) -> None:
        if place.claim is not None:
            self.add(place.claimed, place.claim, place.leaves)
            return
        field = place.field[:MAX_FIELD]
        if field not in self._unclaimed and len(self._unclaimed) >= MAX_FIELDS:
            field = f"{field.partition('.')[0]}.…"
        self._unclaimed.add(field)
        self.add(field, otherwise, place.leaves)

    def report(self, source: Path, name: str, notes: Iterable[str] = ()) -> ConversionReport:
        """The conversion report.

        Args:
            source: The file.
            name: The format's name.
            notes: What a reader should know.
        """
        for (_, _, _, otherwise), (_, place) in self._roots.items():
            self._take(place, otherwise)
        lines = [
            ConversionLine(
                field=field or "(the whole)", fate=claim.fate, count=count, reason=claim.reason
            )
            for (field, claim), count in self._counts.items()
        ]
        lines.sort(key=lambda line: (line.field, line.fate, line.reason))
        return ConversionReport(
            source=str(source), format=name, lines=tuple(lines), notes=tuple(notes)
        )


def account_bundle(
    bundle: Bundle,
    claims: Claims,
    dest: Path,
    name: str,
    notes: Iterable[str] = (),
    otherwise: Claim = UNREAD,
) -> ConversionReport:
    """A writer's report: every leaf of a bundle, by neutral field.

    Args:
        bundle: What is written; fields at their default are left out of the count.
        claims: What becomes of it, by neutral field (``cases[].input``, ``suite.checks[]``).
        dest: The file.
        name: The format's name.
        notes: What a reader should know.
        otherwise: The fate of what nobody claimed.
    """
    tally = Tally()
    if found := plain(bundle):
        tally.document(found, claims, otherwise=otherwise)
    return tally.report(dest, name, notes)


def count_leaves(value: Any) -> int:
    """How many values a document holds that hold no others; an empty list or object is one."""
    count = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is str:
            count += 1
        elif isinstance(item, dict) and item:
            waiting.extend(item.values())
        elif isinstance(item, list | tuple) and item:
            waiting.extend(item)
        else:
            count += 1
    return count


def untouched(value: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    """The keys of a native object that its reader took nothing from: what goes into extras."""
    return {key: item for key, item in value.items() if key not in taken}


def _holds_more(value: Any) -> bool:
    return isinstance(value, dict | list | tuple) and len(value) > 0


def _items(value: Any) -> Iterator[tuple[Step, Any]]:
    return iter(value.items()) if isinstance(value, dict) else enumerate(value)


def _field(parent: str, step: Step) -> str:
    if isinstance(step, int):
        return f"{parent}{EACH}"
    return f"{parent}.{step}" if parent else step
