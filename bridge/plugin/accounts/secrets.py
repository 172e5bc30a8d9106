"""Secrets in what foreign files leave in a bundle: taken out before anything is written.

Other people's configs hold keys (``apiKey``, headers, addresses with a token), and what has no
neutral field is kept verbatim in ``extras``. What the cases themselves say, their variables and
the arguments of tool calls among it, is data and stays as it is: a case about a leaked key is none
without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.redaction import NAMES, REDACTED, is_written, without_secrets
from bridge.model.values import Model

M = TypeVar("M", bound=Model)

HOLDERS = frozenset(
    {"calls", "checks", "expected_calls", "messages", "tool_calls", "tools", "turns", "params"}
)
"""Fields of ours within which there are values with ``extras``."""
DATA = frozenset({"vars", "arguments", "args", "input_parameters", "inputParameters", "metadata"})
"""Fields of a foreign value that are what its author tests with."""
SHOWN = 5
"""Fields that a note names."""


def redacted(bundle: Bundle, report: ConversionReport) -> tuple[Bundle, ConversionReport]:
    """What was read without the secrets in it, and the report with a note on them.

    Args:
        bundle: What a reader made of a foreign file.
        report: Its report.
    """
    found: Counter[str] = Counter()
    parts: dict[str, Any] = {
        "suite": None if bundle.suite is None else _cleaned(bundle.suite, "suite", found),
        "cases": tuple(_cleaned(each, "cases[]", found) for each in bundle.cases),
        "outputs": tuple(_cleaned(each, "outputs[]", found) for each in bundle.outputs),
        "scores": tuple(_cleaned(each, "scores[]", found) for each in bundle.scores),
    }
    if not found:
        return bundle, report
    count = found.total()
    shown = ", ".join(list(found)[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
    note = f"{count} secrets were taken out ({shown}): name them as {{{{env.NAME}}}}"
    kept = report.model_copy(update={"notes": (*report.notes, note)})
    return bundle.model_copy(update=parts), kept


def _cleaned(value: M, place: str, found: Counter[str]) -> M:
    """A value of ours without secrets; the same one if it holds none."""
    text = value.model_dump_json(exclude_defaults=True)
    if '"extras":' not in text and "://" not in str(getattr(value, "system", "")):
        return value  # as most are
    if not without_secrets(text)[1] and not any(NAMES.search(key) for key in _keys(text)):
        return value
    before = found.total()
    fields = _own(value.model_dump(mode="json", exclude_defaults=True), place, found)
    return value if found.total() == before else type(value).model_validate(fields)


def _keys(text: str) -> Iterator[str]:
    """What may be keys in JSON text: texts before a colon."""
    for part in text.split('":')[:-1]:
        yield part[part.rfind('"') + 1 :]


def _own(fields: Any, place: str, found: Counter[str]) -> Any:
    """A value of ours, its ``extras`` and the name of its system without secrets."""
    if isinstance(fields, list):
        return [_own(each, f"{place}[]", found) for each in fields]
    if not isinstance(fields, Mapping):
        return fields
    kept: dict[str, Any] = {}
    for key, value in fields.items():
        at = f"{place}.{key}"
        if key == "extras":
            kept[key] = _foreign(value, at, found)
        elif key == "system" and isinstance(value, str):
            kept[key] = _text(value, at, found)
        else:
            kept[key] = _own(value, at, found) if key in HOLDERS else value
    return kept


def _foreign(value: Any, place: str, found: Counter[str], *, secret: bool = False) -> Any:
    """Anything in ``extras``; ``secret`` is whether its name says that it is one."""
    if isinstance(value, Mapping):
        return {
            key: item
            if key in DATA
            else _foreign(item, f"{place}.{key}", found, secret=bool(NAMES.search(key)))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_foreign(each, f"{place}[]", found, secret=secret) for each in value]
    if not isinstance(value, str):
        return value
    if secret and is_written(value):
        found[place] += 1
        return REDACTED
    return _text(value, place, found)


def _text(value: str, place: str, found: Counter[str]) -> str:
    kept, count = without_secrets(value)
    if count:
        found[place] += count
    return kept
