"""Judges at hand outside a run: in this process, and in what it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.judge.session import judges_in_force
from bridge.model.judge import JudgeConfig

if TYPE_CHECKING:
    from bridge.judge.client import JudgeClient
    from bridge.judge.gateway import Gateway


@dataclass(frozen=True, slots=True)
class ServedJudges:
    """Judges ready to be asked.

    Attributes:
        clients: By name; what each took is in its ``spending``.
        gateway: How another process reaches them.
    """

    clients: Mapping[str, JudgeClient]
    gateway: Gateway

    @property
    def environment(self) -> Mapping[str, str]:
        """What another process needs in its environment to find them; holds no key of theirs."""
        return self.gateway.environment


@contextmanager
def judges_served(
    judges: Mapping[str, JudgeConfig],
    *,
    cache_path: Path | None = None,
    ledger_path: Path | None = None,
) -> Iterator[ServedJudges]:
    """Let checks ask these judges, in this process and in those that it starts.

    Example:
        >>> from bridge.judge import judges_served
        >>> with judges_served(suite.judges) as served:  # doctest: +SKIP
        ...     deepeval.evaluate(native.test_cases, native.metrics)
        ...     env = {**os.environ, **served.environment}
        ...     subprocess.run(["promptfoo", "eval", "-c", "config.json"], env=env)

    Args:
        judges: The judges by name, as a suite has them.
        cache_path: Where replies are kept; in memory alone without one.
        ledger_path: Where requests are noted; nowhere without one.

    Raises:
        MissingDependency: If the extra ``judge`` is not installed.
        InfrastructureError: If the cache or the ledger cannot be used.
    """
    from bridge.judge.gateway import Gateway
    from bridge.judge.opening import open_clients

    with (
        open_clients(judges, cache_path, ledger_path) as clients,
        Gateway(clients) as gateway,
        judges_in_force(clients),
    ):
        yield ServedJudges(clients, gateway)
