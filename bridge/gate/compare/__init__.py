"""Comparisons that decide nothing: run against run, framework against framework."""
