"""A migration's proof for a terminal: agreement by type, every difference, what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.model.verification import Disagreement, Ruling, Verification, VerifiedSide
from bridge.report.columns import table
from bridge.report.inert import one_line

MOST = 40
"""Most differences shown; the report file has them all."""
WAYS = {"own": "its own assertions", "shared": "shared checks", "recorded": "as recorded"}


def verification_lines(found: Verification, width: int | None = None) -> Iterator[str]:
    """A proof as lines of text.

    Args:
        found: What to show.
        width: Columns of the terminal; nothing is cut if ``None``.
    """
    yield f"verified: {_verdict(found)}"
    yield f"{_side(found.source)} against {_side(found.target)}"
    yield f"{found.outputs} outputs of {found.cases} cases"
    yield from _agreements(found, width)
    yield from _disagreements(found, width)
    yield from _left_out(found, width)
    yield from (f"note: {one_line(note, 400)}" for note in found.notes)


def _verdict(found: Verification) -> str:
    if not found.compared:
        return "nothing could be compared"
    told = f"{found.agreed} of {found.compared} verdicts agree"
    return told if found.proven else f"NO, {told}"


def _side(side: VerifiedSide) -> str:
    version = f" {side.version}" if side.version and side.framework != "core" else ""
    return one_line(f"{side.framework}{version} ({WAYS[side.way]})")


def _agreements(found: Verification, width: int | None) -> Iterator[str]:
    if not found.agreements:
        return
    rows = [
        (
            one_line(each.type, 40),
            f"{each.agreed} of {each.compared}",
            f"{each.scores_differ} scores differ" if each.scores_differ else "",
        )
        for each in found.agreements
    ]
    yield ""
    yield from table(("assertion", "agree", ""), rows, width)


def _disagreements(found: Verification, width: int | None) -> Iterator[str]:
    if not found.disagreements:
        return
    worst_first = sorted(found.disagreements, key=lambda each: each.what == "score")
    yield ""
    yield f"differences: {len(worst_first)}"
    for each in worst_first[:MOST]:
        yield f"  {_place(each)}"
        yield f"    source: {_said(each.source, width)}"
        yield f"    target: {_said(each.target, width)}"
    if len(worst_first) > MOST:
        yield f"  ... and {len(worst_first) - MOST} more"


def _place(each: Disagreement) -> str:
    parts = [one_line(each.case_id, 60), one_line(each.metric, 60)]
    if each.metric != each.type:
        parts.append(f"({one_line(each.type, 40)})")
    if each.system != "default":
        parts.append(f"of {one_line(each.system, 60)}")
    if each.epoch > 1:
        parts.append(f"epoch {each.epoch}")
    if each.turn is not None:
        parts.append(f"turn {each.turn}")
    return f"{each.what}: {' '.join(parts)}"


def _said(ruling: Ruling | None, width: int | None) -> str:
    if ruling is None:
        return "no such row"
    value = "" if ruling.value is None else f" {ruling.value:.3g}"
    room = 200 if width is None else max(width - 30, 40)
    return f"{ruling.status}{value}: {one_line(ruling.reason, room)}"


def _left_out(found: Verification, width: int | None) -> Iterator[str]:
    if not found.left_out:
        return
    rows = [
        (one_line(each.type, 40), str(each.count), one_line(each.reason, 200))
        for each in found.left_out
    ]
    yield ""
    yield f"not compared: {sum(each.count for each in found.left_out)}"
    yield from table(("assertion", "count", "why"), rows[:MOST], width)
    if len(rows) > MOST:
        yield f"... and {len(rows) - MOST} more kinds"
