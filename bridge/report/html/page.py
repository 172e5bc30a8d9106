"""The page: verdict, forest plot, agreement, and a browser of the cases, in one file.

Case texts are JSON data, put into the page as text by a script of our own.
"""

from __future__ import annotations

from bridge.model.exhibit import Exhibit
from bridge.model.verdict import Verdict
from bridge.report import words
from bridge.report.html.cases import case_data
from bridge.report.html.forest import forest
from bridge.report.html.rendering import SCRIPT, render
from bridge.report.inert import one_line

MOST_CASES = 200
"""Most failed cases in the table that is there without the script."""


def to_html(verdict: Verdict, exhibit: Exhibit | None = None) -> str:
    """The verdict as a page; with an exhibit, its cases can be searched and filtered."""
    return render(
        "page.html.jinja",
        headline=words.headline(verdict, one_line(verdict.suite, 80)),
        scripts=(SCRIPT,),
        verdict=verdict,
        metrics=words.worst_first(verdict.metrics),
        lines=words.case_lines(verdict.failures),
        most=MOST_CASES,
        forest=forest(verdict),
        frameworks=_frameworks(verdict),
        legend=words.legend(verdict),
        budgets=words.budget_lines(verdict, _name),
        flaky=words.flaky_lines(verdict, _name),
        look_below=words.LOOK_BELOW,
        totals=words.totals_line(verdict),
        data=case_data(exhibit) if exhibit is not None and exhibit.cases else "",
    )


def _name(text: str) -> str:
    return one_line(text, 60)


def _frameworks(verdict: Verdict) -> list[str]:
    found = {name for means in verdict.agreement.values() for name in means}
    return [name for name in verdict.frameworks if name in found]
