"""The words for months, numbers, currencies and units, in English, German, Spanish and French."""

from __future__ import annotations

_MONTHS = {
    1: "january jan januar jänner enero ene janvier janv",
    2: "february feb februar febrero febr février",
    3: "march mar märz marzo mars",
    4: "april apr abril abr avril avr",
    5: "may mai mayo",
    6: "june jun juni junio juin",
    7: "july jul juli julio juillet",
    8: "august aug agosto ago août",
    9: "september sept sep septiembre septembre",
    10: "october oct oktober okt octubre octobre",
    11: "november nov noviembre novembre",
    12: "december dec dezember dez diciembre dic décembre déc",
}
MONTHS = {name: month for month, names in _MONTHS.items() for name in names.split()}

WORD_NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "zehn": 10, "zwölf": 12, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6,
    "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "doce": 12, "deux": 2, "trois": 3, "quatre": 4,
    "cinq": 5, "huit": 8, "neuf": 9, "dix": 10, "douze": 12,
}  # fmt: skip

_CURRENCIES = {
    "EUR": "€ eur euro euros",
    "USD": "$ usd dollar dollars dólares",
    "GBP": "£ gbp pound pounds pfund libras",
    "NOK": "nok kroner kr krone kronen",
    "JPY": "¥ jpy yen",
    "CHF": "chf francs franken",
}
CURRENCIES = {word: code for code, words in _CURRENCIES.items() for word in words.split()}

TIMES = {"k": 1e3, "t": 1e3, "m": 1e6}

_DURATIONS: dict[str, tuple[str, float]] = {
    "second seconds sekunde sekunden segundo segundos seconde secondes": ("time", 1),
    "minute minutes min mins minuten minuto minutos": ("time", 60),
    "hour hours h hrs stunde stunden hora horas heure heures": ("time", 3600),
    "day days tag tage tagen día días dia dias jour jours": ("time", 86_400),
    "week weeks woche wochen semana semanas semaine semaines": ("time", 604_800),
    "month months monat monate monaten mes meses mois": ("months", 1),
    "year years jahr jahre jahren año años an ans": ("months", 12),
    "% percent prozent porcentaje pourcent": ("%", 1),
    "kg kilo kilos kilogram kilograms": ("mass", 1000),
    "g gram grams gramm": ("mass", 1),
    "km kilometer kilometers kilometres": ("length", 1000),
    "m metre metres meter meters": ("length", 1),
    "cm centimetres centimeters": ("length", 0.01),
}
UNITS = {word: unit for words, unit in _DURATIONS.items() for word in words.split()}
WORKING = frozenset({"business", "working", "laborables", "hábiles", "ouvrables"})
WORKING_DAYS = frozenset({"werktag", "werktage", "werktagen"})
