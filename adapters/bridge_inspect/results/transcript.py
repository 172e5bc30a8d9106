"""A sample's transcript: what Inspect's viewer shows of its start and of each scorer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score


class Transcript:
    """The events of one sample, all at one time since nothing is waited for."""

    def __init__(self, sample: EvalSample, at: datetime) -> None:
        self.events: list[Event] = []
        self._sample = sample
        self._at = at
        self._scorers = f"{sample.uuid}-scorers"

    def start(self) -> None:
        """The sample as it came in."""
        from inspect_ai.dataset import Sample
        from inspect_ai.event import SampleInitEvent

        span = f"{self._sample.uuid}-init"
        native = Sample(
            id=self._sample.id,
            input=self._sample.input,
            target=self._sample.target,
            choices=self._sample.choices,
            metadata=self._sample.metadata,
        )
        self._begin(span, "init", "init")
        self.events.append(SampleInitEvent(sample=native, **self._common(span)))
        self._end(span)

    def score(self, scores: Mapping[str, Score], options: Mapping[str, Any]) -> None:
        """Each score in a span of its own; ``options`` are the scorers' by name."""
        from inspect_ai.event import ScoreEvent

        self._begin(self._scorers, "scorers", "scorers")
        for name, score in scores.items():
            span = f"{self._scorers}-{name}"
            self._begin(span, name, "scorer", self._scorers)
            self.events.append(
                ScoreEvent(
                    score=score,
                    target=self._sample.target,
                    scorer=name,
                    scorer_args=options.get(name),
                    **self._common(span),
                )
            )
            self._end(span)
        self._end(self._scorers)

    def _begin(self, span: str, name: str, kind: str, parent: str | None = None) -> None:
        from inspect_ai.event import SpanBeginEvent

        self.events.append(
            SpanBeginEvent(id=span, name=name, type=kind, parent_id=parent, **self._common(span))
        )

    def _end(self, span: str) -> None:
        from inspect_ai.event import SpanEndEvent

        self.events.append(SpanEndEvent(id=span, **self._common(span)))

    def _common(self, span: str) -> dict[str, Any]:
        uuid = f"{self._sample.uuid}-{len(self.events)}"
        return {"uuid": uuid, "span_id": span, "timestamp": self._at, "working_start": 0.0}
