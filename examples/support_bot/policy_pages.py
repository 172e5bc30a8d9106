"""The policy folder as data: pages, which of them are in force, their passages and their terms."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_GERMAN, STOPWORDS_SPANISH

POLICIES = Path(__file__).parent / "policies"
VOCABULARY: dict[str, Any] = json.loads(
    (Path(__file__).parent / "vocabulary.json").read_text(encoding="utf-8")
)
"""Words to ignore in a question, and customers' words with those that the policies use."""

TODAY = "2026-06-16"
"""The day the bot lives in: the shop's data ends here."""

_STOPWORDS = {
    "en": frozenset(STOPWORDS_EN_PLUS) - {"back", "off", "out", "up", "outside"},
    "de": frozenset(STOPWORDS_GERMAN),
    "es": frozenset(STOPWORDS_SPANISH),
}
_QUESTION_WORDS = frozenset(VOCABULARY["ignored"])
"""Words of questions that say nothing about their subject, beside the stopwords of `bm25s`."""

_ENDINGS = {
    "en": ("ing", "ed", "es", "s"),
    "de": ("en", "em", "er", "es", "e", "n", "s"),
    "es": ("ados", "adas", "ado", "ada", "es", "os", "as", "ar", "er", "ir", "o", "a", "s", "e"),
}
_WORD = re.compile(r"[^\W_]+(?:[.,:-]\d+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ0-9])")


@dataclass(frozen=True, slots=True)
class Page:
    """One policy document: its front matter and its text.

    Attributes:
        supersedes: Id of the page that this one replaces, or `null`.
        overrides: Pages that this one takes precedence over ...
        applies_to: ... where a question is about one of these subjects.
    """

    id: str
    title: str
    language: str
    effective: str
    supersedes: str
    overrides: tuple[str, ...]
    applies_to: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class Passage:
    """One section of a page."""

    page: Page
    heading: str
    text: str

    @property
    def sentences(self) -> list[str]:
        """The sentences of the section, in order."""
        return _SENTENCE_END.split(self.text)


def read_pages(folder: Path = POLICIES) -> list[Page]:
    """All pages of a folder, in the order of their file names."""
    return [_read_page(path) for path in sorted(folder.glob("*.md"))]


def _read_page(path: Path) -> Page:
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Page(
        id=fields["id"],
        title=fields["title"],
        language=fields["language"],
        effective=fields["effective"],
        supersedes=fields["supersedes"],
        overrides=_names(fields.get("overrides", "")),
        applies_to=_names(fields.get("applies_to", "")),
        body=body,
    )


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def in_force(pages: list[Page]) -> list[Page]:
    """The pages in force today: those begun, less those that a begun page supersedes."""
    begun = [page for page in pages if page.effective <= TODAY]
    replaced = {page.supersedes for page in begun}
    return [page for page in begun if page.id not in replaced]


def passages_of(page: Page) -> list[Passage]:
    """The `##` sections of a page."""
    sections = (part.split("\n", 1) for part in page.body.split("\n## ")[1:])
    return [Passage(page, heading.strip(), text.strip()) for heading, text in sections]


def terms(text: str, language: str) -> list[str]:
    """Lower-cased words without stopwords, light endings stripped."""
    skipped = _STOPWORDS[language] | _QUESTION_WORDS
    words = (word.lower() for word in _WORD.findall(text))
    return [_stem(word, language) for word in words if word not in skipped]


def _stem(word: str, language: str) -> str:
    for ending in _ENDINGS[language]:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word
