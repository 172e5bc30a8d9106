"""pydantic-evals datasets (YAML, JSON): cases with their evaluators, both ways.

Evaluators that say what a shared scorer says become checks: those of the dataset the suite's, those
of a case its own. The others (a judge, a type, spans, anyone's own class) are kept and written
back. Names and meanings are those of pydantic-evals 1
(https://ai.pydantic.dev/evals/how-to/dataset-serialization/).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bridge.files.jsonl import write_atomically
from bridge.files.shape import leading_keys
from bridge.files.yaml import dump_yaml, line_of, load_yaml
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.plugin.accounts.accounting import (
    KEPT,
    NATIVE,
    Claims,
    Tally,
    account_bundle,
    carried,
    dropped,
    untouched,
)
from bridge.plugin.carry import plain
from bridge.plugin.cases.columns import Ids
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.evaluators import NAME, EvaluatorReader, to_evaluators
from bridge.plugin.formats.foreign import asked, made
from bridge.plugin.options import refuse_others

_KEYS = re.compile(rb"(?m)^(cases|evaluators|name|report_evaluators)[ \t]*:")
_CASE_KEYS = re.compile(rb"(?m)^[ \t]*(?:- )?(inputs|expected_output)[ \t]*:")
TAKEN = ("name", "inputs", "expected_output", "metadata", "evaluators")


class PydanticEvalsFormat:
    """Reads and writes datasets."""

    info = FormatInfo(
        name=NAME,
        title="a pydantic-evals dataset",
        patterns=("dataset.yaml", "*.dataset.yaml", "test_cases.yaml"),
        reads=frozenset({"suite", "cases"}),
        writes=frozenset({"suite", "cases"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By ``cases`` whose keys are ``inputs`` and ``expected_output``."""
        suffix = path.suffix.lower()
        if suffix == ".json":
            keys = set(leading_keys(head))
            found = b'"inputs"' in head and "cases" in keys
        elif suffix in (".yaml", ".yml"):
            keys = {key.decode() for key in _KEYS.findall(head)}
            found = "cases" in keys and _CASE_KEYS.search(head) is not None
        else:
            return 0.0
        return (0.9 if "evaluators" in keys or b"expected_output" in head else 0.75) * found

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a dataset.

        Raises:
            InputError: If it is damaged, or holds no case.
        """
        refuse_others(self.info, options.options, ())
        return _Reading(source).read()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a dataset that ``Dataset.from_file`` reads.

        Raises:
            InfrastructureError: If it cannot be written.
        """
        refuse_others(self.info, options.options, ())
        return _write(bundle, dest)


PYDANTIC_EVALS = PydanticEvalsFormat()


class _Reading:
    """One dataset being read."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._value, self._lines = load_yaml(source, finite=True)
        self._claims = Claims()
        self._evaluators = EvaluatorReader(self._claims)

    def read(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report.

        Raises:
            InputError: If it holds no case, or one that cannot be read.
        """
        given = self._value.get("cases") if isinstance(self._value, dict) else None
        if not isinstance(given, list) or not given:
            fix = "name its format with --from"
            raise InputError("no dataset: no list of cases", where=self._source, fix=fix)
        suite = self._suite()
        ids = Ids("case")
        cases = tuple(self._case(each, index, ids) for index, each in enumerate(given))
        tally = Tally()
        tally.document(self._value, self._claims)
        report = tally.report(self._source, NAME, ids.notes())
        return Bundle(suite=suite, cases=cases), report

    def _suite(self) -> Suite:
        value, stem = self._value, self._source.stem
        checks, kept = self._evaluators.read(value.get("evaluators"), "evaluators")
        rest = untouched(value, ("name", "cases", "evaluators"))
        for key in rest:
            self._claims.put(KEPT, key)
        name = value.get("name")
        self._claims.put(NATIVE if isinstance(name, str) else KEPT, "name")
        fields = {
            "name": name if isinstance(name, str) and name.strip() else stem,
            "golden_set": f"{stem}.cases.jsonl",
            "system": {"recorded": f"{stem}.outputs.jsonl"},
            "checks": checks,
            "extras": {NAME: {**rest, **kept}} if rest or kept else {},
        }
        return made(Suite, fields, self._source, None)

    def _case(self, value: Any, index: int, ids: Ids) -> Case:
        line = line_of(("cases", index), self._lines)
        if not isinstance(value, dict) or "inputs" not in value:
            raise InputError("a case without inputs", where=self._source, line=line, fix="mend it")
        at = ("cases", index)
        for key in value:
            self._claims.put(NATIVE if key in TAKEN else KEPT, *at, key)
        metadata = value.get("metadata")
        is_object = isinstance(metadata, dict)
        checks, kept = self._evaluators.read(value.get("evaluators"), *at, "evaluators")
        rest = {**untouched(value, TAKEN), **kept}
        if metadata is not None and not is_object:
            rest["metadata"] = metadata
            self._claims.put(KEPT, *at, "metadata")
        given = asked(value["inputs"])
        if given != value["inputs"]:
            rest["inputs"] = value["inputs"]
        fields = {
            "id": ids.of(value.get("name"), index + 1),
            "input": given,
            "expected": _expected(value.get("expected_output")),
            "metadata": metadata if is_object else {},
            "checks": checks,
            "extras": {NAME: rest} if rest else {},
        }
        return made(Case, fields, self._source, line)


