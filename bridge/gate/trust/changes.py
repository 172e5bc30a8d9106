"""What differs between baseline and run in things that values depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.wording import few
from bridge.model.baseline import Baseline
from bridge.model.counted import counted
from bridge.model.policy import OnChange


@dataclass(slots=True)
class Changes:
    """The outcome of holding a baseline against a run.

    Attributes:
        comparable: Ids of the cases to compare.
        added: Cases the baseline does not have.
        removed: Cases only the baseline has.
        changed: Cases whose content differs.
        refused: Reasons why the two must not be compared.
        notes: Differences that are only said.
    """

    comparable: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def say(self, policy: str, text: str) -> None:
        """Note a difference, or refuse it, as the policy says."""
        (self.refused if policy == "refuse" else self.notes).append(text)


def compare_background(
    baseline: Baseline, evidence: Evidence, series: Sequence[Series], policy: OnChange
) -> Changes:
    """Hold digests and versions of a baseline against those of a run."""
    changes = Changes()
    _cases(baseline, evidence, policy, changes)
    known = [each for each in series if each.name in baseline.scores]
    for each in known:
        _scorer(baseline, each, policy, changes)
    _params(baseline, evidence, known, policy, changes)
    _gone_metrics(baseline, evidence, series, policy, changes)
    _judges(baseline, evidence, policy, changes)
    _frameworks(baseline, series, policy, changes)
    _system(baseline, evidence, changes)
    return changes


def _cases(baseline: Baseline, evidence: Evidence, policy: OnChange, changes: Changes) -> None:
    then = set(baseline.cases) | _scored(baseline)
    now = set(evidence.cases) | set(evidence.table.case_names)
    if not then:
        return
    both = then & now
    digests = {case: row.digest for case, row in evidence.cases.items() if row.digest}
    unknown = sorted(case for case in both if case not in digests or case not in baseline.cases)
    changed = sorted(
        case for case in both.difference(unknown) if digests[case] != baseline.cases[case]
    )
    changes.added, changes.removed = tuple(sorted(now - then)), tuple(sorted(then - now))
    changes.changed = tuple(changed)
    if unknown:
        cases = counted(len(unknown), "case")
        text = f"content not known on both sides of {cases}, joined by id alone"
        changes.say(policy.unknown, text)
    if changes.removed and not evidence.cases:
        cases = f"{counted(len(changes.removed), 'case')} of the baseline without a row"
        changes.refused.append(f"{cases}{few(changes.removed)}")
    elif changed or changes.added or changes.removed:
        changes.say(policy.golden_set, _golden_text(changes, policy))
    changes.comparable = frozenset(both if policy.golden_set == "warn" else both - set(changed))
    if not changes.comparable:
        which = "unchanged case" if changed else "case"
        changes.refused.append(f"no {which} in common with the baseline")


def _scored(baseline: Baseline) -> set[str]:
    mappings = (each for each in baseline.scores.values() if isinstance(each, Mapping))
    return {case for scores in mappings for case in scores}


def _golden_text(changes: Changes, policy: OnChange) -> str:
    kinds = (("changed", changes.changed), ("added", changes.added), ("removed", changes.removed))
    parts = ", ".join(f"{len(names)} {kind}{few(names)}" for kind, names in kinds)
    compared = {
        "shared": "; only unchanged cases are compared",
        "warn": "; changed cases are compared as if they were the same",
        "refuse": "",
    }
    return f"the golden set differs from the baseline's: {parts}{compared[policy.golden_set]}"


def _scorer(baseline: Baseline, series: Series, policy: OnChange, changes: Changes) -> None:
    then = baseline.metrics.get(series.name)
    if then is None:
        changes.say(policy.unknown, f"{series.name}: the baseline does not say what scored it")
        return
    stamp = series.stamp
    if (stamp.scorer, stamp.scorer_version) != (then.scorer, then.version):
        now = _named(stamp.scorer, stamp.scorer_version)
        text = (
            f"{series.name}: scored by {now}, the baseline by {_named(then.scorer, then.version)}"
        )
        changes.say(policy.scorer, text)
    if stamp.judge != then.judge:
        text = (
            f"{series.name}: judge {stamp.judge or 'none'}, the baseline's {then.judge or 'none'}"
        )
        changes.say(policy.judge, text)


def _params(
    baseline: Baseline,
    evidence: Evidence,
    series: Sequence[Series],
    policy: OnChange,
    changes: Changes,
) -> None:
    """Parameters of checks that are the suite's; those that only cases have are in their digest."""
    silent: dict[str, list[str]] = {"run": [], "baseline": []}
    for each in series:
        then = baseline.metrics.get(each.name)
        now = evidence.metrics.get(each.metric)
        digests = [record.params_digest if record is not None else "" for record in (then, now)]
        if all(digests) and digests[0] != digests[1]:
            text = f"{each.name}: the check's parameters differ from the baseline's"
            changes.say(policy.scorer, text)
        elif digests[0] != digests[1] and then is not None:
            silent["run" if digests[0] else "baseline"].append(each.name)
    for side, names in silent.items():
        if names:
            text = f"the {side} does not say the parameters of {', '.join(names)}"
            changes.say(policy.unknown, text)


def _named(scorer: str, version: str) -> str:
    return f"{scorer} {version}".strip() or "its framework"


def _gone_metrics(
    baseline: Baseline,
    evidence: Evidence,
    series: Sequence[Series],
    policy: OnChange,
    changes: Changes,
) -> None:
    """Metrics that only the baseline has: a check that is gone hides what it would have shown."""
    gone = sorted(set(baseline.scores) - {each.name for each in series})
    ran = set(evidence.table.framework_names)
    for name in gone:
        framework = name.partition("/")[0]
        absent = framework in baseline.frameworks and "/" in name and framework not in ran
        text = f"{name}: in the baseline and not measured now"
        changes.say(policy.framework if absent and evidence.records else policy.scorer, text)


def _judges(baseline: Baseline, evidence: Evidence, policy: OnChange, changes: Changes) -> None:
    for name, digest in sorted(evidence.judges.items()):
        if baseline.judges.get(name, digest) != digest:
            changes.say(policy.judge, f"judge {name} is configured otherwise than in the baseline")


def _frameworks(
    baseline: Baseline, series: Sequence[Series], policy: OnChange, changes: Changes
) -> None:
    versions = {each.framework: each.stamp.framework_version for each in series}
    for name, version in sorted(versions.items()):
        then = baseline.frameworks.get(name)
        if then is not None and then != version:
            changes.say(
                policy.framework, f"{name} {version or '?'}, the baseline had {then or '?'}"
            )


def _system(baseline: Baseline, evidence: Evidence, changes: Changes) -> None:
    (system,) = evidence.table.system_names
    if baseline.system not in (None, system):
        changes.notes.append(f"the baseline is of system {baseline.system}, this is {system}")
