"""Golden sets as people write them: each is read right, or refused with a place and a way out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import strategies
from hypothesis import given, settings

from bridge.files.golden import read_golden_set, stream_cases, write_cases
from bridge.model import Case, InputError

GOOD = '{"id": "a", "input": "x", "expected": "y"}'
OTHER = '{"id": "b", "input": "x", "expected": ""}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cases.jsonl"


def case(**fields: Any) -> str:
    return json.dumps({"id": "a", "input": "x", "expected": "", **fields})


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n{OTHER}\n",
        f"{GOOD}\n{OTHER}",
        f"\n\n{GOOD}\r\n\r\n  {OTHER}  \r\n",
        f"\ufeff{GOOD}\n{OTHER}\n",
    ],
)
def test_line_ends_blank_lines_and_marks_do_not_matter(file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    golden = read_golden_set(file)
    assert [each.id for each in golden.cases] == ["a", "b"]
    assert golden.cases[0] == Case(id="a", input="x", expected="y")
    assert golden.replaced_surrogates == 0


def test_each_case_knows_its_place(file: Path) -> None:
    file.write_text(f"\n{GOOD}\n\n{OTHER}\n")
    other = file.with_name("more.jsonl")
    other.write_text(case(id=3))
    golden = read_golden_set(file, other)
    assert golden.places == {"a": (file, 2), "b": (file, 4), "3": (other, 1)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cases.jsonl: holds no case"),
        ("\n\n", "cases.jsonl: holds no case"),
        (f"{GOOD}\n{GOOD}", "cases.jsonl:2: id 'a' stands twice (first at "),
        (f"{case(id=1)}\n{case(id='1')}", "cases.jsonl:2: id '1' stands twice (first at "),
        (f"{GOOD}\n[{OTHER}]", "cases.jsonl:2: a list, not an object"),
        (f"{GOOD}\n{OTHER[:-9]}", "cases.jsonl:2: not JSON"),
        (
            f"{GOOD}\n" + '{"id": "b", "id": "c", "input": "x", "expected": ""}',
            "key 'id' stands twice",
        ),
        (case(vars={"a": float("nan")}), "cases.jsonl:1: NaN is not a JSON number"),
        (
            case(vars={"a": 1}).replace("1}", "1e999}"),
            "cases.jsonl:1: 1e999 is not a JSON number",
        ),
        (
            '{"id": "a", "input": "x"}',
            "cases.jsonl:1: expected: is missing; every line has id, input",
        ),
        (case(input=None), "cases.jsonl:1: input: should be a text, a list of messages or"),
        (case(turns=["hi"]), "cases.jsonl:1: turns[0]: should be an object with user"),
        (case(expected_output="x"), "cases.jsonl:1: expected_output: unknown key"),
        (case(id="  "), "cases.jsonl:1: id: must not be empty"),
        (case(id=True), "cases.jsonl:1: id: should be a text, not true"),
        (case(checks=["equals", "equals"]), "cases.jsonl:1: checks: metric equals stands twice"),
        (
            case(vars={"a": json.loads("[" * 150 + "]" * 150)}),
            "vars: nested deeper than 100 levels",
        ),
    ],
)
def test_faults_have_a_place_and_a_way_out(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_golden_set(file)
    assert message in str(caught.value)
    assert caught.value.fix
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x00" * 512, "no text (a NUL at byte 0); name a text file"),
        (b"\xff\xfe{", "text in UTF-16; save it as UTF-8"),
        (GOOD.encode("utf-16"), "text in UTF-16; save it as UTF-8"),
        (b"PK\x03\x04", "a zip archive (a workbook or a log?), no text; export it as text"),
        (b"{\xe4}", "cases.jsonl:1: not UTF-8 (byte 1); save the file as UTF-8"),
    ],
)
def test_what_is_no_text(file: Path, data: bytes, what: str) -> None:
    file.write_bytes(data)
    with pytest.raises(InputError, match=re.escape(what)):
        read_golden_set(file)


def test_ids_are_unique_over_files(file: Path) -> None:
    file.write_text(f"{OTHER}\n{GOOD}")
    other = file.with_name("more.jsonl")
    other.write_text(GOOD)
    with pytest.raises(InputError, match=r"more\.jsonl:1: id 'a' stands twice .*cases\.jsonl:2"):
        read_golden_set(file, other)
    with pytest.raises(InputError, match=r"cases\.jsonl:1: id 'b' stands twice"):
        read_golden_set(file, file)
    other.write_text("")
    with pytest.raises(InputError, match=r"more\.jsonl: holds no case"):
        read_golden_set(file, other)


def test_lone_surrogates_are_replaced_and_counted(file: Path) -> None:
    lines = [
        r'{"id": "a", "input": "x\ud800y", "expected": ["\udfff", "\ud83d\ude00"]}',
        r'{"id": "b", "input": "ü", "expected": "", "metadata": {"\udc00": 1}}',
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    golden = read_golden_set(file)
    assert golden.replaced_surrogates == 3
    assert golden.cases[0].input == "x\ufffdy"
    assert golden.cases[0].expected == ["\ufffd", "\U0001f600"]
    assert golden.cases[1].metadata == {"\ufffd": 1}


def test_a_set_is_streamed(file: Path) -> None:
    file.write_text(f"{GOOD}\nnot JSON\n")
    cases = stream_cases(file)
    assert next(cases) == (1, Case(id="a", input="x", expected="y"))
    with pytest.raises(InputError):
        next(cases)


@settings(max_examples=15)
@given(strategies.CASE_LISTS)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.jsonl"
    write_cases(cases, file)
    assert read_golden_set(file).cases == cases
    write_cases(read_golden_set(file).cases, file.with_suffix(".again"))
    assert file.read_bytes() == file.with_suffix(".again").read_bytes()
