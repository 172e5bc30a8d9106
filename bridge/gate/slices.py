"""Where to look: tags and failure modes in which a metric became worse.

A list of many looks, so its p values are adjusted by Benjamini and Hochberg (1995): of the slices
marked, at most one in twenty is expected to be there by chance. Slices never decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.align import Series
from bridge.gate.evidence import Evidence
from bridge.gate.regressions import SEED, TOLERANCE, Finding
from bridge.gate.table import Ints, Mask
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
) -> tuple[SliceResult, ...]:
    """Every metric in every slice of at least ``LEAST`` cases, the likeliest drops first.

    Args:
        evidence: Rows and what is known of the cases.
        series: The metrics to look at.
        findings: How they compare with the baseline, where they do.
        kinds: What to slice by.
    """
    slices = list(_slices(evidence, kinds))
    found = [
        result
        for each in series
        for one in slices
        if (result := _result(each, one, findings.get(each.name))) is not None
    ]
    tested = [each for each in found if each.p is not None]
    adjusted = benjamini_hochberg([each.p for each in tested if each.p is not None])
    marked = [each.model_copy(update={"p": p}) for each, p in zip(tested, adjusted, strict=True)]
    rest = [each for each in found if each.p is None]
    return tuple(sorted([*marked, *rest], key=_likeliest_first)[:MOST])


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
            for label in labels[kind]:
                members.setdefault((kind, label), []).append(codes[case])
    for (kind, label), own in sorted(members.items()):
        if LEAST <= len(own) < len(codes):
            yield _Slice(kind, label, np.array(sorted(own), np.int64))


def _result(series: Series, one: _Slice, finding: Finding | None) -> SliceResult | None:
    own: Mask = np.isin(series.codes, one.codes)
    if int(own.sum()) < LEAST:
        return None
    found = SliceResult(
        kind=one.kind,
        name=one.name,
        metric=series.name,
        n=int(own.sum()),
        mean=float(np.mean(series.values[own])),
    )
    if finding is None:
        return found
    pairing = finding.pairing
    paired: Mask = np.isin(pairing.codes, one.codes)
    if int(paired.sum()) < LEAST:
        return found
    before, now = pairing.before[paired], pairing.now[paired]
    delta = float(np.mean(now - before))
    falls = delta < -TOLERANCE
    p = paired_test(before, now, binary=pairing.binary, seed=SEED).p if falls else 1.0
    return found.model_copy(update={"baseline": float(np.mean(before)), "delta": delta, "p": p})


def _likeliest_first(found: SliceResult) -> tuple[float, float, str, str, str]:
    p = 2.0 if found.p is None else found.p
    delta = found.mean if found.delta is None else found.delta
    return (p, delta, found.metric, found.kind, found.name)
