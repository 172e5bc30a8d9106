"""promptfoo as a framework: cases as a config, and the native run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.job import Job
from bridge.model.score import Score
from bridge.model.verification import LeftOut
from bridge.plugin.framework import OWN_CHECKS, require
from bridge.plugin.results.counterparts import Counterpart
from bridge.plugin.scoring.route import run_tasks
from bridge_promptfoo.info import INFO


class PromptfooFramework:
    """Scores recorded outputs with promptfoo's ``eval`` and leaves its results file."""

    info = INFO

    def ensure_available(self) -> None:
        """Raise :class:`bridge.MissingDependency` unless promptfoo and its Node are there."""
        from bridge_promptfoo.install import require_installed

        require(INFO)
        require_installed()

    def counterparts(self) -> Sequence[Counterpart]:
        """Its assertion types, and the checks that say the same."""
        from bridge_promptfoo.results.counterparts import COUNTERPARTS

        return COUNTERPARTS

    def to_native(self, bundle: Bundle) -> dict[str, Any]:
        """Cases with their outputs as a config, ready for ``promptfoo eval``.

        Raises:
            InputError: If there is no output.
        """
        from bridge_promptfoo.bundled import make_config

        return make_config(bundle)

    def run(self, job: Job) -> Iterator[Score]:
        """Score a job; leaves a results file for each system, and ``route.json``."""
        from bridge_promptfoo.natives import PromptfooNatives
        from bridge_promptfoo.own import OwnRoute
        from bridge_promptfoo.route import PromptfooRoute

        route = OwnRoute if job.spec.options.get(OWN_CHECKS) is True else PromptfooRoute
        yield from run_tasks(
            INFO,
            job,
            partial(route, spec=job.spec),
            lambda task: PromptfooNatives(task, job.spec).rows(),
        )

    def left_out(self, bundle: Bundle) -> Iterable[LeftOut]:
        """The assertions that no check of a bundle stands for, and why."""
        from bridge_promptfoo.config.original import left_out

        return left_out(bundle)


FRAMEWORK = PromptfooFramework()


def to_config(bundle: Bundle) -> dict[str, Any]:
    """Cases with their outputs as a promptfoo config: a column a system, a test a case and epoch.

    promptfoo's own assertions (``faithfulness`` is ``context-faithfulness``, ...) ask the suite's
    judges: run it in the environment of :func:`bridge.judge.judges_served`. What a config has no
    place for (groups of them, negated ones, those of single turns) is an assertion that says so.

    Example:
        >>> import json
        >>> from pathlib import Path
        >>> from bridge.model import Bundle, Case, Output
        >>> from bridge_promptfoo import to_config
        >>> case = Case(id="refund-1", input="When?", expected="In 5 days.", checks=["equals"])
        >>> output = Output(case_id="refund-1", text="In 5 days.")
        >>> config = to_config(Bundle(cases=(case,), outputs=(output,)))
        >>> Path("config.json").write_text(json.dumps(config)) > 0  # promptfoo eval -c config.json
        True
        >>> config["tests"][0]["assert"][0]["metric"]
        'equals'

    Raises:
        InputError: If there is no output.
    """
    return FRAMEWORK.to_native(bundle)
