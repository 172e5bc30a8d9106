"""Samples of OpenAI evals (https://github.com/openai/evals): JSON Lines of ``input`` and ``ideal``.

``input`` is a list of messages or a text, ``ideal`` a text or a list of accepted answers. What else
a sample holds (``choice_strings``, ...) is kept, and written back. Which eval class scores them
stands in a registry file, so that a sample has no check of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge.files.foreign.tables import read_table
from bridge.files.jsonl import write_atomically
from bridge.files.shape import leading_keys
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import (
    KEPT,
    NATIVE,
    Claims,
    Tally,
    account_bundle,
    count_leaves,
    dropped,
    untouched,
)
from bridge.plugin.carry import plain
from bridge.plugin.cases.columns import Ids
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.foreign import asked, made
from bridge.plugin.options import refuse_others

NAME = "openai_evals"
ASKED = ("input", "messages", "prompt")
TAKEN = ("id", "ideal", *ASKED)


class OpenAiEvalsFormat:
    """Reads and writes samples."""

    info = FormatInfo(
        name=NAME,
        title="samples of OpenAI evals",
        patterns=("*.evals.jsonl",),
        reads=frozenset({"cases"}),
        writes=frozenset({"cases"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By ``ideal`` beside what is asked."""
        if path.suffix.lower() not in (".jsonl", ".json"):
            return 0.0
        keys = set(leading_keys(head.lstrip(b"\xef\xbb\xbf[ \t\r\n")))
        return 0.85 if "ideal" in keys and keys & set(ASKED) else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read samples.

        Raises:
            InputError: If the file is damaged, or a sample asks nothing.
        """
        refuse_others(self.info, options.options, ())
        table, tally, ids = read_table(source), Tally(), Ids("sample")
        cases = []
        for number, (row, line) in enumerate(zip(table.rows, table.lines, strict=True), 1):
            key = next((key for key in ASKED if key in row), None)
            if key is None:
                what = f"a sample without {' or '.join(ASKED)}"
                raise InputError(what, where=source, line=line, fix="name its format with --from")
            for column, value in row.items():
                native = column in ("id", "ideal", key)
                tally.add(f"[].{column}", NATIVE if native else KEPT, count_leaves(value))
            rest = untouched(row, ("id", "ideal", key))
            fields = {
                "id": ids.of(row.get("id"), number),
                "input": asked(row[key]),
                "expected": _expected(row.get("ideal")),
                "extras": {NAME: rest} if rest else {},
            }
            cases.append(made(Case, fields, source, line))
        notes = [*table.notes, *ids.notes()]
        return Bundle(cases=tuple(cases)), tally.report(source, NAME, notes)

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write the cases as samples.

        Raises:
            InfrastructureError: If the file cannot be written.
        """
        refuse_others(self.info, options.options, ())
        lines = (f"{json.dumps(each, ensure_ascii=True)}\n" for each in _samples(bundle))
        write_atomically(dest, lines)
        claims = {
            "cases[].id": NATIVE,
            "cases[].input": NATIVE,
            "cases[].expected": NATIVE,
            f"cases[].extras.{NAME}": NATIVE,
            "cases[].*": dropped("a sample has no field for it"),
            "suite.*": dropped("the eval class stands in a registry file"),
            "outputs[].*": dropped("samples hold no outputs"),
            "scores[].*": dropped("samples hold no scores"),
        }
        return account_bundle(bundle, Claims(claims), dest, NAME)


OPENAI_EVALS = OpenAiEvalsFormat()


def _expected(ideal: Any) -> Any:
    return "" if ideal is None else ideal


def _samples(bundle: Bundle) -> Iterator[dict[str, Any]]:
    for case in bundle.cases:
        fields = plain(case)
        kept = fields.get("extras", {}).get(NAME, {})
        given = fields["input"]
        if isinstance(given, dict):
            given = json.dumps(given, ensure_ascii=False)
        rest = {key: value for key, value in kept.items() if key not in TAKEN}
        yield {"id": case.id, "input": given, "ideal": fields["expected"], **rest}
