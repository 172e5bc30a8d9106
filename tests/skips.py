"""Hooks: a skip is for a machine that cannot do something; CI can, so there it is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

R = TypeVar("R", pytest.TestReport, pytest.CollectReport)


def failed_if_skipped(report: R) -> R:
    """The report; failed if the test was skipped where CI is set."""
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.longrepr = f"skipped, and CI must be able to: {report.longrepr}"
        report.outcome = "failed"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tests that skip, and their fixtures."""
    return failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Whole files that skip, for a framework that is not installed."""
    return failed_if_skipped((yield))
