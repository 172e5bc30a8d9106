"""Misspelt keywords: ``ignroe all previuos`` reads as what it means.

A word is taken for a keyword when it has the keyword's letters with the first and last in place
(typoglycaemia), or is one edit away (Damerau-Levenshtein distance 1). Keywords are few and long,
and real words close to one are listed, so that ordinary language is left alone. Lookup by deletion
follows SymSpell (Garbe, 2012): no distance is computed against every keyword.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import islice

import re2

from bridge.scorers.injection.rules import options, vocabulary
from bridge.scorers.injection.spans import Edit, find

_WORDS = re.compile(r"[a-z]{4,15}")
_DISTINCT_WORDS = 20_000
_PLACES = 4_096


def _deletions(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))}


def _scramble_key(word: str) -> str:
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


@cache
def _index() -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Scrambled form to keyword, deletion form to keyword, and words to leave alone."""
    keywords: list[str] = vocabulary()["keywords"]["misspelt"]
    real: list[str] = vocabulary()["keywords"]["not_misspelt"]
    scrambled = {_scramble_key(word): word for word in keywords}
    deleted = {form: word for word in keywords for form in (word, *_deletions(word))}
    return scrambled, deleted, frozenset((*keywords, *real))


@lru_cache(maxsize=65_536)
def correct(word: str) -> str | None:
    """The keyword that a lower-case ``word`` misspells, or None."""
    scrambled, deleted, known = _index()
    if word in known:
        return None
    if (keyword := scrambled.get(_scramble_key(word))) is not None:
        return keyword
    for form in (word, *_deletions(word)):
        keyword = deleted.get(form)
        if keyword is not None and _is_close(word, keyword):
            return keyword
    return None


def _is_close(word: str, keyword: str) -> bool:
    """One insertion, deletion, substitution or swap of neighbours apart."""
    if len(word) != len(keyword):
        longer, shorter = (word, keyword) if len(word) > len(keyword) else (keyword, word)
        return len(longer) - len(shorter) == 1 and shorter in _deletions(longer)
    differing = [i for i, (a, b) in enumerate(zip(word, keyword, strict=True)) if a != b]
    swapped = len(differing) == 2 and differing[1] == differing[0] + 1
    return len(differing) == 1 or (swapped and sorted(word) == sorted(keyword))


def misspelt(text: str) -> list[Edit]:
    """Edits that put keywords in place of their misspellings, in order.

    The first 20,000 distinct words are looked at, and 4,096 places.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        return []
    words = dict.fromkeys(_WORDS.findall(lowered))
    corrections = {
        word: keyword
        for word in islice(words, _DISTINCT_WORDS)
        if (keyword := correct(word)) is not None
    }
    return _places(lowered, corrections) if corrections else []


def _places(lowered: str, corrections: Mapping[str, str]) -> list[Edit]:
    chosen = options()
    chosen.longest_match = True
    return [
        Edit(start, end, corrections[lowered[start:end]], "typos")
        for start, end in find(re2.compile("|".join(corrections), chosen), lowered, _PLACES)
        # re2 has no look-around: whether this is a whole word is seen here.
        if not (_is_letter(lowered[start - 1 : start]) or _is_letter(lowered[end : end + 1]))
    ]


def _is_letter(neighbour: str) -> bool:
    return "a" <= neighbour <= "z"
