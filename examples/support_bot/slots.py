"""What a customer's words say, found by pattern: order numbers, sizes, amounts, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ORDER = re.compile(r"(?i)\bFO[- ]?(\d{5})\b")
_PARCEL = re.compile(r"(?i)\bNP\d{9}NO\b")
_SKU = re.compile(r"\b[A-Z]{3}-\d{3}\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}")
_HALF_ORDER = re.compile(r"(?i)\bFO-?(?:\d{1,4}|\d{6,})\b")
_HALF_PARCEL = re.compile(r"(?i)\bNP(?!\d{9}NO\b)\d+NO\b")
_SIZE = re.compile(
    r"(?i)\b(?:size|größe|talla|in|meant)\s+(\d{2}(?:[.,]\d)?)\b(?!\s*(?:EUR|%|days))"
)
_NUMBER = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
_CURRENCY_WORDS = {
    "EUR": r"EUR|euros?|€",
    "NOK": r"NOK|(?:Norwegian )?kroner|norwegische Kronen",
    "GBP": r"GBP|(?:British )?pounds?|(?:britischen? )?Pfund",
    "USD": r"USD|(?:US )?dollars?",
    "SEK": r"SEK|Swedish kronor",
}
_ANY_CURRENCY = "|".join(_CURRENCY_WORDS.values())
_MONEY = re.compile(rf"(?i)\b{_NUMBER}\s*({_ANY_CURRENCY})(?!\w)")
_TARGET = re.compile(rf"(?i)\b(?:in|into|to|want)\s+({_ANY_CURRENCY})(?!\w)")
_ADDRESS = re.compile(
    r"(?:\b(?:to|is)|:)\s+(?P<street>[\w'.-][\w' .-]*),\s+(?P<postal_code>[A-Z0-9-]{3,10})"
    r"\s+(?P<city>[^\W\d][\w' -]*),\s+(?P<country>[A-Z][A-Za-z ]*?)(?=\s+instead|[.?!,]|$)"
)
_COUNTRIES = {
    "france": "FR", "germany": "DE", "norway": "NO", "spain": "ES", "ireland": "IE",
    "united kingdom": "GB", "united states": "US", "usa": "US", "uk": "GB",
}  # fmt: skip
_REASONS = {
    "damaged": r"damaged|broken|\bhole\b|torn|crack",
    "wrong_item": r"wrong (?:item|article|size|one)",
    "not_delivered": r"never arrived|not arrived|\blost\b|not been delivered",
    "late_delivery": r"\blate\b|late delivery|delay",
    "changed_mind": r"changed my mind|do not want|don't want|don't like",
}
_QUEUES = {
    "billing": r"invoice|payment|\bbill",
    "returns": r"\breturn|refund",
    "technical": r"technical|technician|stove|tent|pole",
}
_STATUSES = {
    "processing": r"process", "shipped": r"\bshipped\b", "delivered": r"\bdelivered\b",
    "cancelled": r"\bcancelled\b", "returned": r"\breturned\b",
}  # fmt: skip
_LANGUAGE_WORDS = {
    "de": r"ä|ö|ü|ß|\b(?:ich|sie|der|die|das|ist|wie|wo|und|kann|mein|bitte|was|kosten|eine?)\b",
    "es": r"¿|¡|ñ|\b(?:el|los|las|de|mi|una?|qué|está|hola|por|para|en|y|cuándo)\b",
    "en": r"\b(?:the|is|are|my|do|you|how|what|please|it|of|and|i|to|for|can|a)\b",
}


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency (an ISO 4217 code)."""

    amount: float
    currency: str


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def order_ids(text: str) -> list[str]:
    """Order numbers, as `FO-12345`."""
    return _unique(f"FO-{digits}" for digits in _ORDER.findall(text))


def parcels(text: str) -> list[str]:
    """Tracking numbers."""
    return _unique(number.upper() for number in _PARCEL.findall(text))


def skus(text: str) -> list[str]:
    """Article numbers."""
    return _unique(_SKU.findall(text))


def email(text: str) -> str | None:
    """The first e-mail address."""
    found = _EMAIL.search(text)
    return found.group() if found else None


def incomplete_number(text: str) -> tuple[str, str] | None:
    """A number of the wrong length: the number, and `order` or `parcel`."""
    for kind, pattern in (("order", _HALF_ORDER), ("parcel", _HALF_PARCEL)):
        if found := pattern.search(text):
            return found.group(), kind
    return None


def number(text: str) -> float:
    """A number with a decimal point or comma; a comma before three digits groups thousands."""
    text = text.replace(",", "") if re.search(r",\d{3}(?:\.|$|,)", text) else text.replace(",", ".")
    value = float(text)
    return int(value) if value.is_integer() else value


def sizes(text: str) -> list[float]:
    """Shoe sizes named as such."""
    return list(dict.fromkeys(number(found) for found in _SIZE.findall(text)))


def money(text: str) -> list[Money]:
    """Amounts with their currencies, in order."""
    return [Money(number(value), _code(word)) for value, word in _MONEY.findall(text)]


def target_currency(text: str) -> str | None:
    """The currency that a price is wanted in."""
    found = _TARGET.search(text)
    return _code(found.group(1)) if found else None


def _code(word: str) -> str:
    return next(
        code for code, pattern in _CURRENCY_WORDS.items() if re.fullmatch(rf"(?i){pattern}", word)
    )


def address(text: str) -> dict[str, str] | None:
    """A postal address written as `street, postal code city, country`."""
    found = _ADDRESS.search(text)
    if found is None:
        return None
    country = found["country"].strip()
    code = _COUNTRIES.get(country.lower(), country if re.fullmatch("[A-Z]{2}", country) else None)
    return {**found.groupdict(), "country": code} if code else None


def refund_reason(text: str) -> str | None:
    """Why a refund is asked for, as the shop's code."""
    return _first(_REASONS, text)


def queue(text: str) -> str:
    """The team that a person should come from."""
    return _first(_QUEUES, text) or "orders"


def status(text: str) -> str | None:
    """An order status named in the text."""
    return _first(_STATUSES, text)


def priority(text: str) -> str | None:
    """The priority of a ticket."""
    found = re.search(r"(?i)\b(urgent|high|normal|low)\b", text)
    return found.group(1).lower() if found else None


def tags(text: str) -> list[str]:
    """Tags asked for as `tagged safety`."""
    return _unique(re.findall(r"(?i)\btagged (\w+)", text))


def limit(text: str) -> int | None:
    """How many orders are asked for, as `last 3`."""
    found = re.search(r"(?i)\blast (\d+)\b", text)
    return int(found.group(1)) if found else None


def _first(patterns: dict[str, str], text: str) -> str | None:
    return next((key for key, value in patterns.items() if re.search(rf"(?i){value}", text)), None)


def language(text: str) -> str:
    """`en`, `de` or `es`, whichever has most of its common words in the text."""
    counts = {
        code: len(re.findall(rf"(?i){words}", text)) for code, words in _LANGUAGE_WORDS.items()
    }
    best: Any = max(counts, key=lambda code: (counts[code], code == "en"))
    return str(best)
