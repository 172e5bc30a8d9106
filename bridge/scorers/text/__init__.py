"""Checks on the text of an answer."""