def _expected(value: Any) -> Any:
    """A reference: a list is one answer here, and not several accepted ones."""
    if value is None:
        return ""
    return [value] if isinstance(value, list) else value


def _write(bundle: Bundle, dest: Path) -> ConversionReport:
    suite = bundle.suite
    kept = plain(suite).get("extras", {}).get(NAME, {}) if suite is not None else {}
    claims = Claims(
        {
            "suite.name": NATIVE,
            f"suite.extras.{NAME}": NATIVE,
            "suite.*": dropped("a dataset has no field for it"),
            "cases[].id": NATIVE,
            "cases[].input": NATIVE,
            "cases[].expected": NATIVE,
            "cases[].metadata": NATIVE,
            f"cases[].extras.{NAME}": NATIVE,
            "cases[].*": dropped("a case has no field for it"),
            "outputs[].*": dropped("a dataset holds no outputs"),
            "scores[].*": dropped("a dataset holds no scores"),
        }
    )
    document: dict[str, Any] = {"name": suite.name} if suite is not None else {}
    document["cases"] = [_to_case(case, index, claims) for index, case in enumerate(bundle.cases)]
    checks = suite.checks if suite is not None else ()
    evaluators = to_evaluators(checks, kept.get("evaluators"), claims, "suite")
    if evaluators:
        document["evaluators"] = evaluators
    document |= {key: value for key, value in kept.items() if key != "evaluators"}
    text = f"{json.dumps(document, indent=2)}\n"
    if dest.suffix != ".json":
        text = dump_yaml(json.loads(text))  # without the model's read-only kinds
    write_atomically(dest, [text])
    return account_bundle(bundle, claims, dest, NAME)


def _to_case(case: Case, index: int, claims: Claims) -> dict[str, Any]:
    fields = plain(case)
    kept = fields.get("extras", {}).get(NAME, {})
    written: dict[str, Any] = {"name": case.id, "inputs": kept.get("inputs", fields["input"])}
    if case.metadata or "metadata" in kept:
        written["metadata"] = kept.get("metadata", fields.get("metadata"))
    if case.references:
        written["expected_output"] = _written_reference(fields["expected"])
    if isinstance(case.expected, list) and len(case.expected) > 1:
        why = "the first accepted answer: a case of pydantic-evals has one"
        claims.put(carried(why), "cases", index, "expected")
    evaluators = to_evaluators(case.checks, kept.get("evaluators"), claims, "cases", index)
    if evaluators:
        written["evaluators"] = evaluators
    others = ("inputs", "metadata", "evaluators")
    return {**written, **{key: value for key, value in kept.items() if key not in others}}


def _written_reference(expected: Any) -> Any:
    return expected[0] if isinstance(expected, list) else expected
