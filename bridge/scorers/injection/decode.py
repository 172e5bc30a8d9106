"""Undoing encodings: which parts of a text are encoded, and what they say.

Every decoder answers None for what does not come out as readable text, so ordinary identifiers,
hashes and numbers stay as they are.

Sources: Wei et al., "Jailbroken", arXiv:2307.02483 (base64, rot13, leet); Yuan et al.,
"CipherChat", arXiv:2308.06463 (Caesar, Morse, Unicode); Unicode tag and variation-selector
smuggling as in OWASP LLM01:2025.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase, ascii_uppercase

import re2

from bridge.scorers.injection.rules import options, vocabulary
from bridge.scorers.injection.spans import Edit, find

_SAMPLE = 512
_LEAST_DECODED = 6
_LEAST_ENCODED = 12
_LETTERS = 0.7
_KEYWORDS = 4_096
_SHORT, _STRETCHES, _MARGIN = 2_048, 2_048, 32


@dataclass(frozen=True, slots=True)
class _Decoder:
    how: str
    pattern: str
    decode: Callable[[str], str | None]


def _readable(text: str) -> str | None:
    """``text`` if it reads as language, or as ASCII that may itself be encoded."""
    sample = text[:_SAMPLE]
    plain = sample.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if len(sample) < _LEAST_DECODED or not plain.isprintable():
        return None
    letters = sum(map(str.isalpha, sample)) + sample.count(" ")
    may_be_encoded = len(sample) >= _LEAST_ENCODED and sample.isascii()
    return text if may_be_encoded or letters >= _LETTERS * len(sample) else None


def _from_bytes(data: bytes) -> str | None:
    if data[1:64:2].count(0) * 4 > len(data[:64]):
        return _readable(data.decode("utf-16-le", "replace"))
    return _readable(data.decode("utf-8", "replace"))


def _base64(fragment: str) -> str | None:
    if "\n" not in fragment:
        return _base64_line(fragment)
    # A run over several lines is either wrapped base64, or one line of it above ordinary words.
    return _base64_line(re.sub(r"\s", "", fragment)) or _base64_line(fragment.split("\n")[0])


def _base64_line(fragment: str) -> str | None:
    compact = fragment.rstrip("=").replace("-", "+").replace("_", "/")
    compact = compact[: len(compact) - (len(compact) % 4 == 1)]
    return _from_bytes(binascii.a2b_base64(compact + "=" * (-len(compact) % 4)))


def _base32(fragment: str) -> str | None:
    compact = fragment.rstrip("=")
    compact = compact[: len(compact) // 8 * 8]
    return _from_bytes(base64.b32decode(compact)) if compact else None


def _hex(fragment: str) -> str | None:
    digits = fragment.lower().replace("\\x", "").replace("0x", "")
    if not digits.isalnum():
        digits = re.sub(r"[^0-9a-f]", "", digits)
    return _from_bytes(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _binary(fragment: str) -> str | None:
    bits = re.sub(r"[^01]", "", fragment)
    bits = bits[: len(bits) // 8 * 8]
    return _from_bytes(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)))


def _decimal(fragment: str) -> str | None:
    codes = [int(code) for code in re.findall(r"\d+", fragment)]
    return _readable("".join(map(chr, codes)))


# Bounded: one repetition over a megabyte makes the re module grow its stack again and again.
_ESCAPED = re.compile(rb"(?:%[0-9a-fA-F]{2}){1,64}")


def _percent(fragment: str) -> str | None:
    data = fragment.replace("+", " ").encode()
    decoded = _ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace(b"%", b"").decode()), data)
    return _readable(decoded.decode("utf-8", "replace"))


def _escapes(fragment: str) -> str | None:
    decoded = re.sub(r"\\u\{?([0-9a-fA-F]{4})\}?", lambda m: chr(int(m[1], 16)), fragment)
    return _readable(decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@cache
def _morse_table() -> dict[str, str]:
    table: dict[str, str] = vocabulary()["morse"]
    return table | {"/": " ", "|": " "}


def _morse(fragment: str) -> str | None:
    table = _morse_table()
    words = re.split(r"\s*[/|\n]\s*|\s{2,}", fragment.strip())
    letters = (table.get(sign, "") for word in words for sign in (*word.split(), "/"))
    return _readable("".join(letters).strip())


_DECODERS = (
    _Decoder("binary", r"(?:[01]{8}[\s,]?){6,}", _binary),
    _Decoder("hex", r"(?:(?:\\x|0x)?[0-9a-f]{2}[\s:,-]?){8,}", _hex),
    _Decoder(
        "decimal", r"(?:\b(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[\s,;]{1,2}){8,}\d{2,3}", _decimal
    ),
    _Decoder("base32", r"\b(?-i:[A-Z2-7]{24,})=*", _base32),
    _Decoder("base64", r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}", _base64),
    _Decoder("percent", r"[^\s%]*(?:%[0-9a-f]{2}[^\s%]{0,24}){3,}", _percent),
    _Decoder("escapes", r"(?:\\u\{?[0-9a-f]{4}\}?[\s,]{0,1}){4,}", _escapes),
    _Decoder("morse", r"(?:^|\s)(?:[.-]{1,6}[\s/|]{1,3}){8,}[.-]{1,6}", _morse),
)


HINTS = (
    r"[A-Za-z0-9+/_-]{16}",
    r"(?:[0-9a-f]{2}[\s:,-]){7}",
    r"(?:0x[0-9a-f]{2}[\s:,-]){3}",
    r"[01]{8}[\s,][01]{8}",
    r"(?:\b\d{2,3}[\s,;]{1,2}){8}",
    r"\\[ux]\{?[0-9a-f]{2}|%[0-9a-f]{2}[^\s%]*%",
    r"(?:[.-]{1,6}[\s/|]){6}",
    r"(?:^|\W)\w(?:[\s.\-_*|/,]{1,3}\w){3}",
    r"[^\x00-\x7f][\s.\-_*|/,·•][^\x00-\x7f][\s.\-_*|/,·•][^\x00-\x7f]",
)
"""Cheap patterns, one of which is in every text that has an encoded or a spaced-out part. The
decoders' own patterns are exact but, joined into one, need more states than re2 keeps."""


