"""What becomes of every field of a log."""

from __future__ import annotations

from bridge.plugin.accounts.accounting import NATIVE, Claim, Claims, dropped
from bridge.plugin.accounts.itemised import AGGREGATE, REPEATED, SETTING, TIMING, TRANSCRIPT
from bridge_inspect.records import Log
from bridge_inspect.results.counterparts import checks_of

UNUSED = dropped("beside what a message says")


def _message(at: str) -> dict[str, Claim]:
    """What becomes of a message: its text, its calls and their results are read."""
    read = ("role", "content", "content[].text", "tool_calls", "tool_call_id", "function", "error")
    calls = (f"tool_calls[].{name}" for name in ("id", "function", "arguments", "parse_error"))
    found = {f"{at}.{name}": NATIVE for name in (*read, *calls)}
    unused = (f"{at}.{name}" for name in ("content[].*", "tool_calls[].*", "*"))
    return found | dict.fromkeys(unused, UNUSED)


SAMPLE = Claims(
    {
        **dict.fromkeys(
            (
                "id",
                "epoch",
                "input",
                "target",
                "choices",
                "metadata",
                "attachments",
                "error.message",
                "limit",
                "output.model",
                "output.choices[].stop_reason",
                "output.completion",
                "output.time",
                "output.error",
                "output.usage.input_tokens",
                "output.usage.output_tokens",
                "output.usage.total_cost",
                "scores.*.value",
                "scores.*.explanation",
                "scores.*.reason",
                "score.value",
                "score.explanation",
            ),
            NATIVE,
        ),
        **_message("input[]"),
        **_message("messages[]"),
        **_message("output.choices[].message"),
        "output.choices": UNUSED,
        "scores.*.answer": REPEATED,
        "score.answer": REPEATED,
        "scores.*.metadata.bridge": NATIVE,
        "scores.*.history": dropped("the last edit of a score counts"),
        **dict.fromkeys(("events", "events_data", "timelines", "transcript"), TRANSCRIPT),
        "error_retries": dropped("earlier tries of a sample within the run; the last one counts"),
        "store": dropped("the state of a solver"),
        **dict.fromkeys(("started_at", "completed_at", "total_time", "working_time"), TIMING),
        **dict.fromkeys(("model_usage", "role_usage"), dropped("tokens of judges are in it too")),
        **dict.fromkeys(("sandbox", "files", "setup"), SETTING),
        "error": dropped("a traceback"),
    }
)
_HEAD: dict[str, Claim] = {
    **dict.fromkeys(
        (
            "status",
            "eval.model",
            "eval.packages.inspect_ai",
            "eval.scorers[].name",
            "version",
        ),
        NATIVE,
    ),
    "error.message": NATIVE,
    "error": dropped("a traceback"),
    "eval": SETTING,
    "plan": SETTING,
    "results": AGGREGATE,
    "reductions": AGGREGATE,
    "stats": TIMING,
    "logging": TRANSCRIPT,
}

SUMMARY = Claims()
"""Of the summaries of samples, and of an archive's other members."""
SUMMARY.claim = REPEATED
REDUCTION = Claims()
"""Of what epochs were reduced to."""
REDUCTION.claim = AGGREGATE


def head_claims(log: Log) -> Claims:
    """What becomes of the head; a scorer's options are read where a check says the same."""
    claims = Claims(_HEAD)
    for number, scorer in enumerate(log.eval.scorers or ()):
        options = NATIVE if checks_of([scorer]) else dropped("no scorer of ours says the same")
        claims.put(options, "eval", "scorers", number, "options")
    return claims
