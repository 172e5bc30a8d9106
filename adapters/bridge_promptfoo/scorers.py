"""The shared scorers as promptfoo assertions, and what they say of an output.

``SCORERS["tool_use"](threshold=1.0)`` makes an assertion for any promptfoo config; parameters are
those of the shared scorer, with ``threshold``, ``metric``, ``weight`` and ``negate``. The assertion
is ``checks.cjs``, which asks one Python process for all checks of a test.

promptfoo knows only passed and failed, and per row an error. A check that passed or was scored is a
component that passed; one that failed or could not be carried out (``[error]`` in its reason) is a
component that failed. One that was skipped, or is unsupported, is no component and counts nowhere:
the scoring function of the test puts it into the metadata of the row's grading. A row on which
nothing was scored failed; one whose system failed, or whose scorer process died, is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.shared import Answer, SharedMetric, encode, summarise
from bridge.scorers.evaluate import threshold_of
from bridge.scorers.registry import BUILT_IN, validate_check
from bridge_promptfoo.cases import from_native
from bridge_promptfoo.seal import inert, seal, unseal

SCRIPT = Path(__file__).with_name("checks.cjs")
SUMMARY = f"file://{SCRIPT}:summary"
"""The scoring function of a test with such assertions: skipped checks count for nothing."""


def to_script(path: Path) -> str:
    """The value of a ``javascript`` assertion that calls what a file exports.

    promptfoo cuts a file's name at its first colon; the file is then required by code.
    """
    if ":" not in str(path):
        return f"file://{path}"
    name = json.dumps(str(path)).replace("{", "\\u007b")  # the code is a template
    return f"process.mainModule.require({name})(output, context)"


CHECKS = to_script(SCRIPT)
"""The assertion, as promptfoo has it."""

SCORED = frozenset({"passed", "failed", "scored"})
LEFT_OUT = frozenset({"skipped", "unsupported"})
"""What promptfoo has no word for: ``SUMMARY`` takes these out of what it counts."""


def to_assertion(metric: SharedMetric, check: Check | None = None) -> dict[str, Any]:
    """A metric of a job as an assertion.

    Args:
        metric: The metric, with the suite's check if the suite has one.
        check: The check in force on the test, for what promptfoo shows of it.
    """
    shown = check or metric.check
    assertion: dict[str, Any] = {
        "type": "javascript",
        "value": CHECKS,
        "metric": inert(metric.metric),
        "config": {KEY: sealed_metric(metric)},
    }
    if shown is not None:
        assertion["weight"] = shown.weight
        if (threshold := threshold_of(shown)) is not None:
            assertion["threshold"] = threshold
    return assertion


def to_known_assertion(answers: tuple[Answer, ...], stamp: str) -> dict[str, Any]:
    """What is known of a metric of promptfoo's own before it is asked, as an assertion.

    Args:
        answers: The rows.
        stamp: What stands for the version of a metric of the framework's own.
    """
    check = answers[0][0]
    found = [(row.model_dump(mode="json"), found.model_dump(mode="json")) for row, found in answers]
    sealed = {"metric": check.metric, "scorer": check.scorer, "stamp": stamp, "known": found}
    return {
        "type": "javascript",
        "value": CHECKS,
        "metric": inert(check.metric),
        "config": {KEY: seal(sealed)},
    }


@dataclass(frozen=True, slots=True)
class KnownMetric(SharedMetric):
    """A metric of promptfoo's own of which all is known.

    Attributes:
        answers: The rows.
    """

    answers: tuple[Answer, ...] = ()

    def measure(self, case: Case, output: Output) -> tuple[Answer, ...]:
        """What is known."""
        del case, output
        return self.answers


@lru_cache(maxsize=4096)
def sealed_metric(metric: SharedMetric) -> str:
    """A metric for an assertion's ``config``; imports no scorer."""
    check = None if metric.check is None else metric.check.model_dump(mode="json")
    return seal({"metric": metric.metric, "scorer": metric.scorer, "check": check})


@lru_cache(maxsize=4096)
def to_metric(sealed: str) -> SharedMetric:
    """The metric behind an assertion's ``config``.

    Raises:
        ValueError: If it is not one of ours.
    """
    fields = unseal(sealed)
    if "known" in fields:
        answers = tuple(
            (Check.model_validate(check), Measurement.model_validate(found))
            for check, found in fields["known"]
        )
        return KnownMetric(fields["metric"], fields["scorer"], None, fields["stamp"], answers)
    check = None if fields["check"] is None else Check.model_validate(fields["check"])
    return SharedMetric(fields["metric"], fields["scorer"], check)


def metrics_of(assertions: Iterable[Mapping[str, Any]]) -> list[SharedMetric]:
    """The metrics behind those assertions of a test that are ours."""
    configs = [each.get("config") for each in assertions]
    sealed = [config.get(KEY) for config in configs if isinstance(config, Mapping)]
    return [to_metric(each) for each in sealed if isinstance(each, str)]


def measure(request: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out all our checks of one test.

    Args:
        request: From ``checks.cjs``: ``test``, ``system``, ``response``, ``prompt``, and the
            sealed ``metrics``.

    Returns:
        By sealed metric: ``pass``, ``score``, ``reason``, ``status`` and the sealed rows.
    """
    read = cache(
        lambda: from_native(
            request["test"], request["system"], request["response"], request["prompt"]
        )
    )
    metrics = {sealed: to_metric(sealed) for sealed in request["metrics"]}
    return {
        sealed: to_result(metric.measure_native(read), metric.stamp)
        for sealed, metric in metrics.items()
    }


def to_result(answers: tuple[Answer, ...], stamp: str = "") -> dict[str, Any]:
    """Rows as one native result; what has no value scores 0.

    Raises:
        ValueError: If there is no row.
    """
    if not answers:
        raise ValueError("the case has no such check")
    total = summarise([found for _, found in answers])
    status = total.status
    return {
        "pass": status in ("passed", "scored") or status in LEFT_OUT,
        "score": 0.0 if total.value is None else total.value,
        "reason": total.reason if status in SCORED else f"[{status}] {total.reason}",
        "status": status,
        "rows": seal(encode(answers, stamp)),
    }


def _make(
    name: str,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    negate: bool = False,
    **params: Any,
) -> dict[str, Any]:
    common = {"metric": metric, "threshold": threshold, "weight": weight, "negate": negate}
    check = Check.model_validate({"scorer": name, "params": params, **common})
    validate_check(check)
    return to_assertion(SharedMetric(check.metric, check.scorer, check))


SCORERS = {name: partial(_make, name) for name in BUILT_IN}
"""Makers of the built-in scorers' assertions by name."""
