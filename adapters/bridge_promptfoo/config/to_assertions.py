"""Checks as assertions: promptfoo's own where one says the same, else ours.

An assertion that was read comes back as it was as long as the check is still what was read of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.model.case import Case
from bridge.model.check import GROUP, Check
from bridge.model.judge import JudgeConfig
from bridge.model.values import is_number
from bridge.plugin.carry import KEY, held_reference, plain
from bridge.plugin.scoring.shared import SharedMetric
from bridge.scorers.evaluate import threshold_of as threshold_in_force
from bridge.scorers.registry import BUILT_IN
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import FILE
from bridge_promptfoo.config.graders import EMBEDDING, GRADER, to_provider
from bridge_promptfoo.config.kinds import Kind, kind_of, threshold_of, to_params, to_parts
from bridge_promptfoo.config.params import Parts
from bridge_promptfoo.config.templates import is_template, render
from bridge_promptfoo.rows import ASSERT_SET, NAME
from bridge_promptfoo.scorers import sealed_metric
from bridge_promptfoo.seal import inert

SHIM = "bridge_checks.cjs"
"""The file beside a written config that finds our checks."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an assertion is written.

    Attributes:
        judges: The suite's.
        case: The case of the test; ``None`` among the assertions of all tests.
        back: Whether the test's own options, its grader among them, are written with it.
        told: The variables that a grader is told, as far as the test can have them.
    """

    judges: Mapping[str, JudgeConfig] = field(default_factory=dict)
    case: Case | None = None
    back: bool = False
    told: Mapping[str, Any] = field(default_factory=dict)

    def grader(self, check: Check) -> Fields | None:
        """What promptfoo sees of a check's judge; ``None`` where it cannot ask the same."""
        judge = self.judges.get(check.judge or "")
        return None if judge is None else to_provider(judge)

    @property
    def reference(self) -> str:
        """The reference answer, "" where there is none that promptfoo would leave as it is."""
        text = "" if self.case is None else held_reference(plain(self.case).get("expected"))
        return "" if is_touched(text) else text

    def has(self, need: str, grader: Mapping[str, Any]) -> bool:
        """Whether a grader can be told of something."""
        if need == "reference":
            return self.reference != ""
        return need in (grader if need == EMBEDDING else self.told)


NOWHERE = Place()


def to_native(check: Check, place: Place = NOWHERE) -> Fields | None:
    """A check as promptfoo's own assertion; ``None`` where promptfoo has none that says the same.

    The metric's name is left out where promptfoo calls the assertion so by itself.
    """
    parts = _set_of(check, place) if check.scorer == GROUP else _parts(check, place)
    if parts is None:
        return None
    if check.gate != (check.weight > 0) or is_touched(parts):
        return None
    made = dict(parts)
    if check.weight != 1.0:
        made["weight"] = _whole(check.weight)
    if check.metric != made["type"]:
        made["metric"] = check.metric
    return None if is_template(check.metric) else made


def _parts(check: Check, place: Place) -> Parts | None:
    """Type, value and threshold; of one that asks a judge the grader too."""
    parts = to_parts(check)
    kind = None if parts is None else kind_of(parts["type"])
    if parts is None or kind is None or not kind.asks_judge:
        return None if check.judge_name is not None else parts
    grader = place.grader(check)
    if grader is None or not all(place.has(need, grader) for need in kind.needs):
        return None
    told = {"value": place.reference} if kind.reference else {}
    return {**parts, **told, "provider": grader}


def needs_of(check: Check) -> set[str]:
    """What the assertions of a check are told of its case."""
    if check.checks:
        return {need for each in check.checks for need in needs_of(each)}
    parts = to_parts(check)
    return set() if parts is None else {*kind_of(parts["type"]).needs} - {EMBEDDING}


def _set_of(check: Check, place: Place) -> Fields | None:
    if check.judge_name is not None:
        return None
    members = [None if each.checks else to_native(each, place) for each in check.checks]
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


