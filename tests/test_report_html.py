"""The HTML page in a real browser: from a file, offline, by keyboard, on a phone, in the dark."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from chromium import find_chromium
from conftest import ROOT, Bridge
from playwright.sync_api import Browser, Page, expect
from test_report_inert import HOSTILE, everywhere

from bridge.model.exhibit import Exhibit, ShownCase, ShownMetric
from bridge.model.verdict import FrameworkMean, MetricResult, Verdict
from bridge.report.html.cases import BUDGET, LONGEST, SHORTEST, text_limit
from bridge.report.html.forest import forest
from bridge.report.html.page import to_html

PHONE = {"width": 390, "height": 844}
OPENING_S, SIZE_MB = 2.0, 15.0
"""What 10,000 cases in 10 metrics may take."""

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of the page."""
    with find_chromium().launch() as found:
        yield found


@contextmanager
def opened(browser: Browser, path: Path, **options: object) -> Iterator[Page]:
    """A page opened from its file; anything that it says, or asks of a network, is a failure."""
    context = browser.new_context(**options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(10_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: said.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert said == [path.as_uri()]


@pytest.fixture(scope="module")
def regressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's regressed run against its good one, as a page."""
    folder = tmp_path_factory.mktemp("regressed")
    suites = ROOT / "examples" / "support_bot"
    for name in ("bridge", "regressed"):
        command = [sys.executable, "-m", "bridge", "run", f"{suites / name}.yaml"]
        where = ["--frameworks", "core", "--run-dir", str(folder / name)]
        subprocess.run([*command, *where], check=True, capture_output=True)
    page = folder / "page.html"
    command = [sys.executable, "-m", "bridge", "report", str(folder / "regressed")]
    rest = ["--baseline", str(folder / "bridge"), "--html", str(page)]
    subprocess.run([*command, *rest], check=True, capture_output=True)
    return page


def test_a_regressed_run(browser: Browser, regressed: Path) -> None:
    with opened(browser, regressed) as page:
        assert page.title().startswith("FAILED support-bot")
        expect(page.get_by_role("heading", level=1)).to_contain_text("FAILED")
        assert (
            page.locator("svg.forest circle").count()
            == page.locator("table.metrics tbody tr").count()
        )
        expect(page.locator("#plain")).to_be_hidden()
        counted = page.get_by_role("status").inner_text()
        assert re.fullmatch(r"1 to 50 of \d+ cases", counted)
        first = page.locator(".case").first
        first.get_by_role("button").click()
        texts = first.locator(".texts h3").all_inner_texts()
        assert {"input", "answer now", "answer before"} <= set(texts)
        pair = first.locator(".texts pre").all_inner_texts()
        assert pair[texts.index("answer now")] != pair[texts.index("answer before")]
        expect(first.locator("td.worse").first).to_be_visible()


def test_filters_search_and_pages(browser: Browser, regressed: Path) -> None:
    with opened(browser, regressed) as page:
        ids = page.locator(".case .id")
        page.get_by_label("show").select_option("all")
        expect(page.get_by_role("status")).to_have_text("1 to 50 of 332 cases")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("status")).to_have_text("51 to 100 of 332 cases")
        page.get_by_role("searchbox").fill("TOOL-05")
        expect(page.get_by_role("status")).to_contain_text("of 10 cases")
        page.get_by_role("searchbox").fill("")
        page.get_by_label("metric", exact=True).select_option("tool_use")
        page.get_by_label("show").select_option("worse")
        expect(page.get_by_role("status")).not_to_contain_text("332")
        for name in ids.all_inner_texts():
            assert name.startswith(("tool", "conv"))
        page.get_by_label("failure mode").select_option("wrong_order")
        expect(page.get_by_role("status")).to_contain_text("of 3 cases")
        page.get_by_role("searchbox").fill("nothing holds this")
        expect(page.get_by_role("status")).to_have_text("no case")


def test_by_keyboard(browser: Browser, regressed: Path) -> None:
    with opened(browser, regressed) as page:
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the cases")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("searchbox")).to_be_focused()
        button = page.locator(".case").first.get_by_role("button")
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-expanded", "true")
        expect(page.locator(".detail")).to_be_visible()
        page.keyboard.press("Space")
        expect(page.locator(".detail")).to_have_count(0)


def contrast(page: Page) -> float:
    """The contrast of the page's text, by WCAG 2.2."""
    found: float = page.evaluate(
        """() => {
          const style = getComputedStyle(document.body);
          const light = (colour) => colour.match(/\\d+/g).slice(0, 3)
            .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        }"""
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_dark_and_on_a_phone(browser: Browser, regressed: Path, scheme: str) -> None:
    with opened(browser, regressed, viewport=PHONE, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert contrast(page) >= 7
        dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert dark is (scheme == "dark")


def exhibit_of(*texts: str) -> Exhibit:
    """Failed cases, each with a text in every field."""
    cases = tuple(ShownCase(text, text, text, text, text, (text,), text, text) for text in texts)
    size = len(texts)
    columns = ([0.5] * size, [1.0] * size, ["failed"] * size, dict(enumerate(texts)))
    return Exhibit(cases, (ShownMetric(texts[0], texts[0], *columns),))


def test_hostile_text_is_inert(browser: Browser, tmp_path: Path) -> None:
    texts = [
        *HOSTILE,
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "lone \ud800 surrogate",
    ]
    whole = "\n".join(text[:200] for text in texts)
    agreed = {whole: {whole: FrameworkMean(mean=1, n=1)}}
    path = tmp_path / "page.html"
    page_text = to_html(
        everywhere(whole).model_copy(update={"agreement": agreed}), exhibit_of(*texts)
    )
    path.write_text(page_text, encoding="utf-8")
    with opened(browser, path) as page:
        assert page.locator("script").count() == 2
        for button in page.locator(".case > button").all():
            button.click()
        expect(page.locator(".texts pre")).to_have_count(4 * len(texts))
        assert page.locator("img, iframe, a:not(.skip)").count() == 0
        assert page.locator("script").count() == 2


def test_the_page_carries_no_way_out() -> None:
    page = to_html(everywhere("x"), exhibit_of("x"))
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"(?:src|href)=[\"'](?!#)", page)


def many(cases: int, metrics: int) -> tuple[Verdict, Exhibit]:
    """A verdict with so many cases and metrics, every tenth case failed."""
    names = [f"metric_{i}" for i in range(metrics)]
    results = {
        name: MetricResult(mean=0.9, n=cases, status="passed", delta=-0.01) for name in names
    }
    answer = "An answer of some two hundred characters, as support bots give them. " * 3
    shown = tuple(
        ShownCase(
            f"case-{i:05d}",
            f"question {i}: {answer}",
            answer,
            f"{answer}{i}",
            answer,
            ("tag",),
            "mode",
        )
        for i in range(cases)
    )
    status = ["failed" if i % 10 == 0 else "passed" for i in range(cases)]
    values = [0.0 if i % 10 == 0 else 1.0 for i in range(cases)]
    reasons = {i: f"reason {i}" for i in range(0, cases, 10)}
    columns = tuple(
        ShownMetric(name, "core", values, [1.0] * cases, status, reasons) for name in names
    )
    return Verdict(passed=True, verdict="passed", suite="many", metrics=results), Exhibit(
        shown, columns
    )


def test_ten_thousand_cases_open_at_once(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(to_html(*many(10_000, 10)), encoding="utf-8")
    assert path.stat().st_size < SIZE_MB * 1e6
    with opened(browser, path) as page:
        expect(page.get_by_role("status")).to_have_text("1 to 50 of 1000 cases")
        milliseconds = page.evaluate(
            "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
        )
        assert milliseconds < OPENING_S * 1000
        start = time.perf_counter()
        page.get_by_role("searchbox").fill("case-09990")
        expect(page.get_by_role("status")).to_have_text("1 to 1 of 1 cases")
        assert time.perf_counter() - start < OPENING_S


def test_texts_are_cut_to_a_budget_the_longest_first() -> None:
    assert text_limit(["short"] * 10) == LONGEST
    assert text_limit(["x" * 1000] * 100_000) == SHORTEST
    mixed = ["x" * 100] * 10_000 + ["y" * 100_000] * 1000
    limit = text_limit(mixed)
    assert limit == (BUDGET - 100 * 10_000) // 1000
    assert sum(min(len(text), limit) for text in mixed) <= BUDGET


def test_the_forest_is_drawn_to_scale() -> None:
    results = {
        "down": MetricResult(delta=-0.2, delta_low=-0.3, delta_high=-0.1, status="failed"),
        "up": MetricResult(delta=0.2, delta_low=0.1, delta_high=0.3, status="passed"),
        "alone": MetricResult(mean=0.5),
    }
    plot = forest(Verdict(passed=False, verdict="failed", metrics=results))
    assert plot is not None
    down, up = plot.marks
    assert (down.name, up.name) == ("down", "up")
    assert down.low < down.x < down.high < plot.zero < up.low < up.x < up.high
    assert up.x - plot.zero == pytest.approx(plot.zero - down.x)
    assert (up.high - up.x) * 2 == pytest.approx(up.x - plot.zero, rel=0.01)
    assert forest(Verdict(passed=True, verdict="passed")) is None


def test_without_the_script_the_failed_cases_are_there(bridge: Bridge, regressed: Path) -> None:
    page = regressed.read_text("utf-8")
    table = page.partition('id="plain"')[2].partition("</section>")[0]
    assert table.count("<tr>") > 20
    assert "cases/conversations/cases.jsonl:" in table
