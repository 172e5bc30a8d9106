"""Run directories as a format: read, and made by a run only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bridge.files.digest import case_digest
from bridge.files.outputs import read_outputs
from bridge.files.scores import read_scores
from bridge.files.shape import document_shape
from bridge.files.store import RunStore
from bridge.files.suite import read_suite_cases
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.run import RunRecord
from bridge.model.score import Score
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import account_read
from bridge.plugin.options import refuse_others


class RunFormat:
    """A run directory: suite, outputs and scores, and the cases where they are as they were."""

    info = FormatInfo(
        name="run",
        title="a run",
        patterns=("run.json",),
        reads=frozenset({"suite", "cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """Certain for a folder with a ``run.json``, and for that file itself."""
        if path.is_dir():
            return 1.0 if RunStore(path).exists() else 0.0
        shape = document_shape(head)
        is_record = shape is not None and shape.kind == "run" and path.name == "run.json"
        return shape.certainty if shape is not None and is_record else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a run directory, or that of a ``run.json``.

        Raises:
            InputError: If a file of it is faulty.
        """
        refuse_others(self.info, options.options, ())
        store = RunStore(source if source.is_dir() else source.parent)
        record = store.read_record()
        cases, notes = _cases(store, record)
        bundle = Bundle(
            suite=record.suite,
            cases=tuple(cases),
            outputs=tuple(_outputs(store)) if "outputs" in options.parts else (),
            scores=tuple(_scores(store, record)) if "scores" in options.parts else (),
        )
        if record.status != "complete":
            notes = [f"the run is {record.status}", *notes]
        report = account_read(self.info, source, bundle, [*record.notes, *notes])
        return bundle, report

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: a directory made of other people's rows would claim to be complete."""
        del bundle, options
        fix = "write the scores with --to scores, or run the suite with: bridge run"
        raise InputError("a run is made by running, not by writing", where=dest, fix=fix)


def _cases(store: RunStore, record: RunRecord) -> tuple[Sequence[Case], list[str]]:
    """The cases that are still what was run; a run holds their digests only."""
    digests = {row.case_id: row.digest for row in store.read_rows()}
    try:
        golden = read_suite_cases(record.suite, Path(record.suite_path))
    except InputError as error:
        return (), [f"the cases could not be read again: {error}"]
    same = [case for case in golden.cases if digests.get(case.id) == case_digest(case)]
    lost = len(digests) - len(same)
    return same, [f"{lost} of {len(digests)} cases were changed since the run"] if lost else []


def _outputs(store: RunStore) -> Sequence[Output]:
    return read_outputs(store.outputs_path) if store.outputs_path.is_file() else ()


def _scores(store: RunStore, record: RunRecord) -> Sequence[Score]:
    paths = [store.scores_path(framework.name) for framework in record.suite.frameworks]
    return [score for path in paths if path.is_file() for score in read_scores(path)]


RUN = RunFormat()
