"""Files with a few things wrong: in their bytes, and in the values that their format is made of."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

import yaml

LARGEST = 200_000
"""Bytes of the largest file that is mutated."""
TOKENS = (b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"NaN", b"\xff", b"\x00", b"\\ud83d", b"1e999",
          b"null", b"\n", b";", b"'", b"-1", b"<!DOCTYPE", b"PK\x05\x06", b"\xff\xfe", b"\xef\xbb\xbf",
          b"{{", b"*a", b"&a ", b"!!python/object:os.system ", b"file://../x", b"|", b"\r")  # fmt: skip
"""What a mutation puts in."""
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "nan",
    "\x00", "\ud83d", "a\nb", "['a' 'b']", '["a"]', "{'k': 1}", "a|b;c", "{{v}}", "file://x", "1", "0,5", "C",
    [], {}, [[]], [None], {"": None}, [1, "a"], {"name": 1}, {"role": "user"}, {"id": {}}, {"value": []},
    {"bridge": {"case": {}, "output": {}, "found": {}}}, "attachment://x", "d" * 3000,
)  # fmt: skip
"""Values in the place of others."""
WORDS = ("A1:XFD1048576", "XFD1", "A0", "ZZZZ9", "1048576", "999999999999", "-1", "1e400", "1E5000", "9" * 5000,
         "s", "b", "e", "d", "inlineStr", "str", "n", "xl/worksheets/sheet1.xml", "../../x", "rId9", "2958466")  # fmt: skip
"""Texts in the place of a workbook's others."""
PARQUET = b"PAR1"


def mutated(content: bytes, suffix: str, chance: random.Random) -> bytes:
    """A file with a few of its values or bytes changed, some of them both."""
    changed = content
    if chance.random() < 0.7:
        try:
            changed = _by_value(content, suffix, chance)
        except Exception:  # it is no such file any more
            changed = content
    if changed is content or chance.random() < 0.1:
        changed = _by_byte(changed, chance)
    return changed


def _by_byte(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((0, 1, 1, 4, 40)))
        token = chance.choice((b"", chance.choice(TOKENS), data[at:end] * 2, chance.randbytes(1)))
        data[at:end] = token
    return bytes(data[: chance.choice((len(data), len(data), chance.randrange(len(data) + 1)))])


def _by_value(content: bytes, suffix: str, chance: random.Random) -> bytes:
    if content.startswith(b"PK"):
        return _archive(content, chance)
    if content.startswith(PARQUET):
        return _parquet(content, chance)
    if suffix in (".xml", ".rels"):
        return _markup(content, chance)
    text = content.decode("utf-8", "surrogateescape")
    if suffix in (".csv", ".tsv"):
        changed = _cells(text, chance)
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        rows = changed_value(rows, chance)
        changed = "".join(json.dumps(row) + "\n" for row in _list(rows))
    elif suffix in (".yaml", ".yml"):
        value = changed_value(yaml.safe_load(text), chance)
        changed = yaml.safe_dump(value, sort_keys=False, allow_unicode=chance.random() < 0.5)
    else:
        changed = json.dumps(changed_value(json.loads(text), chance), ensure_ascii=True)
    return changed.encode("utf-8", "surrogatepass")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _cells(text: str, chance: random.Random) -> str:
    delimiter = chance.choice(",,,;\t|")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="," if "," in text else ";"))
    for _ in range(chance.randint(1, 3) if rows else 0):
        row = chance.choice(rows)
        if row and chance.random() < 0.7:
            odd = chance.choice(ODD)
            shown = odd if isinstance(odd, str) else repr(odd)
            row[chance.randrange(len(row))] = chance.choice((shown, json.dumps(odd, default=str)))
        elif chance.random() < 0.5:
            rows.insert(chance.randrange(len(rows) + 1), list(row))
        else:
            place = chance.randrange(len(row) + 1)
            for each in rows:
                each.insert(place, chance.choice(each) if each else "")
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=delimiter, lineterminator=chance.choice(("\n", "\r\n"))).writerows(
        rows
    )
    return made.getvalue()


