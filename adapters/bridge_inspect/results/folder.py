"""A folder of logs, as Inspect leaves it: the logs of one task, without attempts tried again.

``inspect eval-retry`` and ``eval_set`` write a log of their own beside the one that failed, with
its ``task_id`` and all its samples: those that were done are taken over, the others are run again
(https://inspect.aisi.org.uk/errors-and-limits.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import Tally, dropped
from bridge.plugin.carry import KEY
from bridge.plugin.results.attempts import Attempt, notes_on, superseded
from bridge.plugin.results.imported import Scales
from bridge.plugin.results.reading import Answer, Counts
from bridge_inspect.records import Log
from bridge_inspect.results.layouts import open_log
from bridge_inspect.results.reading import LogReading
from bridge_inspect.rows import NAME

MOST_LOGS = 10_000
"""Most logs of a folder."""
EARLIER = dropped("an earlier attempt at a run that was tried again")


def attempt_of(log: Log) -> Attempt | None:
    """What run a log is an attempt at; ``None`` for logs before ``task_id``."""
    spec = log.eval
    if not spec.task_id:
        return None
    cases = frozenset(map(str, spec.dataset.sample_ids or ()))
    return Attempt(spec.task_id, spec.created, log.status, cases)


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder itself; links are not followed."""
    return (path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def logs_in(folder: Path, is_log: Callable[[Path], bool]) -> list[Path]:
    """The files of a folder that are logs, in order.

    Raises:
        InputError: If there is none, or there are more than ``MOST_LOGS``.
    """
    found = list(islice(filter(is_log, sorted(files_in(folder))), MOST_LOGS + 1))
    if not found:
        raise InputError("no Inspect log in this folder", where=folder, fix="name a log")
    if len(found) > MOST_LOGS:
        what = f"holds more than {MOST_LOGS:,} logs"
        raise InputError(what, where=folder, fix="put those that belong together into a folder")
    return found


class FolderReading:
    """The logs of a folder, one after the other.

    Args:
        source: The folder.
        paths: Its logs.
        scales: Declared scales of native values.

    Raises:
        InputError: If one is damaged, or they are of several tasks or of the same samples.
    """

    framework = NAME

    def __init__(self, source: Path, paths: Iterable[Path], scales: Scales) -> None:
        self.source = source
        heads = {path: open_log(path).head for path in paths}
        found = {path: attempt_of(head) for path, head in heads.items()}
        self._attempts = {path: each for path, each in found.items() if each is not None}
        self._earlier = superseded(self._attempts)
        kept = {path: head for path, head in heads.items() if path not in self._earlier}
        _refuse_mixed(source, kept)
        self._logs = [LogReading(path, scales) for path in kept]
        self._counts = [Counts() for _ in kept]

    def answers(self) -> Iterator[Answer]:
        """Every sample of every log that counts."""
        for log, counts in zip(self._logs, self._counts, strict=True):
            for answer in log.answers():
                counts.take(answer)
                yield replace(answer, place=f"{log.source.name}: {answer.place}")

    def metrics(self) -> Iterable[str]:
        """The scorers of the runs."""
        return dict.fromkeys(name for log in self._logs for name in log.metrics())

    def account(self, tally: Tally) -> None:
        """Count every leaf of every log, those that do not count as one field each."""
        for log in self._logs:
            log.account(tally)
        for path in self._earlier:
            own = Tally()
            open_log(path).account(own)
            tally.add(path.name, EARLIER, own.report(path, NAME).total)

    def notes(self, counts: Counts) -> Iterator[str]:
        """Which logs do not count, and what a reader should know of the others."""
        del counts
        yield from notes_on(self._earlier, self._attempts)
        for log, own in zip(self._logs, self._counts, strict=True):
            yield from (f"{log.source.name}: {note}" for note in log.notes(own))


def _refuse_mixed(folder: Path, heads: dict[Path, Log]) -> None:
    """Refuse logs whose samples could not be told apart."""
    tasks = sorted({head.eval.task for head in heads.values()})
    if len(tasks) > 1:
        what = f"holds logs of several tasks ({', '.join(tasks[:5])})"
        raise InputError(what, where=folder, fix="name the logs of one task")
    seen: dict[tuple[str, str], Path] = {}
    for path, head in heads.items():
        if KEY in (head.eval.metadata or {}):
            continue  # ours: a shard of a run
        for name in head.eval.dataset.sample_ids or ("",):
            other = seen.setdefault((head.eval.model, str(name)), path)
            if other != path:
                what = (
                    f"{other.name} and {path.name} are two runs of {head.eval.task!r} by "
                    f"{head.eval.model!r}, and no retry"
                )
                raise InputError(what, where=folder, fix="name one of them")
