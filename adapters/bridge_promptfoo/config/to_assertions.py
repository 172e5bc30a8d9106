"""Checks as assertions: promptfoo's own where one says the same, else ours.

An assertion that was read comes back as it was as long as the check is still what was read of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from bridge.model.check import GROUP, Check
from bridge.plugin.carry import KEY
from bridge.plugin.shared import SharedMetric
from bridge.scorers.evaluate import threshold_of as threshold_in_force
from bridge.scorers.registry import BUILT_IN
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import FILE
from bridge_promptfoo.config.kinds import kind_of, threshold_of, to_params, to_parts
from bridge_promptfoo.config.templates import is_template
from bridge_promptfoo.rows import ASSERT_SET, NAME
from bridge_promptfoo.scorers import sealed_metric
from bridge_promptfoo.seal import inert

SHIM = "bridge_checks.cjs"
"""The file beside a written config that finds our checks."""


def to_native(check: Check) -> Fields | None:
    """A check as promptfoo's own assertion; ``None`` where promptfoo has none that says the same.

    The metric's name is left out where promptfoo calls the assertion so by itself.
    """
    parts = _set_of(check) if check.scorer == GROUP else to_parts(check)
    if parts is None or check.judge is not None:
        return None
    if check.gate != (check.weight > 0) or is_touched(parts):
        return None
    made = dict(parts)
    if check.weight != 1.0:
        made["weight"] = _whole(check.weight)
    if check.metric != made["type"]:
        made["metric"] = check.metric
    return None if is_template(check.metric) else made


def _set_of(check: Check) -> Fields | None:
    members = [None if each.checks else to_native(each) for each in check.checks]
    if check.negate or None in members:
        return None
    made: Fields = {"type": ASSERT_SET, "assert": members}
    return made if check.threshold is None else {**made, "threshold": _whole(check.threshold)}


def is_touched(value: Any) -> bool:
    """Whether promptfoo would make something else of a value: render, load or resolve it."""
    if isinstance(value, str):
        return is_template(value) or value.startswith((FILE, "package:"))
    if isinstance(value, Mapping):
        return any(
            key in ("$ref", "__proto__") or is_template(key) or is_touched(item)
            for key, item in value.items()
        )
    return isinstance(value, list | tuple) and any(map(is_touched, value))


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def to_native_or_shared(check: Check) -> Fields:
    """A check as an assertion: what was read, else promptfoo's own, else ours."""
    original = check.extras.get(NAME)
    made = restored(check, original) if isinstance(original, Mapping) else None
    native = made or to_native(check)
    if native is not None:
        return native
    return to_shared(SharedMetric(check.metric, check.scorer, check), check)


def to_shared(metric: SharedMetric, check: Check) -> Fields:
    """A metric as our own assertion, found through the script beside the config.

    Unlike :func:`bridge_promptfoo.scorers.to_assertion` it imports no scorer: a bundle of unknown
    origin may name any module.
    """
    assertion: Fields = {
        "type": "javascript",
        "value": f"{FILE}{SHIM}",
        "metric": inert(metric.metric),
        "config": {KEY: sealed_metric(metric)},
        "weight": check.weight,
    }
    own = check.scorer in BUILT_IN or check.scorer == GROUP
    threshold = threshold_in_force(check) if own else check.threshold
    return assertion if threshold is None else {**assertion, "threshold": threshold}


def restored(check: Check, original: Mapping[str, Any]) -> Fields | None:
    """The assertion that a check was read from; ``None`` if the check is another by now.

    A value that was a template or a file stands in the check as what it meant, and is written so.
    """
    name = str(original.get("type"))
    kind = kind_of(name)
    if check.scorer == GROUP or name == ASSERT_SET:
        return _restored_set(check, original)
    if check.scorer != kind.scorer or check.negate != (name != kind.type):
        return None
    if not _same_weight(check, original):
        return None
    value = original.get("value")
    if is_template(value) or (isinstance(value, str) and value.startswith(FILE)):
        value = check.params.get("schema", (to_parts(check) or {}).get("value"))
        if value is None or is_touched(value):
            return None
    try:
        limit = to_number(original.get("threshold"))
        same = to_params(kind, value, limit) == check.params
        same = same and threshold_of(kind, limit, check.negate) == check.threshold
    except ValueError:
        return None
    return {**original, **({} if value is None else {"value": value})} if same else None


def _same_weight(check: Check, original: Mapping[str, Any]) -> bool:
    if "weight" not in original:
        return True
    weight = original["weight"]
    return is_number(weight) and weight == check.weight and check.gate == (weight > 0)


def _restored_set(check: Check, original: Mapping[str, Any]) -> Fields | None:
    """A set with its own settings and the members as they are now."""
    members = [to_native_or_shared(each) for each in check.checks]
    is_set = check.scorer == GROUP and original.get("type") == ASSERT_SET
    if not is_set or check.negate or has_shared(members):
        return None
    made = {**original, "assert": members}
    return made if to_share(original.get("threshold")) == check.threshold else None


def merged(checks: Iterable[Check], foreign: Any) -> list[Fields]:
    """Checks as assertions, with those that no check stands for back in their places."""
    waiting = iter(checks)
    kept = dict(foreign) if isinstance(foreign, Mapping) else {}
    made: list[Fields] = []
    for check in waiting:
        while str(len(made)) in kept:
            made.append(kept.pop(str(len(made))))
        made.append(to_native_or_shared(check))
    rest = sorted(kept.items(), key=lambda item: (len(item[0]), item[0]))
    return [*made, *(each for _, each in rest)]


def has_shared(assertions: Iterable[Any]) -> bool:
    """Whether any assertion is ours."""
    configs = [each.get("config") for each in assertions if isinstance(each, Mapping)]
    return any(isinstance(config, Mapping) and KEY in config for config in configs)


def to_share(value: Any) -> float | None:
    """A threshold in [0, 1]; ``None`` where it is none."""
    return float(value) if is_number(value) and 0 <= value <= 1 else None


def to_number(value: Any) -> float | None:
    """A number; ``None`` where it is none."""
    return float(value) if is_number(value) else None


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)
