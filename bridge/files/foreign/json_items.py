"""Large JSON documents item by item: where the items of their lists are, and all the rest.

Result files are one JSON document with a list of rows in it, some of them larger than memory. One
pass over the bytes finds where each row begins and ends; it looks at quotes, backslashes and
brackets alone, as columns of numpy, and holds one chunk and 16 bytes a row. Nothing is parsed by
it, so that what stands in a row (NaN, say, or nesting without end) is the business of whoever
decodes the row.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bridge.files.foreign.json_marks import Marks
from bridge.files.jsonl import BOM, unreadable
from bridge.files.no_data import LOOKED_AT, refuse_no_data
from bridge.model.errors import InputError

IntArray = npt.NDArray[np.intp]
Place = tuple[str, ...]
"""Keys from the outermost object to a list or object inside; ``()`` is the document itself."""

CHUNK = 1 << 20
MAX_FILE = 64 * 1024**3
"""Largest document read, in bytes."""
MAX_HEAD = 64 * 1024 * 1024
"""Most bytes beside the rows."""
MAX_WHOLE = 1024 * 1024 * 1024
"""The same where all of it is accounted for."""
MAX_ITEM = 256 * 1024 * 1024
"""Longest row, in bytes."""
MAX_ITEMS = 20_000_000
"""Most rows of a document."""
LONGEST_KEY = 256
"""Bytes before a bracket in which its key is looked for."""

_OPEN, _CLOSE = 1, 2
_BRACKETS = {"{": _OPEN, "[": _OPEN, "}": _CLOSE, "]": _CLOSE}
_STEP = np.array([0, 1, -1], np.int8)
"""What a bracket does to the depth, by its kind."""
_BETWEEN = b" \t\r\n,"


@dataclass(frozen=True, slots=True)
class JsonItems:
    """A document whose lists can be read item by item.

    Attributes:
        path: The file.
        head: The document without the items of those lists, and without what was skipped.
        spans: For each list that is there, first byte and end of each item, in turns.
    """

    path: Path
    head: bytes
    spans: Mapping[Place, array[int]]

    def count(self, where: Place) -> int:
        """How many items a list has; 0 where it is not there."""
        return len(self.spans.get(where, ())) // 2

    def items(self, where: Place = (), order: Iterable[int] | None = None) -> Iterator[bytes]:
        """The items of a list as JSON text.

        Args:
            where: The list.
            order: Numbers of the items, in the order in which they are wanted.

        Raises:
            InputError: If the file cannot be read any more, or has changed.
        """
        spans = self.spans.get(where)
        if not spans:
            return
        try:
            with self.path.open("rb", buffering=0) as file:
                for number in range(len(spans) // 2) if order is None else order:
                    start, end = spans[2 * number], spans[2 * number + 1]
                    file.seek(start)
                    yield file.read(end - start)
        except OSError as error:
            raise unreadable(self.path, error) from None


def index_lines(path: Path) -> JsonItems:
    """The lines of a JSON Lines file as the items of a document without a head.

    Raises:
        InputError: If it cannot be read, or a line is too long.
    """
    spans = array("Q")
    offset = 0
    try:
        with path.open("rb") as file:
            refuse_no_data(file.read(LOOKED_AT), path)
            file.seek(0)
            while line := file.readline(MAX_ITEM + 1):
                if len(line) > MAX_ITEM:
                    what = f"line longer than {MAX_ITEM >> 20} MiB"
                    number = len(spans) // 2 + 1
                    raise InputError(what, where=path, line=number, fix="split it")
                start = len(BOM) if not offset and line.startswith(BOM) else 0
                if line[start:].strip():
                    spans.extend((offset + start, offset + len(line)))
                offset += len(line)
    except OSError as error:
        raise unreadable(path, error) from None
    return JsonItems(path, b"", {(): spans})


def index_json(
    path: Path,
    lists: Collection[Place],
    skip: Collection[Place] = (),
    maps: Collection[Place] = (),
    most: int = MAX_HEAD,
) -> JsonItems:
    """Find the items of some lists of a document.

    Args:
        path: A JSON file, in UTF-8.
        lists: The lists, whose items are objects or lists.
        skip: Lists and objects that are not wanted at all.
        most: Most bytes that are no items.
        maps: Objects whose values are objects; an item is a value with its key before it.

    Raises:
        InputError: If it cannot be read, is cut off, or too large to be read safely.
    """
    scan = _Scan(path, frozenset(lists), frozenset(skip), frozenset(maps), most)
    try:
        if path.stat().st_size > MAX_FILE:
            raise scan.refuse(f"larger than {MAX_FILE >> 30} GiB", "split the run")
        with path.open("rb") as file:
            refuse_no_data(file.read(LOOKED_AT), path)
            file.seek(0)
            while chunk := file.read(CHUNK):
                scan.feed(chunk)
    except OSError as error:
        raise unreadable(path, error) from None
    return scan.finish()


@dataclass(slots=True)
class _Brackets:
    """The brackets of a chunk that are not too deep, in order.

    Attributes:
        places: Their bytes.
        kinds: Whether they open or close.
        levels: Their levels, the outermost 1.
    """

    places: IntArray
    kinds: npt.NDArray[np.uint8]
    levels: IntArray
    _of_level: dict[int, IntArray] = field(default_factory=dict)

    def next(self, level: int, index: int) -> int:
        """The next bracket of a level, from an index on; their number if there is none."""
        found = self._of(level)
        number = int(np.searchsorted(found, index))
        return int(found[number]) if number < len(found) else len(self.places)

    def between(self, level: int, start: int, end: int) -> list[int]:
        """The brackets of a level from ``start`` on, before ``end``."""
        found = self._of(level)
        first, last = np.searchsorted(found, (start, end))
        between: list[int] = found[first:last].tolist()
        return between

    def _of(self, level: int) -> IntArray:
        found = self._of_level.get(level)
        if found is None:
            found = self._of_level[level] = np.flatnonzero(self.levels == level)
        return found


@dataclass(slots=True)
class _Scan:
    """The walk over one document, chunk by chunk."""

    path: Path
    lists: frozenset[Place]
    skip: frozenset[Place]
    maps: frozenset[Place]
    most: int
    spans: dict[Place, array[int]] = field(default_factory=dict)
    head: bytearray = field(default_factory=bytearray)
    offset: int = 0
    depth: int = 0
    marks: Marks = field(default_factory=lambda: Marks(_BRACKETS))
    names: list[str | None] = field(default_factory=list)
    """Keys of the open containers, the outermost first, as deep as is looked at."""
    items: array[int] | None = None
    """Where the items of the list go that is open; ``None`` elsewhere."""
    keyed: bool = False
    """Whether the list that is open is an object, whose items have keys."""
    hidden: int = 0
    """Level of the container whose content is left out of the head; 0 for none."""
    copied: int = 0
    """End of what went into the head, in the file."""
    began: int = -1
    tail: bytes = b""

    def feed(self, chunk: bytes) -> None:
        """Walk over the next bytes."""
        shown = self.tail + chunk
        base = self.offset - len(self.tail)
        limit = max(map(len, self.lists | self.skip | self.maps), default=0) + 2
        found = self._brackets(chunk, limit)
        index = 0
        while index < len(found.places):
            if self.hidden:
                index = self._within(found, index, shown, base)
            else:
                self._bracket(found, index, shown, base)
                index += 1
        self.offset += len(chunk)
        if not self.hidden:
            self._copy(self.offset, shown, base)
        elif self.began >= 0 and self.offset - self.began > MAX_ITEM:
            raise self.refuse(f"a row is longer than {MAX_ITEM >> 20} MiB", "split the file")
        self.tail = shown[-LONGEST_KEY:]

    def _brackets(self, chunk: bytes, limit: int) -> _Brackets:
        """Place, kind and level of each bracket outside texts, down to a level."""
        place, kind = self.marks.outside(chunk)
        depth = self.depth + np.cumsum(_STEP[kind], dtype=np.int64)
        if len(depth):
            if depth.min() < 0:
                raise self.refuse("no JSON (a bracket closes that was not opened)")
            self.depth = int(depth[-1])
        level = depth + (kind == _CLOSE)
        shallow = level <= limit
        return _Brackets(place[shallow], kind[shallow], level[shallow])

    def _within(self, found: _Brackets, index: int, shown: bytes, base: int) -> int:
        """Walk to the end of what is hidden, from item to item; the index after it."""
        end = found.next(self.hidden, index)
        if self.items is not None:
            for number in found.between(self.hidden + 1, index, end):
                self._bracket(found, number, shown, base)
        if end < len(found.places):
            self._bracket(found, end, shown, base)
        return end + 1

    def _bracket(self, found: _Brackets, index: int, shown: bytes, base: int) -> None:
        walk = self._open if found.kinds[index] == _OPEN else self._close
        walk(int(found.places[index]) + self.offset, int(found.levels[index]), shown, base)

    def _open(self, at: int, level: int, shown: bytes, base: int) -> None:
        if self.hidden:
            if self.items is not None and level == self.hidden + 1:
                if not self.keyed:
                    self._between(at, shown, base)
                self.began = self.copied if self.keyed else at
            return
        del self.names[level - 1 :]
        self.names.append(_key_before(shown, at - base) if level > 1 else "")
        names = self.names[1:]
        where = tuple(name for name in names if name is not None)
        if len(where) < len(names):
            return
        self.keyed = shown[at - base] == ord("{")
        if where in (self.maps if self.keyed else self.lists):
            if where in self.spans:
                raise self.refuse(f"{'.'.join(where)} stands twice")
            self.items = self.spans[where] = array("Q")
        elif where not in self.skip or not where:
            return
        self.hidden = level
        self._copy(at + 1, shown, base)
        self.copied = at + 1

    def _close(self, at: int, level: int, shown: bytes, base: int) -> None:
        if self.items is not None and level == self.hidden + 1:
            if at + 1 - self.began > MAX_ITEM:
                raise self.refuse(f"a row is longer than {MAX_ITEM >> 20} MiB", "split the file")
            self.items.extend((self.began, at + 1))
            if len(self.items) > 2 * MAX_ITEMS:
                raise self.refuse(f"more than {MAX_ITEMS:,} rows", "split the file")
            self.began = -1
            self.copied = at + 1
        elif level == self.hidden:
            if self.items is not None and not self.keyed:
                self._between(at, shown, base)
            self.hidden, self.items, self.copied = 0, None, at

    def _between(self, at: int, shown: bytes, base: int) -> None:
        """Refuse items that are no objects: what stands between two that are is a comma."""
        if shown[max(self.copied - base, 0) : at - base].strip(_BETWEEN):
            assert self.items is not None
            raise self.refuse(f"row {len(self.items) // 2 + 1} is no object", "mend the file")

    def _copy(self, end: int, shown: bytes, base: int) -> None:
        """Put what stands between the last copy and ``end`` into the head."""
        self.head += shown[self.copied - base : end - base]
        self.copied = end
        if len(self.head) > self.most:
            what = f"more than {self.most >> 20} MiB that are no rows"
            raise self.refuse(what, "name another file")

    def finish(self) -> JsonItems:
        """What was found.

        Raises:
            InputError: If the document does not end.
        """
        if self.depth or self.marks.quoted:
            raise self.refuse("the file is cut off")
        return JsonItems(self.path, bytes(self.head).removeprefix(BOM), self.spans)

    def refuse(self, what: str, fix: str = "get a complete copy of the file") -> InputError:
        return InputError(what, where=self.path, fix=fix)


def _key_before(shown: bytes, at: int) -> str | None:
    """The key of the container that opens there; ``None`` in a list, or if it is an odd one."""
    before = shown[max(0, at - LONGEST_KEY) : at].rstrip()
    if not before.endswith(b":"):
        return None
    before = before[:-1].rstrip()
    start = before.rfind(b'"', 0, -1)
    if start < 0 or not before.endswith(b'"'):
        return None
    return before[start + 1 : -1].decode("utf-8", "replace")
