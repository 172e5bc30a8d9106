"""Assertions as checks.

What a check cannot say of its assertion (a label, a grader's settings) is kept in the check's
extras as the whole assertion, and written back as long as the check is still what was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from bridge.model.check import GROUP, Check
from bridge.model.explain import explain
from bridge.model.values import freeze, is_number
from bridge.plugin.accounts.accounting import KEPT, NATIVE, Claim, carried, executable
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import FILE, Node, is_code
from bridge_promptfoo.config.graders import GRADER, NONE_NAMED, Graders
from bridge_promptfoo.config.kinds import Kind, kind_of, threshold_of, to_params
from bridge_promptfoo.config.merging import Test
from bridge_promptfoo.config.templates import is_template, render
from bridge_promptfoo.config.to_assertions import to_native, to_number, to_share
from bridge_promptfoo.rows import ASSERT_SET, NAME, name_of
from bridge_promptfoo.scorers import metrics_of

TEST = "test"
"""Metric of the group that a test with a threshold is."""
_TRANSFORMS = ("transform", "contextTransform")
GRADING = ("provider", "rubricPrompt", "factuality")
"""Options of a test, and keys of an assertion, that say how it is graded."""
_USED = frozenset({"type", "value", "threshold", "weight", "metric", "assert"})

ReadFile = Callable[[str, Node], Any]
"""Reads a data file that a node names."""


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


@dataclass(frozen=True, slots=True)
class Graded:
    """What a test says to its assertions.

    Attributes:
        variables: For the bare names in values.
        options: Its ``options``, where a grader may be named.
        expected: The reference answer of its case.
    """

    variables: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = ""


class _ForeignError(ValueError):
    """No check stands for an assertion; what becomes of it."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        super().__init__(claim.reason)