@cache
def _compiled() -> tuple[tuple[_Decoder, re2._Regexp], ...]:
    return tuple((one, re2.compile(one.pattern, options())) for one in _DECODERS)


@cache
def _rare() -> re2._Regexp:
    """All decoders but base64's, which has something to look at in most long texts."""
    patterns = [f"(?:{one.pattern})" for one in _DECODERS if one.how != "base64"]
    return re2.compile("|".join(patterns), options())


def _stretches(text: str) -> list[tuple[int, int]]:
    """Where the rarer decoders may have work: read once, where each by itself would read all."""
    if len(text) <= _SHORT:
        return [(0, len(text))]
    merged: list[tuple[int, int]] = []
    for start, end in find(_rare(), text, _STRETCHES):
        start, end = max(0, start - _MARGIN), min(len(text), end + _MARGIN)
        if merged and start <= merged[-1][1]:
            start = merged.pop()[0]
        merged.append((start, end))
    return merged if len(merged) < _STRETCHES // 2 else [(0, len(text))]


def encoded_fragments(text: str) -> list[Edit]:
    """The encoded parts of ``text`` with what they say, in order and without overlap."""
    found: list[Edit] = []
    stretches = _stretches(text)
    for decoder, pattern in _compiled():
        for begin, finish in stretches if decoder.how != "base64" else [(0, len(text))]:
            for start, end in find(pattern, text[begin:finish]):
                decoded = decoder.decode(text[begin + start : begin + end])
                if decoded is not None:
                    found.append(Edit(begin + start, begin + end, decoded, decoder.how))
    return _without_overlap(found)


def _without_overlap(edits: list[Edit]) -> list[Edit]:
    kept: list[Edit] = []
    # The sort is stable: of two that start together, the earlier decoder's stays.
    for edit in sorted(edits, key=lambda edit: edit.start):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


@cache
def _hidden() -> re2._Regexp:
    return re2.compile(r"[\x{FE00}-\x{FE0F}\x{E0020}-\x{E01EF}]{3}", options())


def hidden_fragments(raw: str) -> list[Edit]:
    """Text written in invisible Unicode tags or variation selectors, one byte each."""
    if _hidden().search(raw) is None:
        return []
    tags = [
        Edit(m.start(), m.end(), "".join(chr(ord(c) - 0xE0000) for c in m[0]), "tags")
        for m in _TAGS.finditer(raw)
    ]
    selectors = [
        Edit(m.start(), m.end(), text, "variation_selectors")
        for m in _SELECTORS.finditer(raw)
        if (text := _from_bytes(bytes(map(_selector_byte, m[0])))) is not None
    ]
    return _without_overlap(tags + selectors)


def _selector_byte(selector: str) -> int:
    code = ord(selector)
    return code - 0xFE00 if code <= 0xFE0F else code - 0xE0100 + 16


def _shift(text: str, by: int) -> str:
    # UTF-8 bytes of other characters are not letters, and bytes.translate is fast for any text.
    return text.encode().translate(_shift_table(by)).decode()


@cache
def _shift_table(by: int) -> bytes:
    shifted = [letters[by:] + letters[:by] for letters in (ascii_lowercase, ascii_uppercase)]
    return bytes.maketrans((ascii_lowercase + ascii_uppercase).encode(), "".join(shifted).encode())


@cache
def _transforms() -> tuple[re2._Regexp, dict[str, list[str]]]:
    """One pattern for all rewritten keywords, and the rewritings that lead to each."""
    words: dict[str, list[str]] = {}
    for word in vocabulary()["keywords"]["encoded"]:
        words.setdefault(word[::-1], []).append("reversed")
        for by in range(1, 26):
            words.setdefault(_shift(word, 26 - by), []).append(f"caesar-{by}")
    return re2.compile("|".join(words), options()), words


def transformed_as(text: str) -> dict[str, list[tuple[int, int]]]:
    """The whole-text rewritings whose keywords occur in ``text``, with where they do.

    ``reversed``, or ``caesar-N`` for letters to be shifted by N (``caesar-13`` is rot13). The first
    4,096 keywords are looked at.
    """
    together, words = _transforms()
    found: dict[str, list[tuple[int, int]]] = {}
    for start, end in find(together, text, _KEYWORDS):
        for name in words[text[start:end].lower()]:
            found.setdefault(name, []).append((start, end))
    return found


def unshift(text: str, name: str) -> str:
    """``text`` with the shift of a ``caesar-N`` name undone."""
    return _shift(text, int(name.removeprefix("caesar-")))


def turn_words(text: str) -> str:
    """``text`` with the characters of every word in reverse order, each word in its place."""
    return "\n".join(" ".join(line[::-1].split(" ")[::-1]) for line in text.split("\n"))


@cache
def keywords() -> re2._Regexp:
    """Words, one of which most attacks have: where they turn up, a reading is worth a search."""
    return re2.compile("|".join(vocabulary()["keywords"]["disguised"]), options())
