"""What all tests have in common and each of them says otherwise: in effect nowhere, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.plugin.accounts.accounting import carried, dropped
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import Node
from bridge_promptfoo.config.merging import Test

_KEPT = carried("every test says otherwise: kept for promptfoo")
_LOST = dropped("every test says otherwise")
_MERGED = ("options", "metadata")


def overridden(default: Test, tests: Sequence[Test]) -> Fields:
    """The values of ``defaultTest`` that no test inherits.

    Args:
        default: What all tests have in common.
        tests: The tests over it.

    Returns:
        Those of ``vars``, ``options`` and ``metadata`` key by key; other fields whole.
    """
    found: Fields = {}
    for key, value in default.fields.items():
        if key not in _MERGED:
            if not any(test.fields.get(key) == value for test in tests):
                found[key] = value
            continue
        held = [_object(test.fields.get(key)) for test in tests]
        found[key] = {
            name: item
            for name, item in value.items()
            if not any(name in each and each[name] == item for each in held)
        }
    found["vars"] = {
        name: value
        for name, value in default.variables.items()
        if all(name in test.own for test in tests)
    }
    return {key: value for key, value in found.items() if value not in ({}, None)}


def claim_overridden(node: Node | None, found: Mapping[str, Any], kept: Any) -> None:
    """Say what becomes of the values that no test inherits.

    Args:
        node: Where they stand; ``None`` where they are in a file of their own.
        found: The values.
        kept: What the suite keeps of ``defaultTest``.
    """
    for key, value in found.items() if node is not None else ():
        why = _KEPT if _object(kept).get(key) == value else _LOST
        below = node.get(key) if node is not None else None
        if below is None:
            continue
        if key in (*_MERGED, "vars"):
            for name in value:
                below.claim(why, name)
        else:
            below.claim(why)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
