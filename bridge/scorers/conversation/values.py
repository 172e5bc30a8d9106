"""Numbers, dates and identifiers in a text, read so that two spellings of one value are equal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice

from bridge.scorers.conversation.units import (
    CURRENCIES,
    MONTHS,
    TIMES,
    UNITS,
    WORD_NUMBERS,
    WORKING,
    WORKING_DAYS,
)

READ = 20_000
"""Most characters of a text that are read."""
MOST = 500
"""Most values of a kind that are read from a text."""

DateParts = tuple[int | None, int, int]
"""(year if given, month, day)."""

_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))

ISO_DATE = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?")
DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?\s+(?:of\s+|de\s+)?({_NAMES})\b\.?(?:,?\s+(?:de\s+)?(\d{{4}}))?",
    re.IGNORECASE,
)
MONTH_DAY = re.compile(
    rf"\b({_NAMES})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]|[.,]\d)(?:,?\s+(\d{{4}})\b)?",
    re.IGNORECASE,
)
NUMERIC_DATE = re.compile(r"(?<![\d.])(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})(?![\d.]?\d)")

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
URL = re.compile(r"\b(?:https?://|www\.)\S+")
IDENTIFIER = re.compile(
    r"\b(?=[A-Za-z0-9-]{4,40}\b)[A-Z]{1,6}[A-Z0-9]{0,3}-?\d{2,}[A-Z0-9]*(?:-\d+)*\b"
)
CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b)?", re.IGNORECASE)
NUMBER = re.compile(
    r"(?<![\w.,])(?P<before>[€$£¥]\s?)?(?P<sign>[-−]?)"
    r"(?P<digits>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    r"(?P<times>[kKmM](?!\w)|\s(?:million|thousand))?"
    r"(?P<after>\s?[€$£¥%])?(?!\w)"
)
SPELLED = re.compile(rf"\b(?:{'|'.join(WORD_NUMBERS)})\b", re.IGNORECASE)

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[€$£¥%]")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a text states.

    Attributes:
        kind: ``number``, ``date`` or ``identifier``.
        readings: What it may be: a spelling such as ``1.234`` or ``03/04/2026`` has two. Numbers
            are in the base of their unit.
        bare: Of a number, the readings as written, in its own unit.
        unit: A currency, ``time`` (seconds), ``months``, ``%``, a counted noun, or ``""``.
        start: First character.
        end: One past the last, unit included.
        text: As it was written.
    """

    kind: str
    readings: frozenset[object]
    unit: str
    bare: frozenset[object] = field(compare=False)
    start: int = field(compare=False)
    end: int = field(compare=False)
    text: str = field(compare=False)

    def agrees(self, other: Value) -> bool:
        """Whether both may be one value; a number without a unit may have any.

        A whole number of 10 or more may round one with decimals.
        """
        if self.kind != other.kind:
            return False
        if self.kind == "date":
            return any(_same_day(a, b) for a in self.readings for b in other.readings)
        if self.kind == "number" and not (self.unit and other.unit):
            return _same_number(self.bare, other.bare)
        if self.kind == "number":
            return self.unit == other.unit and _same_number(self.readings, other.readings)
        return not self.readings.isdisjoint(other.readings)


def _same_number(said: frozenset[object], known: frozenset[object]) -> bool:
    if not said.isdisjoint(known):
        return True
    return any(
        isinstance(a, float) and isinstance(b, float) and a.is_integer() != b.is_integer()
        and min(a, b) >= 10 and abs(a - b) <= 0.5
        for a in said for b in known
    )  # fmt: skip


def _same_day(a: object, b: object) -> bool:
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return False
    return a[1:] == b[1:] and (a[0] is None or b[0] is None or a[0] == b[0])


def find_values(text: str) -> list[Value]:
    """The values in a text, in order; linear in its length for ordinary text."""
    text = text[:READ]
    taken = bytearray(len(text))
    found: list[Value] = []
    for match in URL.finditer(text):
        _take(taken, match.start(), match.end())
    for values in (_emails(text), _dates(text), _identifiers(text), _clocks(text), _numbers(text)):
        for value in islice(values, MOST):
            if not any(taken[value.start : value.end]):
                _take(taken, value.start, value.end)
                found.append(value)
    return sorted((each for each in found if each.kind != "clock"), key=lambda each: each.start)


def _take(taken: bytearray, start: int, end: int) -> None:
    taken[start:end] = b"\x01" * (end - start)


def _emails(text: str) -> Iterator[Value]:
    if "@" in text:
        for match in EMAIL.finditer(text):
            yield _value("identifier", {match[0].casefold()}, "", match)


