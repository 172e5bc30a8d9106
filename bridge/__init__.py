"""One golden set, several LLM evaluation frameworks, one gate report.

The names below are loaded when they are first used: ``import bridge`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.conversion.convert import convert
    from bridge.execution.driver import Drive
    from bridge.execution.plan import Plan, Selection, make_plan
    from bridge.files.baseline import read_baseline, write_baseline
    from bridge.files.golden import GoldenSet, read_golden_set, stream_cases, write_cases
    from bridge.files.outputs import read_outputs, write_outputs
    from bridge.files.scores import read_scores, write_scores
    from bridge.files.store import RunStore
    from bridge.files.suite import read_suite, read_suite_cases, write_suite
    from bridge.gate.baseline import make_baseline
    from bridge.gate.decide import decide
    from bridge.gate.intake.evidence import Evidence
    from bridge.gate.intake.gather import gather
    from bridge.gate.results import Decision, decide_on
    from bridge.judge.serving import judges_served
    from bridge.model.baseline import Baseline
    from bridge.model.bundle import Bundle
    from bridge.model.case import Case, ExpectedCall, ExpectedCalls, Turn
    from bridge.model.check import Check
    from bridge.model.conversion import Conversion, ConversionLine, ConversionReport
    from bridge.model.errors import (
        BridgeError,
        InfrastructureError,
        InputError,
        MissingDependency,
    )
    from bridge.model.job import Job, JobSpec
    from bridge.model.message import Message, Passage, Tool, ToolCall, Usage
    from bridge.model.output import Output, OutputTurn
    from bridge.model.policy import GatePolicy, MetricPolicy
    from bridge.model.run import RunRecord
    from bridge.model.score import Measurement, Raw, Score
    from bridge.model.suite import Suite
    from bridge.model.verdict import Verdict
    from bridge.plugin.format import Format, FormatInfo, ReadOptions, WriteOptions
    from bridge.plugin.framework import Framework, FrameworkInfo
    from bridge.plugin.registry import (
        detect_format,
        format_names,
        framework_names,
        get_format,
        get_framework,
    )
    from bridge.scorers.evaluate import evaluate
    from bridge.scorers.injection.findings import ScanResult
    from bridge.scorers.injection.scanner import scan
    from bridge.scorers.registry import NoParams, Scorer, skip

_HOMES = {
    "bridge.conversion.convert": ("convert",),
    "bridge.execution.driver": ("Drive",),
    "bridge.execution.plan": ("Plan", "Selection", "make_plan"),
    "bridge.files.baseline": ("read_baseline", "write_baseline"),
    "bridge.files.golden": ("GoldenSet", "read_golden_set", "stream_cases", "write_cases"),
    "bridge.files.outputs": ("read_outputs", "write_outputs"),
    "bridge.files.scores": ("read_scores", "write_scores"),
    "bridge.files.store": ("RunStore",),
    "bridge.files.suite": ("read_suite", "read_suite_cases", "write_suite"),
    "bridge.gate.baseline": ("make_baseline",),
    "bridge.gate.decide": ("decide",),
    "bridge.gate.results": ("Decision", "decide_on"),
    "bridge.gate.intake.evidence": ("Evidence",),
    "bridge.gate.intake.gather": ("gather",),
    "bridge.plugin.format": ("Format", "FormatInfo", "ReadOptions", "WriteOptions"),
    "bridge.plugin.framework": ("Framework", "FrameworkInfo"),
    "bridge.plugin.registry": (
        "detect_format",
        "format_names",
        "framework_names",
        "get_format",
        "get_framework",
    ),
    "bridge.judge.serving": ("judges_served",),
    "bridge.scorers.evaluate": ("evaluate",),
    "bridge.scorers.injection": ("ScanResult", "scan"),
    "bridge.scorers.registry": ("NoParams", "Scorer", "skip"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
"""Where a name comes from; all others are of ``bridge.model``."""

__all__ = [
    "Baseline",
    "BridgeError",
    "Bundle",
    "Case",
    "Check",
    "Conversion",
    "ConversionLine",
    "ConversionReport",
    "Decision",
    "Drive",
    "Evidence",
    "ExpectedCall",
    "ExpectedCalls",
    "Format",
    "FormatInfo",
    "Framework",
    "FrameworkInfo",
    "GatePolicy",
    "GoldenSet",
    "InfrastructureError",
    "InputError",
    "Job",
    "JobSpec",
    "Measurement",
    "Message",
    "MetricPolicy",
    "MissingDependency",
    "NoParams",
    "Output",
    "OutputTurn",
    "Passage",
    "Plan",
    "Raw",
    "ReadOptions",
    "RunRecord",
    "RunStore",
    "ScanResult",
    "Score",
    "Scorer",
    "Selection",
    "Suite",
    "Tool",
    "ToolCall",
    "Turn",
    "Usage",
    "Verdict",
    "WriteOptions",
    "convert",
    "decide",
    "decide_on",
    "detect_format",
    "evaluate",
    "format_names",
    "framework_names",
    "gather",
    "get_format",
    "get_framework",
    "judges_served",
    "make_baseline",
    "make_plan",
    "read_baseline",
    "read_golden_set",
    "read_outputs",
    "read_scores",
    "read_suite",
    "read_suite_cases",
    "scan",
    "skip",
    "stream_cases",
    "write_baseline",
    "write_cases",
    "write_outputs",
    "write_scores",
    "write_suite",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME_OF.get(name, "bridge.model")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
