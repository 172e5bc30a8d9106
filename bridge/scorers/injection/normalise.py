"""Folding: what a reader takes for the same text becomes the same text.

Every character is folded on its own (compatibility decomposition without combining marks, and
without invisible characters), in one ``str.translate``. That is linear for any input, where
``unicodedata.normalize`` sorts runs of marks in quadratic time. Rules are folded the same way, so
that patterns may be written with their usual accents.

Sources: Unicode Standard Annex 15 (NFKD), Unicode Technical Standard 39 (confusables),
Boucher et al., "Bad Characters", arXiv:2106.09898.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from bridge.scorers.injection import spans
from bridge.scorers.injection.spans import Edit, Spans

_CHUNK = 256
_TABLE_LIMIT = 200_000
_LAST_FOLDED = 0x1FFFF
_ENTITY = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});?")
_INVISIBLE = frozenset({0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
_LINE_BREAKS = frozenset({0x85, 0x2028, 0x2029})


@cache
def confusables() -> Mapping[str, Mapping[str, str]]:
    """``confusables.yaml``: section, letter, the signs that stand for it."""
    source = resources.files("bridge.scorers.injection") / "confusables.yaml"
    data: dict[str, dict[str, str]] = yaml.load(source.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return data


def _inverted(*sections: str) -> dict[int, str]:
    tables = confusables()
    return {
        ord(sign): letter
        for section in sections
        for letter, signs in tables[section].items()
        for sign in signs
    }


def _is_invisible(code: int) -> bool:
    return (
        code in _INVISIBLE
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
        or unicodedata.category(chr(code)) == "Cf"
    )


class _Fold(dict[int, Any]):
    """Fills itself on demand: most texts use few of the characters that exist."""

    def __missing__(self, code: int) -> str | int:
        if len(self) > _TABLE_LIMIT:
            self.clear()
        self[code] = folded = self._folded(code)
        return folded

    def _folded(self, code: int) -> str | int:
        if code < 0x80 or 0xAC00 <= code <= 0xD7A3:
            return code
        if code > _LAST_FOLDED:
            return "" if 0xE0000 <= code <= 0xE0FFF else code
        if code in _LINE_BREAKS:
            return "\n"
        if _is_invisible(code):
            return ""
        parts = unicodedata.normalize("NFKD", chr(code))
        kept = "".join(part for part in parts if not unicodedata.combining(part))
        # A few ligatures grow to 18 characters; no rule needs them spelt out.
        return kept if len(kept) <= 4 else code


@cache
def _fold_table() -> _Fold:
    table = _Fold()
    table.update(_inverted("punctuation"))
    return table


@cache
def _homoglyph_table() -> dict[int, str]:
    return _inverted("homoglyphs")


def fold_characters(text: str) -> str:
    """``text`` folded; ASCII text comes back as it is."""
    return text if text.isascii() else text.translate(_fold_table())


def fold(text: str) -> tuple[str, Spans]:
    """Fold ``text`` and say where each part came from.

    HTML entities are read first, then characters are folded. Case is kept: rules ignore it.
    """
    unescaped, back = _unescape(text) if "&" in text else (text, spans.same)
    if unescaped.isascii():
        return unescaped, back
    pieces = _translated(unescaped, _fold_table())
    lengths = [len(piece) for piece in pieces]
    inner = spans.chunked(unescaped, lengths, _CHUNK, fold_characters)
    return "".join(pieces), spans.then(inner, back)


def _translated(text: str, table: Mapping[int, str | int]) -> list[str]:
    """Chunks of ``text``, translated where they are not ASCII (the slow part)."""
    chunks = (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))
    return [chunk if chunk.isascii() else chunk.translate(table) for chunk in chunks]


@cache
def _entity_cache() -> dict[str, str]:
    return {}


def _entity(name: str) -> str:
    known = _entity_cache()
    if name not in known:
        if len(known) > _TABLE_LIMIT:
            known.clear()
        known[name] = html.unescape(name).encode("utf-8", "replace").decode()
    return known[name]


def _unescape(text: str) -> tuple[str, Spans]:
    changed = _ENTITY.sub(lambda found: _entity(found[0]), text)
    if changed == text:
        return text, spans.same

    @cache
    def back() -> Spans:
        found = _ENTITY.finditer(text)
        return spans.edited([Edit(m.start(), m.end(), _entity(m[0]), "entities") for m in found])

    return changed, lambda start, end: back()(start, end)


def unmask_homoglyphs(folded: str) -> str:
    """``folded`` with look-alike letters replaced by ASCII ones, character for character."""
    return "".join(_translated(folded, _homoglyph_table()))


def unmask_leet(folded: str) -> tuple[str, ...]:
    """``folded`` with leet signs read as letters: once with ``1`` as i, once as l."""
    tables = confusables()
    base = _replace(folded, tables["leet"])
    either = tables["leet_either"]
    as_i, as_l = (_replace(base, {letter: either[letter]}) for letter in ("i", "l"))
    return (as_i,) if as_i == as_l else (as_i, as_l)


def _replace(text: str, table: Mapping[str, str]) -> str:
    # For a few signs in long text, faster than one pass of str.translate, which is slow off ASCII.
    for letter, signs in table.items():
        for sign in signs:
            text = text.replace(sign, letter)
    return text
