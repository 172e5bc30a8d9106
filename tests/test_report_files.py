"""JUnit, SARIF and GitHub annotations: read by others' readers, and never green over a red gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from gate_rows import binary, compare, falling, graded, row, verdict, write_scores
from junitparser import Error, Failure, JUnitXml, Skipped

from bridge.model.verdict import FailedCase, MetricResult, Verdict
from bridge.report.github import MOST, to_annotations
from bridge.report.junit import to_junit
from bridge.report.kinds import KINDS
from bridge.report.places import Place, place_of
from bridge.report.sarif import to_sarif
from bridge.report.words import HEADINGS


def failing(count: int = 1, *, status: str = "failed", **fields: object) -> Verdict:
    """A verdict with failed cases of one metric."""
    cases = tuple(
        FailedCase(
            case_id=f"c{i}",
            metric="equals",
            system="s",
            status="failed",
            case_value=0.0,
            baseline=1.0,
            reason="lacks it",
            where=f"cases/some set.jsonl:{i + 1}",
        )
        for i in range(count)
    )
    result = MetricResult.model_validate({"status": status, "mean": 0.5, "reasons": ["too low"]})
    given = {"passed": False, "verdict": "failed", "reasons": ["equals: too low"], **fields}
    return Verdict.model_validate({**given, "metrics": {"equals": result}, "failures": cases})


def every_verdict(folder: Path) -> dict[str, Verdict]:
    """A verdict of each name, from rows."""
    broken = [*binary([1.0] * 5), row("c9", None, status="error", error="broke")]
    rows = {
        "passed": binary([1.0] * 30),
        "failed": binary([0.0] * 30),
        "error": broken,
        "shown": [graded(f"c{i}", 0.5) for i in range(9)],
    }
    found = {
        name: verdict(write_scores(folder / f"{name}.jsonl", each)) for name, each in rows.items()
    }
    loose: dict[str, Any] = {"metrics": {"equals": {"min": 0.1}}, "margin": 0.01}
    found["inconclusive"] = compare(folder, *falling(1, 9), **loose)
    found["doubted"] = compare(folder, *falling(1, 9), **loose, on_inconclusive="fail")
    return found


def test_junit_is_green_exactly_when_the_gate_passes(tmp_path: Path) -> None:
    verdicts = every_verdict(tmp_path)
    assert {each.verdict for each in verdicts.values()} == {*HEADINGS}
    for found in verdicts.values():
        xml = JUnitXml.fromstring(to_junit(found).encode())
        results = [result for suite in xml for case in suite for result in case.result]
        red = [each for each in results if isinstance(each, Failure | Error)]
        assert bool(red) is not found.passed
        assert xml.tests == 1 + len(found.metrics)
        assert xml.failures == sum(isinstance(each, Failure) for each in results)
        assert xml.errors == sum(isinstance(each, Error) for each in results)
        assert xml.skipped == sum(isinstance(each, Skipped) for each in results)


def test_junit_names_reasons_and_failed_cases() -> None:
    text = to_junit(failing(60))
    assert "too low" in text
    assert "c0 | 0.00 | lacks it | cases/some set.jsonl:1" in text
    assert "... and 10 more" in text


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("cases.jsonl:12", Place("cases.jsonl", 12)),
        ("C:/x/cases.jsonl:3", Place("C:/x/cases.jsonl", 3)),
        ("cases.jsonl", Place("cases.jsonl", None)),
        ("a:b", Place("a:b", None)),
        (":7", Place(":7", None)),
        ("x:²", Place("x:²", None)),
        ("", None),
        (None, None),
    ],
)
def test_places(where: str | None, place: Place | None) -> None:
    assert place_of(where) == place


def test_sarif_points_at_the_golden_sets_lines() -> None:
    log = json.loads(to_sarif(failing(3)))
    (run,) = log["runs"]
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "cases/some%20set.jsonl"},
        "region": {"startLine": 1},
    }
    assert (first["ruleId"], first["level"]) == ("equals", "error")
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    prints = {each["partialFingerprints"]["caseAndMetric/v1"] for each in run["results"]}
    assert len(prints) == 3
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert [each["level"] for each in told] == ["error", "error"]


def test_a_failed_case_of_a_metric_that_passed_is_a_note() -> None:
    (run,) = json.loads(to_sarif(failing(status="passed", passed=True, verdict="passed")))["runs"]
    assert run["results"][0]["level"] == "note"


def test_annotations_are_the_worst_ten() -> None:
    lines = to_annotations(failing(30)).splitlines()
    assert len(lines) == MOST
    assert lines[0].startswith("::error title=bridge gate::FAILED")
    assert lines[0].endswith("%0Aequals: too low")
    assert lines[1] == (
        "::error file=cases/some set.jsonl,line=1,title=equals::c0: 0.00 (was 1.00): lacks it"
    )


def test_a_passed_gate_warns_of_what_became_worse_alone() -> None:
    found = failing(2, status="passed", passed=True, verdict="passed", reasons=())
    kept = found.failures[1].model_copy(update={"baseline": 0.0})
    found = found.model_copy(update={"failures": (found.failures[0], kept)})
    lines = to_annotations(found).splitlines()
    assert [line.split()[0] for line in lines] == ["::notice", "::warning"]


def test_a_property_cannot_end_its_command() -> None:
    found = failing()
    where = found.failures[0].model_copy(update={"where": "a,line=1::x%0A.jsonl:4"})
    line = to_annotations(found.model_copy(update={"failures": (where,)})).splitlines()[1]
    properties, _, _ = line.removeprefix("::error ").partition("::")
    assert [each.partition("=")[0] for each in properties.split(",")] == ["file", "line", "title"]


def test_every_kind_is_written_and_an_old_one_removed(bridge: Bridge, tmp_path: Path) -> None:
    good = write_scores(tmp_path / "good.jsonl", binary([1.0] * 5))
    bad = write_scores(tmp_path / "bad.jsonl", binary([0.0] * 5))
    names = ",".join(KINDS)
    out = bridge("gate", good, "--report-dir", tmp_path / "out", "--format", names)
    assert out.returncode == 0
    assert "::notice title=bridge gate::PASSED" in out.stdout
    files = {kind.file for kind in KINDS.values() if kind.suffix}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    assert (
        bridge("gate", bad, "--report-dir", tmp_path / "out", "--format", "junit").returncode == 1
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == [KINDS["junit"].file]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "junit"], "name its folder by --report-dir"),
        (["--format", "pdf"], "no report format 'pdf'"),
        (["--format", "github", "--json"], "leave out --format github"),
    ],
)
def test_formats_that_cannot_be(
    bridge: Bridge, tmp_path: Path, arguments: list[str], said: str
) -> None:
    good = write_scores(tmp_path / "good.jsonl", binary([1.0] * 5))
    out = bridge("gate", good, *arguments)
    assert (out.returncode, said in out.stderr) == (2, True)


def test_a_report_again(bridge: Bridge, tmp_path: Path) -> None:
    bad = write_scores(tmp_path / "bad.jsonl", binary([0.0] * 5))
    folder = tmp_path / "out"
    assert bridge("gate", bad, "--report-dir", folder).returncode == 1
    saved = folder / "eval-report.json"
    for source in (saved, bad):
        for kind in KINDS:
            out = bridge("report", source, "--format", kind)
            assert (out.returncode, out.stderr) == (0, "")
            assert "FAILED" in out.stdout or '"failed"' in out.stdout
    assert bridge("report", saved, "--format", "json").stdout == saved.read_text("utf-8")
    made = tmp_path / "page.html"
    assert bridge("report", saved, "--html", made).stdout.strip() == str(made)
    assert made.read_text("utf-8").startswith("<!doctype html>")
    saved.write_text('{"passed": true, "verdict": "perhaps"}')
    out = bridge("report", saved)
    assert (out.returncode, "make it anew: bridge gate" in out.stderr) == (2, True)
