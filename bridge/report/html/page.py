"""The page: verdict, forest plot, agreement, and a browser of the cases, in one file.

It needs no network: style and script are inside, and a content security policy lets nothing else
run or load. Templates are rendered by Jinja2 with autoescape; case texts are JSON data, put into
the page as text by a script of our own.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.model.exhibit import Exhibit
from bridge.model.verdict import Verdict
from bridge.report import words
from bridge.report.html.cases import case_data
from bridge.report.html.forest import forest
from bridge.report.inert import one_line

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent
MOST_CASES = 200
"""Most failed cases in the table that is there without the script."""
MARKS = {"passed": "✓", "failed": "✗", "inconclusive": "?", "error": "!", "shown": "·"}


def to_html(verdict: Verdict, exhibit: Exhibit | None = None) -> str:
    """The verdict as a page; with an exhibit, its cases can be searched and filtered."""
    script, style = _asset("page.js"), _asset("page.css")
    page = _template().render(
        verdict=verdict,
        headline=words.headline(verdict, one_line(verdict.suite, 80)),
        metrics=words.worst_first(verdict.metrics),
        lines=words.case_lines(verdict.failures),
        most=MOST_CASES,
        forest=forest(verdict),
        frameworks=_frameworks(verdict),
        legend=words.legend(verdict),
        totals=words.totals_line(verdict),
        data=case_data(exhibit) if exhibit is not None and exhibit.cases else "",
        script=script,
        style=style,
        policy=_policy(script, style),
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _frameworks(verdict: Verdict) -> list[str]:
    found = {name for means in verdict.agreement.values() for name in means}
    return [name for name in verdict.frameworks if name in found]


def _policy(script: str, style: str) -> str:
    """Nothing but the page's own script and style; the hash is over what stands between tags."""
    return f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}"


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "line": one_line,
        "number": words.number,
        "p": words.p_value,
        "interval": words.interval,
        "change": words.change,
        "power": words.power,
        "mark": MARKS.__getitem__,
    }
    environment.filters.update(filters)
    return environment.get_template("page.html.jinja")
