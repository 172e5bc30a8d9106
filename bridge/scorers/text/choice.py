"""Multiple choice: the letters that an answer settles on, as Inspect AI reads them."""

from __future__ import annotations

import re

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Model
from bridge.scorers.reference import NO_REFERENCE, answer_text, reference_texts
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import SCORERS
from bridge.scorers.text.literal import compile_regex

LETTERS = 26

_WRAPPED = (r"\$\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\$", r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*")
_BRACKETED = re.compile(r"(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))")
_STRICT = r"(?im)^ANSWER\s*:\s*([a-z\d ,]+)\s*(?:$|\n|\.)"
_LENIENT = r"(?i)ANSWER\s*:\s*([a-z\d ,]+)(?:\W|$)"
_BARE = r"(?i)^\W*([a-z])(?:\W*$|[).:]\s)"


class ChoiceParams(Model):
    """Parameters of ``choice``.

    Attributes:
        multiple: Several letters may be right; whether they are is seen from the accepted answer
            if left out.
        bare: Take an answer without ``ANSWER:`` too, if it is or starts with a letter: ``B``,
            ``(B)``, ``B. Berlin``.
    """

    multiple: Flag | None = None
    bare: Flag = False


def choice(case: Case, output: Output, params: ChoiceParams) -> list[Measurement]:
    """1.0 if the letters after ``ANSWER:`` are the accepted ones, else 0.0.

    Accepted answers are letters (``A``, ``A,C``, ``[A, C]``) or texts of the case's choices.
    """
    references = reference_texts(case)
    if not references:
        return [skip(NO_REFERENCE)]
    known = [letter(index) for index in range(len(case.choices) or LETTERS)]
    wanted = {each for text in references for each in _wanted(text, case.choices, known)}
    multiple = len(wanted) > 1 if params.multiple is None else params.multiple
    chosen = _chosen(answer_text(output), known, multiple, params.bare)
    details = {"chosen": sorted(chosen), "wanted": sorted(wanted)}
    if not chosen:
        return [binary(False, "settles on none of the choices", details=details)]
    said = ", ".join(sorted(chosen))
    verdict = "as wanted" if chosen == wanted else f"not {', '.join(sorted(wanted))}"
    return [binary(chosen == wanted, f"{said}, {verdict}", details=details)]


def letter(index: int) -> str:
    """The name of a choice (0-based): A to Z, then 1, 2, ..."""
    return chr(ord("A") + index) if index < LETTERS else str(index - LETTERS + 1)


def _wanted(text: str, choices: tuple[str, ...], known: list[str]) -> list[str]:
    if text in choices:
        return [letter(choices.index(text))]
    words = text.upper().replace(",", " ").split()
    names = [name for word in words for name in ([word] if word.isnumeric() else word)]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"the accepted answer {unknown[0]!r} is none of {len(known)} choices")
    return names


def _chosen(text: str, known: list[str], multiple: bool, bare: bool) -> set[str]:
    for wrapped in _WRAPPED:
        text = compile_regex(wrapped).sub(r"\1", text)
    text = _BRACKETED.sub(r"\1\2\3", text)
    found = compile_regex(_STRICT).findall(text) or compile_regex(_LENIENT).findall(text)
    if not found and bare:
        alone = compile_regex(_BARE).search(text)
        found = [alone[1]] if alone else []
    if not found:
        return set()
    settled = str(found[-1]).strip().upper()
    if multiple:
        settled = settled.replace(" AND ", ",").replace(" ", "")
    names = [name for name in settled.split(",") if name]
    if multiple:
        return next((set(x) for x in (names, settled) if set(x) <= set(known)), set())
    return set(names) if len(names) == 1 and names[0] in known else set()


CHOICE = Scorer(
    "choice",
    "1",
    choice,
    ChoiceParams,
    summary="The answer settles on the right choices.",
    source=(f"{SCORERS}#choice",),
)
