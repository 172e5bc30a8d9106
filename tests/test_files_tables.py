"""Other people's tables: dialects, encodings, the shapes of JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.files.foreign.csv_rows import open_csv
from bridge.files.foreign.tables import Table, read_table
from bridge.model.errors import InputError

ROWS = [{"q": "eins, zwei", "n": "1"}, {"q": "drei\nvier", "n": "2"}]


def table(tmp_path: Path, name: str, content: str | bytes, **options: Any) -> Table:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_dialect_gives_the_same_rows(tmp_path: Path, delimiter: str, end: str) -> None:
    cells = [["q", "n"], ['"eins, zwei"', "1"], ['"drei\nvier"', "2"]]
    text = end.join(delimiter.join(row) for row in cells) + end
    read = table(tmp_path, "t.csv", text)
    assert read.columns == ["q", "n"]
    assert read.rows == ROWS
    assert read.text
    assert bool(read.notes) == (delimiter in ";|")


def test_lines_are_where_a_row_starts(tmp_path: Path) -> None:
    assert table(tmp_path, "t.csv", 'q\n"a\nb"\n\nc\n').lines == [2, 5]
    assert table(tmp_path, "t.jsonl", '{"q": 1}\n\n{"q": 2}\n').lines == [1, 3]


def test_semicolons_win_over_decimal_commas(tmp_path: Path) -> None:
    read = table(tmp_path, "t.csv", "frage;wert\nwas, wo?;0,5\nwer?;0,75\n")
    assert read.rows[0] == {"frage": "was, wo?", "wert": "0,5"}


def test_one_column_stays_one(tmp_path: Path) -> None:
    assert table(tmp_path, "t.csv", "question\nWho?\nWhat?\n").columns == ["question"]


def test_nameless_columns_get_names_and_trailing_commas_go(tmp_path: Path) -> None:
    assert table(tmp_path, "t.csv", ",q,\n0,a,b\n").columns == ["", "q", "column 3"]
    assert table(tmp_path, "t.csv", "q,n\na,b,,\n").rows == [{"q": "a", "n": "b"}]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "mac-roman"]
)
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_encodings_are_told_by_the_bytes(tmp_path: Path, encoding: str, name: str) -> None:
    word = "Übergrößenträger: ‘déjà vu’ – naïve café"
    text = (
        f"q,n\n{word},1\n" if name.endswith("csv") else json.dumps({"q": word}, ensure_ascii=False)
    )
    read = table(tmp_path, name, text.encode(encoding))
    assert read.rows[0]["q"] == word
    assert bool(read.notes) == (encoding in ("cp1252", "mac-roman"))


def test_a_named_encoding_is_used(tmp_path: Path) -> None:
    assert table(tmp_path, "t.csv", "q\nпривет\n".encode("cp1251"), encoding="cp1251").rows == [
        {"q": "привет"}
    ]
    with pytest.raises(InputError, match="no encoding of text is called 'klingon'"):
        table(tmp_path, "t.csv", "q\na\n", encoding="klingon")
    with pytest.raises(InputError, match="not in ascii"):
        table(tmp_path, "t.csv", "q\nä\n", encoding="ascii")
    with pytest.raises(InputError, match="no encoding of text is called 'hex'"):
        table(tmp_path, "t.csv", "q\nä\n", encoding="hex")


SHAPES: dict[str, tuple[Any, str]] = {
    "records": (ROWS, ""),
    "wrapper": ({"module": "m", "cases": ROWS}, "cases"),
    "a wrapper of its own": ({"faq": ROWS, "version": 2}, "faq"),
    "by column and row": (
        {"q": {"0": "eins, zwei", "1": "drei\nvier"}, "n": {"0": "1", "1": "2"}},
        "",
    ),
    "by column": ({"q": [row["q"] for row in ROWS], "n": ["1", "2"]}, ""),
    "split": (
        {"columns": ["q", "n"], "index": [0, 1], "data": [[*row.values()] for row in ROWS]},
        "",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_json_is_the_same_table(tmp_path: Path, shape: str) -> None:
    value, at = SHAPES[shape]
    read = table(tmp_path, "t.json", json.dumps(value))
    assert (read.rows, read.at, read.text) == (ROWS, at, False)
    assert read.around == ({key: item for key, item in value.items() if key != at} if at else {})


def test_one_object_is_one_row_and_lines_may_be_called_json(tmp_path: Path) -> None:
    one = {"input": "hi", "context": ["a"], "expected": {"a": 1}}
    assert table(tmp_path, "t.json", json.dumps(one)).rows == [one]
    assert table(tmp_path, "t.json", '{"q": 1}\n{"q": 2}\n').rows == [{"q": 1}, {"q": 2}]


def test_a_wrapper_can_be_named(tmp_path: Path) -> None:
    value = {"a": [{"q": 1}], "b": [{"q": 2}]}
    assert table(tmp_path, "t.json", json.dumps(value), wrapper="b").rows == [{"q": 2}]
    with pytest.raises(InputError, match="no list under 'c'"):
        table(tmp_path, "t.json", json.dumps(value), wrapper="c")


def test_nan_is_null_and_said(tmp_path: Path) -> None:
    read = table(tmp_path, "t.jsonl", '{"q": NaN, "n": [Infinity]}\n')
    assert read.rows == [{"q": None, "n": [None]}]
    assert read.notes == ("2 NaN or infinite numbers were read as null",)


def test_lone_surrogates_are_replaced_and_said(tmp_path: Path) -> None:
    read = table(tmp_path, "t.jsonl", '{"q": "\\ud800", "\\uDFFF": ["\\ud83d\\ude00"]}\n')
    assert read.rows == [{"q": "\ufffd", "\ufffd": ["\U0001f600"]}]
    assert read.notes == ("2 lone surrogates became U+FFFD",)


def test_parquet_rows_are_json(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {"q": "a", "contexts": ["x", "y"], "s": 0.5, "m": {"k": 1}},
        {"q": "b", "s": float("nan")},
    ]
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    assert read_table(path).rows == [
        {"q": "a", "contexts": ["x", "y"], "s": 0.5, "m": {"k": 1}},
        {"q": "b", "contexts": None, "s": None, "m": None},
    ]


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"bridge-evals\[parquet\]"):
        table(tmp_path, "t.parquet", b"PAR1")


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "ragged": ("t.csv", b"a,b\n1,2\n1,2,3\n", r"t.csv:3: 3 cells in a table of 2 columns"),
    "short": ("t.csv", b"a,b\n1\n", r"t.csv:2: 1 cells in a table of 2 columns"),
    "twin columns": ("t.csv", b"a,b,a\n1,2,3\n", "column 'a' stands twice"),
    "an open quote": ("t.csv", b'a,b\n1,"2\n', r"t.csv:2: no CSV"),
    "head only": ("t.csv", b"a,b\n", "no row below its head"),
    "empty": ("t.csv", b"", "empty"),
    "empty json": ("t.json", b" ", "empty"),
    "empty list": ("t.json", b"[]", "no rows"),
    "empty lines": ("t.jsonl", b"\n\n", "no rows"),
    "a number": ("t.json", b"3", "no JSON object"),
    "numbers": ("t.json", b"[1]", "row 1 is a number or truth value"),
    "a list a line": ("t.jsonl", b'{"a": 1}\n[1]\n', r"t.jsonl:2: a list, not an object"),
    "cut off": ("t.jsonl", b'{"a": 1}\n{"a": ', r"t.jsonl:2: not JSON"),
    "twin keys": ("t.jsonl", b'{"a": 1, "a": 2}\n', "key 'a' stands twice"),
    "deep": ("t.json", b"[" * 100_000, "nested too deeply"),
    "a huge number": ("t.jsonl", b'{"a": ' + b"9" * 5000 + b"}", "limit"),
    "nul": ("t.csv", b"a,b\n1,\0\n", "a NUL at byte 6"),
    "lfs": ("t.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "a workbook": ("t.csv", b"PK\x03\x04xl", "zip archive"),
    "gzip": ("t.jsonl", b"\x1f\x8b\x08", "gzip"),
    "parquet by another name": ("t.csv", b"PAR1....", r"name it \*.parquet"),
    "no parquet": ("t.parquet", b"PAR1 garbage PAR1", "no Parquet file"),
    "half a utf-16": ("t.csv", b"\xff\xfea\0b", "not in utf-16-le"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_ends_in_one_line(tmp_path: Path, name: str) -> None:
    file, content, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        table(tmp_path, file, content)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(InputError, match="cannot be read"):
            read_table(tmp_path / name)


def test_cells_are_long_in_every_walk_that_is_under_way(tmp_path: Path) -> None:
    """Python's limit of a cell, 128 Ki characters, is the whole process's."""
    path = tmp_path / "x.csv"
    path.write_text("q\n" + "a\n" + "b" * 200_000 + "\n")
    first, second = iter(open_csv(path)), iter(open_csv(path))
    assert next(first) == next(second)
    assert [len(cells[0]) for _, cells in first] == [200_000]
    assert [len(cells[0]) for _, cells in second] == [200_000]
