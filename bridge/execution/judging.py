"""The judges of a run: asked once, ahead of the frameworks, and replayed to every one of them.

As with outputs, frameworks are compared on the same replies. The questions of all judged checks are
asked side by side before the first worker starts; a worker that asks finds the answer waiting
behind the gateway, and one that asks something else (a native metric, a field lost in translation)
is answered there too, from the same budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from bridge.execution.plan import Plan, judges_used
from bridge.files.store import RunStore
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.run import JudgeRecord
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge.scorers.registry import get_scorer, read_params

if TYPE_CHECKING:
    from bridge.judge.client import JudgeClient

Work = tuple[Check, Case, Output, int | None]

MOST_THREADS = 64


def requests_of(check: Check) -> int:
    """The requests that a check makes of judges for one output; 0 where it asks none."""
    if check.checks:
        return sum(requests_of(member) for member in check.checks)
    scorer = get_scorer(check.scorer)
    if not scorer.judged:
        return 0
    votes = 1 if check.judges is None else len(check.judges.names)
    return votes * scorer.requests(read_params(check))


@dataclass(slots=True)
class Judges:
    """The judges of a run that are in use, ready to be asked.

    Attributes:
        clients: By name.
        environment: What a worker needs to find them.
        busy: Whether a worker waits for one of them.
    """

    clients: Mapping[str, JudgeClient] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    busy: Callable[[], bool] = lambda: False

    def ask_ahead(
        self, plan: Plan, outputs: Sequence[Output], progress: Callable[[int, int], None]
    ) -> None:
        """Carry out every judged check once, side by side; what is found is in the cache then."""
        works = list(_works(plan, outputs)) if self.clients else []
        if not works:
            return
        threads = sum(client.config.concurrency for client in self.clients.values())
        pool = ThreadPoolExecutor(min(MOST_THREADS, threads), thread_name_prefix="judged")
        try:
            waiting = [pool.submit(evaluate, *work) for work in works]
            for done, _ in enumerate(as_completed(waiting), 1):
                progress(done, len(works))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def records(self) -> dict[str, JudgeRecord]:
        """What each judge took, for the run's record."""
        return {
            name: JudgeRecord(model=client.config.model, **asdict(client.spending))
            for name, client in self.clients.items()
        }


def _works(plan: Plan, outputs: Sequence[Output]) -> Iterator[Work]:
    by_id = {case.id: case for case in plan.cases}
    for output in outputs:
        case = by_id[output.case_id]
        for check, turn in checks_with_turns(plan.suite.checks, case):
            if requests_of(check):
                yield check, case, output, turn


@contextmanager
def open_judges(plan: Plan, store: RunStore) -> Iterator[Judges]:
    """The judges that a plan's checks name; nothing is opened where they name none.

    Raises:
        MissingDependency: If the extra ``judge`` is not installed.
        InfrastructureError: If the cache or the ledger cannot be used.
    """
    names = judges_used(plan.suite, plan.cases)
    if not names:
        yield Judges()
        return
    from bridge.judge.serving import judges_served

    configs = {name: plan.suite.judges[name] for name in names}
    paths = {"cache_path": store.judge_cache_path, "ledger_path": store.judge_ledger_path}
    with judges_served(configs, **paths) as served:
        yield Judges(served.clients, served.environment, lambda: served.gateway.busy)
