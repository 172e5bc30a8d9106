"""What a file of ours is, told by the keys it begins with; nothing is validated here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from bridge.model.baseline import Baseline
from bridge.model.calibration import Calibration, Label
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.run import ExpectedRows, RunRecord
from bridge.model.score import Score
from bridge.model.suite import Suite
from bridge.model.values import Model
from bridge.model.verdict import Verdict

LineKind = Literal["case", "label", "output", "rows", "score"]
DocumentKind = Literal["baseline", "calibration", "report", "run", "suite"]

LINES: Mapping[LineKind, type[Model]] = {
    "case": Case,
    "label": Label,
    "output": Output,
    "rows": ExpectedRows,
    "score": Score,
}
"""The JSON Lines files of ours, with the type of a line."""

DOCUMENTS: Mapping[DocumentKind, type[Model]] = {
    "baseline": Baseline,
    "calibration": Calibration,
    "report": Verdict,
    "run": RunRecord,
    "suite": Suite,
}
"""The files of ours that are one object."""

_MARKS: Mapping[str, tuple[frozenset[str], ...]] = {
    "case": (frozenset({"id", "input"}),),
    "label": (frozenset({"case_id", "label"}),),
    "output": (frozenset({"case_id"}),),
    "rows": (frozenset({"case_id", "digest", "rows"}),),
    "score": (frozenset({"case_id", "framework", "metric", "status"}),),
    "baseline": (frozenset({"scores"}), frozenset({"cases", "golden_digest"})),
    "calibration": (frozenset({"created", "entries"}),),
    "report": (frozenset({"passed", "verdict"}),),
    "run": (frozenset({"suite", "suite_path"}), frozenset({"suite", "bridge_version"})),
    "suite": (frozenset({"golden_set", "system"}),),
}
"""The keys by which each kind is known: all of one set. They stand early in what we write."""

_SPACE = re.compile(r"[ \t\r\n]*")
_YAML_KEYS = (re.compile(rb"(?m)^golden_set[ \t]*:"), re.compile(rb"(?m)^system[ \t]*:"))
_YAML_START = re.compile(rb"""\s*(?:[#%].*\n\s*|---\s+)*["']?[\w.-]+["']?[ \t]*:(?:\s|$)""")
_FENCE = re.compile(rb"(?m)^(?:```|~~~)")


class Shape(NamedTuple):
    """What a file is, and how sure that is, in (0, 1]."""

    kind: str
    certainty: float


def line_shape(head: bytes) -> Shape | None:
    """What a file of JSON Lines holds, told by its first line that is not blank.

    Args:
        head: The first bytes of the file; the line may be cut off.
    """
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return _closest(leading_keys(line), LINES)


def document_shape(head: bytes) -> Shape | None:
    """What a JSON or YAML file is, told by its outermost keys.

    Args:
        head: The first bytes of the file.
    """
    keys = leading_keys(head)
    if keys:
        return _closest(keys, DOCUMENTS)
    found = sum(key.search(head) is not None for key in _YAML_KEYS) if _is_yaml(head) else 0
    return Shape("suite", found / len(_YAML_KEYS)) if found else None


def _is_yaml(head: bytes) -> bool:
    """Whether a text begins with a key of YAML, and is no Markdown page that quotes some."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    return _YAML_START.match(text) is not None and _FENCE.search(text) is None


def leading_keys(data: bytes) -> list[str]:
    """The outermost keys of a JSON object as far as it is there and in order; [] if it is none."""
    text = data.decode("utf-8", "ignore").removeprefix("\ufeff").lstrip()
    decoder = json.JSONDecoder()
    keys: list[str] = []
    place = 1 if text.startswith("{") else len(text)
    try:
        while text[place] != "}":
            key, place = decoder.raw_decode(text, _after_space(text, place))
            place = _after_space(text, place)
            if not isinstance(key, str) or text[place] != ":":
                break
            keys.append(key)
            _, place = decoder.raw_decode(text, _after_space(text, place + 1))
            place = _after_space(text, place)
            place += text[place] == ","
    except (ValueError, IndexError, RecursionError):
        pass
    return keys


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _closest(keys: list[str], models: Mapping[Any, type[Model]]) -> Shape | None:
    shapes = [
        Shape(kind, _certainty(keys, model))
        for kind, model in models.items()
        if any(mark.issubset(keys) for mark in _MARKS[kind])
    ]
    return max(shapes, key=lambda shape: shape.certainty, default=None)


def _certainty(keys: list[str], model: type[Model]) -> float:
    """1 where every key is the model's and none is missing; less than a half if some are not."""
    fields = model.model_fields
    known = sum(key in fields or (key == "meta" and model is Case) for key in keys)
    if known < len(keys):
        return 0.5 * known / len(keys)
    complete = all(key in keys for key, field in fields.items() if field.is_required())
    return 1.0 if complete else 0.9
