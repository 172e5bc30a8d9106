"""The verdict as JUnit XML: a test case for the verdict and one for each metric.

Failed rows are no test cases: a gate may pass with some of them, and a CI system turns red at the
first failed test case. Failures and errors together are 0 exactly when the gate exits 0.
The elements are those that Jenkins' and GitLab's readers share
(https://github.com/testmoapp/junitxml).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from bridge.model.verdict import MetricResult, Verdict
from bridge.report import words
from bridge.report.inert import one_line

MOST_CASES = 50
"""Most failed cases listed of one metric."""


def to_junit(verdict: Verdict) -> str:
    """The verdict as a JUnit XML document."""
    suite_name = one_line(verdict.suite, 80) or "bridge gate"
    cases = [_verdict_case(verdict, suite_name)]
    cases += [
        _metric_case(verdict, name, result, suite_name)
        for name, result in words.worst_first(verdict.metrics)
    ]
    counts = {
        "tests": str(len(cases)),
        "failures": str(_holding(cases, "failure")),
        "errors": str(_holding(cases, "error")),
        "skipped": str(_holding(cases, "skipped")),
        "time": f"{verdict.totals.latency_s:.3f}",
    }
    root = ET.Element("testsuites", {"name": "bridge gate", **counts})
    ET.SubElement(root, "testsuite", {"name": suite_name, **counts}).extend(cases)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _holding(cases: Sequence[ET.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)


def _verdict_case(verdict: Verdict, suite: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": suite, "name": "verdict"})
    tag = "error" if verdict.verdict == "error" else "failure"
    if not verdict.passed:
        _told(case, tag, words.headline(verdict, suite), verdict.reasons)
    elif verdict.verdict == "inconclusive":
        _told(case, "skipped", words.headline(verdict, suite), verdict.reasons)
    return case


def _metric_case(verdict: Verdict, name: str, result: MetricResult, suite: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": suite, "name": one_line(name, 100)})
    tag = {"failed": "failure", "error": "error", "inconclusive": "skipped"}.get(result.status)
    if tag is not None:
        _told(case, tag, f"mean {words.number(result.mean)}", result.reasons)
    rows = [line for line in words.case_lines(verdict.failures) if line.worst.metric == name]
    if rows:
        more = [f"... and {len(rows) - MOST_CASES} more"] if len(rows) > MOST_CASES else []
        shown = [_row(line) for line in rows[:MOST_CASES]]
        ET.SubElement(case, "system-out").text = "\n".join([*shown, *more])
    return case


def _told(case: ET.Element, tag: str, message: str, reasons: Sequence[str]) -> None:
    shown = [one_line(reason, 400) for reason in reasons]
    element = ET.SubElement(case, tag, {"message": "; ".join([message, *shown[:3]])})
    element.text = "\n".join(shown)


def _row(line: words.CaseLine) -> str:
    worst = line.worst
    parts = [one_line(line.case, 120), line.now, one_line(worst.reason)]
    if worst.where:
        parts.append(one_line(worst.where))
    return " | ".join(parts)
