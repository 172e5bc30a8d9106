"""promptfoo's column language, row by row, and held against the real promptfoo's own reader."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from test_promptfoo_config_run import evaluated

from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions
from bridge.testing.accounted import assert_accounted
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.config.lists import comma_separated
from bridge_promptfoo.config.table import read_assertion, read_row

CELLS: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"type": "equals", "value": "plain"}),
    ("equals: x", {"type": "equals", "value": "x"}),
    ("contains:  x ", {"type": "contains", "value": "x"}),
    ("not-contains:x", {"type": "not-contains", "value": "x"}),
    ("icontains: a b c", {"type": "icontains", "value": "a b c"}),
    ("similar(0.9):t", {"type": "similar", "value": "t", "threshold": 0.9}),
    ("similar:t", {"type": "similar", "value": "t", "threshold": 0.8}),
    ("levenshtein(3):t", {"type": "levenshtein", "value": "t", "threshold": 3.0}),
    ("latency", {"type": "latency", "threshold": 0.75}),
    ("starts-with:t", {"type": "starts-with", "value": "t", "threshold": 0.75}),
    ("is-json", {"type": "is-json"}),
    ('is-json:{"type":"object"}', {"type": "is-json", "value": '{"type":"object"}'}),
    ('contains-all:a, "b,c",d', {"type": "contains-all", "value": ["a", "b,c", "d"]}),
    ("javascript: output.length", {"type": "javascript", "value": "output.length"}),
    ("fn:output", {"type": "javascript", "value": "output"}),
    ("eval:output", {"type": "javascript", "value": "output"}),
    ("file://check.js", {"type": "javascript", "value": "file://check.js"}),
    ("python:file://x.py:fn", {"type": "python", "value": "file://x.py:fn"}),
    ("file://x.py:fn", {"type": "python", "value": "x.py:fn"}),
    ("grade: is kind", {"type": "llm-rubric", "value": " is kind"}),
    ("llm-rubric:is kind", {"type": "llm-rubric", "value": "is kind"}),
    ("contains", {"type": "contains"}),
    ("no-such-type:x", {"type": "equals", "value": "no-such-type:x"}),
    ("contains(x):y", {"type": "equals", "value": "contains(x):y"}),
    ("regex:a\nb", {"type": "regex", "value": "a\nb"}),
]


@pytest.mark.parametrize(("cell", "assertion"), CELLS)
def test_a_cell_of_the_assertion_language(cell: str, assertion: dict[str, Any]) -> None:
    assert read_assertion(cell) == assertion


def test_every_column(tmp_path: Path) -> None:
    row = {
        "q": "5",
        "__expected": "contains:a",
        "__expected2": "",
        "__expected3": "similar:b",
        "__prefix": "Pre ",
        "__suffix": "",
        "__description": "about",
        "__metric": "m",
        "__threshold": "0.5",
        "__metadata:k": "v",
        "__metadata:tags[]": "a, b\\,c",
        "__metadata:none": " ",
        "__metadata": "lost",
        "__providerOutput": "said",
        "__config:__expected2:threshold": "0.4",
    }
    made = read_row(row, 1)
    assert made.test == {
        "vars": {"q": "5"},
        "options": {"prefix": "Pre ", "suffix": ""},
        "metadata": {"k": "v", "tags": ["a", "b,c"], "threshold": 0.4},
        "description": "about",
        "threshold": 0.5,
        "providerOutput": "said",
        "assert": [
            {"type": "contains", "value": "a", "metric": "m"},
            {"type": "similar", "value": "b", "threshold": 0.4, "metric": "m"},
        ],
    }
    assert made.ignored == ["__metadata"]
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    bundle, report = CONFIG.read(path, ReadOptions())
    changed = ["[].__metadata:tags[]", "[].__expected"]
    assert_accounted([row], bundle, report, changed=["[]", *changed])
    assert bundle.outputs[0].text == "said"
    assert {line.field for line in report.lines if line.fate == "dropped"} == {"[].__metadata"}


def test_rows_without_a_name_are_numbered_and_code_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,__expected\nx,python:1\n\ny,\n")
    bundle, report = CONFIG.read(path, ReadOptions())
    assert [case.id for case in bundle.cases] == ["Row #1", "Row #2"]
    assert [case.extras["promptfoo"]["origin"] for case in bundle.cases] == ["t.csv:2", "t.csv:4"]
    assert {(line.field, line.fate, line.count) for line in report.lines} >= {
        ("[].__expected", "executable", 1)
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q,__expected\na\n", "t.csv:2: 1 cells under 2 columns"),
        ("q,q\na,b\n", "t.csv:1: column 'q' stands twice"),
        ("q,__config:__expected0:threshold\na,1\n", "t.csv:2: column __config:__expected0"),
        ("q,__config:__expected:weight\na,1\n", "is no __config"),
        ("q,__expected,__config:__expected:threshold\na,x,high\n", "which is no number"),
        ('q,__expected\na,"contains-any:""x"\n', "a quoted item without an end"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        CONFIG.read(path, ReadOptions())
    assert said in str(caught.value)


def test_lists_with_quotes() -> None:
    assert list(comma_separated(' ,a,, "b""c" ,"d\\"e",f g,')) == ["a", 'b"c', 'd"e', "f g"]
    for faulty in ('"a', '"a" b', 'a,"'):
        with pytest.raises(ValueError, match="quoted item"):
            list(comma_separated(faulty))


@pytest.mark.xdist_group("promptfoo")
def test_promptfoo_reads_the_rows_as_we_do(tmp_path: Path) -> None:
    """Every cell above, as the tests that promptfoo itself makes of them."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["q", "__expected", "__metric", "__metadata:tags[]"])
    data = [(cell, each) for cell, each in CELLS if each["type"] in ("equals", "contains", "icontains", "contains-all", "not-contains", "is-json", "regex")]  # fmt: skip
    for cell, _ in data:
        writer.writerow(["x", cell, "m", "a\\,b,c"])
    (tmp_path / "t.csv").write_text(text.getvalue(), newline="")
    config = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": "file://t.csv"}
    (tmp_path / "promptfooconfig.yaml").write_text(json.dumps(config))
    tests = evaluated(tmp_path)["config"]["tests"]
    if isinstance(tests, str):  # left as it was: take the tests of the rows
        rows = json.loads((tmp_path / "out.json").read_bytes())["results"]["results"]
        rows.sort(key=lambda row: row["testIdx"])
        tests = [row["testCase"] for row in rows]
    for (cell, assertion), test in zip(data, tests, strict=True):
        (made,) = test["assert"]
        assert made == {**assertion, "metric": "m"}, cell
        assert test["metadata"]["tags"] == ["a,b", "c"]
