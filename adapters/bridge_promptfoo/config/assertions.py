"""Assertions as checks, and checks as assertions.

What a check cannot say of its assertion (a label, a grader's settings) is kept in the check's
extras as the whole assertion, and written back as long as the check is still what was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from pydantic import ValidationError

from bridge.model.check import GROUP, Check
from bridge.model.explain import explain
from bridge.model.values import freeze
from bridge.plugin.accounting import KEPT, NATIVE, Claim, carried, executable
from bridge.plugin.carry import KEY
from bridge.plugin.shared import SharedMetric
from bridge.scorers.evaluate import threshold_of as threshold_in_force
from bridge.scorers.registry import BUILT_IN
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import FILE, Node, is_code
from bridge_promptfoo.config.kinds import Kind, kind_of, threshold_of, to_params, to_parts
from bridge_promptfoo.config.templates import is_template, render
from bridge_promptfoo.rows import ASSERT_SET, NAME, name_of
from bridge_promptfoo.scorers import metrics_of, sealed_metric
from bridge_promptfoo.seal import inert

TEST = "test"
"""Metric of the group that a test with a threshold is."""
SHIM = "bridge_checks.cjs"
"""The file beside a written config that finds our checks."""
_TRANSFORMS = ("transform", "contextTransform")
_USED = frozenset({"type", "value", "threshold", "weight", "metric", "assert"})

ReadFile = Callable[[str, Node], Any]
"""Reads a data file that a node names."""


# --- native to neutral ------------------------------------------------------------------------


@dataclass(slots=True)
class ReadAsserts:
    """The assertions of one test, or of all tests.

    Attributes:
        checks: What they are as checks, in their order.
        foreign: Those that no check stands for, by their position.
        reasons: What becomes of each of those, by their position.
        names: How often each metric's name was given.
    """

    checks: list[Check] = field(default_factory=list)
    foreign: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, Claim] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)


class _ForeignError(ValueError):
    """No check stands for an assertion; what becomes of it."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        super().__init__(claim.reason)


