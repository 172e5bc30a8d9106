"""What becomes of every field of a run file."""

from __future__ import annotations

from bridge.plugin.accounts.accounting import NATIVE, Claims, dropped
from bridge.plugin.accounts.itemised import AGGREGATE, SETTING, TIMING, TRANSCRIPT

_METRIC = ("name", "metric", "threshold", "minimumScore", "success", "score", "reason", "error")
_RESULTS = {
    **{
        f"{field}[].{name}": NATIVE
        for field in ("metricsData", "metricsMetadata")
        for name in (*_METRIC, "evaluationModel", "evaluationCost")
    },
    "metricsData[].verboseLogs": dropped("the log of a judge"),
    "metricsData[].strictMode": SETTING,
    "metricsData[].flaky": SETTING,
}
_BOTH = {
    **_RESULTS,
    **dict.fromkeys(("name", "context", "tags", "metadata", "additionalMetadata"), NATIVE),
    **dict.fromkeys(("order", "runDuration"), TIMING),
    **dict.fromkeys(("success", "evaluationCost"), AGGREGATE),
    "trace": TRANSCRIPT,
    "flaky": SETTING,
}
_TOOLS = {
    f"{field}[].{name}": NATIVE
    for field in ("toolsCalled", "expectedTools", "turns[].toolsCalled")
    for name in ("name", "inputParameters", "output")
}
CASE = Claims(
    {
        **_BOTH,
        **_TOOLS,
        **dict.fromkeys(
            (
                "input",
                "actualOutput",
                "expectedOutput",
                "retrievalContext",
                "tokenCost",
                "inputTokenCount",
                "outputTokenCount",
                "completionTime",
            ),
            NATIVE,
        ),
    }
)
TALK = Claims(
    {
        **_BOTH,
        **_TOOLS,
        **dict.fromkeys(("scenario", "expectedOutcome", "messages", "testCases"), NATIVE),
        **{
            f"turns[].{name}": NATIVE
            for name in ("role", "content", "retrievalContext", "latencyMs", "order")
        },
    }
)
HEAD = Claims(
    {
        "hyperparameters": SETTING,
        "hyperparameters.deepeval": NATIVE,
        **dict.fromkeys(("metricsScores", "testPassed", "testFailed", "evaluationCost"), AGGREGATE),
        "runDuration": TIMING,
        **dict.fromkeys(("testFile", "identifier", "prompts", "official"), SETTING),
    }
)
HEAD.put(AGGREGATE, "testRunData")
CACHED_KEY = Claims(
    {
        **dict.fromkeys(
            ("input", "actual_output", "expected_output", "context", "retrieval_context"), NATIVE
        ),
        "hyperparameters": SETTING,
    }
)
CACHED = Claims(
    {
        **{
            f"cached_metrics_data[].{field}.{name}": NATIVE
            for field in ("metric_data", "metric_metadata")
            for name in (*_METRIC, "evaluationModel", "evaluationCost")
        },
        "cached_metrics_data[].metric_configuration": SETTING,
        "hyperparameters": SETTING,
    }
)