def _archive(content: bytes, chance: random.Random) -> bytes:
    """An archive with one of its members changed; one of Inspect's may be packed by zstd."""
    members = _unpacked(content)
    name = chance.choice(sorted(members))
    suffix = name[name.rfind(".") :]
    if suffix in (".json", ".xml", ".rels") and chance.random() < 0.8:
        members[name] = _by_value(members[name], suffix, chance)
    elif chance.random() < 0.2:
        members[chance.choice(sorted(members))] = members.pop(name)
    else:
        members[name] = _by_byte(members[name], chance)
    made = io.BytesIO()
    with zipfile.ZipFile(
        made, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as file:
        for each, data in members.items():
            file.writestr(each, data)
    return made.getvalue()


def _unpacked(content: bytes) -> dict[str, bytes]:
    from backports import zstd

    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        for info in file.infolist():
            if info.compress_type == 93:
                at = info.header_offset
                name, extra = content[at + 26 : at + 28], content[at + 28 : at + 30]
                start = at + 30 + int.from_bytes(name, "little") + int.from_bytes(extra, "little")
                found[info.filename] = zstd.decompress(content[start : start + info.compress_size])
            else:
                found[info.filename] = file.read(info)
    return found


def _markup(content: bytes, chance: random.Random) -> bytes:
    """XML in which a few attributes, texts or elements are gone, odd, doubled or moved."""
    root = ElementTree.fromstring(content)
    for _ in range(chance.randint(1, 3)):
        elements = list(root.iter())
        element = chance.choice(elements)
        kind = chance.randrange(6)
        if kind == 0 and element.attrib:
            del element.attrib[chance.choice(sorted(element.attrib))]
        elif kind == 1:
            element.attrib[chance.choice([*sorted(element.attrib), "r", "t"])] = _word(chance)
        elif kind == 2:
            element.text = _word(chance)
        elif kind == 3 and len(element):
            element.remove(chance.choice(list(element)))
        elif kind == 4 and len(element):
            element.insert(0, copy.deepcopy(chance.choice(list(element))))
        else:
            chance.choice(elements).append(copy.deepcopy(element))
    made: bytes = ElementTree.tostring(root, encoding="utf-8")
    return made


def _word(chance: random.Random) -> str:
    """A text that XML can hold."""
    odd = chance.choice((*WORDS, *ODD))
    text = odd if isinstance(odd, str) else repr(odd)
    return re.sub("[^\t\n -\ud7ff]", "", text)


def _parquet(content: bytes, chance: random.Random) -> bytes:
    """A Parquet file with odd values in it, or a few bytes changed where they stand.

    The second keeps every offset: what is wrong is a length, a count or a page, most often in the
    footer.
    """
    if chance.random() < 0.3:
        return _rows_of_parquet(content, chance)
    data = bytearray(content)
    footer = int.from_bytes(data[-8:-4], "little") + 8
    for _ in range(chance.randint(1, 4)):
        first = max(0, len(data) - footer) if chance.random() < 0.6 else 0
        at = chance.randrange(first, len(data))
        data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256), data[at] ^ 0x10))
    return bytes(data)


def _rows_of_parquet(content: bytes, chance: random.Random) -> bytes:
    from pyarrow import Table, parquet

    rows = changed_value(parquet.read_table(io.BytesIO(content)).to_pylist(), chance)
    if _depth(rows) > 50:
        return content  # pyarrow's writer overflows its stack
    made = io.BytesIO()
    parquet.write_table(Table.from_pylist([each for each in _list(rows) if each]), made)
    return made.getvalue()


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        held = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for items in held for each in items if isinstance(each, dict | list)]
    return depth


def changed_value(value: Any, chance: random.Random) -> Any:
    """JSON data in which a few values are gone, odd, doubled, moved or wrapped."""
    holder = [value]
    for _ in range(chance.randint(1, 3)):
        places = _places(holder)
        container, key = chance.choice(places)
        _change(container, key, chance, places)
    return holder[0] if holder else None


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value within."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    seen: set[int] = set()
    while waiting and len(found) < 20_000:
        container = waiting.pop()
        if id(container) in seen:
            continue
        seen.add(id(container))
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in pairs:
            found.append((container, key))
            if isinstance(item, dict | list):
                waiting.append(item)
    return found or [([value], 0)]


def _change(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    try:
        old = container[key]
    except (KeyError, IndexError):
        return
    kind = chance.randrange(7)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, dict):
        container[chance.choice(("", "id", "value", "x.y[]", "name", "input", "\ud800"))] = old
    elif kind == 2 and isinstance(container, list):
        container.insert(key, old)
    elif kind == 3:
        container[key] = chance.choice(
            ([old], {"value": old}, json.dumps(old, default=str), repr(old))
        )
    elif kind == 4:
        other, place = chance.choice(places)
        try:
            container[key] = json.loads(json.dumps(other[place], default=str))
        except (KeyError, IndexError, ValueError):
            container[key] = None
    elif kind == 5 and chance.random() < 0.1:
        container[key] = _deep(chance.choice((90, 101, 500, 900)), chance.random() < 0.5)
    else:
        container[key] = chance.choice(ODD)


def _deep(levels: int, by_key: bool) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"a": value} if by_key else [value]
    return value
