"""Checks for SQL in an answer: its syntax, and the tables and columns it touches."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import re2
from pydantic import field_validator, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Name
from bridge.scorers.reference import answer_text
from bridge.scorers.registry import Scorer, binary
from bridge.scorers.sources import DETERMINISTIC
from bridge.scorers.text.literal import compile_regex, shown

LONGEST = 100_000
"""Most characters of a statement that is parsed."""

SPELLINGS = {"postgresql": "postgres", "transactsql": "tsql", "mariadb": "mysql"}
"""Other names of dialects, as migrated suites have them."""
_RENAMED = {
    "databaseType": "dialect",
    "allowedTables": "tables",
    "allowedColumns": "columns",
}


class SqlParams(Model):
    """Parameters of ``is_sql`` and ``contains_sql``.

    Attributes:
        dialect: A dialect of sqlglot, such as mysql, postgres, sqlite, tsql, bigquery, snowflake.
        tables: Tables that may be touched: ``users``, ``db.users``, or a pattern over
            ``action::db::table`` such as ``select::null::users``; any if left out.
        columns: Columns that may be touched: ``id``, ``users.id``, ``*``, or a pattern over
            ``action::table::column``; any if left out.
    """

    dialect: Name = "mysql"
    tables: tuple[Name, ...] | None = None
    columns: tuple[Name, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _value_is_all(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        nested = data.get("value")
        data = {**data, **nested} if isinstance(nested, dict) else data
        return {
            _RENAMED.get(key, key): item
            for key, item in data.items()
            if key != "value" or not isinstance(nested, dict)
        }

    @field_validator("dialect")
    @classmethod
    def _is_known(cls, name: str) -> str:
        name = SPELLINGS.get(name.lower(), name.lower())
        known = _dialects()
        if name not in known:
            raise ValueError(f"{name} is none of {', '.join(sorted(known))}")
        return name

    @field_validator("tables", "columns")
    @classmethod
    def _compile(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in names or ():
            try:
                _pattern(name)
            except re2.error as error:
                raise ValueError(f"{name} is not RE2 syntax: {error}") from None
        return names


@cache
def _dialects() -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialects

    return frozenset(each.value for each in Dialects if each.value)


def _pattern(name: str) -> Any:
    return compile_regex(f"^(?:{name})$" if "::" in name else f"^{re.escape(name)}$", True)


def is_sql(_: Case, output: Output, params: SqlParams) -> list[Measurement]:
    """1.0 if the answer is SQL of the dialect and touches nothing else than it may, else 0.0.

    Parsed by sqlglot, statement by statement; what it only passes through unread is no SQL.
    """
    fault = _fault(answer_text(output).strip(), params)
    return [binary(fault is None, "is SQL" if fault is None else fault)]


def contains_sql(_: Case, output: Output, params: SqlParams) -> list[Measurement]:
    """1.0 if a fenced block of the answer marked ``sql`` or not at all is SQL, else 0.0.

    Without such a block, the whole answer is taken.
    """
    text = answer_text(output)
    blocks = [block for block in _sql_blocks(text) if block] or [text.strip()]
    faults = [_fault(block, params) for block in blocks]
    passed = None in faults
    return [binary(passed, "contains SQL" if passed else str(faults[0]))]


def _sql_blocks(text: str) -> Iterator[str]:
    """The contents of code fences that are marked ``sql`` or not at all (CommonMark 4.5)."""
    fence, lines, wanted = "", list[str](), False
    for line in text.splitlines():
        found = re.match(r"[ \t]{0,3}(`{3,}|~{3,})(.*)", line)
        if not fence and found:
            fence, lines = found[1], []
            wanted = found[2].strip().lower() in ("", "sql")
        elif fence and found and found[1].startswith(fence) and not found[2].strip():
            if wanted:
                yield "\n".join(lines).strip()
            fence = ""
        elif fence:
            lines.append(line)


def _fault(text: str, params: SqlParams) -> str | None:
    if len(text) > LONGEST:
        raise ValueError(f"a statement of {len(text)} characters; at most {LONGEST} are parsed")
    statements = _statements(text, params.dialect)
    if isinstance(statements, str):
        return statements
    for what, names, touched in (
        ("table", params.tables, _tables),
        ("column", params.columns, _columns),
    ):
        if names is not None:
            allowed = [_pattern(name) for name in names]
            for name, *others in (each for tree in statements for each in touched(tree)):
                if not any(each.search(said) for each in allowed for said in (name, *others)):
                    return f"touches the {what} {shown(others[-1])}, which it may not"
    return None


def _statements(text: str, dialect: str) -> list[Any] | str:
    """The statements of a text, or what is wrong with it."""
    import sqlglot
    from sqlglot import errors, exp

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it does not read
    kinds: tuple[type[Any], ...] = (
        *(
            exp.Query,
            exp.Insert,
            exp.Update,
            exp.Delete,
            exp.Merge,
            exp.DDL,
            exp.Drop,
            exp.Alter,
            exp.TruncateTable,
            exp.Show,
            exp.Use,
        ),
        *(exp.Set, exp.Describe, exp.Pragma, exp.Transaction, exp.Commit, exp.Rollback),
    )
    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except errors.SqlglotError as error:
        return f"not {dialect}: {' '.join(str(error).split())[:200]}"
    except RecursionError:
        return f"not {dialect}: nested too deeply"
    if not trees or not all(isinstance(tree, kinds) for tree in trees):
        return f"not {dialect}: no statement"
    return trees


def _tables(tree: Any) -> Iterator[tuple[str, ...]]:
    """Tables that a statement touches: (action::db::table, table, db.table)."""
    from sqlglot import exp

    made = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if table.name and (table.db or table.name.lower() not in made):
            action = _action(table)
            full = f"{table.db}.{table.name}" if table.db else table.name
            yield f"{action}::{table.db or 'null'}::{table.name}", table.name, full


def _columns(tree: Any) -> Iterator[tuple[str, ...]]:
    """Columns that a statement touches: (action::table::column, column, table.column)."""
    from sqlglot import exp

    tables = list(tree.find_all(exp.Table))
    real = {table.alias_or_name.lower(): table.name for table in tables}
    only = tables[0].name if len(tables) == 1 else ""
    for column in (*tree.find_all(exp.Column), *tree.find_all(exp.Star)):
        is_star = isinstance(column, exp.Star)
        if is_star and isinstance(column.parent, exp.Column | exp.Count):
            continue
        owner = "" if is_star else real.get(column.table.lower(), column.table)
        name = "*" if is_star else column.name or "*"
        full = f"{owner or only}.{name}" if owner or only else name
        yield f"{_action(column)}::{owner or 'null'}::{name}", name, full


def _action(node: Any) -> str:
    """What is done to a table or column: that of the statement it is the target of, or select."""
    from sqlglot import exp

    actions = {exp.Insert: "insert", exp.Update: "update", exp.Delete: "delete"}
    actions |= {exp.Create: "create", exp.Drop: "drop", exp.Alter: "alter"}
    child, parent = node, node.parent
    while parent is not None and not isinstance(parent, exp.Select):
        if type(parent) in actions:
            return actions[type(parent)] if child.arg_key in ("this", "expressions") else "select"
        child, parent = parent, parent.parent
    return "select"


IS_SQL = Scorer(
    "is_sql",
    "1",
    is_sql,
    SqlParams,
    summary="The answer is SQL that touches what it may.",
    source=(f"{DETERMINISTIC}#is-sql", "https://sqlglot.com"),
    needs=("sqlglot",),
)
CONTAINS_SQL = Scorer(
    "contains_sql",
    "1",
    contains_sql,
    SqlParams,
    summary="SQL stands in the answer.",
    source=(f"{DETERMINISTIC}#contains-sql", "https://sqlglot.com"),
    needs=("sqlglot",),
)
