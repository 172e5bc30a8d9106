"""The neutral model: frozen values, all configuration as plain data."""

from bridge.model.baseline import Baseline
from bridge.model.bundle import Bundle
from bridge.model.case import Case, ContextPattern, ExpectedCall, ExpectedCalls, Turn, references
from bridge.model.check import Check, resolve_checks
from bridge.model.conversion import Conversion, ConversionLine, ConversionReport
from bridge.model.errors import BridgeError, InfrastructureError, InputError, MissingDependency
from bridge.model.job import Job, JobSpec
from bridge.model.judge import JudgeConfig
from bridge.model.matcher import Matcher
from bridge.model.message import Message, Passage, Tool, ToolCall, Usage, passage_text
from bridge.model.output import Output, OutputTurn, Prefilter
from bridge.model.policy import GatePolicy, MetricPolicy, OnChange
from bridge.model.run import ExpectedRows, FrameworkRecord, GoldenSetRecord, MetricRecord, RunRecord
from bridge.model.score import Measurement, Raw, RowKey, Score, Status, error_measurement
from bridge.model.suite import FrameworkConfig, GoldenSetRef, Suite
from bridge.model.system import SystemConfig
from bridge.model.verdict import FailedCase, MetricResult, Regression, Totals, Verdict

__all__ = [
    "Baseline",
    "BridgeError",
    "Bundle",
    "Case",
    "Check",
    "ContextPattern",
    "Conversion",
    "ConversionLine",
    "ConversionReport",
    "ExpectedCall",
    "ExpectedCalls",
    "ExpectedRows",
    "FailedCase",
    "FrameworkConfig",
    "FrameworkRecord",
    "GatePolicy",
    "GoldenSetRecord",
    "GoldenSetRef",
    "InfrastructureError",
    "InputError",
    "Job",
    "JobSpec",
    "JudgeConfig",
    "Matcher",
    "Measurement",
    "Message",
    "MetricPolicy",
    "MetricRecord",
    "MetricResult",
    "MissingDependency",
    "OnChange",
    "Output",
    "OutputTurn",
    "Passage",
    "Prefilter",
    "Raw",
    "Regression",
    "RowKey",
    "RunRecord",
    "Score",
    "Status",
    "Suite",
    "SystemConfig",
    "Tool",
    "ToolCall",
    "Totals",
    "Turn",
    "Usage",
    "Verdict",
    "error_measurement",
    "passage_text",
    "references",
    "resolve_checks",
]
