"""Judge clients opened and closed together, with one cache and one ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from bridge.judge.client import JudgeClient
from bridge.judge.wire.cache import ReplyCache
from bridge.judge.wire.ledger import Ledger
from bridge.model.judge import JudgeConfig


@contextmanager
def open_clients(
    configs: Mapping[str, JudgeConfig], cache_path: Path | None, ledger_path: Path | None
) -> Iterator[dict[str, JudgeClient]]:
    """Clients of these judges by name.

    Args:
        configs: The judges.
        cache_path: Where replies are kept; in memory alone without one.
        ledger_path: Where requests are noted; nowhere without one.

    Raises:
        MissingDependency: If the extra ``judge`` is not installed.
        InfrastructureError: If the cache or the ledger cannot be used.
    """
    with ExitStack() as stack:
        cache = stack.enter_context(closing(ReplyCache(cache_path))) if cache_path else None
        ledger = stack.enter_context(closing(Ledger(ledger_path))) if ledger_path else None
        yield {
            name: stack.enter_context(
                closing(JudgeClient(name, config, cache=cache, ledger=ledger))
            )
            for name, config in configs.items()
        }
