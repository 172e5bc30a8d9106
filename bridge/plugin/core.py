"""The ``core`` framework: the scorers in-process, nothing else installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from bridge.model.bundle import Bundle
from bridge.model.job import Job
from bridge.model.score import Score
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.scoring.applicable import unsupported
from bridge.plugin.scoring.native import native_works
from bridge.plugin.scoring.shared import Rows
from bridge.scorers.evaluate import evaluate, shared_with_turns


class CoreFramework:
    """Scores cases with nothing between them and the scorers."""

    info = FrameworkInfo(
        name="core",
        title="bridge-evals core",
        features=frozenset({"tools", "turns", "contexts", "epochs"}),
    )

    def ensure_available(self) -> None:
        """Always available."""

    def to_native(self, bundle: Bundle) -> Bundle:
        """The bundle itself: the neutral model is this framework's own."""
        return bundle

    def run(self, job: Job) -> Iterator[Score]:
        """Carry out every check on every output."""
        rows = Rows(self.info, metadata.version("bridge-evals"), job.spec.checks)
        for case, output in job.pairs():
            found = [
                evaluate(check, case, output, turn)
                for check, turn in shared_with_turns(job.spec.checks, case)
            ]
            yield from rows.of(case, output, found)
        for work in native_works(job.pairs(), job.spec.checks):
            lacking = unsupported(self.info, work.check).model_copy(update={"turn": work.turn})
            yield rows.score(work.check, work.output, lacking)


FRAMEWORK = CoreFramework()
