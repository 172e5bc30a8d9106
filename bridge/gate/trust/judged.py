"""The judged metrics of a body of evidence, and what their values depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bridge.files.digest import digest
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import UNSUPPORTED
from bridge.model.calibration import CalibrationEntry


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric that asks judges.

    Attributes:
        name: ``metric`` of a shared check, ``framework/metric`` of a framework's own: each has its
            own prompts, so that what is known of one says nothing of another.
        metric: The metric.
        framework: Whose own it is; "" of a shared check.
        judges: Names of the judges.
        models: Their models.
        judge_digest: Digest over those of their configurations; "" where it is not known.
        scorer: The scorer.
        scorer_version: Its version; of a framework's own, the framework's.
        params_digest: Digest of the check's parameters.
    """

    name: str
    metric: str
    framework: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    judge_digest: str
    scorer: str
    scorer_version: str
    params_digest: str

    @property
    def names(self) -> tuple[str, ...]:
        """What a label may call it: a label of ``metric`` alone is of every framework's."""
        return tuple(dict.fromkeys((self.metric, self.name)))

    def change_since(self, entry: CalibrationEntry) -> str:
        """What is another one than when it was calibrated; "" if nothing is."""
        pairs = {
            "the judge": (self.judge_digest, entry.judge_digest),
            "the check's parameters": (self.params_digest, entry.params_digest),
            "the scorer": (
                (self.scorer, self.scorer_version),
                (entry.scorer, entry.scorer_version),
            ),
        }
        return " and ".join(name for name, (now, then) in pairs.items() if now != then)


def judged_metrics(evidence: Evidence) -> Iterator[Judged]:
    """Every metric of a run that asks judges, one of the frameworks' own once for each of them.

    A framework that does not have it is left out.
    """
    for metric in evidence.metrics:
        own = [each for each in evidence.order if _has(evidence, each, metric)]
        natives = [each for each in own if not evidence.table.is_shared(each, metric)]
        for framework in natives or [""]:
            judged = judged_metric(evidence, metric, framework)
            if judged is not None:
                yield judged


def _has(evidence: Evidence, framework: str, metric: str) -> bool:
    table = evidence.table
    if metric not in table.metric_names:
        return False
    rows = table.of_framework(framework)
    own = rows[table.metric[rows] == table.metric_names.index(metric)]
    return bool((table.status[own] != UNSUPPORTED).any())


def judged_metric(evidence: Evidence, metric: str, framework: str = "") -> Judged | None:
    """What a run says of a metric that asks judges; ``None`` where it asks none.

    Args:
        evidence: Rows and their background.
        metric: The metric.
        framework: Whose own it is; "" of a shared check.
    """
    record = evidence.metrics.get(metric)
    names = () if record is None else record.judges or tuple(filter(None, [record.judge]))
    if record is None or not names:
        return None
    known = {name: judge for each in evidence.records for name, judge in each.suite.judges.items()}
    models = [known[name].model for name in names if name in known]
    return Judged(
        name=f"{framework}/{metric}" if framework else metric,
        metric=metric,
        framework=framework,
        judges=names,
        models=tuple(models),
        judge_digest=digest([evidence.judges.get(name, "") for name in names]),
        scorer=record.scorer,
        scorer_version=_version(evidence, framework, metric) if framework else record.version,
        params_digest=record.params_digest,
    )


def _version(evidence: Evidence, framework: str, metric: str) -> str:
    """Its versions; a row that never came from the framework has none to tell."""
    stamps = evidence.table.stamps_of(framework, metric)
    versions = {each.scorer_version for each in stamps if each.framework_version}
    return " and ".join(sorted(versions))
