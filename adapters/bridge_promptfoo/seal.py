"""Values as text that promptfoo leaves as it is.

What stands in a promptfoo config does not stay what it was: every string goes through
``{{ env.X }}`` substitution, also ``providerOutput`` and ``metadata``, and a ``|`` inside makes it
a whole nunjucks template, which is code; objects with a ``$ref`` key are resolved, from files and
the network too; a ``__proto__`` key is lost; a key such as ``token``, and strings that are JSON or
look like a key, are redacted in results. A sealed value is one string with none of these in it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

PREFIX = "bridge:"
"""Start of every sealed value: what is no JSON document is not looked into."""

_TAG = re.compile(r"\{(?=[{%#])")


def seal(value: Any) -> str:
    """A JSON value as text: ASCII, without the start of a template tag."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # a brace before another opening one can only stand inside a string; DEL is no YAML character
    return PREFIX + _TAG.sub(r"\\u007b", text).replace("\x7f", "\\u007f")


def unseal(sealed: Any) -> Any:
    """The value inside.

    Raises:
        ValueError: If it is not sealed, or broken.
    """
    if not isinstance(sealed, str) or not sealed.startswith(PREFIX):
        raise ValueError("not a sealed value")
    return msgspec.json.decode(sealed[len(PREFIX) :])


def inert(text: str) -> str:
    """A text to be shown only, with a blank wherever a template tag would start."""
    return _TAG.sub("{ ", text)
