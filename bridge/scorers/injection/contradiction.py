"""What contradicts a given system prompt: its prohibitions asked for, its identity replaced.

Text rules know attacks in general; the operator's own prompt says what is one here. Its
prohibitions ("never share the discount code") and its identity ("you are the support bot of ...")
are read by their grammar, in English, and a text is held against them: a request with the same
verb, or one of its kin, and half of the object's words. A plain request is a weak sign (users may
ask for what they may not have), one that claims permission or gives orders a stronger one.

Source of the idea: instruction hierarchy (Wallace et al., arXiv:2404.13208).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from bridge.scorers.injection.rules import vocabulary

_MOST_PROMPT, _MOST_TEXT, _MOST_PROHIBITIONS = 32_768, 65_536, 128
_FORBIDDING = re.compile(
    r"\b(?:never|do not|don['\u2019]t|must not|mustn['\u2019]t|may not|cannot|can['\u2019]t|"
    r"should not|shouldn['\u2019]t|(?:not allowed|not permitted|forbidden|prohibited) (?:to|from)|"
    r"under no circumstances|refuse to|refrain from|avoid)\s+"
    r"(?:(?:ever|you|should|may|must|also|directly|under any circumstances)\s+)*"
    r"(?P<verbs>[a-z]+(?:(?:, | or |, or | and )[a-z]+){0,3})\b(?P<object>[^.;!?\n]{0,160})",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:unless|except|without|if|until|before|when|but)\b", re.IGNORECASE)
_IDENTITY = re.compile(
    r"\byou(?:['\u2019]re| are)(?P<change> now| no longer| not| actually| really)? "
    r"(?:an? |the |called |named )?(?P<what>[a-z][^.,;!?\n]{2,80})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.;!?\n]{3,600}")
_WORD = re.compile(r"[a-z\u00c0-\u024f0-9]{3,24}")
_NEGATED = re.compile(
    r"\b(?:do not|don['\u2019]t|never|not|cannot|can['\u2019]t|why|how come)\b", re.IGNORECASE
)
_CLAIM = re.compile(
    r"\b(?:now|must|always|allowed|permitted|authori[sz]ed|may|from now on|anyway|regardless|"
    r"no longer|new (?:policy|rules?)|instead|have to|without|immediately|order you|ignore|"
    r"forget)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One place in a text that goes against a system prompt.

    Attributes:
        kind: ``prohibition`` or ``identity``.
        claims: whether the text claims permission or gives an order, and does not only ask.
        start: first character in the text.
        end: one past the last.
    """

    kind: str
    claims: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Prohibition:
    verbs: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@cache
def _telling() -> frozenset[str]:
    return frozenset(map(_stem, vocabulary()["keywords"]["telling"]))


@cache
def _empty() -> frozenset[str]:
    return frozenset(vocabulary()["keywords"]["empty"])


def _verb(word: str) -> str:
    stem = _stem(word)
    return "(tell)" if stem in _telling() else stem


def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _empty())


@lru_cache(maxsize=64)
def _read(system_prompt: str) -> tuple[tuple[_Prohibition, ...], frozenset[str]]:
    """The prohibitions of a system prompt, and the words of who it says the model is."""
    prompt = system_prompt[:_MOST_PROMPT]
    found: dict[_Prohibition, None] = {}
    for match in _FORBIDDING.finditer(prompt):
        verbs = frozenset(_verb(word) for word in re.findall(r"[a-z]+", match["verbs"].lower()))
        words = _content(_EXCEPTION.split(match["object"], maxsplit=1)[0])
        if words and len(found) < _MOST_PROHIBITIONS:
            found[_Prohibition(verbs, words)] = None
    identity = _IDENTITY.search(prompt)
    return tuple(found), _content(identity["what"]) if identity else frozenset()


def contradictions(text: str, system_prompt: str) -> Iterator[Contradiction]:
    """Sentences of ``text`` that go against ``system_prompt``, in order.

    Args:
        text: what was said to the model; the first 65,536 characters are read.
        system_prompt: the operator's instructions; the first 32,768 characters are read.
    """
    prohibitions, identity = _read(system_prompt)
    for match in _SENTENCE.finditer(text[:_MOST_TEXT]):
        sentence = match[0]
        if _asks_for_any(sentence, prohibitions):
            claims = _CLAIM.search(sentence) is not None
            start = match.end() - len(sentence.lstrip())
            yield Contradiction("prohibition", claims, start, match.end())
        elif identity and (other := _IDENTITY.search(sentence)) and _replaces(other, identity):
            start = match.start() + other.start()
            yield Contradiction("identity", True, start, match.start() + other.end())


def _asks_for_any(sentence: str, prohibitions: Iterable[_Prohibition]) -> bool:
    lowered = sentence.lower()
    negated = _NEGATED.search(lowered)
    after: dict[str, int] = {}
    for word in _WORD.finditer(lowered, 0, negated.start() if negated else len(lowered)):
        after.setdefault(_verb(word[0]), word.end())
    forbidden = frozenset[str]().union(*(one.verbs for one in prohibitions))
    objects = {verb: _content(lowered[after[verb] :]) for verb in forbidden & after.keys()}
    return any(
        2 * len(objects[verb] & one.words) >= len(one.words)
        for one in prohibitions
        for verb in one.verbs & objects.keys()
    )


def _replaces(other: re.Match[str], identity: frozenset[str]) -> bool:
    return other["change"] is not None and not identity & _content(other["what"])
