"""Rows to a verdict."""
