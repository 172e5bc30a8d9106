"""unittest as a framework: a test an output, the shared checks inside it."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bridge import Bundle, Case, Check, FrameworkInfo, Job, Measurement, Output, Score
from bridge.plugin.scoring.applicable import unsupported
from bridge.plugin.scoring.native import native_works
from bridge.plugin.scoring.shared import Rows
from bridge.scorers.evaluate import evaluate, shared_with_turns

if TYPE_CHECKING:
    import unittest


class UnittestFramework:
    """Every output is a test, which fails where a check of it fails."""

    info = FrameworkInfo(
        name="unittest",
        title="unittest",
        features=frozenset({"tools", "turns", "contexts", "epochs"}),
        version="platform:python_version",
    )

    def ensure_available(self) -> None:
        """It comes with Python."""

    def to_native(self, bundle: Bundle) -> unittest.TestSuite:
        """A suite with a test for each output, in their order."""
        import unittest

        by_id = {case.id: case for case in bundle.cases}
        checks = bundle.suite.checks if bundle.suite is not None else ()
        tests = [test_of(by_id[each.case_id], each, checks) for each in bundle.outputs]
        return unittest.TestSuite(tests)

    def run(self, job: Job) -> Iterator[Score]:
        """Run the tests, each row yielded as soon as it is there."""
        import unittest

        rows = Rows(self.info, platform.python_version(), job.spec.checks)
        result = unittest.TestResult()
        for case, output in job.pairs():
            test = test_of(case, output, job.spec.checks)
            test.run(result)
            yield from rows.of(case, output, test.found)
        for work in native_works(job.pairs(), job.spec.checks):
            lacking = unsupported(self.info, work.check).model_copy(update={"turn": work.turn})
            yield rows.score(work.check, work.output, lacking)


def test_of(case: Case, output: Output, checks: Sequence[Check]) -> Any:
    """A native test, made here since looking at an adapter must not import its framework."""
    import unittest

    class TestOutput(unittest.TestCase):
        """One output."""

        found: Sequence[Measurement] = ()

        def runTest(self) -> None:  # noqa: N802  # unittest's name
            """Carry out the shared checks."""
            self.found = [
                evaluate(check, case, output, turn)
                for check, turn in shared_with_turns(checks, case)
            ]
            for each in self.found:
                assert each.status != "failed", f"{each.metric}: {each.reason}"

    return TestOutput()


FRAMEWORK = UnittestFramework()
