"""The native route: ``promptfoo eval`` on a generated config, its rows read as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bridge.files.jsonl import write_atomically
from bridge.files.scores import as_score
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.route import Pair, Route, Task
from bridge_promptfoo.info import INFO
from bridge_promptfoo.launch import Evaluation, environment
from bridge_promptfoo.records import Row, decode_row
from bridge_promptfoo.replay import around, to_checked_test
from bridge_promptfoo.rows import failure_of, read_left_out, read_score, unscored

TIMEOUT_S = 120.0


class PromptfooRoute(Route[dict[str, Any], Row]):
    """A task as a promptfoo run: a recorded answer is a test, found is a row of its results.

    There is no cheaper way than promptfoo's own command, so nothing is held against it.
    """

    public = "eval"
    switches: ClassVar[tuple[tuple[str, str], ...]] = INFO.environment
    """promptfoo's variables."""

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(task)
        self.taken = self.public
        self._spec = spec

    def translate(self, case: Case, output: Output) -> dict[str, Any]:
        """An answered case as a test with its checks."""
        return to_checked_test(case, [output], self.task.metrics, self.task.rows.suite)

    def rows_of(self, output: Output, found: Row) -> Iterable[Score]:
        """Score rows of a row of promptfoo's results that was scored."""
        key, grading = self.task.key(output), found.grading_result
        if grading is not None:
            for native in grading.component_results or ():
                yield from map(as_score, read_score(native, key)) if native is not None else ()
            yield from read_left_out(grading.metadata, key)

    def directly(self) -> Iterator[Score]:
        """Run promptfoo on everything."""
        for (case, output), row in self.publicly(self.task.pairs, keep=True):
            why = failure_of(row)
            if why is None:
                yield from self.rows_of(output, row)
            else:
                yield from unscored(case, output, self.task.rows.suite, why, self.task.key(output))

    def publicly(self, pairs: Sequence[Pair], *, keep: bool) -> Iterator[tuple[Pair, Row]]:
        """Run ``promptfoo eval``; every row that it writes, with the case that it is of.

        Raises:
            InfrastructureError: At the end, if promptfoo did not get there.
        """
        native = list(self.translated(pairs))
        if not native:
            return
        path = self._write_config(native)
        env = environment(path.parent, self._spec.import_dir, self.switches)
        env["BRIDGE_PROMPTFOO_TIMEOUT_MS"] = str(round(1000 * timeout_of(self._spec)))
        evaluation = Evaluation(path, env)
        owed = dict(enumerate(native))
        for line in evaluation.lines():
            row = decode_row(line)
            if row is None or row.test_idx not in owed:
                continue
            case, output, test = owed[row.test_idx]
            if (row.test.metadata or {}).get(KEY) == test["metadata"][KEY]:
                del owed[row.test_idx]
                yield (case, output), row
        evaluation.finish(keep)

    def compare(self, pairs: Sequence[Pair]) -> list[tuple[Pair, Row]]:
        """Nothing: there is one way only."""
        del pairs
        return []

    def _write_config(self, native: Sequence[tuple[Case, Output, dict[str, Any]]]) -> Path:
        path = self.task.folder / f"{self.task.name}.yaml"
        config = around(self.task.name, [self.task.system], [test for _, _, test in native])
        write_atomically(path, [json.dumps(config).replace("\x7f", "\\u007f")])
        return path


def timeout_of(spec: JobSpec) -> float:
    """Seconds that all checks of one test may take: option ``check_timeout_s``.

    Raises:
        InputError: If it is no positive number.
    """
    given = spec.options.get("check_timeout_s", TIMEOUT_S)
    if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
        raise InputError(f"check_timeout_s is {given!r}", fix="give a number of seconds above 0")
    return given
