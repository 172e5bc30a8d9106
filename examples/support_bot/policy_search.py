"""Search over the policies: the best passages, and the sentences in them that answer.

Ranking is BM25 (`bm25s`); everything around it is plain Python, so that the same question always
gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import bm25s
import numpy as np
from numpy.typing import NDArray
from policy_pages import VOCABULARY, Passage, in_force, passages_of, read_pages, terms

CONFIDENT = 0.42
"""Least share of a question's term weight that the passages found must hold."""

_ASKS_FOR_A_NUMBER = re.compile(
    r"(?i)\bhow (?:many|much|long|quickly|fast)\b|\bwhen\b|\bcosts?\b|\bhours?\b|\btime\b|\bworth\b"
    r"|\bwie (?:viele?|lange)\b|\bwann\b|\bkostet\b|\bcuánt|\bplazo\b|\bimporte\b|\bamount\b"
    r"|\bwert\b|\bvalue\b"
)
_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_PARTS = re.compile(r",\s+(?:and|und|y)\s+|\s+and (?=do|how|where|what|when\b)")
_SYNONYMS: dict[str, dict[str, str]] = VOCABULARY["synonyms"]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the policies say.

    Attributes:
        sentences: The sentences that answer, in reading order.
        passages: The passages searched for them, best first.
        coverage: Share of the question's term weight that the passages hold, in [0, 1].
    """

    sentences: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    coverage: float = 0.0

    @property
    def confident(self) -> bool:
        """Whether the question is about something that the policies speak of."""
        return self.coverage >= CONFIDENT


@dataclass(frozen=True)
class PolicyIndex:
    """The passages of one language, ready to be searched."""

    passages: tuple[Passage, ...]
    language: str

    @cached_property
    def _terms(self) -> list[list[str]]:
        return [self._terms_of(passage, passage.text) for passage in self.passages]

    @cached_property
    def _ranker(self) -> bm25s.BM25:
        return _ranker(self._terms)

    @cached_property
    def _sentences(self) -> list[tuple[int, str]]:
        numbered = enumerate(self.passages)
        return [(index, text) for index, passage in numbered for text in passage.sentences]

    @cached_property
    def _sentence_ranker(self) -> bm25s.BM25:
        return _ranker([self._terms_of(self.passages[i], text) for i, text in self._sentences])

    def _terms_of(self, passage: Passage, text: str) -> list[str]:
        return terms(f"{passage.page.title} {passage.heading} {text}", self.language)

    def find(self, question: str, context: str = "", limit: int = 3) -> Finding:
        """Search for the answer to a question; nothing is found where no term is shared.

        `context` is the rest of what was said: it may name the subject of a more specific page.
        """
        query = terms(in_policy_words(question, self.language), self.language)
        known = [term for term in query if term in self._ranker.vocab_dict]
        if not known:
            return Finding()
        scores = self._ranker.get_scores(known)
        order = [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] > 0]
        best = self._without_overridden(order, {*query, *terms(context, self.language)})[:limit]
        sentences = self._answer(known, best, scores, question)
        return Finding(sentences, tuple(self.passages[i] for i in best), self._cover(query, best))

    def _without_overridden(self, order: list[int], query: set[str]) -> list[int]:
        overridden = {
            name
            for page in {passage.page for passage in self.passages}
            if query & set(terms(" ".join(page.applies_to), self.language))
            for name in page.overrides
        }
        return [i for i in order if self.passages[i].page.id not in overridden]

    def _answer(
        self, known: list[str], best: Sequence[int], scores: Scores, question: str
    ) -> tuple[str, ...]:
        """At most three sentences: the best one, and those close behind it."""
        own = self._sentence_ranker.get_scores(known)
        number = bool(_ASKS_FOR_A_NUMBER.search(question))
        rated = {
            at: (float(own[at]) + 0.5 * float(scores[i])) * (1.25 if number and _digit(text) else 1)
            for at, (i, text) in enumerate(self._sentences)
            if i in best
        }
        top = max(rated.values())
        close = sorted((at for at in rated if rated[at] >= 0.88 * top), key=lambda at: -rated[at])
        chosen = sorted(close[:3], key=lambda at: (best.index(self._sentences[at][0]), at))
        return tuple(self._sentences[at][1] for at in chosen)

    def _cover(self, query: list[str], best: Sequence[int]) -> float:
        held = {term for i in best[:2] for term in self._terms[i]}
        weights = {term: self._weight(term) for term in query}
        return sum(weights[t] for t in weights if t in held) / sum(weights.values())

    def _weight(self, term: str) -> float:
        count = sum(term in passage for passage in self._terms)
        return float(np.log(1 + len(self._terms) / (0.5 + count)))


def in_policy_words(question: str, language: str) -> str:
    """The question with customers' words replaced by those that the policies use."""
    for word, policy_word in _SYNONYMS[language].items():
        question = re.sub(rf"(?i)\b{word}\b", policy_word, question)
    return question


def _ranker(corpus: list[list[str]]) -> bm25s.BM25:
    ranker = bm25s.BM25(backend="numpy", csc_backend="numpy")
    ranker.index(corpus, show_progress=False)
    return ranker


def _digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


@lru_cache(maxsize=8)
def index_of(language: str, newest_only: bool) -> PolicyIndex:
    """The index of one language; `newest_only` leaves out pages that a newer one supersedes."""
    pages = read_pages()
    kept = in_force(pages) if newest_only else pages
    passages = (p for page in kept if page.language == language for p in passages_of(page))
    return PolicyIndex(tuple(passages), language)


def look_up(question: str, language: str, newest_only: bool) -> Finding:
    """Answer a question part by part, from the pages of its language, then from the English ones.

    A part that the policies do not cover on its own is left to the question as a whole.
    """
    whole = _look_up_part(question, question, language, newest_only)
    asked = [text for text in _SENTENCES.split(question) if text.endswith("?")]
    parts = [part for text in asked for part in _PARTS.split(text)]
    if parts in ([], [question]):
        return whole
    found = [whole, *(_look_up_part(part, question, language, newest_only) for part in parts)]
    sure = [finding for finding in found if finding.confident]
    if not sure:
        return whole
    return Finding(
        tuple(dict.fromkeys(text for finding in sure for text in finding.sentences)),
        tuple(dict.fromkeys(passage for finding in sure for passage in finding.passages)),
        max(finding.coverage for finding in sure),
    )


def _look_up_part(part: str, question: str, language: str, newest_only: bool) -> Finding:
    finding = index_of(language, newest_only).find(part, question)
    if language != "en" and not finding.confident:
        english = index_of("en", newest_only).find(part, question)
        finding = english if english.confident else finding
    return finding
