"""What a run will do, decided and checked before anything is started."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from bridge.execution.interpreter import ensure_runnable
from bridge.execution.systems import ensure_askable
from bridge.files.digest import case_digest
from bridge.files.golden import GoldenSet
from bridge.files.suite import line_of_check, read_suite, read_suite_cases, resolve
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import InputError, MissingDependency
from bridge.model.output import Output
from bridge.model.run import ExpectedRows
from bridge.model.suite import FrameworkConfig, Suite
from bridge.model.system import SystemConfig
from bridge.scorers.evaluate import expected_rows
from bridge.scorers.registry import judges_of, needs_of, validate_check


@dataclass(frozen=True, slots=True)
class Selection:
    """What the command line narrows or changes in a suite; ``None`` leaves it as it is."""

    frameworks: tuple[str, ...] | None = None
    outputs: tuple[Path, ...] | None = None
    limit: int | None = None
    tags: tuple[str, ...] = ()
    epochs: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A suite, checked, with its cases in order.

    Attributes:
        suite: The suite, as changed by the selection.
        path: Where it was read.
        golden: Its golden sets, with the place of every case.
        cases: The cases to run.
        versions: Version of each framework where it will run.
    """

    suite: Suite
    path: Path
    golden: GoldenSet
    cases: tuple[Case, ...]
    versions: Mapping[str, str]

    def where(self, case: Case) -> str:
        """``path:line`` of a case."""
        path, line = self.golden.places[case.id]
        return f"{path}:{line}"


def make_plan(suite_path: Path, selection: Selection = Selection()) -> Plan:
    """Read a suite and its golden sets, and check that everything in them can be carried out.

    Raises:
        InputError: On a faulty suite, golden set, check or framework name.
        MissingDependency: If a framework is not installed.
    """
    suite = _select(read_suite(suite_path), selection, suite_path)
    import_from(suite_path.parent)
    golden = read_suite_cases(suite, suite_path)
    cases = _select_cases(golden.cases, selection)
    if not cases:
        wanted = f" with tag {', '.join(selection.tags)}" if selection.tags else ""
        raise InputError(f"no case{wanted} to run", where=suite_path, fix="widen the selection")
    _ensure_askable(suite, suite_path)
    plan = Plan(suite, suite_path, golden, cases, {})
    _check_checks(plan)
    _ensure_judges(plan)
    needs = needs_of([*suite.checks, *(check for case in cases for check in case.all_checks)])
    versions = {
        each.name: ensure_runnable(each, suite_path.parent, needs) for each in suite.frameworks
    }
    return replace(plan, versions=versions)


def _ensure_askable(suite: Suite, suite_path: Path) -> None:
    try:
        ensure_askable(suite.system, suite_path.parent)
    except InputError as error:
        raise InputError(error.what, where=suite_path, fix=error.fix) from None


def import_from(folder: Path) -> None:
    """Let ``module:attribute`` in a suite name a module beside it, as the workers do."""
    if str(folder.absolute()) not in sys.path:
        sys.path.insert(0, str(folder.absolute()))


def _select(suite: Suite, selection: Selection, suite_path: Path) -> Suite:
    update: dict[str, object] = {}
    if selection.frameworks is not None:
        update["frameworks"] = _select_frameworks(suite, selection.frameworks)
    if selection.outputs is not None:
        recorded = tuple(str(path.absolute()) for path in selection.outputs)
        update["system"] = SystemConfig(recorded=recorded, name=suite.system.name)
    if selection.epochs is not None:
        update["epochs"] = selection.epochs
    if suite.system.recorded and selection.outputs is None:
        for name in suite.system.recorded:
            if not resolve(suite_path, name).is_file():
                raise InputError(
                    f"recorded outputs {name} are not there", where=suite_path, fix="check the path"
                )
    return suite.model_copy(update=update)


def _select_frameworks(suite: Suite, names: Iterable[str]) -> tuple[FrameworkConfig, ...]:
    named = {framework.name: framework for framework in suite.frameworks}
    chosen = tuple(named.get(name) or FrameworkConfig(name=name) for name in dict.fromkeys(names))
    if not chosen:
        raise InputError("--frameworks names none", fix="name one, or leave it out")
    return chosen


def _select_cases(cases: Sequence[Case], selection: Selection) -> tuple[Case, ...]:
    wanted = set(selection.tags)
    chosen = [case for case in cases if not wanted or wanted & set(case.tags)]
    return tuple(chosen[: selection.limit] if selection.limit is not None else chosen)


def judges_used(suite: Suite, cases: Iterable[Case]) -> tuple[str, ...]:
    """Names of the suite's judges that some check names, in the suite's order."""
    checks = [*suite.checks, *(check for case in cases for check in case.all_checks)]
    named = {name for check in checks for name in judges_of(check)}
    return tuple(name for name in suite.judges if name in named)


def _ensure_judges(plan: Plan) -> None:
    if judges_used(plan.suite, plan.cases) and find_spec("openai") is None:
        fix = "run: pip install 'bridge-evals[judge]'"
        raise MissingDependency("judges need the openai package", fix=fix)


def _check_checks(plan: Plan) -> None:
    for index, check in enumerate(plan.suite.checks):
        try:
            _check(check, plan.suite)
        except InputError as error:
            line = line_of_check(plan.path, index)
            raise InputError(error.what, where=plan.path, line=line, fix=error.fix) from None
    for case in plan.cases:
        path, line = plan.golden.places[case.id]
        try:
            for check in case.all_checks:
                _check(check, plan.suite)
        except InputError as error:
            raise InputError(error.what, where=path, line=line, fix=error.fix) from None
        if not expected_rows(plan.suite.checks, case):
            raise InputError(
                f"nothing is checked on case {case.id!r}",
                where=path,
                line=line,
                fix="add checks to the suite or to the case",
            )


def _check(check: Check, suite: Suite) -> None:
    validate_check(check)
    unknown = next((name for name in judges_of(check) if name not in suite.judges), None)
    if unknown is not None:
        what = f"check {check.metric} names judge {unknown}, which the suite does not have"
        raise InputError(what, fix="add it to judges: in the suite")


def rows_of(plan: Plan, outputs: Iterable[Output]) -> list[ExpectedRows]:
    """The rows owed for each output, in order."""
    known: dict[str, ExpectedRows] = {}
    by_id = {case.id: case for case in plan.cases}
    result = []
    for output in outputs:
        if output.case_id not in known:
            known[output.case_id] = _template(plan, by_id[output.case_id])
        update = {"system": output.system, "epoch": output.epoch}
        result.append(known[output.case_id].model_copy(update=update))
    return result


def _template(plan: Plan, case: Case) -> ExpectedRows:
    return ExpectedRows(
        system="default",
        case_id=case.id,
        digest=case_digest(case),
        tags=case.tags,
        failure_mode=case.failure_mode,
        where=plan.where(case),
        rows=tuple(expected_rows(plan.suite.checks, case)),
    )
