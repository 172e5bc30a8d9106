"""The tables of a migration guide: its fields, and its checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bridge.conversion.guide.trace import Trace
from bridge.model.check import Check
from bridge.plugin.results.counterparts import Counterpart
from bridge.scorers.registry import BUILT_IN

NONE = "—"
SHOWN_METRICS = 4
"""Most metrics of the target that are named beside one of the source."""


def fields_table(traces: Iterable[Trace], source: str, target: str) -> str:
    """What becomes of each field; fields of which the same becomes share a row.

    Args:
        traces: What becomes of each field.
        source: Heading of the source's fields; "" where those are the neutral ones.
        target: Heading of the target's fields; "" where those are the neutral ones.
    """
    grouped: dict[tuple[tuple[str, ...], tuple[str, ...], str], list[str]] = {}
    for each in traces:
        key = (each.neutral if source else (), each.target, _note(each, bool(target)))
        grouped.setdefault(key, []).append(each.source)
    rows = []
    for (neutral, outside, note), fields in grouped.items():
        here = _codes(map(_short, neutral)) if source else ""
        row = [_codes(map(_short, fields)), here, _codes(map(_short, outside)), note]
        rows.append(
            [cell for cell, kept in zip(row, (True, source, target, True), strict=True) if kept]
        )
    head = [source, "here", target, "note"] if source else ["here", "", target, "note"]
    return table([name for name in head if name], rows)


def _note(each: Trace, is_written: bool) -> str:
    if each.fate != "native":
        return f"{each.fate}: {each.reason}" if each.reason else each.fate
    if not each.neutral:
        return "read"
    return "used" if is_written and not each.target else ""


def checks_table(
    source: Sequence[Counterpart], target: Sequence[Counterpart], heads: tuple[str, str]
) -> str:
    """The source's metrics with the checks that say the same, and the target's like them.

    Args:
        source: Metrics of the source; none where its checks are ours.
        target: Metrics of the target; none where the checks are ours.
        heads: Headings of both.
    """
    if not source:
        return _ours_table(target, heads[1])
    grouped: dict[tuple[str, ...], list[str]] = {}
    for each in source:
        like = [_named(like for like in target if _is_like(each, like))] if target else []
        grouped.setdefault((_here(each), *like, each.note), []).append(each.name)
    rows = [[_codes(names), *cells] for cells, names in grouped.items()]
    return table([heads[0], "here", *([heads[1]] if target else []), "note"], rows)


def _ours_table(target: Sequence[Counterpart], head: str) -> str:
    """Our scorers with the target's metrics that say the same."""
    found = {name: [each for each in target if _scorer(each) == name] for name in BUILT_IN}
    judged = {
        each.judged: [like for like in target if like.judged == each.judged] for each in target
    }
    rows = [
        [f"`{name}`", _named(metrics)]
        for name, metrics in {**found, **judged}.items()
        if name and metrics
    ]
    return table(["here", head], rows)


def _here(each: Counterpart) -> str:
    scorer = _scorer(each)
    if scorer:
        params = Check.model_validate(each.check).params
        told = ", ".join(f"{name}: {_yaml(value)}" for name, value in params.items())
        return f"`{scorer}: {{{told}}}`" if told else f"`{scorer}`"
    return f"kept; judged: `{each.judged}`" if each.judged else "kept"


def _yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scorer(each: Counterpart) -> str:
    return "" if each.check is None else Check.model_validate(each.check).scorer


def _is_like(one: Counterpart, other: Counterpart) -> bool:
    by_scorer = _scorer(one) and _scorer(one) == _scorer(other)
    return bool(by_scorer or (one.judged and one.judged == other.judged))


def _named(metrics: Iterable[Counterpart]) -> str:
    names = [each.name for each in metrics]
    more = f", … ({len(names)})" if len(names) > SHOWN_METRICS else ""
    return f"{_codes(names[:SHOWN_METRICS])}{more}"


def _short(field: str) -> str:
    """A field without the list of the rows around it."""
    return field.removeprefix("[].")


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or NONE


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(_lines(head, rows))


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
