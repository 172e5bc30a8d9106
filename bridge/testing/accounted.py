"""Every leaf of a source is found again: in the neutral form, in extras, or in the report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.accounts.accounting import count_leaves

FOUND_AGAIN = {"native", "carried", "executable"}


def assert_accounted(
    document: Any,
    bundle: Bundle,
    report: ConversionReport,
    at: str = "",
    changed: Collection[str] = (),
    only: bool = True,
) -> None:
    """Hold a report against the document it is about.

    Args:
        document: The source as JSON data.
        bundle: What was read from it.
        report: The reader's report.
        at: The document's place in the report, where a source is several documents.
        changed: Fields that are read into other values (milliseconds into seconds).
        only: Whether the report is about this document alone.
    """
    if only:
        assert report.total == count_leaves(document), _difference(document, report, at)
    assert all(line.reason for line in report.lines if line.fate != "native")
    fates: dict[str, set[str]] = {}
    for line in report.lines:
        fates.setdefault(line.field, set()).add(line.fate)
    seen = _words(bundle)
    for field, value in leaves(document, at):
        lines = [each for each in fates if _is_below(field, each)]
        assert lines, f"{field} ({value!r}) is in no line of the report"
        fate = fates[max(lines, key=len)]
        if fate <= FOUND_AGAIN and not any(_is_below(field, each) for each in changed):
            assert _is_in(value, seen), f"{field}: {value!r} is {fate}, and nowhere in the bundle"


def leaves(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    """(field, value) of every leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, f"{field}.{key}" if field else key)
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, f"{field}[]")
    else:
        yield field, value


def _is_below(field: str, line: str) -> bool:
    return line == "(the whole)" or field == line or field.startswith((f"{line}.", f"{line}[]"))


def _words(bundle: Bundle) -> set[str]:
    """Every value of a bundle as text, and every key."""
    found: set[str] = set()
    waiting: list[Any] = [bundle.model_dump(mode="json")]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            found.update(map(str, item))
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        else:
            found.add(_text(item))
    return found


def _is_in(value: Any, seen: set[str]) -> bool:
    if value in ("", None, [], {}, True, False):
        return True  # a field at its default holds it
    text = _text(value)  # an id is text in a bundle whatever it was
    return not seen.isdisjoint((text, str(value))) or any(text in each for each in seen)


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)


def _difference(document: Any, report: ConversionReport, at: str) -> str:
    """Counts by outermost field, of the document and of the report, where they differ."""
    held = Counter(_top(field) for field, _ in leaves(document, at))
    told: Counter[str] = Counter()
    for line in report.lines:
        told[_top(line.field)] += line.count
    differ = {key: (held[key], told[key]) for key in held | told if held[key] != told[key]}
    return f"(document, report) by field: {differ}"


def _top(field: str) -> str:
    return re.split(r"(?<=.)[.\[]", field, maxsplit=1)[0]
