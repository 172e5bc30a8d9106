"""Proof of a migration: the same recorded outputs on both sides, verdict held against verdict.

The source's side is what its framework says: its own checks, carried out by the framework itself
where the file holds such checks (a promptfoo config), or its recorded verdicts where the file is
of results. The target's side is what the target's framework says of what was written, read back.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bridge.conversion.rows import compare_rows
from bridge.conversion.scoring import score_bundle
from bridge.conversion.sides import (
    ASKS,
    Given,
    Material,
    material_of,
    read_source,
    read_target,
)
from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.model.score import Score
from bridge.model.verification import LeftOut, Verification, VerifiedSide, total_left_out
from bridge.plugin.format import Format
from bridge.plugin.framework import OwnChecks
from bridge.plugin.registry import get_framework
from bridge.plugin.results.counterparts import (
    JUDGED,
    Counterpart,
    HasCounterparts,
    by_recorded_name,
    recorded_as,
    why_none,
)

CORE = "core"


@dataclass(frozen=True, slots=True)
class _Side:
    framework: str
    bundle: Bundle

    def scored(self, folder: Path, origin: Path, given: Given) -> tuple[list[Score], VerifiedSide]:
        own = isinstance(get_framework(self.framework), OwnChecks)
        rows, version = score_bundle(
            self.bundle,
            self.framework,
            folder,
            own_checks=own,
            origin=origin,
            tell=given.tell,
        )
        way = "own" if own else "shared"
        return rows, VerifiedSide(framework=self.framework, version=version, way=way)


def verify(
    source: Path, target: Path, reader: Format, writer: Format, given: Given | None = None
) -> Verification:
    """Score the same recorded outputs by the source's checks and by the target's.

    Args:
        source: What was migrated from.
        target: What was migrated to, as it was written.
        reader: Format of the source.
        writer: Format of the target.
        given: Outputs, checks and framework that the files do not name.

    Returns:
        What was compared, where the sides differ, and what could not be compared.

    Raises:
        InputError: If there is no recorded output, or nothing is checked.
        MissingDependency: If a framework is not installed.
        InfrastructureError: If a framework broke on the way.
    """
    given = given or Given()
    whole = read_source(source, reader, given)
    there = read_target(target, writer, whole, given)
    ours = not reader.info.framework
    framework = reader.info.framework or CORE
    other_name = given.framework or writer.info.framework or CORE
    get_framework(other_name).ensure_available()  # before anything takes its time
    recorded = _recorded(whole, material_of(whole, ours=ours, members=False))
    material = material_of(whole, ours=ours, members=not recorded)
    mirrored = material_of(there, ours=ours, members=not recorded)
    left = [*_skipped(material, whole, recorded), *_foreign(framework, whole, material, recorded)]
    _refuse_nothing(material, left, source)
    with _folder(given.folder) as folder:
        first = _Side(framework, material.bundle)
        rows, side = _as_recorded(framework, recorded) or first.scored(
            folder / "source", source, given
        )
        second = _Side(other_name, mirrored.bundle)
        others, other = second.scored(folder / "target", source, given)
    compared = compare_rows(
        rows, others, only_source=bool(recorded), digits=_digits(framework, recorded)
    )
    return Verification(
        source=side,
        target=other,
        cases=len(material.bundle.cases),
        outputs=len(material.bundle.outputs),
        agreements=compared.agreements,
        disagreements=compared.disagreements,
        left_out=total_left_out([*left, *compared.undecided]),
        notes=tuple(material.notes),
    )


def _as_recorded(framework: str, recorded: list[Score]) -> tuple[list[Score], VerifiedSide] | None:
    """The side that its own recorded verdicts are; ``None`` where there are none."""
    if not recorded:
        return None
    version = recorded[0].framework_version
    return recorded, VerifiedSide(framework=framework, version=version, way="recorded")


def _recorded(whole: Bundle, material: Material) -> list[Score]:
    """The recorded verdicts that a check stands for; none where the source has to be scored."""
    known = {
        (case.id, check.metric)
        for case in material.bundle.cases
        for check in (*case.checks, *(each for turn in case.turns for each in turn.checks))
    }
    return [row for row in whole.scores if (row.case_id, row.metric) in known]


def _skipped(material: Material, whole: Bundle, recorded: list[Score]) -> Iterator[LeftOut]:
    """The checks that are not carried out; of results, their recorded verdicts one by one."""
    if not recorded:
        yield from material.skipped.values()
        return
    for row in whole.scores:
        found = material.skipped.get((row.case_id, row.metric))
        if found is not None:
            why = JUDGED if found.reason == ASKS else found.reason
            yield LeftOut(type=row.scorer or row.metric, reason=why)


def _foreign(
    framework: str, whole: Bundle, material: Material, recorded: list[Score]
) -> list[LeftOut]:
    """The framework's own checks that no check of ours stands for.

    They are those that the framework names, or else those of the recorded verdicts that are left.
    """
    found = get_framework(framework)
    if isinstance(found, OwnChecks):
        return list(found.left_out(whole))
    held = {row.key for row in recorded}
    metrics = by_recorded_name(_counterparts(framework))
    others = (
        row.scorer or row.metric
        for row in whole.scores
        if row.key not in held and (row.case_id, row.metric) not in material.skipped
    )
    return [LeftOut(type=name, reason=why_none(recorded_as(metrics, name))) for name in others]


def _counterparts(framework: str) -> Sequence[Counterpart]:
    found = get_framework(framework)
    return found.counterparts() if isinstance(found, HasCounterparts) else ()


def _digits(framework: str, rows: Iterable[Score]) -> dict[str, int]:
    """The decimals that recorded scores are rounded to, by their type."""
    metrics = by_recorded_name(_counterparts(framework))
    found = {name: recorded_as(metrics, name) for name in {row.scorer for row in rows}}
    return {name: each.digits for name, each in found.items() if each and each.digits is not None}


def _refuse_nothing(material: Material, left: list[LeftOut], source: Path) -> None:
    if not material.answered:
        fix = "name recorded outputs with --outputs FILE"
        raise InputError("nothing to verify with: no output is recorded", where=source, fix=fix)
    if not material.bundle.cases:
        told = total_left_out(left)
        first = f" ({told[0].type}: {told[0].reason})" if told else ""
        fix = "name a suite with checks with --suite FILE"
        raise InputError(f"nothing to verify: no check{first}", where=source, fix=fix)


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    """The folder of both runs, emptied of earlier ones; a temporary one is taken away again."""
    if given is not None:
        for name in ("source", "target"):
            shutil.rmtree(given / name, ignore_errors=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="bridge-verify-") as folder:
        yield Path(folder)
