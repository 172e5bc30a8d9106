"""promptfoo results as cases, outputs and scores: those of other people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from promptfoo_runs import Rows, read_back

from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format
from bridge_promptfoo.format import FORMAT

LIBRARY = ROOT / "tests" / "native" / "promptfoo" / "library.json"
LONG = "When do you close on the last Friday of the month, and is th 001dc53f"
PLAIN = "clerk | plain"


@pytest.fixture(scope="module")
def library() -> Rows:
    return read_back(LIBRARY)[0]


def change(folder: Path, how: Callable[[Any], None]) -> Path:
    """The recorded file with something in it changed."""
    data = json.loads(LIBRARY.read_bytes())
    how(data)
    path = folder / "changed.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_a_provider_with_its_prompt_is_a_system(library: Rows) -> None:
    assert {system for system, *_ in library} == {
        "clerk | plain",
        "gruff-clerk | plain",
        "clerk | Answer kindly and in one sentence, as a clerk of the town li ad0d7b57",
        "gruff-clerk | Answer kindly and in one sentence, as a clerk of the town li ad0d7b57",
    }


def test_a_test_goes_by_its_id_its_description_or_what_it_asks(library: Rows) -> None:
    assert {case_id for _, case_id, *_ in library} == {"open-1", "opening", "scale", LONG}


def test_a_repeated_test_is_another_epoch(library: Rows) -> None:
    assert {epoch for _, case_id, epoch, *_ in library if case_id == "open-1"} == {1, 2}


def test_every_assertion_is_a_row(library: Rows) -> None:
    rows = {key[4]: row for key, row in library.items() if key[:3] == (PLAIN, "open-1", 1)}
    assert {name: (row["status"], row["value"], row["weight"]) for name, row in rows.items()} == {
        "says_nine": ("passed", 1.0, 1.0),
        "contains": ("passed", 1.0, 2.0),
        "contains (2)": ("failed", 0.0, 1.0),
        "style": ("passed", 0.75, 1.0),
        "style (2)": ("passed", 0.5, 1.0),
        "length": ("passed", 1.0, 1.0),
        "latency": ("passed", 1.0, 1.0),
    }
    assert rows["contains (2)"]["threshold"] == 0.5
    assert rows["contains (2)"]["reason"] == 'Expected output to contain "closed"'
    assert rows["latency"]["threshold"] is None  # its 5000 are milliseconds


def test_an_assert_set_is_a_row_before_what_it_holds(library: Rows) -> None:
    either = library[PLAIN, LONG, 1, None, "either"]
    assert (either["scorer"], either["status"], either["value"]) == ("assert-set", "passed", 0.5)
    assert either["threshold"] == 0.5
    assert library[PLAIN, LONG, 1, None, "contains"]["status"] == "passed"
    assert library[PLAIN, LONG, 1, None, "contains (2)"]["status"] == "failed"


def test_a_script_that_threw_is_an_error(library: Rows) -> None:
    thrown = library[PLAIN, LONG, 1, None, "javascript"]
    assert (thrown["status"], thrown["value"]) == ("error", None)
    assert thrown["error"] == "Custom function threw error: no such thing"


def test_a_provider_error_is_an_error_of_every_check() -> None:
    rows, bundle, _ = read_back(LIBRARY)
    row = rows[PLAIN, "opening", 1, None, "says_nine"]
    assert (row["status"], row["error"]) == ("error", "HTTP 503: the library is closed")
    failed = [output for output in bundle.outputs if output.case_id == "opening"]
    assert {output.error for output in failed} == {"HTTP 503: the library is closed"}


def test_an_answer_is_no_score_of_the_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("q,echo,Status,Score,Status,Score\nwhy,so,PASS,1,FAIL,0\n", "utf-8")
    bundle, _ = FORMAT.read(path, ReadOptions())
    assert [(output.system, output.text) for output in bundle.outputs] == [("default", "so")]
    assert [(score.status, score.value) for score in bundle.scores] == [("passed", 1.0)]


def test_a_time_beyond_a_number_is_none(tmp_path: Path) -> None:
    def endless(data: Any) -> None:
        for row in data["results"]["results"]:
            row["latencyMs"] = 10**400

    bundle, _ = FORMAT.read(change(tmp_path, endless), ReadOptions())
    assert {output.latency_s for output in bundle.outputs} == {None}


def test_outputs_keep_text_objects_cost_time_and_tokens() -> None:
    _, bundle, notes = read_back(LIBRARY)
    first = next(o for o in bundle.outputs if (o.system, o.case_id) == (PLAIN, "open-1"))
    assert first.text == "We open at nine and close at six."
    assert (first.cost_usd, first.usage.input_tokens if first.usage else None) == (0.001, 11)
    assert first.latency_s is not None
    assert {str(o.text) for o in bundle.outputs if o.case_id == "scale"} == {"{'marks': 'nine'}"}
    case = next(case for case in bundle.cases if case.id == "open-1")
    assert case.vars == {"question": "When do you open?"}
    assert notes == ()


def test_a_declared_scale_is_used() -> None:
    options = ReadOptions(options={"scale": {"marks": [0, 10]}})
    bundle, _ = FORMAT.read(LIBRARY, options)
    marks = [score for score in bundle.scores if score.metric == "marks"]
    assert {(score.value, score.status) for score in marks} == {(0.75, "passed")}
    assert {score.raw.value for score in marks if score.raw} == {7.5}


def test_the_report_accounts_for_every_leaf() -> None:
    bundle, report = FORMAT.read(LIBRARY, ReadOptions())
    assert len(bundle.outputs) == 20
    assert report.total == count_leaves(json.loads(LIBRARY.read_bytes()))
    counts = {(line.field, line.fate): line.count for line in report.lines}
    assert counts["results.results[].response.output", "native"] >= 16


def test_totals_that_differ_from_the_rows_are_noted(tmp_path: Path) -> None:
    def trim(data: Any) -> None:
        del data["results"]["results"][:3]

    _, _, notes = read_back(change(tmp_path, trim))
    assert any(
        note.startswith("the totals (passed, failed, errors) are (4, 12, 4)") for note in notes
    )

    def forget(data: Any) -> None:
        del data["results"]["stats"]

    _, _, notes = read_back(change(tmp_path, forget))
    assert "the file has no totals: the run may not have been finished" in notes


@pytest.mark.parametrize("provider", [None, "clerk", {"id": "clerk", "label": ""}, {"id": "clerk"}])
def test_providers_in_every_shape(tmp_path: Path, provider: Any) -> None:
    def replace(data: Any) -> None:
        for row in data["results"]["results"]:
            row["provider"] = provider
        data["results"]["prompts"] = [{"label": "p", "provider": "clerk"}] * 4
        data["results"]["results"] = [r for r in data["results"]["results"] if r["promptIdx"] == 0]

    rows, _, _ = read_back(change(tmp_path, replace))
    assert {system for system, *_ in rows} == {"clerk"}


def test_two_tests_of_one_name_are_told_apart(tmp_path: Path) -> None:
    def rename(data: Any) -> None:
        for row in data["results"]["results"]:
            row["testCase"]["description"] = "same"
            row["testCase"]["metadata"] = {}

    rows, _, notes = read_back(change(tmp_path, rename))
    assert {case_id for _, case_id, *_ in rows} == {"same", "same (2)", "same (3)", "same (4)"}
    assert any("had the name of another" in note for note in notes)


SEALED = '[{"scorer": "contains", "metric": "x", "status": "passed", "value": 1}]'


@pytest.mark.parametrize("sealed", [SEALED, "[]", "{}", "1"])
def test_an_edited_score_is_no_longer_ours(tmp_path: Path, sealed: str) -> None:
    """Someone who changes a score in our results has changed the result; no row is lost by it."""

    def overrule(data: Any) -> None:
        for row in data["results"]["results"]:
            for each in (row["gradingResult"] or {}).get("componentResults", ()):
                if (each.get("assertion") or {}).get("metric") == "says_nine":
                    each["metadata"] = {"bridge": f"bridge:{sealed}"}
                    each["score"] = 0

    rows, _, _ = read_back(change(tmp_path, overrule))
    assert rows[PLAIN, "open-1", 1, None, "says_nine"]["value"] == 0.0
    assert not [key for key in rows if key[4] == "x"]


DAMAGED = '{"testIdx": 4, "testCase": {"metadata": {"bridge": "bridge:{"}}}'
BROKEN: list[tuple[str, str]] = [
    ('{"results": {"version": 2, "results": [], "table": {}}}', "holds no row"),
    ('{"results": {"results": [], "timestamp": null}}', "holds no row"),
    ('{"results": []}', "holds no row"),
    ("[]", "holds no row"),
    ('{"results": {}}', "no promptfoo results"),
    ("a: b", "no promptfoo results"),
    ("", "no promptfoo results"),
    ('{"results": {"version": 3, "results": [{"testIdx": "x"}]}}', "no promptfoo results"),
    ('{"results": {"version": 3, "results": [' + "[" * 5000, "the file is cut off"),
    ('{"results": [{"vars": ' + "[" * 5000 + "]" * 5000 + "}]}", "nested too deeply"),
    (f'{{"results": {{"version": 3, "results": [{DAMAGED}]}}}}', "row 4/0 cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BROKEN)
def test_what_is_no_results_file_is_refused_in_one_line(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=told) as caught:
        FORMAT.read(path, ReadOptions())
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.json"):
        FORMAT.read(tmp_path / "gone.json", ReadOptions())


def test_only_promptfoos_own_head_is_claimed(tmp_path: Path) -> None:
    assert detect_format(LIBRARY).info.name == "promptfoo"
    path = tmp_path / "x.json"
    assert FORMAT.sniff(b'\xef\xbb\xbf{"evalId": null, "results": {"version": 3, "x"', path) > 0.9
    for head in (
        b"{}",
        b"[]",
        b'{"evalId": "x"}',
        b'{"prompts": [], "tests": []}',
        b'{"version": 2, "status": "success", "eval": {}}',
    ):
        assert FORMAT.sniff(head, path) == 0
