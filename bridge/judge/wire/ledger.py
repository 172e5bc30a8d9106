"""What judges were asked and what it took: one line a request, and the budget over all."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.jsonl import Appender
from bridge.judge.errors import JudgeError
from bridge.judge.wire.reading import Tokens
from bridge.model.judge import JudgeBudget


@dataclass(slots=True)
class Spending:
    """What a judge took so far; ``calls`` counts requests sent, repeated ones included."""

    calls: int = 0
    cached: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def add(self, tokens: Tokens) -> None:
        """Count what an answer took, of use or not."""
        self.input_tokens += tokens.input_tokens or 0
        self.output_tokens += tokens.output_tokens or 0
        self.cost_usd += tokens.cost_usd or 0.0

    def claim(self, budget: JudgeBudget) -> None:
        """Count a request that is about to be sent.

        Raises:
            JudgeError: Of kind ``budget``, if it must not be.
        """
        tokens = self.input_tokens + self.output_tokens
        if budget.calls is not None and self.calls >= budget.calls:
            raise JudgeError("budget", f"the budget of {budget.calls} calls is spent")
        if budget.tokens is not None and tokens >= budget.tokens:
            raise JudgeError("budget", f"the budget of {budget.tokens} tokens is spent")
        if budget.usd is not None and self.cost_usd >= budget.usd:
            raise JudgeError("budget", f"the budget of {budget.usd:g} US dollars is spent")
        self.calls += 1


class Ledger:
    """An append-only file of what was asked: no prompt, no reply, no key."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._lines = Appender(path)

    def note(self, line: Mapping[str, Any]) -> None:
        """Add one line."""
        with self._lock:
            self._lines.append(json.dumps(line, ensure_ascii=True, sort_keys=True))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._lines.close()