class AssertionReader:
    """Reads the assertions of one config.

    Args:
        read_file: Reads a data file; assertions that name one are foreign without it.
    """

    def __init__(self, read_file: ReadFile | None = None) -> None:
        self._read_file = read_file

    def read(
        self, nodes: Sequence[Node], variables: Mapping[str, Any], so_far: ReadAsserts
    ) -> None:
        """Add assertions to those of a test.

        Args:
            nodes: The assertions.
            variables: The test's, for the bare names in values.
            so_far: What is added to.
        """
        for node in nodes:
            position = str(len(so_far.checks) + len(so_far.foreign))
            try:
                so_far.checks.append(self._check(node, variables, so_far.names))
            except _ForeignError as error:
                node.claim(error.claim)
                so_far.foreign[position] = node.plain()
                so_far.reasons[position] = error.claim

    def _check(self, node: Node, variables: Mapping[str, Any], names: Counter[str]) -> Check:
        if not isinstance(node.value, dict) or not isinstance(node.value.get("type"), str):
            raise _ForeignError(carried("no assertion: it has no type"))
        plain = node.plain()
        if (own := _own_check(plain)) is not None:
            names[own.metric] += 1
            node.claim(NATIVE)
            return own
        metric = numbered(name_of(plain), names)
        if plain["type"] == ASSERT_SET:
            fields = self._group(node, variables)
        else:
            fields = self._single(node, plain, variables)
        check = _checked({**fields, **_common(plain), "metric": metric})
        self._claim(node)
        return check if to_native(check) == plain else _with_original(check, plain)

    def _single(self, node: Node, plain: Fields, variables: Mapping[str, Any]) -> Fields:
        kind = kind_of(plain["type"])
        if any(key in plain for key in _TRANSFORMS):
            raise _ForeignError(executable("transforms the output before it is checked"))
        if not kind.is_mapped:
            raise _ForeignError(_fate_of(kind, plain.get("value")))
        try:
            value = render(self._value(node, plain.get("value")), variables)
        except ValueError as error:
            raise _ForeignError(executable(f"a template in its value: {error}")) from None
        given, negate = _number(plain.get("threshold")), plain["type"] != kind.type
        try:
            params = to_params(kind, value, given)
            threshold = threshold_of(kind, given, negate)
        except ValueError as error:
            raise _ForeignError(carried(f"{plain['type']}: {error}")) from None
        made = {"scorer": kind.scorer, "params": params, "negate": negate}
        return made if threshold is None else {**made, "threshold": threshold}

    def _value(self, node: Node, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        if is_code(value):
            raise _ForeignError(executable("its value is a script"))
        if self._read_file is None:
            raise _ForeignError(carried("its value is in a file that is not at hand"))
        return self._read_file(value, node)

    def _group(self, node: Node, variables: Mapping[str, Any]) -> Fields:
        listed = node.get("assert")
        members = ReadAsserts()
        self.read(listed.items() if listed is not None else (), variables, members)
        if members.foreign or not members.checks:
            what = "holds an assertion that no check stands for" if members.foreign else "is empty"
            raise _ForeignError(carried(f"the set {what}: kept whole"))
        threshold = node.value.get("threshold")
        return {"scorer": GROUP, "checks": members.checks, "threshold": _share(threshold)}

    def _claim(self, node: Node) -> None:
        """Say that an assertion is a check; the keys that no check needs are in its extras."""
        for key, _ in node.fields():
            if key not in _USED:
                node.claim(KEPT, key)
            elif key != "assert":
                node.claim(NATIVE, key)


def _own_check(plain: Fields) -> Check | None:
    """The check that an assertion of ours carries."""
    try:
        return next((each.check for each in metrics_of([plain])), None)
    except (ValueError, KeyError, TypeError):
        why = "names a check of ours in its config, which cannot be read"
        raise _ForeignError(carried(why)) from None


def _common(plain: Mapping[str, Any]) -> Fields:
    weight = plain.get("weight")
    if not _is_number(weight):
        return {}
    if weight < 0:
        raise _ForeignError(carried("its weight is below 0"))
    return {"weight": float(weight), "gate": weight > 0}


def _checked(fields: Fields) -> Check:
    try:
        return Check.model_validate(fields)
    except ValidationError as error:
        raise _ForeignError(carried(f"no check can say it ({explain(error)})")) from None


def _fate_of(kind: Kind, value: Any) -> Claim:
    if isinstance(value, str) and value.startswith(FILE) and is_code(value):
        return executable("its value is a script")
    if is_template(value) and kind.fate != "executable":
        return executable(f"{kind.reason}; its value is a template")
    return Claim(kind.fate, kind.reason)


def _with_original(check: Check, plain: Fields) -> Check:
    return check.model_copy(update={"extras": freeze({NAME: plain})})


def group_of_test(read: ReadAsserts, threshold: Any) -> Check | None:
    """The assertions of a test with a threshold as one group.

    Returns:
        ``None`` where a group cannot say it.
    """
    share = _share(threshold)
    if read.foreign or not read.checks or share is None:
        return None
    fields = {"scorer": GROUP, "checks": read.checks, "threshold": share, "metric": TEST}
    try:
        return Check.model_validate(fields)
    except ValidationError:
        return None


def numbered(name: str, names: Counter[str]) -> str:
    """A metric's name; from the second time on with a number, as rows of results have it."""
    names[name] += 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _share(value: Any) -> float | None:
    return float(value) if _is_number(value) and 0 <= value <= 1 else None


def _number(value: Any) -> float | None:
    return float(value) if _is_number(value) else None


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- neutral to native ------------------------------------------------------------------------


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
    if _common(original) != {"weight": check.weight, "gate": check.gate} and "weight" in original:
        return None
    value = original.get("value")
    if is_template(value) or (isinstance(value, str) and value.startswith(FILE)):
        value = check.params.get("schema", (to_parts(check) or {}).get("value"))
        if value is None or is_touched(value):
            return None
    try:
        limit = _number(original.get("threshold"))
        same = to_params(kind, value, limit) == check.params
        same = same and threshold_of(kind, limit, check.negate) == check.threshold
    except ValueError:
        return None
    return {**original, **({} if value is None else {"value": value})} if same else None


def _restored_set(check: Check, original: Mapping[str, Any]) -> Fields | None:
    """A set with its own settings and the members as they are now."""
    members = [to_native_or_shared(each) for each in check.checks]
    is_set = check.scorer == GROUP and original.get("type") == ASSERT_SET
    if not is_set or check.negate or has_shared(members):
        return None
    made = {**original, "assert": members}
    return made if _share(original.get("threshold")) == check.threshold else None


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
