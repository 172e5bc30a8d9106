"""A bundle as answered cases with their scores: what all writers of result files begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import NATIVE, Claims, carried, dropped
from bridge.plugin.carry import KEY

_KEY = frozenset({"framework", "framework_version", "system", "case_id", "epoch"})
"""What the rows of one answer have in common, and what the file itself says."""


@dataclass(slots=True)
class Scored:
    """One answer.

    Attributes:
        case: The case; with nothing but its id where the bundle has no cases.
        output: What was answered.
        metrics: Its scores by metric, several where they are of turns.
    """

    case: Case
    output: Output
    metrics: dict[str, list[Score]] = field(default_factory=dict)


def scored(bundle: Bundle) -> list[Scored]:
    """Every answer of a bundle with its scores, in the bundle's order."""
    cases = {case.id: case for case in bundle.cases}
    found: dict[tuple[str, str, int], Scored] = {}
    for output in bundle.outputs:
        case = cases.get(output.case_id) or _bare(output.case_id)
        found[output.key] = Scored(case, output)
    for score in bundle.scores:
        key = (score.system, score.case_id, score.epoch)
        if key not in found:
            case = cases.get(score.case_id) or _bare(score.case_id)
            found[key] = Scored(case, Output(system=key[0], case_id=key[1], epoch=key[2]))
        found[key].metrics.setdefault(score.metric, []).append(score)
    return list(found.values())


def _bare(case_id: str) -> Case:
    return Case(id=case_id, input="", expected="")


def encode_scores(rows: Iterable[Score]) -> list[dict[str, Any]]:
    """Rows as JSON without their key, as :func:`bridge.plugin.scoring.shared.decode` reads them."""
    return [row.model_dump(mode="json", exclude_defaults=True, exclude=set(_KEY)) for row in rows]


def version_of(bundle: Bundle, framework: str) -> str:
    """The framework's version that all rows of a bundle are of; "" where there is no such one."""
    stamps = {(row.framework, row.framework_version) for row in bundle.scores}
    only, version = stamps.pop() if len(stamps) == 1 else ("", "")
    return version if only == framework else ""


def write_claims(native: Mapping[str, Sequence[str]], bundle: Bundle, framework: str) -> Claims:
    """What becomes of a bundle in a result file.

    Args:
        native: The fields that the framework itself has a place for, by part of the bundle.
        bundle: What is written.
        framework: The framework whose file it is.
    """
    claims = Claims({"suite": dropped("a result file holds no suite")})
    kept = carried(f"kept under the key {KEY}, where our reader finds it")
    for part in ("cases", "outputs", "scores"):
        claims.put(kept, part)
        for name in native.get(part, ()):
            claims.put(NATIVE, part, "[]", name)
    other = dropped("rows are those of the framework whose file it is")
    same = all(row.framework == framework for row in bundle.scores)
    claims.put(NATIVE if same else other, "scores", "[]", "framework")
    version = NATIVE if version_of(bundle, framework) else other
    claims.put(version, "scores", "[]", "framework_version")
    return claims
