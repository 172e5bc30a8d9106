"""Lint of golden sets, suites and reports."""
