"""The cases of an exhibit as compact JSON for the page's own script.

Texts are cut so that the whole stays within a budget, the longest first: a page of 10,000 cases
opens at once, and short answers are shown whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.model.exhibit import Exhibit, ShownCase, ShownMetric

BUDGET = 8_000_000
"""Most characters of all texts of a page together."""
LONGEST, SHORTEST = 20_000, 120
"""Most characters of one text, with few and with many cases."""
REASON_LIMIT = 300

LETTERS: Mapping[str, str] = {
    "": "-",
    "passed": "p",
    "failed": "f",
    "scored": "v",
    "error": "e",
    "unsupported": "u",
    "skipped": "k",
}
"""One letter a status; ``-`` where a case has no row."""


def case_data(exhibit: Exhibit) -> str:
    """The exhibit as JSON that is safe inside a ``script`` element.

    Values are whole thousandths. ``reasons`` holds each reason once, and each metric the number
    of its reason by case.
    """
    limit = text_limit(_texts(exhibit.cases))
    reasons: dict[str, int] = {}
    metrics = [_metric(metric, reasons) for metric in exhibit.metrics]
    cases = [_case(case, limit) for case in exhibit.cases]
    data = {"cases": cases, "metrics": metrics, "reasons": list(reasons)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""What could end the script element, or a line of the script, as JSON escapes."""


def text_limit(texts: Iterable[str]) -> int:
    """The length at which texts are cut so that all of them keep to the budget."""
    lengths = sorted(len(text) for text in texts)
    used, left = 0, len(lengths)
    for length in lengths:
        if used + length * left > BUDGET:
            return max(SHORTEST, min(LONGEST, (BUDGET - used) // left))
        used += length
        left -= 1
    return LONGEST


def _texts(cases: Sequence[ShownCase]) -> Iterator[str]:
    for case in cases:
        yield from (case.input, case.expected, case.now, case.before or "")


def _case(case: ShownCase, limit: int) -> list[Any]:
    before = None if case.before is None else _cut(case.before, limit)
    texts = [_cut(text, limit) for text in (case.input, case.expected, case.now)]
    found = [case.id, *texts, before, list(case.tags), case.failure_mode, case.where]
    while found and found[-1] in (None, "", []):
        found.pop()
    return found


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _metric(metric: ShownMetric, reasons: dict[str, int]) -> dict[str, Any]:
    return {
        "name": metric.name,
        "framework": metric.framework,
        "now": [_thousandths(value) for value in metric.now],
        "before": [_thousandths(value) for value in metric.before]
        if any(value is not None for value in metric.before)
        else [],
        "status": "".join(LETTERS[status] for status in metric.status),
        "why": {
            case: reasons.setdefault(_cut(text, REASON_LIMIT), len(reasons))
            for case, text in metric.reasons.items()
        },
    }


def _thousandths(value: float | None) -> int | None:
    return None if value is None else round(value * 1000)
