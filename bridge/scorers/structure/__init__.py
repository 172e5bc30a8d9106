"""Checks on answers in a formal language: JSON, XML, HTML, SQL."""
