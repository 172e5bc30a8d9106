"""JSON equality and the ``$`` matchers of expected arguments.

Equality follows JSON, not Python: a boolean never equals a number, an integer equals a float of
the same value, NaN equals nothing, strings are compared exactly, arrays in order, objects by key.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import re2

from bridge.model.matcher import Matcher
from bridge.scorers.matching.assignment import assign


def json_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same. Never raises; other types equal nothing."""
    return matches(left, right)


def matches(pattern: Any, value: Any) -> bool:
    """Whether a value fits a pattern (``bridge.model.matcher.parse_pattern``). Never raises.

    The matchers:

    - ``$exact``: equals the operand, in which ``$`` keys are plain keys.
    - ``$one_of``: fits one of the listed patterns.
    - ``$regex``: a string in which the RE2 pattern is found anywhere, as JSON Schema's ``pattern``
      does; anchor it with ``^`` and ``$`` to match the whole.
    - ``$approx``: a number within ``abs`` or ``rel`` of the operand (``math.isclose``).
    - ``$contains``: a string that holds the operand; an array in which an item fits it; an object
      in which each of its keys fits. An operand that is an array asks for every one of its items,
      in an array of different items.
    - ``$type``: has the JSON type; a whole float is an ``integer``, a boolean is no number.
    - ``$any``: any value, but there must be one.
    - ``$unordered``: an array that fits the listed patterns one to one, in any order.
    - ``$normalised``: a string that is the same after Unicode NFKC, case folding and collapsing
      white space; punctuation counts.
    """
    try:
        return _fits(pattern, value)
    except RecursionError:
        return False


def json_type(value: Any) -> str:
    """The JSON type of a value: ``number`` for integers too; ``invalid`` where it is none."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list | tuple) else "invalid"


def json_key(value: Any) -> Hashable:
    """A hash key of a JSON value: two keys are equal exactly where :func:`json_equal` holds."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list | tuple):
        return ("array", *map(json_key, value))
    if isinstance(value, dict):
        return frozenset((key, json_key(item)) for key, item in value.items())
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and value == value:  # not NaN
        return value
    return ("unlike anything", object())


def is_literal(pattern: Any) -> bool:
    """Whether a pattern holds no matcher, so that equality decides."""
    if isinstance(pattern, dict):
        return all(map(is_literal, pattern.values()))
    if isinstance(pattern, list):
        return all(map(is_literal, pattern))
    return not isinstance(pattern, Matcher)


def _fits(pattern: Any, value: Any) -> bool:
    if isinstance(pattern, str):
        return isinstance(value, str) and pattern == value
    if isinstance(pattern, Matcher):
        return MATCHERS[pattern.kind](pattern, value)
    if isinstance(pattern, bool) or isinstance(value, bool):
        return isinstance(pattern, bool) and isinstance(value, bool) and pattern == value
    if isinstance(pattern, int | float):
        return isinstance(value, int | float) and pattern == value
    if isinstance(pattern, dict):
        return isinstance(value, dict) and len(pattern) == len(value) and _has_keys(pattern, value)
    if isinstance(pattern, list | tuple):
        if not isinstance(value, list | tuple) or len(pattern) != len(value):
            return False
        return all(_fits(item, other) for item, other in zip(pattern, value, strict=True))
    return pattern is None and value is None


def _has_keys(pattern: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    return all(key in value and _fits(item, value[key]) for key, item in pattern.items())


def _exact(matcher: Matcher, value: Any) -> bool:
    return _fits(matcher.operand, value)


def _one_of(matcher: Matcher, value: Any) -> bool:
    return any(_fits(option, value) for option in matcher.operand)


def _regex(matcher: Matcher, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return _compiled(matcher.operand).search(value) is not None
    except UnicodeEncodeError:  # a lone surrogate, which no model value holds
        return False


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _approx(matcher: Matcher, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    wanted = matcher.operand
    try:
        return math.isclose(value, wanted, rel_tol=matcher.rel, abs_tol=matcher.abs)
    except OverflowError:
        if isinstance(value, float) and not math.isfinite(value):
            return False
        distance = abs(Fraction(value) - Fraction(wanted))
        widest = max(abs(Fraction(value)), abs(Fraction(wanted)))
        return distance <= max(Fraction(matcher.rel) * widest, Fraction(matcher.abs))


def _contains(matcher: Matcher, value: Any) -> bool:
    wanted = matcher.operand if isinstance(matcher.operand, list) else [matcher.operand]
    if isinstance(value, str):
        return all(isinstance(item, str) and item in value for item in wanted)
    if isinstance(value, list | tuple):
        return _all_among(wanted, value)
    if isinstance(value, dict):
        return all(isinstance(item, dict) and _has_keys(item, value) for item in wanted)
    return False


def _type(matcher: Matcher, value: Any) -> bool:
    wanted: str = matcher.operand
    if wanted == "integer":
        return _is_whole(value)
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return json_type(value) == wanted


def _is_whole(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _any(_: Matcher, value: Any) -> bool:
    return not (isinstance(value, float) and math.isnan(value))


def _unordered(matcher: Matcher, value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != len(matcher.operand):
        return False
    return _all_among(matcher.operand, value)


def _normalised(matcher: Matcher, value: Any) -> bool:
    return isinstance(value, str) and normalise(value) == normalise(matcher.operand)


def normalise(text: str) -> str:
    """Text under Unicode NFKC, case-folded, runs of white space as one space, ends stripped."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _all_among(patterns: Sequence[Any], items: Sequence[Any]) -> bool:
    """Whether every pattern fits an item of its own.

    A literal may take any item equal to it: giving it up to a matcher never fits more patterns,
    so only the matchers need an assignment.
    """
    wanted = Counter(json_key(item) for item in patterns if is_literal(item))
    rest = []
    for item in items:
        key = json_key(item)
        if wanted.get(key):
            wanted[key] -= 1
        else:
            rest.append(item)
    loose = [pattern for pattern in patterns if not is_literal(pattern)]
    if any(wanted.values()) or len(loose) > len(rest):
        return False
    fits = [[int(_fits(pattern, item)) for item in rest] for pattern in loose]
    return sum(fits[row][column] for row, column in assign(fits)) == len(loose)


MATCHERS: Mapping[str, Callable[[Matcher, Any], bool]] = {
    "$exact": _exact,
    "$one_of": _one_of,
    "$regex": _regex,
    "$approx": _approx,
    "$contains": _contains,
    "$type": _type,
    "$any": _any,
    "$unordered": _unordered,
    "$normalised": _normalised,
}
"""The test behind each matcher."""
