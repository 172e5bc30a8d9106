"""What differs between baseline and run in things that values depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bridge.gate.align import Series
from bridge.gate.evidence import Evidence
from bridge.model.baseline import Baseline
from bridge.model.policy import OnChange

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Changes:
    """The outcome of holding a baseline against a run.

    Attributes:
        comparable: Ids of cases that are the same in both.
        added: Cases the baseline does not have.
        removed: Cases only the baseline has.
        refused: Reasons why the two must not be compared.
        notes: Differences that are only said.
    """

    comparable: frozenset[str]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    refused: tuple[str, ...]
    notes: tuple[str, ...]


def compare_background(
    baseline: Baseline, evidence: Evidence, series: Sequence[Series], policy: OnChange
) -> Changes:
    """Hold digests and versions of a baseline against those of a run."""
    refused: list[str] = []
    notes: list[str] = []
    comparable, added, removed = _cases(baseline, evidence, policy, refused, notes)
    for each in series:
        _scorer(baseline, evidence, each, policy, refused, notes)
    _frameworks(baseline, evidence, policy, refused, notes)
    return Changes(comparable, added, removed, tuple(refused), tuple(notes))


def _cases(
    baseline: Baseline,
    evidence: Evidence,
    policy: OnChange,
    refused: list[str],
    notes: list[str],
) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    now = {case_id: row.digest for case_id, row in evidence.cases.items()}
    then = dict(baseline.cases)
    if not now or not then:
        return _unknown_cases(baseline, evidence, policy, refused, notes)
    changed = sorted(case for case in now if case in then and now[case] != then[case])
    added, removed = tuple(sorted(set(now) - set(then))), tuple(sorted(set(then) - set(now)))
    if changed or added or removed:
        text = (
            f"the golden set differs from the baseline's: {len(changed)} changed"
            f"{_few(changed)}, {len(added)} added{_few(added)}, "
            f"{len(removed)} removed{_few(removed)}"
        )
        shared = f"{text}; only unchanged cases are compared"
        (refused if policy.golden_set == "refuse" else notes).append(
            text if policy.golden_set == "refuse" else shared
        )
    same = frozenset(case for case in now if then.get(case) == now[case])
    return same, added, removed


def _unknown_cases(
    baseline: Baseline,
    evidence: Evidence,
    policy: OnChange,
    refused: list[str],
    notes: list[str],
) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Without digests on both sides: join by id, and miss nothing that the baseline has."""
    text = "digests of the cases are not known on both sides; cases are joined by id alone"
    (refused if policy.unknown == "refuse" else notes).append(text)
    now = set(evidence.table.case_names)
    then = {
        case
        for scores in baseline.scores.values()
        if isinstance(scores, Mapping)
        for case in scores
    }
    removed = tuple(sorted(then - now))
    if removed:
        refused.append(f"{len(removed)} cases of the baseline have no row{_few(removed)}")
    if then and not then & now:
        refused.append("no case in common with the baseline")
    return frozenset(now & then), tuple(sorted(now - then)), removed


def _scorer(
    baseline: Baseline,
    evidence: Evidence,
    series: Series,
    policy: OnChange,
    refused: list[str],
    notes: list[str],
) -> None:
    then = baseline.metrics.get(series.name)
    now = evidence.metrics.get(series.metric)
    if then is None or series.name not in baseline.scores:
        return
    scorer, version = series.stamp.scorer, series.stamp.scorer_version
    if (scorer, version) != (then.scorer, then.version):
        text = (
            f"{series.name}: scored by {scorer} {version}, "
            f"the baseline by {then.scorer} {then.version}"
        )
        (refused if policy.scorer == "refuse" else notes).append(text)
    elif now is not None and then.params_digest and now.params_digest != then.params_digest:
        text = f"{series.name}: the check's parameters differ from the baseline's"
        (refused if policy.scorer == "refuse" else notes).append(text)
    if series.stamp.judge != then.judge:
        text = f"{series.name}: judged by {series.stamp.judge}, the baseline by {then.judge}"
        (refused if policy.judge == "refuse" else notes).append(text)


def _frameworks(
    baseline: Baseline,
    evidence: Evidence,
    policy: OnChange,
    refused: list[str],
    notes: list[str],
) -> None:
    for record in evidence.frameworks:
        then = baseline.frameworks.get(record.name)
        if then and record.version and then != record.version:
            text = f"{record.name} {record.version}, the baseline had {then}"
            (refused if policy.framework == "refuse" else notes).append(text)


def _few(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f" ({', '.join(names[:SHOWN])}{more})"
