"""``context_retention``: an answer carries over what it should from earlier in the dialogue."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

from bridge.model.case import Case, ContextPattern
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Model
from bridge.scorers.conversation.dialogue import Exchange, context_refs, exchanges
from bridge.scorers.registry import Scorer, skip
from bridge.scorers.text.literal import compile_regex, shown

CLAUSE_END = re.compile(r"[.!?;:\n]\s|\n")
BEFORE = 80
"""Characters before a mention in which it may be negated."""

_ARTICLE = (
    r"(?:the |your |my |an? |any |this |that |der |die |das |ihre?n? |el |la |su |le |votre )?"
)
NEGATED = re.compile(
    rf"(?:\b(?:not|isn't|wasn't|aren't|instead of|rather than|other than|no longer|nicht|statt|"
    rf"anstelle von|kein|keine|keinen|en lugar de|en vez de|au lieu de) {_ARTICLE}"
    rf"(?:order |bestellung |pedido |commande |size |größe )?"
    r"|\b(?:don't|do not|didn't|did not|cannot|can't|no longer) "
    r"(?:know|recall|remember)\b[^,]*"
    r"|\bno (?:memory|recollection|idea|knowledge|record)\b[^,]*"
    r"|\b(?:weiß|erinnere mich|kenne) nicht\b[^,]*|\bno (?:recuerdo|sé|conozco)\b[^,]*"
    r"|\bne (?:sais|connais|me souviens) pas\b[^,]*)$"
)
"""What, right before a mention, says that it is not carried over. ``not only`` does not."""


class RetentionParams(Model):
    """Parameters of ``context_retention``.

    Attributes:
        where: Where to look: the answer's ``text``, or ``all``: also the arguments of its tool
            calls.
        ignore_case: Match words without regard to case.
    """

    where: Literal["text", "all"] = "all"
    ignore_case: Flag = True


def context_retention(case: Case, output: Output, params: RetentionParams) -> list[Measurement]:
    """The share of the turn's ``context_refs`` that its answer carries over.

    Words are matched between word boundaries (``42`` is not in ``42.5``), any white space and any
    Unicode compatibility form being equal; ``{regex}`` is RE2. A mention in a negation (``not
    FO-1``, ``instead of``, ``I do not recall ...``) does not count. Skipped without
    ``context_refs``.
    """
    refs = context_refs(case)
    if not refs:
        return [skip("no context_refs")]
    texts = list(_texts(exchanges(case, output)[-1], params.where))
    found = {index: _found(ref, texts, params) for index, ref in enumerate(refs)}
    lost = [(_name(refs[index]), how) for index, how in found.items() if how != "kept"]
    details = {"refs": [{"ref": _name(refs[i]), "found": how} for i, how in found.items()]}
    value = 1 - len(lost) / len(refs)
    return [Measurement(value=value, reason=_reason(lost, len(refs)), details=details)]


def _texts(exchange: Exchange, where: str) -> Iterator[str]:
    yield _normal(exchange.answer)
    if where == "all":
        yield from (_normal(as_text(call.arguments)) for call in exchange.calls)


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).split(" "))


_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "‐": "-", "‑": "-", "–": "-"})


def _name(ref: str | ContextPattern) -> str:
    return ref if isinstance(ref, str) else f"/{ref.regex}/"


def _found(ref: str | ContextPattern, texts: list[str], params: RetentionParams) -> str:
    """``kept``, ``negated`` where every mention is in a negation, or ``missing``."""
    mentioned = False
    for text in texts:
        for start in _mentions(ref, text, params.ignore_case):
            mentioned = True
            if not _is_negated(text, start):
                return "kept"
    return "negated" if mentioned else "missing"


def _mentions(ref: str | ContextPattern, text: str, ignore_case: bool) -> Iterator[int]:
    if isinstance(ref, ContextPattern):
        yield from (match.start() for match in compile_regex(ref.regex).finditer(text))
        return
    for match in _words(_normal(ref), ignore_case).finditer(text):
        yield match.start()


@lru_cache(maxsize=1024)
def _words(ref: str, ignore_case: bool) -> Any:
    """Words between boundaries; a number that is part of a longer one is another number."""
    inner = r"\s+".join(map(re.escape, ref.split()))
    before = r"(?<![\w])(?<!\d[.,])" if ref[:1].isdigit() else r"(?<!\w)"
    after = r"(?!\w)(?![.,]\d)" if ref[-1:].isdigit() else r"(?!\w)"
    if not ref[:1].isalnum():
        before = ""
    if not ref[-1:].isalnum():
        after = ""
    return re.compile(before + inner + after, re.IGNORECASE if ignore_case else 0)


def _is_negated(text: str, start: int) -> bool:
    before = text[max(0, start - BEFORE) : start].lower()
    clause = CLAUSE_END.split(before)[-1]
    return NEGATED.search(clause) is not None


def _reason(lost: list[tuple[str, str]], total: int) -> str:
    if not lost:
        return f"carries over all {total} references" if total > 1 else "carries the reference over"
    listed = shown([name for name, _ in lost])
    only = " (only in a negation)" if all(how == "negated" for _, how in lost) else ""
    return f"{len(lost)} of {total} references lost{only}: {listed}"


CONTEXT_RETENTION = Scorer(
    "context_retention",
    "1",
    context_retention,
    RetentionParams,
    with_history=True,
    summary="The answer carries over what it should from earlier turns.",
)
