"""ROUGE: the n-grams, or the longest common subsequence, that answer and reference share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from pydantic import Field

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Whole
from bridge.scorers.reference import ReferenceParams, best_of
from bridge.scorers.registry import Scorer
from bridge.scorers.sources import DETERMINISTIC, TRADITIONAL

PAPER = "https://aclanthology.org/W04-1013/"


class RougeNParams(ReferenceParams):
    """Parameters of ``rouge_n``.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
        n: Words of an n-gram.
    """

    n: Whole = Field(default=1, ge=1, le=9)


def rouge_n(case: Case, output: Output, params: RougeNParams) -> list[Measurement]:
    """F1 of the n-grams that answer and reference share, promptfoo's ``rouge-n`` (n is 1 there).

    Lower-case tokens of the Penn Treebank's rules, each counted as often as it occurs, not
    stemmed. RAGAS's definition, with other tokens and Porter's stems, is ``rouge``.
    """
    n = params.n

    def compare(text: str, reference: str) -> float:
        return _f1(ngrams(treebank(text.lower()), n), ngrams(treebank(reference.lower()), n))

    return best_of(f"rouge-{n}", case, output, params, compare)


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of ``n`` tokens occurs."""
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def overlap(one: Counter[Any], other: Counter[Any]) -> int:
    """What two bags share, each as often as it is in both."""
    return (one & other).total()


def _f1(found: Counter[Any], wanted: Counter[Any]) -> float:
    common = overlap(found, wanted)
    return 2 * common / (found.total() + wanted.total()) if common else 0.0


_SPACES = re.compile(r"[\s\u0085]+")
_SEPARATE = (
    (re.compile(r"\.{3}"), " ... "),
    (re.compile(r"[:,](?!\d)"), r" \g<0> "),
    (re.compile(r"[;@#$%&]"), r" \g<0> "),
    (re.compile(r"([^.])(?<!\b[A-Za-z]\.[A-Za-z])(\.)([\])}>'\s]*)$"), r"\1 \2\3 "),
    (re.compile(r"[?!\][(){}<>]"), r" \g<0> "),
    (re.compile("--"), " -- "),
    (re.compile(r"^|$"), " "),
    (re.compile("([^'])' "), r"\1 ' "),
    (re.compile("'([sSmMdD]) "), r" '\1 "),
    (re.compile("('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r" \1 "),
    (
        re.compile(
            r"(?i)(?<!\w)(?:(can)(?=not\b)|(d)(?='ye\b)|(gim|lem)(?=me\b)|(gon|wan)(?=na\b)|(got)(?=ta\b)"
            r"|(more)(?='n\b)|('t)(?=(?:is|was)\b))"
        ),
        r" \g<0> ",
    ),
)
_QUOTES = re.compile("``|''|\"")


def treebank(text: str) -> list[str]:
    """Tokens by the rules of the Penn Treebank's ``sed`` script.

    Source: https://web.archive.org/web/19991017095716/http://www.cis.upenn.edu/~treebank/tokenization.html
    """
    text = _SPACES.sub(" ", text).strip()
    text = _QUOTES.sub(lambda sign: " `` " if _opens(text, sign) else " '' ", text)
    for pattern, separated in _SEPARATE:
        text = pattern.sub(separated, text)
    return text.split()


def _opens(text: str, sign: re.Match[str]) -> bool:
    before = text[sign.start() - 1 : sign.start()]
    return sign.group() != "''" and (before in ("", " ") or before in "([{<")


class RougeParams(ReferenceParams):
    """Parameters of ``rouge``.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
        type: Shared words, pairs of words, or the longest common subsequence.
        mode: F1, or its precision or recall alone.
        stem: Compare Porter's stems of words of more than three letters.
    """

    type: Literal["rouge1", "rouge2", "rougeL"] = "rougeL"
    mode: Literal["fmeasure", "precision", "recall"] = "fmeasure"
    stem: Flag = True


def rouge(case: Case, output: Output, params: RougeParams) -> list[Measurement]:
    """ROUGE-1, ROUGE-2 or ROUGE-L as RAGAS has it from Google's ``rouge-score``.

    Words are runs of ASCII letters and digits: a text in another script has none and scores 0.
    """

    def compare(text: str, reference: str) -> float:
        found, wanted = _tokens(text, params.stem), _tokens(reference, params.stem)
        common, length, due = _shared(found, wanted, params.type)
        if not common:
            return 0.0
        values = {"precision": common / length, "recall": common / due}
        return values.get(params.mode, 2 * common / (length + due))

    return best_of(params.type, case, output, params, compare)


def _shared(found: list[str], wanted: list[str], kind: str) -> tuple[int, int, int]:
    """What is shared, what there is, and what there should be."""
    if kind == "rougeL":
        from rapidfuzz.distance import LCSseq

        return LCSseq.similarity(found, wanted), len(found), len(wanted)
    n = int(kind.removeprefix("rouge"))
    ours, theirs = ngrams(found, n), ngrams(wanted, n)
    return overlap(ours, theirs), ours.total(), theirs.total()


_NO_WORD = re.compile("[^a-z0-9]+")


def _tokens(text: str, stem: bool) -> list[str]:
    words = _NO_WORD.sub(" ", text.lower()).split()
    return [_stem(word) if len(word) > 3 else word for word in words] if stem else words


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


ROUGE_N = Scorer(
    "rouge_n",
    "1",
    rouge_n,
    RougeNParams,
    threshold=0.75,
    summary="N-grams that answer and reference share.",
    source=(f"{DETERMINISTIC}#rouge-n", PAPER),
)
ROUGE = Scorer(
    "rouge",
    "1",
    rouge,
    RougeParams,
    threshold=0.5,
    summary="ROUGE of Google's rouge-score: words, or the longest common subsequence.",
    source=(f"{TRADITIONAL}#rouge-score", PAPER),
    needs=("nltk", "rapidfuzz"),
)
