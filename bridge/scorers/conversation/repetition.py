"""``repetition``: an answer says something new, not what was said before or over and over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.scorers.conversation.dialogue import exchanges
from bridge.scorers.registry import NoParams, Scorer, skip
from bridge.scorers.text.literal import shown

SHORTEST = 4
"""Fewest words of a sentence that counts: people say ``You are welcome.`` more than once."""
LOOPED = 3
"""How often in a row the same words make a loop."""
LONGEST_LOOP = 12
"""Most words in a row that are looked for as a loop."""
READ = 20_000
"""Most words of an answer that are read."""

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
WORD = re.compile(r"\w+(?:[.,:'’@-]\w+)*")
ASKED_AGAIN = re.compile(
    r"(?i)\b(?:again|repeat|once more|remind|confirm|did you (?:say|mean)|you said|are you sure|"
    r"sure|really|summari[sz]e|recap|nochmals?|noch einmal|wiederhol\w*|bestätig\w*|sicher|"
    r"wirklich|otra vez|de nuevo|repit\w*|repet\w*|confirm\w*|segur\w*|encore|répét\w*|sûr)\b"
)
"""What a user says who wants to hear something twice."""


def repetition(case: Case, output: Output, _: NoParams) -> list[Measurement]:
    """The share of the answer's words that repeat nothing: 1.0 is all new.

    Repeated are sentences of four words or more that an earlier answer holds, or the same answer
    before, word for word but for case and punctuation; and words said three times in a row or more.
    A user who asks again may be told again. Skipped for an empty answer.
    """
    *before, now = exchanges(case, output)
    words = _words(now.answer)[:READ]
    if not words:
        return [skip("the answer is empty")]
    again = ASKED_AGAIN.search(now.user) is not None
    known = set() if again else {each for past in before for each in _sentences(past.answer)}
    repeated = _repeated(_sentences(now.answer), known)
    share = min(1.0, max(sum(map(len, repeated)), _looped(words)) / len(words))
    if share == 0:
        return [Measurement(value=1.0, reason="repeats nothing", details={"repeated": []})]
    said = [" ".join(each[:20]) for each in repeated[:10]]
    reason = f"{share:.0%} of the answer is repeated" + (f": {shown(said[0])}" if said else "")
    return [Measurement(value=1 - share, reason=reason, details={"repeated": said})]


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def _sentences(text: str) -> list[tuple[str, ...]]:
    parts = (tuple(_words(part)) for part in SENTENCE_END.split(text))
    return [part for part in parts if len(part) >= SHORTEST]


def _repeated(
    sentences: Iterable[tuple[str, ...]], known: set[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    seen = set(known)
    found = []
    for sentence in sentences:
        if sentence in seen:
            found.append(sentence)
        seen.add(sentence)
    return found


def _looped(words: Sequence[str]) -> int:
    """How many words only repeat the ones right before them, three times or more."""
    most = 0
    for period in range(1, LONGEST_LOOP + 1):
        total = run = 0
        for index in range(period, len(words)):
            same = words[index] == words[index - period]
            run = run + 1 if same else 0
            if run == (LOOPED - 1) * period:
                total += run
            elif run > (LOOPED - 1) * period:
                total += 1
        most = max(most, total)
    return most


REPETITION = Scorer(
    "repetition",
    "1",
    repetition,
    threshold=0.5,
    with_history=True,
    summary="The answer does not say again what was said before.",
)
