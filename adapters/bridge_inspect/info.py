"""What Inspect AI is here: versions, the environment it runs in, what it can hold and measure."""

from __future__ import annotations

from bridge.plugin.framework import FrameworkInfo
from bridge_inspect.metrics import METRICS

INFO = FrameworkInfo(
    name="inspect",
    title="Inspect AI",
    distribution="inspect-ai",
    requires=("0.3.285", "0.4"),
    install="pip install 'bridge-evals[inspect]'",
    environment=(
        ("INSPECT_LOG_DIR", "{native_dir}"),
        ("INSPECT_DISPLAY", "none"),
        ("INSPECT_LOG_LEVEL", "warning"),
        ("XDG_DATA_HOME", "{native_dir}/.inspect"),
        ("XDG_CACHE_HOME", "{native_dir}/.inspect"),
    ),
    scrubbed=("INSPECT_TELEMETRY", "INSPECT_EVAL_MODEL", "INSPECT_EVAL_MODEL_ROLE"),
    features=frozenset({"tools", "turns", "contexts", "epochs"}),
    native_metrics=METRICS,
)