class AssertionReader:
    """Reads the assertions of one config.

    Args:
        read_file: Reads a data file; assertions that name one are foreign without it.
        graders: Names a judge for those that ask one; they are foreign without it.
    """

    def __init__(self, read_file: ReadFile | None = None, graders: Graders | None = None) -> None:
        self._read_file = read_file
        self._graders = graders

    def read(self, nodes: Sequence[Node], test: Graded, so_far: ReadAsserts) -> None:
        """Add assertions to those of a test.

        Args:
            nodes: The assertions.
            test: What the test says to them.
            so_far: What is added to.
        """
        for node in nodes:
            position = str(len(so_far.checks) + len(so_far.foreign))
            try:
                so_far.checks.append(self._check(node, test, so_far.names))
            except _ForeignError as error:
                node.claim(error.claim)
                so_far.foreign[position] = node.plain()
                so_far.reasons[position] = error.claim

    def _check(self, node: Node, test: Graded, names: Counter[str]) -> Check:
        if not isinstance(node.value, dict) or not isinstance(node.value.get("type"), str):
            raise _ForeignError(carried("no assertion: it has no type"))
        plain = node.plain()
        if (own := _own_check(plain)) is not None:
            names[own.metric] += 1
            node.claim(NATIVE)
            return own
        metric = numbered(name_of(plain), names)
        if plain["type"] == ASSERT_SET:
            fields = self._group(node, test)
        else:
            fields = self._single(node, plain, test)
        check = _checked({**fields, **_common(plain), "metric": metric})
        self._claim(node, _USED if check.judge is None else {*_USED, "provider"})
        if check.judge is not None and self._graders is not None:
            return _with_original(check, plain, self._graders.provider_of(check.judge))
        return check if to_native(check) == plain else _with_original(check, plain)

    def _single(self, node: Node, plain: Fields, test: Graded) -> Fields:
        kind = kind_of(plain["type"])
        if any(key in plain for key in _TRANSFORMS):
            raise _ForeignError(executable("transforms the output before it is checked"))
        if not kind.is_mapped:
            raise _ForeignError(_fate_of(kind, plain.get("value")))
        try:
            value = render(self._value(node, plain.get("value")), test.variables)
        except ValueError as error:
            raise _ForeignError(executable(f"a template in its value: {error}")) from None
        judge = {"judge": self._judge(kind, plain, test)} if kind.asks_judge else {}
        given, negate = to_number(plain.get("threshold")), plain["type"] != kind.type
        try:
            params = to_params(kind, value, given)
            threshold = threshold_of(kind, given, negate)
            _refuse_others_reference(kind, value, test)
        except ValueError as error:
            raise _ForeignError(carried(f"{plain['type']}: {error}")) from None
        made = {"scorer": kind.name, "params": params, "negate": negate, **judge}
        return made if threshold is None else {**made, "threshold": threshold}

    def _judge(self, kind: Kind, plain: Fields, test: Graded) -> str:
        if self._graders is None:
            raise _ForeignError(carried(NONE_NAMED))
        options = {**test.options, **{key: plain[key] for key in GRADING if key in plain}}
        if not kind.inverts and plain["type"] != kind.type:
            raise _ForeignError(carried("promptfoo ignores not- here: kept"))
        if others := [key for key in GRADING[1:] if options.get(key)]:
            raise _ForeignError(carried(f"{others[0]} changes what its grader is asked: kept"))
        try:
            return self._graders.name_of(options.get("provider"))
        except ValueError as error:
            raise _ForeignError(carried(str(error))) from None

    def _value(self, node: Node, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        if is_code(value):
            raise _ForeignError(executable("its value is a script"))
        if self._read_file is None:
            raise _ForeignError(carried("its value is in a file that is not at hand"))
        return self._read_file(value, node)

    def _group(self, node: Node, test: Graded) -> Fields:
        listed = node.get("assert")
        members = ReadAsserts()
        self.read(listed.items() if listed is not None else (), test, members)
        if members.foreign or not members.checks:
            what = "holds an assertion that no check stands for" if members.foreign else "is empty"
            raise _ForeignError(carried(f"the set {what}: kept whole"))
        threshold = node.value.get("threshold")
        return {"scorer": GROUP, "checks": members.checks, "threshold": to_share(threshold)}

    def _claim(self, node: Node, used: Collection[str]) -> None:
        """Say that an assertion is a check; the keys that no check needs are in its extras."""
        for key, _ in node.fields():
            if key not in used:
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
    if not is_number(weight):
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


def _with_original(check: Check, plain: Fields, grader: Fields | None = None) -> Check:
    asked = {} if grader is None else {GRADER: grader}
    return check.model_copy(update={"extras": freeze({NAME: plain, **asked})})


def _refuse_others_reference(kind: Kind, value: Any, test: Graded) -> None:
    """The judge is shown the case's reference: an assertion with another is not the same."""
    if kind.reference and (not isinstance(value, str) or value != test.expected):
        raise ValueError("its value is not the reference of its case")


def group_of_test(read: ReadAsserts, threshold: Any) -> Check | None:
    """The assertions of a test with a threshold as one group.

    Returns:
        ``None`` where a group cannot say it.
    """
    share = to_share(threshold)
    if read.foreign or not read.checks or share is None:
        return None
    fields = {"scorer": GROUP, "checks": read.checks, "threshold": share, "metric": TEST}
    try:
        return Check.model_validate(fields)
    except ValidationError:
        return None


def differ_by_test(default: Test, tests: Iterable[Test]) -> bool:
    """Whether the assertions of all tests ask a judge, and not the same for each test."""
    flat = [plain for node in default.asserts for plain in members_of(node.plain())]
    kinds = [kind for plain in flat if (kind := kind_of(str(plain.get("type")))).asks_judge]
    return any(kind.reference for kind in kinds) or (
        bool(kinds) and any(_grading(test) != _grading(default) for test in tests)
    )


def members_of(plain: Any) -> Iterator[Fields]:
    """An assertion and, of a set, what it holds."""
    if isinstance(plain, dict):
        yield plain
        members = plain.get("assert")
        yield from (
            (each for each in members if isinstance(each, dict))
            if isinstance(members, list)
            else ()
        )


def _grading(test: Test) -> list[Any]:
    options = test.fields.get("options") or {}
    return [options.get(key) for key in GRADING]


def numbered(name: str, names: Counter[str]) -> str:
    """A metric's name; from the second time on with a number, as rows of results have it."""
    names[name] += 1
    return name if names[name] == 1 else f"{name} ({names[name]})"
