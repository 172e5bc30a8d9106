"""Secrets told by their names and by their shapes, and what stands in their place."""

from __future__ import annotations

import re

REDACTED = "[redacted]"

SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_\-*]{6,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=\-]{6,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}|\bAKIA[A-Z0-9]{12,}"
    r"|\b(?:ghp|gho|ghs|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_\-]{16,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,2000}\.[A-Za-z0-9_\-]{10,4000}\.[A-Za-z0-9_\-]{6,}"
)
"""Keys of well-known issuers, bearer tokens, signed web tokens."""

NAMES = re.compile(
    r"(?i)authorization$|cookie$|passw(?:or)?d$|passphrase$|secret$|credentials?$"
    r"|(?:api|access|private|secret|subscription|signing)[-_ ]?key$"
    r"|(?<!stop)(?<!eos)(?<!bos)(?<!pad)(?<!unk)(?<!special)(?<!stop[-_])(?<!eos[-_])(?<!bos[-_])"
    r"(?<!pad[-_])(?<!unk[-_])(?<!special[-_])token$"
)
"""Names of fields whose value is a secret; those of a tokenizer's tokens are none."""

_ADDRESS = re.compile(
    r"(?i)(?P<user>://)[^/\s:@\"'{}]+:[^/\s@\"'{}]+(?=@)"
    r"|(?P<query>[?&](?:api[-_]?key|key|token|access[-_]token|auth|sig|signature|secret|password)=)"
    r"(?!\{\{|\$)[^&#\s\"'<>]{4,}"
)
_REFERENCE = re.compile(r"\{\{.{0,200}?\}\}|\$\{[^}]{0,200}\}|\$\w+|\bprocess\.env\.\w+|<[^<>]*>")
_SCHEME = re.compile(r"(?i)^\s*(?:bearer|basic|token|key)\b")


def without_secrets(text: str) -> tuple[str, int]:
    """A text without what has the shape of a secret, and how many there were."""
    kept, keys = SHAPES.subn(REDACTED, text)
    kept, parts = _ADDRESS.subn(lambda m: f"{m['user'] or m['query']}{REDACTED}", kept)
    return kept, keys + parts


def is_written(value: str) -> bool:
    """Whether a secret is written out, rather than named (``{{env.KEY}}``, ``$KEY``) or gone."""
    left = _SCHEME.sub("", _REFERENCE.sub("", value)).strip(" *.-x")
    return left not in ("", REDACTED)
