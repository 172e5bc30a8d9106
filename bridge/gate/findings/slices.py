"""Where to look: tags, failure modes and other systems in which a metric is worse.

A list of many looks, so its p values are adjusted by Benjamini and Hochberg (1995): of the slices
marked, at most one in twenty is expected to be there by chance. Slices never decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.criteria.regressions import SEED, TOLERANCE, Finding, Pairing
from bridge.gate.findings.other_systems import OtherSystem
from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import Ints, Mask
from bridge.model.policy import SliceKind
from bridge.model.verdict import SliceResult
from bridge.stats import benjamini_hochberg, paired_test

LEAST = 5
"""Fewer paired cases are not tested: no p below 0.05 is possible."""
MOST = 200
"""Most slices listed."""


@dataclass(frozen=True, slots=True)
class _Slice:
    kind: SliceKind
    name: str
    codes: Ints


def slices_of(
    evidence: Evidence,
    series: Sequence[Series],
    findings: Mapping[str, Finding],
    kinds: Sequence[SliceKind],
    others: Iterable[OtherSystem] = (),
) -> tuple[SliceResult, ...]:
    """Every metric in every slice of at least ``LEAST`` cases, the likeliest drops first.

    Args:
        evidence: Rows of the system that is decided on, and what is known of the cases.
        series: The metrics to look at.
        findings: How they compare with the baseline, where they do.
        kinds: What to slice by.
        others: The same metrics in other systems; taken where ``kinds`` has ``system``.
    """
    found = list(_of_cases(evidence, series, findings, kinds))
    if "system" in kinds:
        found += _of_systems(others)
    tested = [each for each in found if each.p is not None]
    adjusted = benjamini_hochberg([each.p for each in tested if each.p is not None])
    marked = [each.model_copy(update={"p": p}) for each, p in zip(tested, adjusted, strict=True)]
    rest = [each for each in found if each.p is None]
    return tuple(sorted([*marked, *rest], key=_likeliest_first)[:MOST])


def _of_cases(
    evidence: Evidence,
    series: Sequence[Series],
    findings: Mapping[str, Finding],
    kinds: Sequence[SliceKind],
) -> Iterator[SliceResult]:
    slices = list(_slices(evidence, kinds))
    for each in series:
        finding = findings.get(each.name)
        pairing = None if finding is None else finding.pairing
        for one in slices:
            own: Mask = np.isin(each.codes, one.codes)
            if int(own.sum()) >= LEAST:
                found = _measured(one.kind, one.name, each, own)
                yield found if pairing is None else _held(found, pairing, one.codes)


def _of_systems(others: Iterable[OtherSystem]) -> Iterator[SliceResult]:
    for other in others:
        series, pairing = other.series, other.pairing
        if len(series.cases) >= LEAST:
            every: Mask = np.ones(len(series.cases), bool)
            found = _measured("system", other.system, series, every)
            yield found if pairing is None else _held(found, pairing, pairing.codes)


def _slices(evidence: Evidence, kinds: Sequence[SliceKind]) -> Iterator[_Slice]:
    codes = {case: code for code, case in enumerate(evidence.table.case_names)}
    members: dict[tuple[SliceKind, str], list[int]] = {}
    for case, row in evidence.cases.items():
        if case not in codes:
            continue
        labels: dict[SliceKind, Sequence[str]] = {
            "tag": row.tags,
            "failure_mode": (row.failure_mode,) if row.failure_mode else (),
        }
        for kind in kinds:
            for label in labels.get(kind, ()):
                members.setdefault((kind, label), []).append(codes[case])
    for (kind, label), own in sorted(members.items()):
        if LEAST <= len(own) < len(codes):
            yield _Slice(kind, label, np.array(sorted(own), np.int64))


def _measured(kind: SliceKind, name: str, series: Series, own: Mask) -> SliceResult:
    mean = float(np.mean(series.values[own]))
    return SliceResult(kind=kind, name=name, metric=series.name, n=int(own.sum()), mean=mean)


def _held(found: SliceResult, pairing: Pairing, codes: Ints) -> SliceResult:
    """A slice against the baseline, where enough of its cases are paired."""
    places = np.flatnonzero(np.isin(pairing.codes, codes))
    if len(places) < LEAST:
        return found
    before, now = pairing.before[places], pairing.now[places]
    delta, p = float(np.mean(now - before)), 1.0
    if delta < -TOLERANCE:
        own = pairing.clusters
        clusters = None if own is None else tuple(own[place] for place in places)
        p = paired_test(before, now, binary=pairing.binary, clusters=clusters, seed=SEED).p
    return found.model_copy(update={"baseline": float(np.mean(before)), "delta": delta, "p": p})


def _likeliest_first(found: SliceResult) -> tuple[float, float, str, str, str]:
    p = 2.0 if found.p is None else found.p
    delta = found.mean if found.delta is None else found.delta
    return (p, delta, found.metric, found.kind, found.name)
