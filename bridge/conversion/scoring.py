"""One side of a migration's proof: a bundle's outputs scored in one framework, as in a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bridge.execution.driver import Drive, Progress
from bridge.execution.interpreter import ensure_runnable
from bridge.execution.plan import Plan, import_from
from bridge.files.golden import GoldenSet
from bridge.files.outputs import write_outputs
from bridge.files.scores import read_scores
from bridge.files.store import RunStore
from bridge.model.bundle import Bundle
from bridge.model.check import Check
from bridge.model.errors import InfrastructureError, InputError
from bridge.model.score import Score
from bridge.model.suite import FrameworkConfig, GoldenSetRef, Suite
from bridge.model.system import SystemConfig
from bridge.plugin.framework import OWN_CHECKS
from bridge.scorers.registry import needs_of, validate_check


def score_bundle(
    bundle: Bundle, framework: str, folder: Path, *, own_checks: bool, origin: Path, tell: Progress
) -> tuple[list[Score], str]:
    """Score the outputs of a bundle by the checks of its cases.

    Args:
        bundle: Cases with all their checks, and outputs; its suite is not looked at.
        framework: The framework's name.
        folder: Where the run is left.
        own_checks: Whether the framework carries out its own checks where it has them.
        origin: The file that the bundle is from; scorers beside it can be imported.
        tell: Told how far it is.

    Returns:
        Every row, complete and in order, and the framework's version.

    Raises:
        InputError: If a check cannot be carried out.
        MissingDependency: If the framework is not installed.
        InfrastructureError: If the framework broke on the way.
    """
    recorded = folder / "recorded.outputs.jsonl"
    write_outputs(bundle.outputs, recorded)
    options = {OWN_CHECKS: True} if own_checks else {}
    config = FrameworkConfig.model_validate({"name": framework, "options": options})
    suite = Suite(
        name="verify",
        golden_set=(GoldenSetRef(path=str(origin)),),
        system=SystemConfig(recorded=(str(recorded.absolute()),)),
        frameworks=(config,),
    )
    import_from(origin.parent)
    version = ensure_runnable(config, origin.parent, _needs(bundle, origin))
    golden = GoldenSet()
    golden.cases.extend(bundle.cases)
    golden.places.update((case.id, (origin, 0)) for case in bundle.cases)
    plan = Plan(suite, origin, golden, bundle.cases, {framework: version})
    store = RunStore(folder / "run")
    record = Drive(plan, store, progress=tell).run()
    broken = next((each for each in record.frameworks if each.notes), None)
    if broken is not None:
        what = f"{framework} did not get to its end ({'; '.join(broken.notes)})"
        raise InfrastructureError(what, fix="keep what it left: --verify-dir DIR")
    return read_scores(store.scores_path(framework)), version


def _needs(bundle: Bundle, origin: Path) -> tuple[str, ...]:
    """The modules that the checks need, once every one of them has been found fit."""
    checks = list(_each_once(bundle))
    try:
        for check in checks:
            validate_check(check)
    except InputError as error:
        raise InputError(error.what, where=origin, fix=error.fix) from None
    return tuple(needs_of(checks))


def _each_once(bundle: Bundle) -> Iterable[Check]:
    """Every check of the cases; one that many cases share stands once."""
    found = {
        id(check): check
        for case in bundle.cases
        for check in (*case.checks, *(each for turn in case.turns for each in turn.checks))
    }
    return found.values()
