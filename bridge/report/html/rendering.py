"""Templates to pages that need no network.

Style and script are inside, and a content security policy lets nothing else run or load. Templates
are rendered by Jinja2 with autoescape.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.report import words
from bridge.report.inert import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
STYLE, SCRIPT = "page.css", "page.js"
MARKS = {"passed": "✓", "failed": "✗", "inconclusive": "?", "error": "!", "shown": "·"}


def render(template: str, *, headline: str, scripts: Sequence[str] = (), **values: Any) -> str:
    """A template as a page.

    Args:
        template: Its file.
        headline: Title of the page.
        scripts: Files of the scripts that the template puts in, as ``script``.
        values: What the template names.
    """
    style, script = _asset(STYLE), "".join(map(_asset, scripts))
    page = (
        _environment()
        .get_template(template)
        .render(
            headline=headline, style=style, script=script, policy=_policy(script, style), **values
        )
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _policy(script: str, style: str) -> str:
    """Nothing but the page's own script and style; each hash is over what stands in its element."""
    return f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}"


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
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
    return environment
