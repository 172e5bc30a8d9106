"""A job: what one framework scores in one worker process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output
from bridge.model.values import EMPTY, JsonObject, Keyed, Model, Name, Whole


class JobSpec(Model):
    """A job without its cases and outputs: ``job.json``.

    Attributes:
        framework: Entry-point name, or ``module:attribute``.
        suite: Name of the suite, for the native artefact.
        shard: 0-based number of this job among the framework's jobs.
        options: The framework's own options.
        checks: The suite's checks; a case may add to them.
        judges: The suite's judges.
        native_dir: Where the native artefact goes.
        import_dir: Folder put on the import path (the suite's own).
    """

    framework: Name
    suite: Name
    shard: Whole = 0
    options: JsonObject = EMPTY
    checks: tuple[Check, ...] = ()
    judges: Keyed[Name, JudgeConfig] = EMPTY
    native_dir: Path
    import_dir: Path | None = None


class Job(Model):
    """One framework, a shard of cases with their outputs, and the checks on them."""

    spec: JobSpec
    cases: tuple[Case, ...]
    outputs: tuple[Output, ...]

    @property
    def bundle(self) -> Bundle:
        """Cases and outputs as a bundle, for ``Framework.to_native``."""
        return Bundle(cases=self.cases, outputs=self.outputs)

    def pairs(self) -> Iterator[tuple[Case, Output]]:
        """Each output with its case, in the order of the outputs."""
        by_id = {case.id: case for case in self.cases}
        return ((by_id[output.case_id], output) for output in self.outputs)
