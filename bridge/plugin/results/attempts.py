"""Result files that are attempts at one run: of a run and its retries, the latest decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from bridge.model.errors import InputError
from bridge.plugin.registry import detect_format


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a result file says of the run that it is an attempt at.

    Attributes:
        run: What all attempts have in common.
        began: When it began, ISO 8601; "" if the file does not say.
        ended: How it ended, in the framework's words.
        cases: The cases that it was to go through, as far as the file says.
    """

    run: str
    began: str
    ended: str
    cases: frozenset[str] = frozenset()


@runtime_checkable
class Retried(Protocol):
    """A format whose files may be attempts at one run, which lie side by side."""

    def attempt(self, source: Path) -> Attempt | None:
        """What run a file is an attempt at; ``None`` if it does not say.

        Raises:
            bridge.InputError: If it is damaged.
        """
        ...


def attempts_at(sources: Iterable[Path]) -> dict[Path, Attempt]:
    """The files that say what run they are an attempt at; others, faulty ones too, are left out."""
    found: dict[Path, Attempt] = {}
    for source in dict.fromkeys(sources):
        if not source.is_file():
            continue
        try:
            format_ = detect_format(source, "scores")
            attempt = format_.attempt(source) if isinstance(format_, Retried) else None
        except InputError:
            continue  # said by whoever reads it
        if attempt is not None:
            found[source] = attempt
    return found


def superseded(attempts: Mapping[Path, Attempt]) -> dict[Path, Path]:
    """The files of earlier attempts, each with that of the latest at the same run.

    A retry takes over what an attempt had done and does the rest again, so that its file holds
    every case, and what failed once more is an error there.

    Raises:
        InputError: If it cannot be told which came last, or the last one leaves cases out.
    """
    runs: dict[str, list[Path]] = {}
    for path, attempt in attempts.items():
        runs.setdefault(attempt.run, []).append(path)
    earlier: dict[Path, Path] = {}
    for paths in runs.values():
        *before, last = sorted(paths, key=lambda path: _moment(attempts[path].began))
        for path in before:
            _refuse_unclear(path, attempts[path], last, attempts[last])
            earlier[path] = last
    return earlier


def _moment(began: str) -> float:
    """Seconds since 1970, a time without a zone taken for UTC; 0 where none is told."""
    try:
        moment = datetime.fromisoformat(began)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _refuse_unclear(path: Path, attempt: Attempt, last: Path, latest: Attempt) -> None:
    if _moment(attempt.began) == _moment(latest.began):
        what = f"{path.name} is an attempt at the same run, and both began at the same time"
        raise InputError(what, where=last, fix="name the one that counts")
    if left := attempt.cases - latest.cases:
        shown = ", ".join(map(repr, sorted(left)[:3]))
        what = f"a retry of {path.name} that leaves out {len(left)} of its cases, such as {shown}"
        raise InputError(what, where=last, fix="name the one that counts")


def notes_on(earlier: Mapping[Path, Path], attempts: Mapping[Path, Attempt]) -> Iterator[str]:
    """What a reader should know of the attempts that do not count."""
    for path, last in earlier.items():
        ended = attempts[path].ended
        yield f"{path.name} (status {ended}) is not counted: {last.name} tried the same run again"
