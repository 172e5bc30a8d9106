"""The verdict as GitHub workflow commands: annotations at the lines of the golden set.

GitHub shows ten errors and ten warnings a step, so the worst come first and no more are written.
Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bridge.model.verdict import FailedCase, Verdict
from bridge.report import words
from bridge.report.inert import one_line
from bridge.report.places import place_of

MOST = 10
"""Annotations of one level that GitHub shows of a step."""


def to_annotations(verdict: Verdict) -> str:
    """The verdict as ``::error`` and ``::warning`` lines.

    The first line is the verdict with its reasons. Of the cases, those of a metric that blocks
    are errors; of other metrics only those that became worse are warnings.
    """
    return "".join(f"{line}\n" for line in _lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    told = [one_line(reason, 300) for reason in verdict.reasons[:MOST]]
    headline = words.headline(verdict, one_line(verdict.suite, 80))
    level = "error" if not verdict.passed else "warning" if verdict.reasons else "notice"
    yield _command(level, "\n".join([headline, *told]), title="bridge gate")
    shown = Counter([level])
    for line in words.case_lines(verdict.failures):
        kind = _kind(verdict, line.worst)
        if kind is not None and shown[kind] < MOST:
            shown[kind] += 1
            yield _case(kind, line)


def _kind(verdict: Verdict, row: FailedCase) -> str | None:
    result = verdict.metrics.get(row.metric)
    if result is not None and result.status in ("failed", "error"):
        return "error"
    before, now = row.baseline, row.case_value
    return "warning" if before is not None and (now is None or now < before) else None


def _case(kind: str, line: words.CaseLine) -> str:
    worst, place = line.worst, place_of(line.worst.where)
    where: dict[str, str] = {}
    if place is not None:
        where["file"] = one_line(place.path, 400)
        if place.line:
            where["line"] = str(place.line)
    was = f" (was {words.number(worst.baseline, 2)})" if worst.baseline is not None else ""
    text = f"{one_line(line.case, 120)}: {line.now}{was}: {one_line(worst.reason)}"
    return _command(kind, text, **where, title=one_line(worst.metric, 80))


def _command(name: str, text: str, **properties: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
