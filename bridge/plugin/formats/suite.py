"""Suites as a format: ``bridge.yaml`` with the golden sets and recorded outputs it names."""

from __future__ import annotations

from pathlib import Path

from bridge.files.golden import write_cases
from bridge.files.outputs import read_outputs, write_outputs
from bridge.files.shape import document_shape
from bridge.files.suite import read_suite, read_suite_cases, resolve, write_suite
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.suite import GoldenSetRef
from bridge.model.system import SystemConfig
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import account_read, account_written
from bridge.plugin.options import refuse_others


class SuiteFormat:
    """A suite, its cases and recorded outputs; those are written beside it, one file each."""

    info = FormatInfo(
        name="suite",
        title="a suite",
        patterns=("bridge.yaml", "*.yaml", "*.yml", "*.json"),
        reads=frozenset({"suite", "cases", "outputs"}),
        writes=frozenset({"suite", "cases", "outputs"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """How well the outermost keys fit."""
        del path
        shape = document_shape(head)
        return shape.certainty if shape is not None and shape.kind == "suite" else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a suite, the golden sets it names, and the recorded outputs that are there.

        Raises:
            InputError: If one of them is faulty or not there.
        """
        refuse_others(self.info, options.options, ())
        suite = read_suite(source)
        golden = read_suite_cases(suite, source)
        recorded = [resolve(source, name) for name in suite.system.recorded]
        missing = [path for path in recorded if not _is_there(path)]
        outputs = read_outputs(*(path for path in recorded if _is_there(path)))
        bundle = Bundle(suite=suite, cases=tuple(golden.cases), outputs=tuple(outputs))
        notes = [f"no outputs are recorded yet at {path}" for path in missing]
        return bundle, account_read(self.info, source, bundle, [*golden.notes(), *notes])

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write the suite, with ``<stem>.cases.jsonl`` and ``<stem>.outputs.jsonl`` beside it.

        Raises:
            InputError: If the bundle holds no suite.
        """
        refuse_others(self.info, options.options, ())
        suite = bundle.suite
        if suite is None:
            fix = "write its cases with --to golden_set"
            raise InputError("nothing to write: the bundle holds no suite", where=dest, fix=fix)
        if bundle.cases:
            cases = dest.with_name(f"{dest.stem}.cases.jsonl")
            write_cases(bundle.cases, cases)
            suite = suite.model_copy(update={"golden_set": (GoldenSetRef(path=cases.name),)})
        if bundle.outputs:
            outputs = dest.with_name(f"{dest.stem}.outputs.jsonl")
            write_outputs(bundle.outputs, outputs)
            system = SystemConfig(recorded=(outputs.name,), name=suite.system.name)
            suite = suite.model_copy(update={"system": system})
        write_suite(suite, dest)
        notes = ["the paths of system, baseline and interpreters are as they were"]
        return account_written(self.info, dest, bundle, self.info.writes, notes)


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


SUITE = SuiteFormat()
