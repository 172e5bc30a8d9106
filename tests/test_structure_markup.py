"""XML, HTML, SQL and JSON within an answer: limits, hostile input, what may be touched."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output
from bridge.scorers import evaluate, validate_check

CASE = Case(id="a", input="q", expected="")


def measure(check: Any, text: Any) -> Measurement:
    read = Check.model_validate(check)
    validate_check(read)
    return evaluate(read, CASE, Output(case_id="a", text=text))


LAUGHS = (
    '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;&l;&l;&l;&l;&l;&l;">'
    '<!ENTITY n "&m;&m;&m;&m;&m;&m;&m;&m;&m;&m;">]><a>&n;</a>'
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]><a/>',
    ],
)
def test_no_entity_is_expanded(text: str) -> None:
    found = measure("is_xml", text)
    assert found.value == 0.0
    assert found.reason == "not XML: declarations in the document type are not read"


@pytest.mark.parametrize(
    ("elements", "missing"),
    [
        (["order"], None),
        (["order.item.name", "order.@_id"], None),
        (["order.item.price", "x", "order.item"], "lacks order.item.price, x"),
        (["item"], "lacks item"),
        (["order.s:note"], None),
        (["order.item.@_s:k"], None),
    ],
)
def test_elements_of_xml(elements: list[str], missing: str | None) -> None:
    text = (
        '<order id="1" xmlns:s="u"><item s:k="2"/><item><name>n</name></item>'
        "<s:note>x</s:note></order>"
    )
    for check in ({"is_xml": {"elements": elements}}, {"is_xml": ", ".join(elements)}):
        found = measure(check, text)
        assert found.value == (0.0 if missing else 1.0)
        assert missing is None or found.reason == missing


def test_xml_is_found_among_text() -> None:
    check = {"contains_xml": {"elements": ["a.b", "c"]}}
    assert measure(check, "one <a><b/></a> two <br> <c>3</c>").value == 1.0
    assert measure(check, "one <a><b/></a> two").reason == "lacks c"
    assert measure(check, "one < two").reason == "no XML in the answer"
    assert measure("contains_xml", "<!-- <a>1</a> -->").value == 0.0


def test_a_hundred_thousand_levels_of_xml() -> None:
    text = "<a>" * 100_000 + "</a>" * 100_000
    assert measure({"is_xml": {"elements": ["a.a.a"]}}, text).value == 1.0


def test_html_that_would_take_long_is_an_error() -> None:
    deep = measure("is_html", "<div>" * 3000)
    assert deep.error == "ValueError: more than 2000 elements within each other are not parsed"
    assert measure("is_html", "<p>x" * 3000).value == 1.0
    assert "at most 1000000 are parsed" in str(measure("is_html", "<p>" + "x" * 1_000_001).error)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        ("<?xml version='1.0'?><p/>", "the answer is XML"),
        ("text <b>x</b>", "text stands outside of all elements"),
        ("<foo>x</foo>", "no element of HTML in the answer"),
        ("<!-- <html> --><foo>x</foo>", "no element of HTML in the answer"),
    ],
)
def test_reasons_why_it_is_no_html(text: str, reason: str) -> None:
    assert measure("is_html", text).reason == reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SELECT 1", 1.0),
        ("select id from users where id in (select id from old)", 1.0),
        ("WITH a AS (SELECT 1) SELECT * FROM a", 1.0),
        ("INSERT INTO t (a) VALUES (1)", 1.0),
        ("UPDATE t SET a = 1; DELETE FROM t", 1.0),
        ("CREATE TABLE t (a int)", 1.0),
        ("DROP TABLE t", 1.0),
        ("SHOW TABLES", 1.0),
        ("", 0.0),
        ("-- nothing", 0.0),
        ("hello", 0.0),
        ("hello world", 0.0),
        ("1 + 1", 0.0),
        ("Sure! SELECT 1", 0.0),
        ("SELECT * FROM t WHERE", 0.0),
        ("SELECT 1; hello", 0.0),
        ("CALL me maybe", 0.0),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, 0.0),
    ],
)
def test_is_sql(text: str, value: float, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert measure("is_sql", text).value == value
    assert not caplog.records


def test_dialects() -> None:
    text = "SELECT `a` FROM t"
    assert measure({"is_sql": {"dialect": "mysql"}}, text).value == 1.0
    assert measure({"is_sql": {"dialect": "PostgreSQL"}}, text).value == 0.0
    assert measure(
        {"is_sql": {"value": {"databaseType": "TransactSQL"}}}, "SELECT [a] FROM t"
    ).value
    with pytest.raises(InputError, match=r"noql is none of .*mysql.*postgres"):
        measure({"is_sql": {"dialect": "noql"}}, text)


@pytest.mark.parametrize(
    ("params", "text", "touched"),
    [
        ({"tables": ["users"]}, "SELECT a FROM users", None),
        ({"tables": ["users"]}, "SELECT a FROM Users u", None),
        ({"tables": ["users"]}, "SELECT a FROM users JOIN orders ON 1", '"orders"'),
        ({"tables": ["users"]}, "SELECT a FROM users WHERE b IN (SELECT b FROM secrets)", '"secrets"'),
        ({"tables": ["users"]}, "WITH x AS (SELECT a FROM users) SELECT a FROM x", None),
        ({"tables": ["users"]}, "WITH users AS (SELECT a FROM secrets) SELECT a FROM users", '"secrets"'),
        ({"tables": ["db.users"]}, "SELECT a FROM db.users", None),
        ({"tables": ["db.users"]}, "SELECT a FROM other.users", '"other.users"'),
        ({"tables": ["select::null::users"]}, "SELECT a FROM users", None),
        ({"tables": ["select::null::users"]}, "DELETE FROM users", '"users"'),
        ({"tables": ["(select|delete)::.*::users"]}, "DELETE FROM users", None),
        ({"tables": []}, "SELECT 1", None),
        ({"tables": []}, "SELECT a FROM t", '"t"'),
        ({"columns": ["id"]}, "SELECT id FROM users", None),
        ({"columns": ["id"]}, "SELECT id, name FROM users", '"users.name"'),
        ({"columns": ["users.id"]}, "SELECT u.id FROM users u JOIN orders o ON u.id", None),
        ({"columns": ["users.id"]}, "SELECT o.id FROM users u JOIN orders o ON u.id", '"orders.id"'),
        ({"columns": ["id"]}, "SELECT * FROM users", '"users.*"'),
        ({"columns": ["id", "*"]}, "SELECT * FROM users", None),
        ({"columns": ["id"]}, "SELECT count(*) FROM users", None),
        ({"columns": ["select::users::id"]}, "SELECT users.id FROM users", None),
        ({"allowedTables": ["select::null::a"], "allowedColumns": ["x"]}, "SELECT x FROM a", None),
    ],
)  # fmt: skip
def test_what_sql_may_touch(params: Any, text: str, touched: str | None) -> None:
    found = measure({"is_sql": params}, text)
    assert found.value == (0.0 if touched else 1.0), found.reason
    assert touched is None or touched in found.reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Run\n```sql\nSELECT 1\n```", 1.0),
        ("Run\n```\nSELECT 1\n```\nor else", 1.0),
        ("~~~SQL\nSELECT 1\n~~~", 1.0),
        ("```python\nSELECT 1\n```", 0.0),
        ("```sql\nno\n```\n```sql\nSELECT 1\n```", 1.0),
        ("SELECT 1", 1.0),
        ("Run SELECT 1", 0.0),
        ("````sql\n```\nSELECT 1\n````", 0.0),
    ],
)
def test_contains_sql(text: str, value: float) -> None:
    assert measure("contains_sql", text).value == value


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (None, 'x {"a": 1} y', 1.0),
        (None, "x [1, 2] y", 0.0),
        ({"type": "array"}, "x [1, 2] y", 1.0),
        ({"type": "object"}, 'cut {"a": [1, {"b": 2} off', 1.0),
        ({"required": ["b"]}, '{"a": 1} {"b": {"c": "}"}}', 1.0),
        ({"required": ["c"]}, '{"a": {"c": 1}}', 0.0),
        (None, '{"a": "' + "x" * 20_000 + '"}', 1.0),
        (None, '{"a": ' + "[" * 50 + "1" * 9000 + "]" * 50 + "}", 0.0),
        (None, '{ "a" : ' + '"\\u00e9' * 1 + '"}', 1.0),
    ],
)
def test_contains_json(schema: Any, text: str, value: float) -> None:
    check = "contains_json" if schema is None else {"contains_json": {"schema": schema}}
    assert measure(check, text).value == value


def test_brackets_that_open_and_open_end_in_an_error() -> None:
    found = measure("contains_json", '{"a":' * 2_000_000)
    assert found.error == "ValueError: too many brackets that open and do not close"
