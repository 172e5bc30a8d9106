"""Prompt-injection scanner: rules as data, over every reading of a text."""

from bridge.scorers.injection.findings import Action, Match, ScanResult
from bridge.scorers.injection.rules import (
    CARRIERS,
    SEVERITIES,
    Carrier,
    Rule,
    RuleError,
    Severity,
    load_rules,
    rules_digest,
)
from bridge.scorers.injection.scanner import VERSION, scan, scan_batch, scanner_version

__all__ = [
    "CARRIERS",
    "SEVERITIES",
    "VERSION",
    "Action",
    "Carrier",
    "Match",
    "Rule",
    "RuleError",
    "ScanResult",
    "Severity",
    "load_rules",
    "rules_digest",
    "scan",
    "scan_batch",
    "scanner_version",
]
