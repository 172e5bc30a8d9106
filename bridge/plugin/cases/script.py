"""Python scripts that run a dataset: values and names in their source."""

from __future__ import annotations

import keyword
import pprint
import re
from collections.abc import Mapping
from typing import Any


def literal(value: Any) -> str:
    """JSON data as Python source that fits after an assignment; never anything else.

    ``repr`` of plain JSON types is such source, whatever stands in their texts.
    """
    return pprint.pformat(_unfrozen(value), width=90, sort_dicts=False, compact=True)


def _unfrozen(value: Any) -> Any:
    """The very types of JSON: a subclass might show itself as anything."""
    if isinstance(value, Mapping):
        return {str(key): _unfrozen(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_unfrozen(item) for item in value]
    return value


def identifier(text: str) -> str:
    """A text as a Python name: small letters, digits and underscores."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower() or "dataset"
    return f"dataset_{name}" if name[0].isdecimal() or keyword.iskeyword(name) else name
