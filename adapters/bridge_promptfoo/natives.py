"""promptfoo's own model-graded assertions on a job's outputs, by an evaluation of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.files.jsonl import write_atomically
from bridge.judge.errors import JudgeError
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.plugin.scoring.applicable import leaves_of
from bridge.plugin.scoring.native import NativeRun, Work, exact_at_ends
from bridge.plugin.scoring.route import Task
from bridge.scorers.evaluate import evaluate, failure_of, seen_at
from bridge_promptfoo.asserted import PROMPT, to_own_assertion, to_variables
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.cases import to_test
from bridge_promptfoo.info import INFO
from bridge_promptfoo.judge import judge_error_of, to_judge
from bridge_promptfoo.launch import Evaluation, environment
from bridge_promptfoo.records import Component, Row, decode_row
from bridge_promptfoo.replay import around
from bridge_promptfoo.rows import failure_of as row_failure
from bridge_promptfoo.rows import fault_of, name_of
from bridge_promptfoo.seal import inert

SWITCHES = tuple(
    switch for switch in INFO.environment if switch[0] != "PROMPTFOO_DISABLE_TEMPLATING"
)


@dataclass(slots=True)
class _Test:
    """One output, or one of its turns, with the checks on it and the assertions behind them.

    Attributes:
        works: The checks.
        case: The case as the metrics see it.
        output: Its output, likewise.
        leaves: The native checks to be carried out, by the name of their assertion.
        found: What is known of each, by the check's identity.
    """

    works: list[Work]
    case: Case
    output: Output
    leaves: dict[str, Check] = field(default_factory=dict)
    found: dict[int, Measurement] = field(default_factory=dict)


class PromptfooNatives(NativeRun):
    """A task's native metrics as one ``promptfoo eval``; its results file is the artefact."""

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(INFO, task, spec)

    def measured(self, works: Sequence[Work]) -> Iterator[tuple[Work, Measurement]]:
        """Every work with what was found: what needs no assertion first."""
        tests = [self._prepare(group) for group in _grouped(works)]
        for test in tests:
            if not test.leaves:
                yield from self._answers_of(test)
        asked = [test for test in tests if test.leaves]
        if asked:
            yield from self._evaluate_all(asked)

    def _prepare(self, works: list[Work]) -> _Test:
        case, output = seen_at(works[0].case, works[0].output, works[0].turn)
        test = _Test(works, case, output)
        if failure_of(case, output) is None:
            for work in works:
                for leaf in leaves_of(work.check):
                    known = self.known(leaf, case, output)
                    if known is None:
                        test.leaves[_name(work.check, leaf, test.leaves)] = leaf
                    else:
                        test.found[id(leaf)] = known
        return test

    def _answers_of(self, test: _Test) -> Iterator[tuple[Work, Measurement]]:
        def carry_out(check: Check, case: Case, output: Output) -> Measurement:
            del case, output
            return test.found[id(check)]

        for work in test.works:
            yield work, evaluate(work.check, work.case, work.output, work.turn, carry_out)

    def _evaluate_all(self, tests: Sequence[_Test]) -> Iterator[tuple[Work, Measurement]]:
        path = self._write_config(tests)
        evaluation = Evaluation(path, environment(path.parent, self.spec.import_dir, SWITCHES))
        owed = dict(enumerate(tests))
        for line in evaluation.lines():
            row = decode_row(line)
            test = None if row is None else owed.pop(row.test_idx or 0, None)
            if row is not None and test is not None:
                self._read(row, test)
                yield from self._answers_of(test)
        evaluation.finish(keep=True)

    def _write_config(self, tests: Sequence[_Test]) -> Path:
        path = self.task.folder / f"{self.name}.yaml"
        made = [self._to_test(test) for test in tests]
        config = {**around(self.name, [self.task.system], made), "prompts": [PROMPT]}
        write_atomically(path, [json.dumps(config).replace("\x7f", "\\u007f")])
        return path

    def _to_test(self, test: _Test) -> Fields:
        owner = {id(leaf): work for work in test.works for leaf in leaves_of(work.check)}
        return {
            **to_test(test.case, [test.output]),
            "vars": to_variables(test.case, test.output),
            "options": {"disableVarExpansion": True},
            "assert": [
                self._to_assertion(name, leaf, test.case, self.tag(owner[id(leaf)]))
                for name, leaf in test.leaves.items()
            ],
        }

    def _to_assertion(self, name: str, check: Check, case: Case, tag: Mapping[str, Any]) -> Fields:
        judge = to_judge(check.judge or "", tag, vary=self.vary(check))
        return to_own_assertion(name, self.metrics[check.scorer].own, check, case, judge)

    def _read(self, row: Row, test: _Test) -> None:
        why = row_failure(row)
        natives = row.grading_result.component_results if row.grading_result else None
        by_name = {name_of(each.assertion or {}): each for each in natives or () if each}
        for name, leaf in test.leaves.items():
            native = by_name.get(name)
            if native is None:
                found = error_measurement(why or "promptfoo gave no result of it")
            else:
                found = _to_measurement(native, self.metrics[leaf.scorer].own)
            test.found[id(leaf)] = found


def _grouped(works: Sequence[Work]) -> Iterator[list[Work]]:
    groups: dict[tuple[Any, ...], list[Work]] = {}
    for work in works:
        groups.setdefault((*work.key, work.turn), []).append(work)
    yield from groups.values()


def _name(check: Check, leaf: Check, taken: Collection[str]) -> str:
    """A name for an assertion that people know it by: its metric, within a group if it has one."""
    name = inert(check.metric if leaf is check else f"{check.metric}: {leaf.metric}")
    return name if name not in taken else f"{name} ({len(taken)})"


def _to_measurement(native: Component, own: str) -> Measurement:
    """What promptfoo found; what it has as a failure of the grader's is an error."""
    reason = str(native.reason or "")
    failure = judge_error_of(reason)
    if failure is None and (native.metadata or {}).get("graderError") is True:
        failure = JudgeError("schema", " ".join(reason.split()))
    if failure is not None:
        return error_measurement(str(failure))
    if fault := fault_of(native, own):
        return error_measurement(fault)
    evidence = {key: value for key, value in (native.metadata or {}).items() if key in _EVIDENCE}
    value = exact_at_ends(float(native.score))
    said = _HELD_TO.sub("", reason)
    return Measurement(value=value, reason=said, details={"native": own, **evidence})


_HELD_TO = re.compile(r" is (>=|<|(greater|less) than threshold) [\d.]+$")
"""What promptfoo says of the threshold, which is ours to hold a value to."""


_EVIDENCE = frozenset({"sentenceAttributions", "extractedSentences", "generatedQuestions"})
