"""Suites as a format: ``bridge.yaml`` with the golden sets it names."""

from __future__ import annotations

from pathlib import Path

from bridge.files.golden import write_cases
from bridge.files.shape import document_shape
from bridge.files.suite import read_suite, read_suite_cases, write_suite
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.suite import GoldenSetRef
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import account_read, account_written, refuse_options


class SuiteFormat:
    """A suite and its cases. Writing puts the cases beside the suite, as one golden set."""

    info = FormatInfo(
        name="suite",
        title="a suite",
        patterns=("bridge.yaml", "*.yaml", "*.yml", "*.json"),
        reads=frozenset({"suite", "cases"}),
        writes=frozenset({"suite", "cases"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """How well the outermost keys fit."""
        del path
        shape = document_shape(head)
        return shape.certainty if shape is not None and shape.kind == "suite" else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a suite and the golden sets it names.

        Raises:
            InputError: If one of them is faulty or not there.
        """
        refuse_options(self.info, options.options)
        suite = read_suite(source)
        golden = read_suite_cases(suite, source)
        bundle = Bundle(suite=suite, cases=tuple(golden.cases))
        return bundle, account_read(self.info, source, bundle, golden.notes())

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write the suite, and its cases to ``<name of the suite>.cases.jsonl`` beside it.

        Raises:
            InputError: If the bundle holds no suite.
        """
        refuse_options(self.info, options.options)
        suite = bundle.suite
        if suite is None:
            fix = "write its cases with --to golden_set"
            raise InputError("nothing to write: the bundle holds no suite", where=dest, fix=fix)
        if bundle.cases:
            cases = dest.with_name(f"{dest.stem}.cases.jsonl")
            write_cases(bundle.cases, cases)
            suite = suite.model_copy(update={"golden_set": (GoldenSetRef(path=cases.name),)})
        write_suite(suite, dest)
        notes = ["the paths of system, baseline and interpreters are as they were"]
        return account_written(self.info, dest, bundle, self.info.writes, notes)


SUITE = SuiteFormat()
