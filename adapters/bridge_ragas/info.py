"""What RAGAS is here: versions, the environment it runs in, what it can hold and measure."""

from __future__ import annotations

from bridge.plugin.framework import FrameworkInfo
from bridge_ragas.metrics import METRICS

INSTALL = "pip install 'bridge-evals[ragas]'"
INFO = FrameworkInfo(
    name="ragas",
    title="RAGAS",
    distribution="ragas",
    requires=("0.4.3", "0.5"),
    install=INSTALL,
    environment=(
        ("RAGAS_DO_NOT_TRACK", "true"),  # "1" is not enough
        ("RAGAS_CACHE_HOME", "{native_dir}/.ragas"),
        ("HOME", "{native_dir}/.ragas"),
        ("XDG_DATA_HOME", "{native_dir}/.ragas"),
        ("XDG_CACHE_HOME", "{native_dir}/.ragas"),
        ("HF_HOME", "{native_dir}/.ragas"),
        ("HF_HUB_OFFLINE", "1"),
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("LANGSMITH_TRACING", "false"),
        ("LANGCHAIN_TRACING_V2", "false"),
    ),
    scrubbed=(
        "RAGAS_APP_TOKEN",
        "HELICONE_API_KEY",
        "LANGSMITH_API_KEY",
        "LANGSMITH_ENDPOINT",
        "LANGCHAIN_API_KEY",
        "LANGCHAIN_ENDPOINT",
        "HF_TOKEN",
        "HF_DATASETS_CACHE",
    ),
    features=frozenset({"tools", "turns", "contexts"}),
    native_metrics=METRICS,
)
LANGCHAIN = FrameworkInfo(
    name="ragas",
    title="langchain-community",
    distribution="langchain-community",
    requires=("0.3", "0.4.2"),  # which took away a module that RAGAS 0.4.3 imports
    install=INSTALL,
)
