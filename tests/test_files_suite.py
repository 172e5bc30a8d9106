"""Suites on disk: places of faults, and the golden sets they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge.files.digest import case_digest, set_digest
from bridge.files.suite import read_suite, read_suite_cases
from bridge.model import InputError

GOOD = "name: s\ngolden_set: cases.jsonl\nsystem: {recorded: o.jsonl}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "input": "x", "expected": "y"}\n')
    return tmp_path / "bridge.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bridge.yaml: not a suite (no mapping)"),
        ("- a", "not a suite"),
        ("name: s\n", "bridge.yaml:1: golden_set: is missing"),
        (f"{GOOD}checks:\n  - equals\n  - equals\n", "bridge.yaml:4: checks: metric equals stands"),
        (
            f"{GOOD}checks:\n  - equals\n  - contains:\n      value: x\n      threshold: 2\n",
            "bridge.yaml:8: checks[1].threshold: should be less than or equal to 1",
        ),
        (f"{GOOD}gate:\n  metrics:\n    a: {{min: 2}}\n", "bridge.yaml:6: gate.metrics.a.min: "),
        (
            f"{GOOD}gate:\n  metrics:\n    a: {{weight: 0.5}}\n",
            "bridge.yaml:4: gate: the given weights",
        ),
        (
            f"{GOOD}gate:\n  metrics:\n    a:\n      mn: 1\n",
            "bridge.yaml:7: gate.metrics.a.mn: unknown",
        ),
        (
            f"{GOOD}frameworks:\n  - core\n  - ragas: x\n",
            "bridge.yaml:6: frameworks[1]: ragas takes",
        ),
        (f"{GOOD}asserts: []\n", "bridge.yaml:4: asserts: unknown key"),
        (f"{GOOD}epochs: .nan\n", "bridge.yaml:4: epochs: "),
        (f"{GOOD}name: t\n", "bridge.yaml:4: key 'name' stands twice (first on line 1)"),
        (
            f"{GOOD}checks: [{{equals: {{negate: yes}}}}]\n",
            "checks[0].negate: should be true or false",
        ),
    ],
)
def test_faults_have_a_line(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_suite(file)
    assert message in str(caught.value)


def test_a_suite_may_be_json(file: Path) -> None:
    file = file.with_suffix(".json")
    data = {"name": "\U0001f600", "golden_set": "cases.jsonl", "system": {"python": "m:f"}}
    file.write_text(json.dumps(data))
    assert "\\ud83d" in file.read_text()
    assert read_suite(file).name == "\U0001f600"
    file.write_text(json.dumps({**data, "nme": 1}))
    with pytest.raises(InputError, match="nme: unknown key; did you mean name"):
        read_suite(file)


def test_golden_sets_are_found_beside_the_suite(file: Path) -> None:
    file.write_text(GOOD)
    golden = read_suite_cases(read_suite(file), file)
    assert golden.places == {"a": (file.parent / "cases.jsonl", 1)}
    file.write_text(GOOD.replace("cases.jsonl", "[cases.jsonl, sub/../cases.jsonl]"))
    with pytest.raises(InputError, match="id 'a' stands twice"):
        read_suite_cases(read_suite(file), file)
    file.write_text(GOOD.replace("cases", "gone"))
    with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read"):
        read_suite_cases(read_suite(file), file)


def test_a_golden_set_has_the_version_the_suite_asks_for(file: Path) -> None:
    file.write_text(GOOD)
    cases = read_suite_cases(read_suite(file), file).cases
    digest = set_digest(map(case_digest, cases))
    for version in (digest, digest[:20], digest.removeprefix("sha256:")[:8]):
        file.write_text(GOOD.replace("cases.jsonl", f"{{path: cases.jsonl, version: '{version}'}}"))
        assert read_suite_cases(read_suite(file), file).cases == cases
    for version in ("sha256:0000000000000", digest[:10], "sha256:", "v3"):
        file.write_text(GOOD.replace("cases.jsonl", f"{{path: cases.jsonl, version: '{version}'}}"))
        with pytest.raises(InputError, match=f"not version {version}.* {digest[:19]}"):
            read_suite_cases(read_suite(file), file)
