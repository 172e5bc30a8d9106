"""Checks for XML in an answer. Nothing is fetched and no entity is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.parsers import expat

from pydantic import model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Name
from bridge.scorers.reference import answer_text
from bridge.scorers.registry import Scorer, binary
from bridge.scorers.sources import DETERMINISTIC

_NAME = r"[A-Za-z_:\u0080-\U0010ffff][\w:.\-]*"
_TAG = re.compile(rf"<(/?)({_NAME})((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>")


class XmlParams(Model):
    """Parameters of ``is_xml`` and ``contains_xml``.

    Attributes:
        elements: Elements that must be there, as paths from the root: ``order.items.item``; an
            attribute is ``order.@_id``. Also written as the bare value, a list or a text with
            commas.
    """

    elements: tuple[Name, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _value_is_elements(cls, data: object) -> object:
        if isinstance(data, dict) and "value" in data and "elements" not in data:
            named = data["value"]
            if isinstance(named, str):
                named = [name.strip() for name in named.split(",")]
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"elements": named, **rest}
        return data


class _Search:
    """What an XML text holds of the wanted paths; its memory does not grow with the depth."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.wanted = {tuple(path.split(".")) for path in wanted}
        self.deepest = max(map(len, self.wanted), default=0)
        self.found: set[tuple[str, ...]] = set()
        self.depth = 0
        self.path: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > self.deepest:
            return
        self.path[self.depth - 1 :] = [_prefixed(name)]
        here = tuple(self.path)
        names = [here, *((*here, f"@_{_prefixed(each)}") for each in attributes)]
        self.found.update(self.wanted.intersection(names))

    def end(self, _: str) -> None:
        self.depth -= 1

    @property
    def missing(self) -> list[str]:
        return sorted(".".join(path) for path in self.wanted - self.found)


def _prefixed(name: str) -> str:
    """A name as it is written, from expat's ``uri local prefix``."""
    parts = name.split(" ")
    return f"{parts[2]}:{parts[1]}" if len(parts) == 3 else parts[-1]


def _read(text: str, search: _Search, *, namespaces: bool) -> str | None:
    """Read XML into a search; what is wrong with it, or ``None``."""
    parser = expat.ParserCreate("utf-8", " " if namespaces else None)
    parser.namespace_prefixes = namespaces
    parser.StartElementHandler = search.start
    parser.EndElementHandler = search.end
    parser.StartDoctypeDeclHandler = _refuse_declarations
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except (expat.ExpatError, ValueError) as error:
        return str(error)
    return None


def _refuse_declarations(_: Any, __: Any, ___: Any, internal: int) -> None:
    if internal:
        raise ValueError("declarations in the document type are not read")


def is_xml(_: Case, output: Output, params: XmlParams) -> list[Measurement]:
    """1.0 if the answer is one well-formed XML document (with the elements wanted), else 0.0.

    Prefixes must be declared. A document type with declarations of its own is refused, so no
    entity is expanded.
    """
    search = _Search(params.elements)
    fault = _read(answer_text(output), search, namespaces=True)
    return [_judged(fault is None, f"not XML: {fault}", search)]


def contains_xml(_: Case, output: Output, params: XmlParams) -> list[Measurement]:
    """1.0 if well-formed XML stands in the answer, with all the elements wanted, else 0.0."""
    text = answer_text(output)
    search = _Search(params.elements)
    found = False
    for start, end in _outermost(text):
        part = _Search(params.elements)
        if _read(text[start:end], part, namespaces=False) is None:
            found = True
            search.found |= part.found
    return [_judged(found, "no XML in the answer", search)]


def _judged(well_formed: bool, fault: str, search: _Search) -> Measurement:
    if not well_formed:
        return binary(False, fault)
    if search.missing:
        return binary(False, f"lacks {', '.join(search.missing)}")
    return binary(True, "is XML" if not search.wanted else "is XML and has what it should")


_NO_TAGS = (("<!--", "-->"), ("<![CDATA[", "]]>"))


def _without_text(text: str) -> str:
    """The text with comments and CDATA sections, which hold no tags, blanked out."""
    for opening, closing in _NO_TAGS:
        parts, done = list[str](), 0
        while (start := text.find(opening, done)) >= 0 and (end := text.find(closing, start)) >= 0:
            end += len(closing)
            parts += [text[done:start], " " * (end - start)]
            done = end
        text = "".join((*parts, text[done:]))
    return text


def _outermost(text: str) -> Iterator[tuple[int, int]]:
    """The spans of elements that are closed and stand in no other closed one, in order."""
    opened: list[tuple[str, int]] = []
    closed: list[tuple[int, int]] = []
    for tag in _TAG.finditer(_without_text(text)):
        name, start = tag[2], tag.start()
        if tag[1]:
            if not opened or opened[-1][0] != name:
                opened.clear()
                continue
            start = opened.pop()[1]
        elif not tag[3].endswith("/"):
            opened.append((name, start))
            continue
        while closed and closed[-1][0] > start:
            closed.pop()
        closed.append((start, tag.end()))
    yield from closed


IS_XML = Scorer(
    "is_xml",
    "1",
    is_xml,
    XmlParams,
    summary="The answer is well-formed XML, with the elements wanted.",
    source=(f"{DETERMINISTIC}#is-xml",),
)
CONTAINS_XML = Scorer(
    "contains_xml",
    "1",
    contains_xml,
    XmlParams,
    summary="Well-formed XML stands in the answer.",
    source=(f"{DETERMINISTIC}#contains-xml",),
)
