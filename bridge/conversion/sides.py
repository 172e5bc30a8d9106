"""What both sides of a migration's proof are scored with: cases, their checks, the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bridge.execution.driver import Progress
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import GROUP, Check, resolve_checks
from bridge.model.errors import InputError
from bridge.model.verification import LeftOut
from bridge.plugin.accounts.secrets import redacted
from bridge.plugin.format import Format, ReadOptions
from bridge.plugin.registry import detect_format

WITHIN = " > "
"""Between a group's metric and that of a member, which is compared by itself too."""

ASKS = "asks a judge, and a proof asks none"
"""Why a judged check is not carried out: its verdict may be another each time."""


def _silent(_what: str, _done: int, _owed: int) -> None:
    return


@dataclass(frozen=True, slots=True)
class Given:
    """What a proof is made with, beside the two files.

    Attributes:
        read_options: How the source is read.
        outputs: A file of recorded outputs, in any format, for a source that holds none.
        suite: A suite whose checks are carried out, for a source that holds none.
        framework: The target's framework; that of its format if left out.
        folder: Where both runs are left; a temporary folder if left out.
        tell: Told how far each side is.
    """

    read_options: ReadOptions = field(default_factory=ReadOptions)
    outputs: Path | None = None
    suite: Path | None = None
    framework: str | None = None
    folder: Path | None = None
    tell: Progress = _silent


def read_source(source: Path, reader: Format, given: Given) -> Bundle:
    """The source, with the outputs and checks that were given beside it.

    Raises:
        InputError: If a file is faulty, or holds none of what it was named for.
    """
    bundle, _ = redacted(*reader.read(source, given.read_options))
    update: dict[str, object] = {}
    if given.outputs is not None:
        update["outputs"] = _read_part(given.outputs, "outputs").outputs
    if given.suite is not None:
        update["suite"] = _read_part(given.suite, "suite").suite
    return bundle.model_copy(update=update)


def _read_part(path: Path, part: str) -> Bundle:
    options = ReadOptions(parts=frozenset({part}))
    bundle, _ = detect_format(path).read(path, options)
    if not getattr(bundle, part):
        raise InputError(f"holds no {part}", where=path, fix=f"name a file that holds {part}")
    return bundle


def read_target(target: Path, writer: Format, source: Bundle, given: Given) -> Bundle:
    """What was written, read back; what its format does not hold is the source's.

    Raises:
        InputError: If it holds no case.
    """
    if "cases" not in writer.info.writes:
        what = f"a migration is proven on cases, and {writer.info.name} holds none"
        raise InputError(what, where=target, fix="name another format with --to")
    bundle, _ = writer.read(target, ReadOptions())
    update: dict[str, object] = {}
    if given.outputs is not None or "outputs" not in writer.info.writes:
        update["outputs"] = source.outputs
    if given.suite is not None or "suite" not in writer.info.writes:
        update["suite"] = source.suite
    return bundle.model_copy(update=update)


@dataclass(frozen=True, slots=True)
class Material:
    """A bundle made ready for scoring.

    Attributes:
        bundle: The answered cases with all their checks, and their outputs.
        answered: Cases that have an output, with a check or without.
        skipped: Checks that are not carried out, by case and metric; each counts once an output.
        notes: What a reader should know.
    """

    bundle: Bundle
    answered: int
    skipped: Mapping[tuple[str, str], LeftOut] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def material_of(bundle: Bundle, *, ours: bool, members: bool) -> Material:
    """The answered cases of a bundle, each with its checks and those of its suite.

    Args:
        bundle: What was read.
        ours: Whether it is from a file of ours, whose checks may name a module.
        members: Whether the members of groups are compared by themselves too.
    """
    suite = bundle.suite.checks if bundle.suite is not None else ()
    known = {case.id for case in bundle.cases}
    answers = Counter(output.case_id for output in bundle.outputs if output.case_id in known)
    skipped: dict[tuple[str, str], LeftOut] = {}
    cases = []
    for case in bundle.cases:
        if count := answers[case.id]:
            ready, reasons = _with_checks(case, suite, ours, members)
            cases.append(ready)
            for (kind, metric), why in reasons.items():
                left = LeftOut(type=kind, reason=why, count=count)
                skipped[case.id, metric] = left
    checked = [case for case in cases if case.checks or any(turn.checks for turn in case.turns)]
    ids = {case.id for case in checked}
    outputs = tuple(output for output in bundle.outputs if output.case_id in ids)
    strangers = sum(output.case_id not in known for output in bundle.outputs)
    told = (
        (len(bundle.cases) - len(answers), "cases have no recorded output"),
        (strangers, "recorded outputs are of no case"),
        (len(cases) - len(checked), "cases have no check that can be compared"),
    )
    notes = tuple(f"{count} {what}" for count, what in told if count)
    return Material(Bundle(cases=tuple(checked), outputs=outputs), len(answers), skipped, notes)


def _with_checks(
    case: Case, suite: Iterable[Check], ours: bool, members: bool
) -> tuple[Case, dict[tuple[str, str], str]]:
    """A case with the checks that are carried out; scorer and metric of the others, and why."""
    kept: list[Check] = []
    reasons: dict[tuple[str, str], str] = {}
    for check in resolve_checks(suite, case.checks):
        why = _why_not(check, ours)
        if why:
            reasons[check.scorer, check.metric] = why
        else:
            kept.extend(_each(check) if members else (check,))
    by_metric = {each.metric: each for each in kept}
    return case.model_copy(update={"checks": tuple(by_metric.values())}), reasons


def _why_not(check: Check, ours: bool) -> str:
    """Why a check is not carried out; "" where it is."""
    if check.scorer == GROUP:
        return next((why for each in check.checks if (why := _why_not(each, ours))), "")
    if check.judge_name is not None:
        return ASKS
    if ":" in check.scorer and not ours:
        return "a scorer from a foreign file is code, which is not run"
    return ""


def _each(check: Check) -> Iterator[Check]:
    """A check, and the members of a group under the group's name."""
    yield check
    for member in check.checks:
        named = member.model_copy(update={"metric": f"{check.metric}{WITHIN}{member.metric}"})
        yield from _each(named)
