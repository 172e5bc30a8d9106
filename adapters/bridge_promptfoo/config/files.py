"""The files of a config: the config itself, and the data it names inside its own folder.

Nothing outside that folder is opened, whatever a path says or a link points at, and nothing is
fetched or executed. Every value is handed out as a :class:`Node`, which knows where it stands, so
that whoever understands it can claim it (:mod:`bridge.plugin.accounts.accounting`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bridge.files.jsonl import BOM, parse_json, read_lines, read_whole
from bridge.files.yaml import MAX_DEPTH, MAX_NODES, Loc, line_of, parse_yaml
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import NATIVE, Claim, Claims, Step
from bridge_promptfoo.config.table import read_csv

MAX_BYTES = 64 * 1024 * 1024
"""Largest file read, in bytes."""
MAX_FILES = 10_000
"""Most files a config may name."""
MAX_REFS = 20
"""Most references (``$ref``) that lead to each other."""

FILE = "file://"
REF = "$ref"
_CODE = re.compile(r"\.(?:py|rb|go|sh|[cm]?[jt]s|[jt]sx)(?::[\w.]+)?$")
_ELSEWHERE = re.compile(r"^(?!file:)[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")


def is_code(name: str) -> bool:
    """Whether a path names a script, with or without a function in it."""
    return _CODE.search(name) is not None


def is_elsewhere(name: str) -> bool:
    """Whether a path is an address from which something would have to be fetched."""
    return _ELSEWHERE.match(name) is not None


@dataclass(eq=False, slots=True)
class Document:
    """One file that was read.

    Attributes:
        path: The file.
        name: Its name in a report; "" for the config itself.
        value: Its content as JSON data.
        lines: The line of each value, where the file says it.
        claims: What became of it.
    """

    path: Path
    name: str
    value: Any
    lines: dict[Loc, int]
    claims: Claims = field(default_factory=Claims)
    _expanded: int = 0

    def refuse(self, what: str, path: tuple[Step, ...], fix: str) -> InputError:
        """An error at a place of this file."""
        return InputError(what, where=self.path, line=line_of(path, self.lines), fix=fix)

    def count(self) -> None:
        """Count one value that was handed out.

        Raises:
            InputError: If references make it too many.
        """
        self._expanded += 1
        if self._expanded > 4 * MAX_NODES:
            what = f"references expand to more than {4 * MAX_NODES} values"
            raise InputError(what, where=self.path, fix="write less by reference")


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place in a document; ``$ref`` is followed within the document."""

    value: Any
    document: Document
    path: tuple[Step, ...] = ()

    def claim(self, claim: Claim, *below: Step) -> None:
        """Say what became of the value, or of what is below it."""
        self.document.claims.put(claim, *self.path, *below)

    def refuse(self, what: str, fix: str) -> InputError:
        """An error at this place."""
        return self.document.refuse(what, self.path, fix)

    def get(self, key: Step) -> Node | None:
        """The value of a key; ``None`` where there is none, or null."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return None if value is None else self._below(value, key)

    def items(self) -> list[Node]:
        """The items of a list; a single value is a list of itself."""
        if not isinstance(self.value, list):
            return [self]
        return [self._below(item, index) for index, item in enumerate(self.value)]

    def fields(self) -> Iterator[tuple[str, Node]]:
        """The keys of an object with their values."""
        if isinstance(self.value, dict):
            for key, item in self.value.items():
                yield key, self._below(item, key)

    def plain(self, depth: int = 0) -> Any:
        """The value as JSON data, references put in.

        Args:
            depth: Nesting so far; callers leave it out.

        Raises:
            InputError: If references make it too deep or too large.
        """
        self.document.count()
        if depth > MAX_DEPTH:
            raise self.refuse(f"nested deeper than {MAX_DEPTH} levels", "flatten it")
        if isinstance(self.value, dict):
            return {key: node.plain(depth + 1) for key, node in self.fields()}
        if isinstance(self.value, list):
            return [node.plain(depth + 1) for node in self.items()]
        return self.value

    def _below(self, value: Any, step: Step) -> Node:
        return Node(value, self.document, (*self.path, step)).referred()

    def referred(self) -> Node:
        """What this refers to with ``$ref: "#/..."``, or itself."""
        node = self
        for _ in range(MAX_REFS):
            target = node._target()  # of the same class
            if target is None:
                return node
            node.claim(NATIVE, REF)
            node = target
        raise self.refuse("references lead to each other", "write one of them out")

    def _target(self) -> Node | None:
        pointer = self.value.get(REF) if isinstance(self.value, dict) else None
        if not isinstance(pointer, str) or not pointer.startswith("#/"):
            return None
        value: Any = self.document.value
        path: list[Step] = []
        for part in pointer[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            step: Step = int(key) if isinstance(value, list) and key.isdecimal() else key
            try:
                value = cast("Any", value)[step]
            except (KeyError, IndexError, TypeError):
                return None  # inside a JSON Schema it means the schema itself
            path.append(step)
        if len(self.path) > len(path) and list(self.path[: len(path)]) == path:
            raise self.refuse("a reference to what it stands in", "write it out")
        return Node(value, self.document, tuple(path))


class Folder:
    """The folder of a config, and the files of it that were read.

    Args:
        source: The config.
        root: The folder that data may come from; the config's own if left out.
    """

    def __init__(self, source: Path, root: Path | None = None) -> None:
        self._home = source.parent
        self._root = (root or source.parent).resolve()
        self._read: dict[tuple[Path, bool], Document] = {}
        self.moved: list[str] = []
        self.main = self._load(source, "", as_text=False)

    @property
    def documents(self) -> list[Document]:
        """Everything that was read, the config first."""
        return list(self._read.values())

    def read(self, name: str, asker: Node, *, as_text: bool = False) -> Document:
        """A data file that the config names.

        Args:
            name: Its path.
            asker: Where it is named.
            as_text: Take it for text whatever its suffix says, but for YAML.

        Raises:
            InputError: If it is outside the folder, not there, or faulty.
        """
        path = self._inside(name, asker)
        known = self._read.get((path, as_text))
        if known is not None:
            return known
        if len(self._read) >= MAX_FILES:
            raise asker.refuse(f"names more than {MAX_FILES} files", "split it")
        return self._load(path, str(path.relative_to(self._root)), as_text=as_text)

    def matches(self, pattern: str, asker: Node) -> list[str]:
        """The files that a glob matches in the folder, in the order of their names.

        Raises:
            InputError: If it leads out of the folder.
        """
        name = pattern.removeprefix(FILE)
        if not _MAGIC.search(name):
            return [name]
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise self._outside(name, asker)
        try:
            found = sorted(self._home.glob(name))
        except (ValueError, NotImplementedError, OSError) as error:
            raise asker.refuse(f"{name}: no glob ({error})", "mend it") from None
        return [str(each.relative_to(self._home)) for each in found if each.is_file()]

    def _inside(self, name: str, asker: Node) -> Path:
        given = Path(name.removeprefix(FILE))
        try:
            path = (self._home / given).resolve()
            beside = self._home / given.name
            if not path.is_relative_to(self._root):
                if not (given.is_absolute() and ".." not in given.parts and beside.is_file()):
                    raise self._outside(name, asker)
                self.moved.append(f"{name} was read from beside the config")
                path = beside.resolve()
            if not path.is_relative_to(self._root):
                raise self._outside(name, asker)
            if not path.is_file():
                raise asker.refuse(f"{name} is not there", "mend the path or take it out")
        except (OSError, ValueError) as error:
            raise asker.refuse(f"{name!r} is no path ({error})", "mend it") from None
        return path

    def _outside(self, name: str, asker: Node) -> InputError:
        what = f"{name} is outside the config's folder and is not read"
        return asker.refuse(what, "move it there, or name a folder with --read-option root=DIR")

    def _load(self, path: Path, name: str, *, as_text: bool) -> Document:
        data = read_whole(path, MAX_BYTES, "split it")
        is_text = as_text and path.suffix.lower() not in (".yaml", ".yml")
        value, lines = (decoded(data, path), {}) if is_text else parse(data, path)
        document = Document(path, name, value, lines)
        self._read[path.resolve(), as_text] = document
        return document


def parse(data: bytes, path: Path) -> tuple[Any, dict[Loc, int]]:
    """A data file as JSON data, by its suffix, with the lines of its values where it has them.

    Raises:
        InputError: If it is faulty.
    """
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return parse_yaml(data, path, finite=True)
    if suffix == ".json":
        return _flat(parse_json(data, path, None), path), {}
    if suffix == ".jsonl":
        lines = read_lines(path)
        rows = [(number, _flat(parse_json(line, path, number), path)) for number, line in lines]
        return [row for _, row in rows], {(i,): number for i, (number, _) in enumerate(rows)}
    if suffix == ".csv":
        return read_csv(data, path)
    return decoded(data, path), {}


def _flat(value: Any, path: Path) -> Any:
    """A JSON value that is not nested too deeply.

    Raises:
        InputError: If it is.
    """
    layer, depth = [value], 0
    while layer:
        if depth > MAX_DEPTH:
            what = f"nested deeper than {MAX_DEPTH} levels"
            raise InputError(what, where=path, fix="flatten it")
        inner = [each for each in layer if isinstance(each, dict | list)]
        layer = [
            item for each in inner for item in (each.values() if isinstance(each, dict) else each)
        ]
        depth += 1
    return value


def decoded(data: bytes, path: Path) -> str:
    """A data file as text.

    Raises:
        InputError: If it is no UTF-8.
    """
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start})"
        raise InputError(what, where=path, fix="save it as UTF-8") from None
