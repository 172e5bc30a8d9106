"""What promptfoo is here: versions, the environment it runs in, what it can hold and measure."""

from __future__ import annotations

from bridge.plugin.framework import FrameworkInfo
from bridge_promptfoo.metrics import METRICS

INFO = FrameworkInfo(
    name="promptfoo",
    title="promptfoo",
    distribution="promptfoo",
    requires=("0.2", "1"),
    install="pip install 'bridge-evals[promptfoo]'",
    environment=(
        ("PROMPTFOO_DISABLE_TELEMETRY", "1"),
        ("PROMPTFOO_DISABLE_UPDATE", "1"),
        ("PROMPTFOO_DISABLE_REMOTE_GENERATION", "1"),
        ("PROMPTFOO_DISABLE_SHARING", "1"),
        ("PROMPTFOO_CONFIG_DIR", "{native_dir}/.promptfoo"),
        ("PROMPTFOO_CACHE_ENABLED", "false"),
        ("PROMPTFOO_DISABLE_DEBUG_LOG", "1"),
        ("PROMPTFOO_DISABLE_ERROR_LOG", "1"),
        ("PROMPTFOO_DISABLE_REF_PARSER", "1"),
        ("PROMPTFOO_DISABLE_TEMPLATING", "1"),  # LLM graders' own prompts are rendered even so
        ("PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS", "1"),
        ("PROMPTFOO_DISABLE_VAR_EXPANSION", "1"),
        ("PROMPTFOO_DISABLE_ADAPTIVE_SCHEDULER", "1"),  # it waits on a recorded "HTTP 429"
        ("PROMPTFOO_INLINE_MEDIA", "1"),
    ),
    scrubbed=(
        "PROMPTFOO_API_KEY",
        "PROMPTFOO_CLOUD_API_URL",
        "PROMPTFOO_REMOTE_API_BASE_URL",
        "PROMPTFOO_REMOTE_GENERATION_URL",
        "PROMPTFOO_SHARING_APP_BASE_URL",
        "PROMPTFOO_SELF_HOSTED",
        "PROMPTFOO_POSTHOG_KEY",
        "PROMPTFOO_OTEL_ENABLED",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ),
    features=frozenset({"tools", "turns", "contexts", "epochs"}),
    version="bridge_promptfoo.install:installed_version",
    setup="bridge_promptfoo.install:setup",
    native_metrics=METRICS,
)
