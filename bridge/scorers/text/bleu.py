"""BLEU and its kin: n-grams of words (BLEU, GLEU) or of characters (chrF) that are shared."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Whole
from bridge.scorers.reference import (
    NO_REFERENCE,
    ReferenceParams,
    answer_text,
    best_of,
    bounded,
    wanted_texts,
)
from bridge.scorers.registry import Scorer, skip
from bridge.scorers.sources import DETERMINISTIC, TRADITIONAL
from bridge.scorers.text.rouge import ngrams, overlap

MAX_ORDER = 4
FLOOR = 1e-7
"""Precision in place of 0, so that one order without a match is no verdict on all."""


def bleu(case: Case, output: Output, params: ReferenceParams) -> list[Measurement]:
    """BLEU-4 of one sentence against all references at once, promptfoo's definition.

    Lower-case words between white space; orders for which the answer is too short are left out,
    and a precision of 0 counts as 1e-7. RAGAS's definition, of the library sacreBLEU, is
    ``sacrebleu``.
    """
    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    answer = bounded(answer_text(output)).lower().split()
    value = _bleu(answer, [bounded(text).lower().split() for text in wanted])
    return [Measurement(value=value, reason=f"bleu {value:.4g}")]


def _bleu(answer: list[str], references: list[list[str]]) -> float:
    if not answer:
        return 0.0
    logs = []
    for n in range(1, min(MAX_ORDER, len(answer)) + 1):
        found = ngrams(answer, n)
        clipped = max(overlap(found, ngrams(reference, n)) for reference in references)
        logs.append(math.log(clipped / found.total() if clipped else FLOOR))
    # a text without words counts as one empty word, as JavaScript splits it
    lengths = [max(1, len(reference)) for reference in references]
    nearest = min(lengths, key=lambda length: (abs(length - len(answer)), length))
    penalty = 1.0 if len(answer) > nearest else math.exp(1 - nearest / len(answer))
    return penalty * math.exp(math.fsum(logs) / len(logs))


def gleu(case: Case, output: Output, params: ReferenceParams) -> list[Measurement]:
    """Google-BLEU of a sentence: the lesser of the precision and recall of all 1- to 4-grams.

    promptfoo's definition: lower-case words between white space, without full stops at their end.
    """
    return best_of("gleu", case, output, params, _gleu)


def _gleu(text: str, reference: str) -> float:
    answer, wanted = _words(text), _words(reference)
    if not any(answer) or not any(wanted):
        return 0.0
    common = found = due = 0
    for n in range(1, MAX_ORDER + 1):
        ours, theirs = ngrams(answer, n), ngrams(wanted, n)
        common += overlap(ours, theirs)
        found, due = found + ours.total(), due + theirs.total()
    return common / max(found, due)


def _words(text: str) -> list[str]:
    return [word.rstrip(".") for word in text.lower().split()]


class SacrebleuParams(ReferenceParams):
    """Parameters of ``sacrebleu``; those of the library's ``BLEU``.

    Attributes:
        value: What to compare with, a text or several, of which n-grams of any count; the case's
            accepted answers if left out.
        tokenize: Tokens; left out are those that need a download.
        lowercase: Compare in lower case.
        max_ngram_order: Longest n-grams.
        smooth_method: How an order without a match counts.
        effective_order: Leave orders out for which the answer is too short.
    """

    tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"
    lowercase: Flag = False
    max_ngram_order: Whole = Field(default=4, ge=1, le=9)
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    effective_order: Flag = False


def sacrebleu(case: Case, output: Output, params: SacrebleuParams) -> list[Measurement]:
    """BLEU of the library sacreBLEU, divided by 100.

    RAGAS's ``BleuScore`` for texts of one sentence. Of longer ones it splits answer and reference
    at ". " and scores the first sentence of the answer alone; here the whole is scored.
    """
    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    options = params.model_dump(exclude={"value"})
    references = [[bounded(text)] for text in wanted]
    found = _bleu_of(**options).corpus_score([bounded(answer_text(output))], references)
    return [_hundredth("sacrebleu", found.score)]


@lru_cache(maxsize=64)
def _bleu_of(**options: Any) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(**options)


def _hundredth(name: str, score: float) -> Measurement:
    value = min(1.0, max(0.0, score / 100))
    return Measurement(value=value, reason=f"{name} {value:.4g}")


class ChrfParams(ReferenceParams):
    """Parameters of ``chrf``; those of the library's ``CHRF``.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
        char_order: Longest n-grams of characters.
        word_order: Longest n-grams of words; 2 is chrF++.
        beta: Weight of recall over precision.
        lowercase: Compare in lower case.
    """

    char_order: Whole = Field(default=6, ge=1, le=9)
    word_order: Whole = Field(default=0, ge=0, le=4)
    beta: Whole = Field(default=2, ge=1, le=9)
    lowercase: Flag = False


def chrf(case: Case, output: Output, params: ChrfParams) -> list[Measurement]:
    """The library sacreBLEU's chrF, divided by 100, RAGAS's definition; a blank text scores 0."""
    options = params.model_dump(exclude={"value"})

    def compare(text: str, reference: str) -> float:
        if not text.strip() or not reference.strip():
            return 0.0
        score: float = _chrf_of(**options).corpus_score([text], [[reference]]).score
        return min(1.0, max(0.0, score / 100))

    return best_of("chrf", case, output, params, compare)


@lru_cache(maxsize=64)
def _chrf_of(**options: Any) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(**options)


BLEU = Scorer(
    "bleu",
    "1",
    bleu,
    ReferenceParams,
    threshold=0.5,
    summary="BLEU of one sentence.",
    source=(f"{DETERMINISTIC}#bleu", "https://aclanthology.org/P02-1040/"),
)
GLEU = Scorer(
    "gleu",
    "1",
    gleu,
    ReferenceParams,
    threshold=0.5,
    summary="Google-BLEU of one sentence.",
    source=(f"{DETERMINISTIC}#gleu", "https://arxiv.org/abs/1609.08144"),
)
SACREBLEU = Scorer(
    "sacrebleu",
    "1",
    sacrebleu,
    SacrebleuParams,
    threshold=0.5,
    summary="BLEU of the library sacreBLEU.",
    source=(f"{TRADITIONAL}#bleu-score", "https://aclanthology.org/W18-6319/"),
    needs=("sacrebleu",),
)
CHRF = Scorer(
    "chrf",
    "1",
    chrf,
    ChrfParams,
    threshold=0.5,
    summary="N-grams of characters that answer and reference share.",
    source=(f"{TRADITIONAL}#chrf-score", "https://aclanthology.org/W15-3049/"),
    needs=("sacrebleu",),
)
