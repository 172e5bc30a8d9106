"""Hostile text in every field of every report: inert, on one line, and of bounded length."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from filled import filled
from gate_rows import Row, verdict, write_run
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bridge.gate.baseline import make_baseline
from bridge.gate.intake.gather import gather
from bridge.model.conversion import Conversion
from bridge.model.exhibit import Exhibit, ShownCase, ShownMetric
from bridge.model.verdict import Verdict
from bridge.report.columns import cell_width
from bridge.report.conversion import conversion_to_terminal
from bridge.report.github import to_annotations
from bridge.report.html.page import to_html
from bridge.report.inert import code, json_text, one_line
from bridge.report.json import to_json
from bridge.report.junit import to_junit
from bridge.report.markdown import LIMIT, to_markdown
from bridge.report.sarif import to_sarif
from bridge.report.terminal import to_terminal

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "::error file=a.py,line=1::pwned",
    "x\n::set-output name=a::b",
    "x\r\n::stop-commands::t",
    "##[error]pwned",
    "###[group]pwned",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[buildProblem description='x']",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://evil.example\x1b\\link",
    "\x9b31mred",
    "![image](http://evil.example/i.png) [link](javascript:alert(1))",
    "http://evil.example www.evil.example @everyone #1 org/repo#2",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b\u200d\ufeff\u061c",
    "a\x00b\x08c\x7f",
    "| a | b |\n|---|---|",
    "\\| \\\\| \\`",
    "`` ` ``` code",
    "`",
    "# heading\n- item\n> quote\n```\nfence",
    "=cmd|'/c calc'!A1",
    "-->\n<!-- --> &lt;b&gt; &#60;",
    "\U000e0041\U000e0042 tag characters",
    "Z\u0351\u034f\u0489 words",
    "y" * 1_000_000,
    " " * 100_000 + "late",
]
TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=60)

COMMANDS = re.compile(r"^\s*::|##\S*\[", re.MULTILINE)
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def assert_plain(text: str) -> None:
    """Nothing that a terminal or a CI system obeys, and nothing that is not seen."""
    assert not COMMANDS.search(text)
    for char in set(text) - {"\n"}:
        assert unicodedata.category(char) not in UNSEEN, f"U+{ord(char):04X}"


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


OURS = {"h2", "h3", "p", "ul", "li", "strong", "code", "br"}
OURS |= {"table", "thead", "tbody", "tr", "th", "td"}


def assert_markdown_is_inert(text: str) -> None:
    """Rendered with HTML let through, it has our own tags alone, and whole tables."""
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    found = Tags(page)
    assert found.tags <= OURS
    assert not found.attributes
    for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL):
        assert len(re.findall("<t[hd]>", row)) in (7, 10)


def assert_json_is_inert(found: Verdict) -> None:
    text = to_json(found)
    assert_plain(text)
    assert json.loads(text) == found.model_dump(mode="json")


def paged(text: str) -> Tags:
    """The HTML page about a verdict and its cases with the text everywhere."""
    case = ShownCase(text, text, text, text, text, (text,), text, text)
    metric = ShownMetric(text, text, [0.5], [1.0], ["failed"], {0: text})
    return Tags(to_html(everywhere(text), Exhibit((case,), (metric,))))


def assert_page_is_inert(text: str) -> None:
    """It has the elements and attributes of a page about harmless text, and no others."""
    found, harmless = paged(text), paged("x")
    assert found.tags == harmless.tags
    assert found.attributes == harmless.attributes


def assert_files_are_inert(found: Verdict) -> None:
    """JUnit is XML, SARIF is JSON, and of annotations there are ours alone."""
    for text in (to_junit(found), to_sarif(found)):
        assert not COMMANDS.search(text)
    assert ET.fromstring(to_junit(found)).tag == "testsuites"
    assert json.loads(to_sarif(found))["version"] == "2.1.0"
    for line in to_annotations(found).splitlines():
        assert re.match(r"::(error|warning|notice) (file=|title=)", line)
        assert not COMMANDS.search(line.partition(" ")[2])


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("limit", [5, 40, 200])
def test_one_line(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert_plain(shown)
    assert "\n" not in shown
    assert len(shown) <= limit
    assert shown == shown.strip()


@settings(max_examples=300)
@given(st.text(), st.integers(2, 60))
def test_one_line_of_any_text(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert len(shown) <= limit
    assert not COMMANDS.search(shown)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in shown)


def test_every_character_that_is_not_seen_goes() -> None:
    for number in range(0x110000):
        char = chr(number)
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert one_line(f"a{char}b") == "a b", f"U+{number:04X}"


def test_plain_text_stays() -> None:
    for text in ("Grüße, 世界 👍", "a::b std::vector", "50% of C# | x", "naïve café #1"):
        assert one_line(text) == text
    assert one_line("  two\n lines\t ") == "two lines"
    assert one_line("x" * 201) == "x" * 199 + "…"
    assert one_line("\x00" * 5000) == "…"
    assert one_line(12) == "12"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain", "`plain`"),
        ("", ""),
        ("\x00", ""),
        ("a|b", "`a\\|b`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("*x* _y_ [z](u)", "`*x* _y_ [z](u)`"),
    ],
)
def test_code(text: str, span: str) -> None:
    assert code(text) == span


@settings(max_examples=200)
@given(TEXTS)
def test_a_code_span_shows_its_text(text: str) -> None:
    shown = one_line(text)
    table = f"| a | b |\n|---|---|\n| {code(text)} | x |\n"
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(table)
    cells = re.findall("<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2
    if shown and "\\" not in shown:
        assert Tags(page).tags <= OURS
        escaped = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
        expected = "".join(escaped.get(char, char) for char in shown)
        assert cells[0] == f"<code>{expected}</code>"


@given(st.text())
def test_json_text_is_the_same_value(text: str) -> None:
    for document in (json.dumps({text: [text]}), json.dumps({text: text}, ensure_ascii=False)):
        escaped = json_text(document.encode("utf-8", "replace").decode("utf-8"))
        assert json.loads(escaped) == json.loads(document.encode("utf-8", "replace"))
        assert "##" not in escaped


def everywhere(text: str) -> Verdict:
    """A verdict with the text in every field that takes one."""
    return filled(Verdict, text, passed=False, verdict="failed")


@pytest.mark.parametrize("text", HOSTILE)
def test_every_field_of_every_report(text: str) -> None:
    found = everywhere(text)
    for width in (None, 60, 100):
        shown = to_terminal(found, width=width)
        assert_plain(shown)
        assert max(map(cell_width, shown.splitlines())) <= 420
    markdown = to_markdown(found)
    assert len(markdown) <= LIMIT
    assert_plain(markdown.replace("⚠️", ""))
    assert_markdown_is_inert(markdown)
    assert_json_is_inert(found)
    assert_files_are_inert(found)
    for report in (to_junit(found), to_sarif(found)):
        assert_plain(report)
    assert_page_is_inert(text)


def test_every_part_of_a_verdict_is_in_what_is_tried() -> None:
    found = everywhere("x")
    assert all(value not in ((), {}, None, "") for _, value in found)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [None, 80])
def test_every_field_of_a_conversion(text: str, width: int | None) -> None:
    shown = conversion_to_terminal(filled(Conversion, text), width)
    assert_plain(shown)
    assert max(map(cell_width, shown.splitlines())) <= 820


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_in_every_field(texts: list[str]) -> None:
    found = everywhere(" ".join(text[:5000] for text in texts))
    assert not COMMANDS.search(to_terminal(found, width=70))
    assert_markdown_is_inert(to_markdown(found))
    assert_files_are_inert(found)


def test_from_the_rows_to_the_reports(tmp_path: Path) -> None:
    """Every text of a score row, of the expected rows and of the run's record."""
    hostile = " ".join(HOSTILE[:-2])
    rows: list[Row] = []
    for case, value in (("a", 1.0), ("b", 0.0)):
        rows.append(
            {
                "framework": "core",
                "framework_version": hostile,
                "system": hostile,
                "case_id": f"{hostile}{case}",
                "metric": hostile,
                "scorer": hostile,
                "scorer_version": hostile,
                "status": "passed" if value else "failed",
                "value": value,
                "threshold": 0.5,
                "judge": hostile,
                "reason": hostile,
            }
        )
    erred = {**rows[0], "case_id": "c", "status": "error", "value": None, "error": hostile}
    cases = {each["case_id"]: {"failure_mode": hostile, "where": hostile} for each in rows}
    run = write_run(
        tmp_path / "run",
        {"core": [*rows, erred]},
        cases=cases,
        notes=[hostile],
        frameworks=[{"name": "core", "notes": [hostile]}],
    )
    good = write_run(tmp_path / "good", {"core": [{**rows[0], "case_id": "c"}, rows[0]]})
    found = verdict(run, baseline=make_baseline(gather([good])))
    assert found.verdict == "error"
    assert_plain(to_terminal(found, width=100))
    assert_plain(to_markdown(found).replace("⚠️", ""))
    assert_markdown_is_inert(to_markdown(found))
    assert_json_is_inert(found)
