"""Checks for HTML in an answer, as promptfoo tells it from text."""

from __future__ import annotations

import re
from typing import Any

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.scorers.reference import answer_text
from bridge.scorers.registry import NoParams, Scorer, binary
from bridge.scorers.sources import DETERMINISTIC
from bridge.scorers.text.literal import compile_regex

LONGEST = 1_000_000
"""Most characters of an answer that is parsed."""
DEEPEST = 2_000
"""Most elements within each other: the time an HTML parser takes grows with their square."""

WRAPPERS = frozenset({"html", "head", "body"})
"""Elements that a parser adds where they are not written."""
ELEMENTS = frozenset(
    """a abbr address area article aside audio b base bdi bdo blockquote br button canvas caption
    cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label
    legend li link main map mark math menu meta meter nav noscript object ol optgroup option output
    p param picture pre progress q rp rt ruby s samp script section select slot small source span
    strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr
    track u ul var video wbr""".split()  # noqa: SIM905  # 110 lines otherwise
)
"""Elements of https://html.spec.whatwg.org/multipage/indices.html#elements-3, and ``param``."""
_UNNESTED = frozenset(
    """area base br col embed hr img input link meta param source track wbr p li dt dd option
    optgroup tr td th thead tbody tfoot rp rt""".split()  # noqa: SIM905
)
"""Elements without content, or which the next of their kind closes."""

_OPENING = r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?>"
_CLOSING = r"</[a-zA-Z][a-zA-Z0-9-]*\s*>"
_WELL_KNOWN = (
    r"(?i)<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button"
    r"|script|style|link|meta|br|hr)\b"
)
_SIGNS = (
    (r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?/>", 1),
    (r"&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1),
    (r"(?i)<!DOCTYPE\s+html", 2),
    (r"<!--[^-]*(?:-[^-]+)*-->", 1),
    (r"\s[a-zA-Z-]+=\s*[\"'][^\"']*[\"']", 1),
    (_WELL_KNOWN, 2),
)
"""What speaks for HTML, and how much; 2 in all is HTML."""
_ENOUGH = 2

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_COMMENT = r"(?s)<!--.*?(?:-->|$)"


def contains_html(_: Case, output: Output, __: NoParams) -> list[Measurement]:
    """1.0 if HTML stands in the answer, else 0.0.

    Signs are weighed: a pair of tags or a well-known tag is enough, of attributes, entities,
    comments and self-closing tags two are.
    """
    text = answer_text(output)
    opens, closes = (compile_regex(each).search(text) is not None for each in (_OPENING, _CLOSING))
    weight = opens + closes
    weight += sum(worth for sign, worth in _SIGNS if compile_regex(sign).search(text) is not None)
    return [binary(weight >= _ENOUGH, f"signs of HTML weigh {weight}, {_ENOUGH} are enough")]


def is_html(_: Case, output: Output, __: NoParams) -> list[Measurement]:
    """1.0 if the answer is HTML and nothing else, else 0.0.

    Parsed as HTML5: some element of the standard is written in it, and no text stands outside of
    all elements, unless ``<body>`` is written.
    """
    text = answer_text(output).strip()
    fault = _fault(text)
    return [binary(fault is None, "is HTML" if fault is None else fault)]


def _fault(text: str) -> str | None:
    if not text:
        return "the answer is empty"
    if text[:5].lower() == "<?xml":
        return "the answer is XML"
    tree = _parsed(text)
    written = _wrappers(text)
    body = tree.body
    if body is not None and "body" not in written and _has_text(body):
        return "text stands outside of all elements"
    if written or any(_is_known(node.tag) for node in tree.root.traverse()):
        return None
    return "no element of HTML in the answer"


def _parsed(text: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    if len(text) > LONGEST:
        raise ValueError(f"an answer of {len(text)} characters; at most {LONGEST} are parsed")
    if _depth(text) > DEEPEST:
        raise ValueError(f"more than {DEEPEST} elements within each other are not parsed")
    return LexborHTMLParser(text.encode("utf-8", "replace").decode())


def _depth(text: str) -> int:
    """At least as many elements as stand within each other."""
    depth = deepest = 0
    for closes, name in _TAG.findall(text):
        if name.lower() not in _UNNESTED:
            depth = max(0, depth - 1) if closes else depth + 1
            deepest = max(deepest, depth)
    return deepest


def _wrappers(text: str) -> set[str]:
    bare = compile_regex(_COMMENT).sub("", text)
    return {name.lower() for closes, name in _TAG.findall(bare) if not closes} & WRAPPERS


def _has_text(body: Any) -> bool:
    node = body.child
    while node is not None:
        if node.tag == "-text" and node.text(deep=False).strip():
            return True
        node = node.next
    return False


def _is_known(tag: str | None) -> bool:
    return tag is not None and (tag in ELEMENTS or ("-" in tag and tag[0] not in "-!"))


IS_HTML = Scorer(
    "is_html",
    "1",
    is_html,
    summary="The answer is HTML and nothing else.",
    source=(f"{DETERMINISTIC}#is-html",),
    needs=("selectolax",),
)
CONTAINS_HTML = Scorer(
    "contains_html",
    "1",
    contains_html,
    summary="HTML stands in the answer.",
    source=(f"{DETERMINISTIC}#contains-html",),
)