def to_native_or_shared(check: Check, place: Place = NOWHERE) -> Fields:
    """A check as an assertion: what was read, else promptfoo's own, else ours."""
    native = to_original(check, place) or to_native(check, place)
    if native is not None:
        return native
    return to_shared(SharedMetric(check.metric, check.scorer, check), check)


def to_original(check: Check, place: Place) -> Fields | None:
    """The assertion that a check was read from; ``None`` if it was from none, or is another."""
    original = check.extras.get(NAME)
    return restored(check, original, place) if isinstance(original, Mapping) else None


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


def restored(check: Check, original: Mapping[str, Any], place: Place = NOWHERE) -> Fields | None:
    """The assertion that a check was read from; ``None`` if the check is another by now.

    A value that was a template or a file stands in the check as what it meant, and is written so;
    a template that means it still, in a test with the variables it came with, is left as it was.
    """
    name = str(original.get("type"))
    kind = kind_of(name)
    if check.scorer == GROUP or name == ASSERT_SET:
        return _restored_set(check, original, place)
    if check.scorer != kind.name or check.negate != (name != kind.type):
        return None
    grader = _same_grader(check, original, place) if kind.asks_judge else {}
    if grader is None or (not kind.asks_judge and check.judge_name is not None):
        return None
    if not _same_weight(check, original):
        return None
    try:
        value = _meant(check, original.get("value"), kind, place)
        limit = to_number(original.get("threshold"))
        same = to_params(kind, value, limit) == check.params
        same = same and threshold_of(kind, limit, check.negate) == check.threshold
        same = same and (not kind.reference or value == place.reference)
    except ValueError:
        return None
    if value is None or _means(original.get("value"), value, place):
        return {**original, **grader} if same else None
    return {**original, "value": value, **grader} if same else None


def _meant(check: Check, value: Any, kind: Kind, place: Place) -> Any:
    """The value of an assertion; what a check has of it where it was a template or a file.

    Raises:
        ValueError: If promptfoo would make something else of that.
    """
    if not is_template(value) and not (isinstance(value, str) and value.startswith(FILE)):
        return value
    told = (to_parts(check) or {}).get("value")
    meant = place.reference if kind.reference else check.params.get("schema", told)
    if meant is None or is_touched(meant):
        raise ValueError("it is no value of promptfoo's")
    return meant


def _means(template: Any, value: Any, place: Place) -> bool:
    """Whether promptfoo would make a value of a template, from the variables of a test."""
    if not place.back or place.case is None or not is_template(template):
        return False
    try:
        return bool(render(template, plain(place.case).get("vars", {})) == value)
    except ValueError:
        return False


def _same_grader(check: Check, original: Mapping[str, Any], place: Place) -> Fields | None:
    """What an assertion needs to be said of its grader; ``None`` if that is another by now."""
    grader = place.grader(check)
    if check.judges is not None or grader != check.extras.get(GRADER):
        return None
    if "provider" in original or place.back:
        return {}
    return None if grader is None else {"provider": grader}


def _same_weight(check: Check, original: Mapping[str, Any]) -> bool:
    if "weight" not in original:
        return True
    weight = original["weight"]
    return is_number(weight) and weight == check.weight and check.gate == (weight > 0)


def _restored_set(check: Check, original: Mapping[str, Any], place: Place) -> Fields | None:
    """A set with its own settings and the members as they are now."""
    members = [to_native_or_shared(each, place) for each in check.checks]
    is_set = check.scorer == GROUP and original.get("type") == ASSERT_SET
    if not is_set or check.negate or has_shared(members):
        return None
    made = {**original, "assert": members}
    return made if to_share(original.get("threshold")) == check.threshold else None


def merged(checks: Iterable[Check], foreign: Any, place: Place = NOWHERE) -> list[Fields]:
    """Checks as assertions, with those that no check stands for back in their places."""
    waiting = iter(checks)
    kept = dict(foreign) if isinstance(foreign, Mapping) else {}
    made: list[Fields] = []
    for check in waiting:
        while str(len(made)) in kept:
            made.append(kept.pop(str(len(made))))
        made.append(to_native_or_shared(check, place))
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
