"""Digests: SHA-256 of RFC 8785 canonical JSON, so that equal content has one name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import rfc8785

from bridge.model.case import Case
from bridge.model.judge import JudgeConfig

_SAFE_INTEGER = 2**53 - 1


def digest(value: Any) -> str:
    """``sha256:`` digest of a JSON value in its canonical form (RFC 8785)."""
    return f"sha256:{hashlib.sha256(rfc8785.dumps(_plain(value))).hexdigest()}"


def _plain(value: Any) -> Any:
    """Whole numbers beyond 2^53, which RFC 8785 cannot write, become tagged text."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
        return {"$integer": str(value)}
    return value


def case_digest(case: Case) -> str:
    """Digest of one case."""
    return digest(case.model_dump(mode="json", exclude_defaults=True))


def judge_digest(judge: JudgeConfig) -> str:
    """Digest of what a judge's scores depend on: not the address, not the name of the key."""
    asked = {"model", "temperature", "seed", "structured", "options"}
    return digest(judge.model_dump(mode="json", include=asked))


def set_digest(case_digests: Iterable[str]) -> str:
    """Digest of a golden set: over its sorted case digests, so that order does not matter."""
    return digest(sorted(case_digests))
