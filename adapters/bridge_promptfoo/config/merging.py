"""Tests over what they inherit, key by key, and one for each item of their lists of texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from bridge_promptfoo.config.files import Document, Node

MAX_TESTS = 200_000


@dataclass(frozen=True, slots=True)
class Test:
    """A test as promptfoo runs it.

    Attributes:
        origin: Where it stands.
        variables: Its variables, files read.
        fields: ``description``, ``threshold``, ``options`` and the like, merged.
        asserts: Its own assertions, without those of all tests.
        with_defaults: Whether those of all tests apply to it.
        own: Names of the variables that it has not from all tests.
    """

    __test__ = False  # no test class for pytest

    origin: str
    variables: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    asserts: tuple[Node, ...] = ()
    with_defaults: bool = True
    own: tuple[str, ...] = ()


def finished(test: Test, default: Test, main: Document, *, expand: bool) -> Iterator[Test]:
    """A test over what all have in common, and one for each item of its lists of texts.

    Args:
        test: The test.
        default: What all tests have in common.
        main: The config, for the error.
        expand: Whether variables that are lists become a test for each item.

    Raises:
        InputError: If its lists make too many.
    """
    whole = over(default, test)
    whole = replace(
        whole,
        asserts=test.asserts,
        with_defaults=test.with_defaults,
        own=tuple(test.variables),
    )
    options = whole.fields.get("options") or {}
    kept = isinstance(options, Mapping) and options.get("disableVarExpansion") is True
    if kept or not expand:
        yield whole
        return
    choices = {
        name: value if _is_expanded(value) else [value] for name, value in whole.variables.items()
    }
    if math.prod(map(len, choices.values())) > MAX_TESTS:
        raise main.refuse(
            f"{test.origin}: its lists of variables make more than {MAX_TESTS} tests",
            (),
            "keep them with --read-option expand=false",
        )
    for values in product(*choices.values()):
        yield replace(whole, variables=dict(zip(choices, values, strict=True)))


def over(base: Test, test: Test) -> Test:
    """A test over what it inherits."""
    fields = {**base.fields, **test.fields}
    for key in ("options", "metadata"):
        parts = [each.fields.get(key) for each in (base, test)]
        merged = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
        if merged:
            fields[key] = merged
    return replace(test, variables={**base.variables, **test.variables}, fields=fields)


def metadata_of(test: Test) -> dict[str, Any]:
    """A test's metadata."""
    found = test.fields.get("metadata")
    return found if isinstance(found, dict) else {}


def _is_expanded(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and isinstance(value[0], str)
