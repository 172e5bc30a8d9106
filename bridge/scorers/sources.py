"""Documentation pages that define the checks people know."""

DETERMINISTIC = "https://www.promptfoo.dev/docs/configuration/expected-outputs/deterministic/"
"""promptfoo's deterministic assertions; an anchor a type."""

TRADITIONAL = "https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/traditional/"
"""RAGAS's metrics without a model; an anchor a metric."""

SCORERS = "https://inspect.aisi.org.uk/reference/inspect_ai.scorer.html"
"""Inspect AI's scorers; an anchor a scorer."""
