"""Scorers that ask a judge."""
