"""What one metric asks of a judge on one output: all frameworks' hooks ask through this.

Some frameworks swallow a judge's failure, ask again and score on: the first failure is remembered
here, so that it is an error row whatever became of it inside.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Judge, Reply, Request
from bridge.model.values import EMPTY

Messages = Sequence[Mapping[str, str]]


class Inquiry:
    """A judge and what it is asked for.

    Args:
        judge: Who answers.
        tag: What it is asked for, for the ledger.
        vary: Whether a question that is asked again may be answered differently, which it is at
            a temperature above 0; else it is asked once.

    Attributes:
        failure: The first failure of the judge.
    """

    def __init__(self, judge: Judge, tag: Mapping[str, Any] = EMPTY, *, vary: bool = False) -> None:
        self.failure: JudgeError | None = None
        self._judge = judge
        self._tag = tag
        self._vary = vary
        self._asked: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def ask(self, messages: str | Messages, schema: Mapping[str, Any] | None = None) -> Reply:
        """The answer to one question.

        Args:
            messages: A prompt, or messages.
            schema: JSON Schema of the reply.

        Raises:
            JudgeError: If there is none.
        """
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        sample = self._sample([messages, schema])
        try:
            return self._judge.ask(Request(messages, schema, sample, self._tag))
        except JudgeError as error:
            self.failure = self.failure or error
            raise

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vector of each text.

        Raises:
            JudgeError: If there is none.
        """
        try:
            reply = self._judge.ask(Request((), tag=self._tag, embeds=texts))
            return [list(vector) for vector in reply.vectors]
        except JudgeError as error:
            self.failure = self.failure or error
            raise

    def _sample(self, asked: Any) -> int:
        if not self._vary:
            return 0
        key = msgspec.json.encode(asked, order="deterministic")
        with self._lock:
            self._asked[key] += 1
            return self._asked[key] - 1
