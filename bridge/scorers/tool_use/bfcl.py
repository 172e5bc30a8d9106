"""The ``bfcl`` profile: calls accepted as BFCL's checker of abstract syntax trees accepts them.

The Berkeley Function Calling Leaderboard (Patil et al., ICML 2025; PyPI ``bfcl-eval``) lists for
every parameter the values it accepts, ``""`` among them where the parameter may be left out, and
types each value by the function's description. Rules written here from its behaviour for Python:

- Types are those of the description (``dict``, ``float``, ``tuple``, ``any`` beside JSON Schema's);
  an integer is taken for a float, a boolean for no number. The items of an array are typed one
  level deep, anything below is not.
- A value of another type than described is right where it has the type of the accepted values and
  is one of them, letter by letter (a variable's name in place of a value).
- Texts are compared in lower case, without blanks and ``,./-_*^``, with ``'`` as ``"``; also as
  items of an array and as values of an object, but no deeper.
- An object's values are each in a list of accepted ones; arrays of objects go by position.
- Required parameters must be there, unknown ones must not.

``benchmarks/bfcl.py`` holds this against that checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bridge.model.case import ExpectedCall
from bridge.model.message import Tool
from bridge.model.values import FrozenDict, FrozenList
from bridge.scorers.matching.differences import Difference, DifferenceAxis, pointer
from bridge.scorers.tool_use.comparison import Made, UndecidedError
from bridge.scorers.tool_use.pairing import result_fits

TYPES: Mapping[str, type] = {
    "any": str,
    "array": list,
    "bool": bool,
    "boolean": bool,
    "dict": dict,
    "float": float,
    "integer": int,
    "list": list,
    "number": float,
    "object": dict,
    "string": str,
    "tuple": list,
}
"""Types of a description, and what a value of each is in Python."""

PLAIN: Mapping[type, type] = {FrozenList: list, FrozenDict: dict, tuple: list}
"""Types of frozen JSON values, and what they are in Python."""

SAME = str.maketrans({"'": '"', **dict.fromkeys(" ,./-_*^")})
"""Characters that make no difference between two texts."""


class Bfcl:
    """The profile for the tools on offer, for one comparison of calls."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool.parameters for tool in tools}
        self._fits: dict[tuple[int, int], bool] = {}

    def fits(self, expected: ExpectedCall, made: Made) -> bool:
        """Whether a call is accepted."""
        if made.name != expected.name or isinstance(made.arguments, str):
            return False
        key = (id(expected), id(made))
        if key not in self._fits:
            first = next(self._differences(expected, made.arguments), None)
            self._fits[key] = first is None and result_fits(expected, made)
        return self._fits[key]

    def differences(self, expected: ExpectedCall, made: Made) -> list[Difference]:
        """What is not accepted, parameter by parameter.

        Up to a parameter that cannot be decided, which matters no more once there is a difference.
        """
        found: list[Difference] = []
        if isinstance(made.arguments, str):
            return found
        try:
            found.extend(self._differences(expected, made.arguments))
        except UndecidedError:
            if not found:
                raise
        return found

    def agreement(self, expected: ExpectedCall, made: Made) -> float:
        """Share of the parameters that either call gives and that are accepted."""
        if isinstance(made.arguments, str):
            return 0.0
        wrong = {each.path for each in self.differences(expected, made)}
        given = {pointer(name) for name in made.arguments} | wrong
        return 1.0 - len(wrong) / len(given) if given else 1.0

    def _differences(
        self, expected: ExpectedCall, arguments: Mapping[str, Any]
    ) -> Iterator[Difference]:
        wanted = expected.arguments
        described, required = self._description(expected.name)
        for name in required:
            if name not in arguments:
                yield Difference(pointer(name), "missing_argument", wanted.get(name), None)
        for name, value in arguments.items():
            if name not in described or name not in wanted:
                yield Difference(pointer(name), "extra_argument", None, value)
                continue
            accepted = _accepted(expected.name, name, wanted[name])
            axis = _fault(value, accepted, *_types(expected.name, name, described[name]))
            if axis is not None:
                yield Difference(pointer(name), axis, accepted, value)
        for name, accepted in wanted.items():
            left_out = name not in arguments and name not in required
            if left_out and "" not in _accepted(expected.name, name, accepted):
                yield Difference(pointer(name), "missing_argument", accepted, None)

    def _description(self, name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
        parameters = self._tools.get(name)
        if parameters is None:
            raise UndecidedError(f"the bfcl profile needs a description of tool {name}")
        described, required = parameters.get("properties", {}), parameters.get("required", [])
        if not isinstance(described, Mapping) or not isinstance(required, list):
            raise UndecidedError(f"the description of tool {name} is none")
        return described, required


def _accepted(tool: str, name: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise UndecidedError(f"{tool}: the bfcl profile takes a list of values for {name}")
    return value


def _types(tool: str, name: str, described: Any) -> tuple[type, type | None]:
    """The type of a parameter, and that of its items where it is an array."""
    kind = _type(tool, name, described)
    if kind is not list:
        return kind, None
    return kind, _type(tool, name, described.get("items"))


def _type(tool: str, name: str, described: Any) -> type:
    written = described.get("type") if isinstance(described, Mapping) else None
    kind = TYPES.get(written) if isinstance(written, str) else None
    if kind is None:
        raise UndecidedError(f"{tool}: the bfcl profile knows no type {written!r}, of {name}")
    return kind


def _fault(
    value: Any, accepted: Sequence[Any], kind: type, items: type | None
) -> DifferenceAxis | None:
    """What is wrong with the value of a parameter."""
    if kind is float and type(value) is int:
        value = _as_float(value)
    variable = _is_variable(value, accepted, kind, items)
    if variable is None:
        return "wrong_type"
    fits = value in accepted if variable else _is_among(value, accepted, kind, items)
    return None if fits else "wrong_value"


def _as_float(value: int) -> float | int:
    try:
        return float(value)
    except OverflowError:
        return value


def _kind(value: Any) -> type:
    """The plain Python type of a frozen JSON value."""
    kind = type(value)
    return PLAIN.get(kind, kind)


def _wanted(accepted: Sequence[Any]) -> type | None:
    """The type of the first accepted value that is one."""
    return next((_kind(each) for each in accepted if each != ""), None)


def _is_variable(
    value: Any, accepted: Sequence[Any], kind: type, items: type | None
) -> bool | None:
    """Whether a value stands for another, to be taken as written; ``None`` if its type is wrong."""
    wanted = _wanted(accepted)
    if _kind(value) is kind:
        typed = items is None or any(_items_typed(value, each, items) for each in accepted)
        return (wanted is not None and wanted is not kind) if typed else None
    return True if wanted is not None and _kind(value) is wanted else None


def _items_typed(value: Sequence[Any], accepted: Any, items: type) -> bool:
    if not isinstance(accepted, list):
        return True
    return set(map(_kind, value)) <= {items, _wanted(accepted)}


def _is_among(value: Any, accepted: Sequence[Any], kind: type, items: type | None) -> bool:
    if kind is dict:
        return any(_is_object(value, each) for each in accepted if each != "")
    if kind is list and items is dict:
        return any(_are_objects(value, each) for each in accepted)
    if kind is str:
        return _plain(value) in [_plain(each) for each in accepted if isinstance(each, str)]
    if kind is list:
        return _all_plain(value) in [_all_plain(_listed(each)) for each in accepted]
    return value in accepted


def _is_object(value: Any, accepted: Any) -> bool:
    """Whether an object has accepted values only, and all that it must have."""
    if not isinstance(value, dict) or not isinstance(accepted, dict):
        raise UndecidedError("the bfcl profile compares objects with objects only")
    for key, item in value.items():
        if key not in accepted or _plain(item) not in _all_plain(_listed(accepted[key])):
            return False
    return all(key in value or "" in _listed(each) for key, each in accepted.items())


def _are_objects(value: Sequence[Any], accepted: Any) -> bool:
    """Whether the objects of an array are the accepted ones, place by place."""
    options = _listed(accepted)
    if len(value) != len(options):
        return False
    return all(
        option != "" and _is_object(item, option)
        for item, option in zip(value, options, strict=True)
    )


def _listed(accepted: Any) -> Sequence[Any]:
    """Values to be gone through; a text is its characters, as Python has it."""
    if not isinstance(accepted, list | str):
        raise UndecidedError("the bfcl profile takes lists of accepted values")
    return accepted


def _plain(value: Any) -> Any:
    """A text without what makes no difference; any other value as it is."""
    return value.translate(SAME).lower() if isinstance(value, str) else value


def _all_plain(values: Iterable[Any]) -> list[Any]:
    return [_plain(each) for each in values]
