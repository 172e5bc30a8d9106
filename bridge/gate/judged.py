"""The judged metrics of a body of evidence, and what their values depend on."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.files.digest import digest
from bridge.gate.evidence import Evidence
from bridge.model.calibration import CalibrationEntry


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric that asks judges.

    Attributes:
        metric: The metric.
        judges: Names of the judges.
        models: Their models.
        judge_digest: Digest over those of their configurations; "" where it is not known.
        scorer: The scorer.
        scorer_version: Its version.
        params_digest: Digest of the check's parameters.
    """

    metric: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    judge_digest: str
    scorer: str
    scorer_version: str
    params_digest: str

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


def judged_metric(evidence: Evidence, metric: str) -> Judged | None:
    """What a run says of a metric that asks judges; ``None`` where it asks none."""
    record = evidence.metrics.get(metric)
    names = () if record is None else record.judges or tuple(filter(None, [record.judge]))
    if record is None or not names:
        return None
    known = {name: judge for each in evidence.records for name, judge in each.suite.judges.items()}
    models = [known[name].model for name in names if name in known]
    return Judged(
        metric=metric,
        judges=names,
        models=tuple(models),
        judge_digest=digest([evidence.judges.get(name, "") for name in names]),
        scorer=record.scorer,
        scorer_version=record.version,
        params_digest=record.params_digest,
    )
