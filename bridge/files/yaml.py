"""YAML 1.2 as plain data with line numbers: no tags, no repeated keys, no bombs.

PyYAML's C parser does the reading; its YAML 1.1 resolver (``Yes`` is true, ``012`` is ten) is
replaced by the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema). Keys are
text, whatever they look like, as in JSON.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from bridge.files.jsonl import unreadable
from bridge.files.no_data import refuse_no_data
from bridge.model.errors import InputError

MAX_NODES = 500_000
"""Most values a document may hold once its aliases are expanded."""
MAX_DEPTH = 100
MAX_BYTES = 64 * 1024 * 1024

Loc = tuple[str | int, ...]


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


class _Dumper(yaml.SafeDumper):
    """Quotes a text that either YAML 1.1 or 1.2 would read as something else."""


def _resolve(tag: str, pattern: str, first: str) -> None:
    for kind in (_Loader, _Dumper):
        kind.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


_resolve("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF")
_resolve("null", r"^(?:~|null|Null|NULL|)$", "~nN")
_Loader.yaml_implicit_resolvers.setdefault("", []).append(
    ("tag:yaml.org,2002:null", re.compile(r"^$"))
)
_resolve("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789")
_resolve(
    "float",
    r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
    "-+.0123456789",
)
_resolve("merge", r"^<<$", "<")


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    """Line ends and characters without a shape of their own are escaped in double quotes."""
    style = None if value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _text)


def _int(_: _Loader, node: yaml.ScalarNode) -> int:
    text = node.value
    if text.startswith(("0o", "0x")):
        return int(text[2:], 8 if text[1] == "o" else 16)
    return int(text)


def _float(_: _Loader, node: yaml.ScalarNode) -> float:
    text = node.value.lower()
    if text.endswith((".inf", ".nan")):
        return float(text.replace(".", ""))
    return float(text)


class _Finite(_Loader):
    """Refuses numbers that JSON does not have."""


def _finite_float(loader: _Loader, node: yaml.ScalarNode) -> float:
    number = _float(loader, node)
    if math.isfinite(number):
        return number
    what = f"{node.value[:40]} is not a JSON number"
    raise yaml.constructor.ConstructorError(None, None, what, node.start_mark)


for _kind, _read in ((_Loader, _float), (_Finite, _finite_float)):
    _kind.add_constructor("tag:yaml.org,2002:int", _int)
    _kind.add_constructor("tag:yaml.org,2002:float", _read)

_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null")
)


def load_yaml(path: Path, *, finite: bool = False) -> tuple[Any, dict[Loc, int]]:
    """Read a YAML (or JSON) file.

    Args:
        path: The file.
        finite: Whether numbers that JSON does not have are refused.

    Returns:
        The document, and for each value its 1-based line, keyed by its path in the document.

    Raises:
        InputError: If the file is no YAML, holds a tag, a repeated key, a cycle, or expands to
            more than ``MAX_NODES`` values.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES >> 20} MiB", where=path, fix="split it")
    return parse_yaml(data, path, finite=finite)


def parse_yaml(data: bytes, path: Path, *, finite: bool = False) -> tuple[Any, dict[Loc, int]]:
    """:func:`load_yaml` on bytes; ``path`` is for the errors, ``finite`` refuses ``.inf``."""
    refuse_no_data(data, path)
    text = _decoded(data, path)
    try:
        _refuse_deep(text, path)
        loader = (_Finite if finite else _Loader)(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, {}
            lines = _survey(node, path)
            return loader.construct_document(node), lines
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        what = f"not YAML ({error.reason})"
        place = text.count("\n", 0, error.position) + 1
        raise InputError(what, where=path, line=place, fix="take the character out") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line = mark.line + 1 if mark is not None else None
        raise InputError(f"not YAML ({problem})", where=path, line=line, fix="mend it") from None
    except RecursionError:
        raise InputError("aliases nested too deeply", where=path, fix="flatten them") from None
    except ValueError as error:
        raise InputError(f"not YAML ({error})", where=path, fix="mend it") from None


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start})"
        raise InputError(what, where=path, fix="save the file as UTF-8") from None


def _refuse_deep(text: str, path: Path) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                mark = event.start_mark
                line = mark.line + 1 if mark is not None else None
                what = f"nested deeper than {MAX_DEPTH} levels"
                raise InputError(what, where=path, line=line, fix="flatten it")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _survey(root: yaml.Node, path: Path) -> dict[Loc, int]:
    """Check the node graph and note the line of each value."""
    _weigh(root, path, {})
    lines: dict[Loc, int] = {}
    _note_lines(root, (), lines)
    return lines


def _weigh(node: yaml.Node, path: Path, known: dict[int, float]) -> float:
    if id(node) in known:
        weight = known[id(node)]
        if math.isnan(weight):
            raise _refuse("an alias inside itself", node, path)
        return weight
    known[id(node)] = math.nan
    total = 1.0
    _refuse_tag(node, path)
    if isinstance(node, yaml.MappingNode):
        _read_keys_as_text(node, path)
        total += sum(1 + _weigh(value, path, known) for _, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        total += sum(_weigh(item, path, known) for item in node.value)
    if total > MAX_NODES:
        raise _refuse(f"expands to more than {MAX_NODES} values", node, path)
    known[id(node)] = total
    return total


def _refuse_tag(node: yaml.Node, path: Path) -> None:
    if node.tag == _MERGE and isinstance(node, yaml.ScalarNode):
        node.tag = _TEXT
    if node.tag not in _TAGS:
        raise _refuse(f"tag {node.tag!r}", node, path, "write plain values")


def _read_keys_as_text(node: yaml.MappingNode, path: Path) -> None:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _refuse("a key that is not a plain value", key, path)
        if key.value in seen:
            first = seen[key.value]
            raise _refuse(f"key {key.value!r} stands twice (first on line {first})", key, path)
        seen[key.value] = key.start_mark.line + 1
        if key.tag != _MERGE:
            _refuse_tag(key, path)
            key.tag = _TEXT


def _refuse(what: str, node: yaml.Node, path: Path, fix: str = "mend it") -> InputError:
    return InputError(what, where=path, line=node.start_mark.line + 1, fix=fix)


def _note_lines(node: yaml.Node, loc: Loc, lines: dict[Loc, int]) -> None:
    lines[loc] = node.start_mark.line + 1
    if len(lines) > MAX_NODES:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _note_lines(value, (*loc, key.value), lines)
            lines[(*loc, key.value)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*loc, index), lines)


def dump_yaml(value: Any) -> str:
    """JSON data as YAML for people, which YAML 1.1 and 1.2 read alike."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def line_of(loc: Loc, lines: dict[Loc, int]) -> int | None:
    """The line of the longest known prefix of ``loc``.

    Short forms have one more level in the file (``{contains: {threshold: 2}}`` has its threshold
    below ``contains``): where a mapping has one key only, that key may stand between.
    """
    found: Loc = ()
    for part in loc:
        inside = [key for key in lines if len(key) == len(found) + 1 and key[:-1] == found]
        if (*found, part) in lines:
            found = (*found, part)
        elif len(inside) == 1 and (*inside[0], part) in lines:
            found = (*inside[0], part)
    return lines.get(found)