def _identifiers(text: str) -> Iterator[Value]:
    for match in IDENTIFIER.finditer(text):
        if sum(map(str.isdigit, match[0])) >= 3:
            yield _value("identifier", {match[0].casefold()}, "", match)


def _clocks(text: str) -> Iterator[Value]:
    for match in CLOCK.finditer(text):
        yield _value("clock", {match[0]}, "", match)


def _dates(text: str) -> Iterator[Value]:
    for match in ISO_DATE.finditer(text):
        yield from _date(match, {(int(match[1]), int(match[2]), int(match[3]))})
    for match in DAY_MONTH.finditer(text):
        yield from _date(match, {(_year(match[3]), MONTHS[match[2].lower()], int(match[1]))})
    for match in MONTH_DAY.finditer(text):
        yield from _date(match, {(_year(match[3]), MONTHS[match[1].lower()], int(match[2]))})
    for match in NUMERIC_DATE.finditer(text):
        first, second, year = int(match[1]), int(match[2]), _year(match[3])
        yield from _date(match, {(year, second, first), (year, first, second)})


def _date(match: re.Match[str], readings: set[DateParts]) -> Iterator[Value]:
    possible = {each for each in readings if _exists(each)}
    if possible:
        yield _value("date", set(possible), "", match)


def _year(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if len(text) == 4 else 2000 + int(text)


def _exists(parts: DateParts) -> bool:
    try:
        date(2000 if parts[0] is None else parts[0], parts[1], parts[2])
    except ValueError:
        return False
    return True


def _value(kind: str, readings: set[object], unit: str, match: re.Match[str]) -> Value:
    bare: frozenset[object] = frozenset()
    return Value(kind, frozenset(readings), unit, bare, match.start(), match.end(), match[0])


def _numbers(text: str) -> Iterator[Value]:
    for match in NUMBER.finditer(text):
        sign = -1.0 if match["sign"] else 1.0
        times = TIMES.get((match["times"] or "").strip().lower()[:1], 1.0)
        amounts = {sign * times * each for each in read_number(match["digits"])}
        yield _with_unit(text, match, amounts, match["before"] or match["after"] or "")
    for match in SPELLED.finditer(text):
        yield _with_unit(text, match, {float(WORD_NUMBERS[match[0].lower()])}, "")


def read_number(digits: str) -> set[float]:
    """What a written number may mean: ``1,234`` is 1234 or 1.234, ``1.234,50`` is 1234.5."""
    plain = re.sub(r"['’\u00a0\u202f ]", "", digits)[:40]
    marks = [char for char in plain if char in ".,"]
    if not marks:
        return {float(plain)}
    last = max(plain.rfind("."), plain.rfind(","))
    whole, rest = re.sub(r"[.,]", "", plain[:last]), plain[last + 1 :]
    as_decimal, as_groups = float(f"{whole}.{rest}"), float(whole + rest)
    if len(set(marks)) == 2 or len(rest) != 3 or not whole.strip("0"):
        return {as_decimal}
    return {as_groups} if len(marks) > 1 else {as_groups, as_decimal}


def _with_unit(text: str, match: re.Match[str], amounts: set[float], sign: str) -> Value:
    unit, factor, end = "", 1.0, match.end()
    if sign.strip() in CURRENCIES:
        unit = CURRENCIES[sign.strip()]
    elif sign.strip() == "%":
        unit = "%"
    else:
        unit, factor, end = _unit_after(text, match.end())
        if not unit:
            unit = _currency_before(text, match.start())
    readings: set[object] = {round(amount * factor, 6) for amount in amounts}
    bare: frozenset[object] = frozenset(round(amount, 6) for amount in amounts)
    shown = text[match.start() : end]
    return Value("number", frozenset(readings), unit, bare, match.start(), end, shown)


def _unit_after(text: str, end: int) -> tuple[str, float, int]:
    """The unit right after a number, its factor, and where it ends."""
    gap = re.compile(r"[ \u00a0\u202f-]?").match(text, end)
    match = WORD.match(text, gap.end() if gap else end)
    if match is None:
        return "", 1.0, end
    word = match[0].lower()
    if word in WORKING:
        following = WORD.match(text, match.end() + 1)
        return "working days", 1.0, following.end() if following else match.end()
    if word in WORKING_DAYS:
        return "working days", 1.0, match.end()
    if word in CURRENCIES:
        return CURRENCIES[word], 1.0, match.end()
    if word in UNITS:
        unit, factor = UNITS[word]
        return unit, factor, match.end()
    return "", 1.0, end


def _currency_before(text: str, start: int) -> str:
    before = re.search(r"([A-Za-z]{2,4})\s?$", text[max(0, start - 6) : start])
    return CURRENCIES.get(before[1].lower(), "") if before and before[1].isupper() else ""
