"""What DeepEval is here: versions, the environment it runs in, what it can hold and measure."""

from __future__ import annotations

from bridge.plugin.framework import FrameworkInfo
from bridge_deepeval.metrics import METRICS

INFO = FrameworkInfo(
    name="deepeval",
    title="DeepEval",
    distribution="deepeval",
    requires=("4.3", "5"),
    install="pip install 'bridge-evals[deepeval]'",
    environment=(
        ("DEEPEVAL_TELEMETRY_OPT_OUT", "1"),
        ("DEEPEVAL_DISABLE_DOTENV", "1"),
        ("DEEPEVAL_DISABLE_LEGACY_KEYFILE", "1"),
        ("DEEPEVAL_DISABLE_TIMEOUTS", "1"),
        ("DEEPEVAL_NO_INSPECT_PROMPT", "1"),
        ("DEEPEVAL_UPDATE_WARNING_OPT_IN", "0"),
        ("DEEPEVAL_CACHE_FOLDER", "{native_dir}/.deepeval"),
        ("DEEPEVAL_HOME", "{native_dir}/.deepeval"),
    ),
    scrubbed=(
        "CONFIDENT_API_KEY",
        "CONFIDENT_AI_RUN_TEST_NAME",
        "DEEPEVAL_RESULTS_FOLDER",
        "DEEPEVAL_LOCAL_STORE",
        "DEEPEVAL_FILE_SYSTEM",
        "DEEPEVAL_EVAL_MODE",
    ),
    features=frozenset({"tools", "turns", "contexts"}),
    native_metrics=METRICS,
)
