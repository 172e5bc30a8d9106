"""YAML 1.2 as plain data, and what is refused in it."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest

from bridge.files.yaml import line_of, load_yaml, parse_yaml
from bridge.model.errors import InputError

PATH = Path("f.yaml")


def read(text: str) -> Any:
    return parse_yaml(text.encode(), PATH)[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, word) for word in ("Yes", "no", "on", "Off", "y", "N", "tRUE")),
        ("true", True),
        ("False", False),
        ("~", None),
        ("Null", None),
        ("", None),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-5", -5),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("190:20:30", "190:20:30"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5e-3", -0.0015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("2024-01-01", "2024-01-01"),
        ("=", "="),
        ("<<", "<<"),
        ('"1"', "1"),
        ("'true'", "true"),
        ("!!str 5", "5"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        ("[a, 1, {b: ~}]", ["a", 1, {"b": None}]),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = read(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(read("a: .nan")["a"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment", None),
        ("- 1\n- a", [1, "a"]),
        ("1: a\ntrue: b\n~: c", {"1": "a", "true": "b", "~": "c"}),
        (
            "base: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}",
            {"base": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}},
        ),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
        ('{"a": 1,\n\t"b": ["\\u00e9"]}', {"a": 1, "b": ["é"]}),
    ],
)
def test_documents(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3: key 'a' stands twice (first on line 1)"),
        ("a:\n  - b: 1\n    c: 2\n    b: 3", "f.yaml:4: key 'b' stands twice (first on line 2)"),
        ('1: a\n"1": b', "f.yaml:2: key '1' stands twice"),
        ("a: !!python/object/apply:os.system [x]", "f.yaml:1: tag 'tag:yaml.org,2002:python/"),
        ("a: 1\nb: !mine x", "f.yaml:2: tag '!mine'"),
        ("a: !!binary aGk=", "f.yaml:1: tag"),
        ("a: !!set {x, y}", "f.yaml:1: tag"),
        ("a: !!timestamp 2024-01-01", "f.yaml:1: tag"),
        ("!!omap [a: 1]", "f.yaml:1: tag"),
        ("a: !!int x", "f.yaml: not YAML (invalid literal"),
        ("a: &x [*x]", "f.yaml:1: an alias inside itself"),
        ("a: &x\n  b:\n    c: *x", "an alias inside itself"),
        ("? [a]\n: 1", "f.yaml:1: a key that is not a plain value"),
        ("a: *x", "f.yaml:1: not YAML (found undefined alias)"),
        ("a: 1\n---\nb: 2", "f.yaml:2: not YAML (but found another document)"),
        ("a: 1\nb: 'x", "f.yaml:2: not YAML"),
        ("a:\n\t- b", "f.yaml:2: not YAML"),
        ("a: b: c", "f.yaml:1: not YAML (mapping values are not allowed"),
        ("a: 1\nb: \x00", "f.yaml:2: not YAML (control characters are not allowed)"),
        ("a: {<<: 1}", "f.yaml:1: not YAML"),
        (f"a: {'9' * 5000}", "f.yaml: not YAML (Exceeds the limit"),
        ("a:\n- " + "[" * 200 + "]" * 200, "f.yaml:2: nested deeper than 100 levels"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(200)), "nested deeper than 100 levels"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in str(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize("data", [b"a: \xff", "a: ä".encode("latin-1"), "a: 1".encode("utf-16")])
def test_other_encodings(data: bytes) -> None:
    with pytest.raises(InputError, match=r"not UTF-8|text in UTF-16; save it as UTF-8"):
        parse_yaml(data, PATH)


@pytest.mark.parametrize("number", [".inf", "-.INF", ".nan", "1e999"])
def test_a_number_that_json_has_not_is_refused_on_request(number: str) -> None:
    text = f"a:\n- {number}\n".encode()
    assert parse_yaml(text, PATH)[0]["a"] != [None]
    with pytest.raises(InputError, match=rf"f.yaml:2: not YAML \({number} is not a JSON number"):
        parse_yaml(text, PATH, finite=True)


def test_bombs_do_not_go_off() -> None:
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    chain = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2000))
    merges = "a0: &a0 {k: 1}\n" + "".join(
        f"a{n}: &a{n} {{b: *a{n - 1}, c: *a{n - 1}, d: *a{n - 1}}}\n" for n in range(1, 30)
    )
    for text in (laughs, chain, merges):
        started = time.process_time()
        with pytest.raises(InputError, match=r"expands to more than|nested too deeply"):
            read(text)
        assert time.process_time() - started < 5


def test_lines() -> None:
    checks = "checks:\n  - equals\n  - contains:\n      value: y\n      threshold: 2\n"
    text = f"name: x\n{checks}gate:\n  metrics: {{a: {{min: 2}}}}\n"
    _, lines = parse_yaml(text.encode(), PATH)
    assert line_of(("name",), lines) == 1
    assert line_of(("checks", 0), lines) == 3
    assert line_of(("checks", 1), lines) == 4
    assert line_of(("checks", 1, "threshold"), lines) == 6, "through the short form"
    assert line_of(("gate", "metrics", "a", "min"), lines) == 8
    assert line_of(("checks", 0, "threshold"), lines) == 3, "the longest known part"
    assert line_of((), lines) == 1
    assert line_of(("gone",), lines) == 1
    assert line_of(("gone",), {}) is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_yaml(tmp_path / "gone.yaml")
    with pytest.raises(InputError, match="Is a directory"):
        load_yaml(tmp_path)
