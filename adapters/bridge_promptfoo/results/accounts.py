"""What becomes of every field of a results file."""

from __future__ import annotations

from bridge.plugin.accounts.accounting import NATIVE, Claims, carried, dropped
from bridge.plugin.accounts.itemised import AGGREGATE, REPEATED, SETTING, TIMING
from bridge_promptfoo.config.assertions import GRADING

_COMPONENT = ("pass", "score", "reason", "assertion.type", "assertion.metric")
_NUMBERS = ("assertion.threshold", "assertion.weight", "metadata.assertionSet", "metadata.bridge")
ROW = Claims(
    {
        **dict.fromkeys(
            (
                "testIdx",
                "promptIdx",
                "success",
                "error",
                "failureReason",
                "latencyMs",
                "cost",
                "provider",
                "prompt",
                "vars",
                "response.output",
                "response.cost",
                "response.error",
                "response.latencyMs",
                "response.tokenUsage.prompt",
                "response.tokenUsage.completion",
                "providerResponse",
                "testCase.description",
                "testCase.vars",
                "testCase.metadata",
                "gradingResult.metadata.bridge",
            ),
            NATIVE,
        ),
        **{f"gradingResult.componentResults[].{each}": NATIVE for each in _COMPONENT + _NUMBERS},
        "gradingResult.componentResults[].assertion.value": REPEATED,
        **dict.fromkeys(
            ("score", "namedScores", "gradingResult.score", "gradingResult.namedScores"), AGGREGATE
        ),
        **dict.fromkeys(("gradingResult.pass", "gradingResult.reason"), AGGREGATE),
        "gradingResult.namedScoreWeights": AGGREGATE,
        "gradingResult.tokensUsed": dropped("tokens of the graders"),
        "testCase": SETTING,
        **dict.fromkeys(
            (f"testCase.options.{each}" for each in GRADING),
            carried("says how its assertions are graded: kept for promptfoo"),
        ),
        "testCase.assert": carried("read as checks; what no check says is kept in extras"),
        "metadata": REPEATED,
        "tokenUsage": REPEATED,
        "response": dropped("what the provider says beside its answer"),
        **dict.fromkeys(("id", "promptId", "evalId"), dropped("an id of promptfoo's own")),
        **dict.fromkeys(("createdAt", "updatedAt"), TIMING),
    }
)
HEAD = Claims(
    {
        "metadata": SETTING,
        "metadata.promptfooVersion": NATIVE,
        "config": SETTING,
        "vars": REPEATED,
        "runtimeOptions": SETTING,
        **{
            f"{place}{name}": claim
            for place in ("", "results.", "data.", "data.results.")
            for name, claim in (
                ("version", NATIVE),
                ("timestamp", TIMING),
                ("createdAt", TIMING),
                ("prompts", SETTING),
                ("prompts[].label", NATIVE),
                ("prompts[].raw", NATIVE),
                ("prompts[].provider", NATIVE),
                ("prompts[].metrics", AGGREGATE),
                ("stats", AGGREGATE),
                ("table", REPEATED),
                ("config", SETTING),
            )
        },
    }
)
TABLE = Claims()
TABLE.claim = REPEATED
