"""Datasets that we write for other frameworks: any bundle, and back without a loss.

A row is an answered case, or a case without an answer. Its framework's own fields say what they
can; under the reserved key it carries the fields that would be read back as something else, each
with a digest of what they are read as. So an untouched row is the very value it was written from,
and what people change in a row is read like anybody else's. One row also carries what belongs to
no case: the suite, and outputs that answer none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.suite import Suite
from bridge.model.values import Model
from bridge.plugin.carry import plain

M = TypeVar("M", bound=Model)
Fields = dict[str, Any]
Answered = tuple[Case, Output | None]

KEPT = "kept"
"""Key of the fields that a row does not say."""
SHOWN = "shown"
"""Key of what is read of the row in their place: a digest of each, by which a change is seen."""
UNANSWERED = "unanswered"
"""Key of a digest of what reads as an answer in the row of a case that has none."""
SET = "set"
"""Key of what belongs to no case."""
DAMAGED = "take the file as it was written, or take the key bridge out of the row"


def answered(bundle: Bundle) -> list[Answered]:
    """The rows of a bundle: each case with each of its outputs, or without one."""
    by_case: dict[str, list[Output]] = {}
    for output in bundle.outputs:
        by_case.setdefault(output.case_id, []).append(output)
    return [(case, output) for case in bundle.cases for output in by_case.get(case.id) or (None,)]


def set_parts(bundle: Bundle, rows: Sequence[Answered]) -> Fields:
    """What one row carries for the whole set: suite, outputs to no case, and the order of all.

    Args:
        bundle: What is written.
        rows: Its rows in the order of the file.
    """
    parts: Fields = {}
    ids = {case.id for case in bundle.cases}
    apart = [output for output in bundle.outputs if output.case_id not in ids]
    if bundle.suite is not None:
        parts["suite"] = bundle.suite.model_dump(mode="json", exclude_defaults=True)
    if apart:
        parts["outputs"] = [plain(output) for output in apart]
    placed = [output for _, output in rows if output is not None]
    if [*placed, *apart] != list(bundle.outputs):
        parts["order"] = [list(output.key) for output in bundle.outputs]
    if list(dict.fromkeys(case.id for case, _ in rows)) != [case.id for case in bundle.cases]:
        parts["cases"] = [case.id for case in bundle.cases]
    return parts


def difference(value: Model, read: Model | None) -> Fields:
    """The fields of a value that its row does not say, each with a digest of what it says instead.

    Args:
        value: A case or output.
        read: What is read of its row; null if nothing is.
    """
    fields: Fields = plain(value)
    if read is None:
        return {KEPT: fields}
    native: Fields = plain(read)
    differ = [name for name in {**fields, **native} if _differ(fields, native, name)]
    if not differ:
        return {}
    return {
        KEPT: {name: fields[name] for name in differ if name in fields},
        SHOWN: {name: _digest(native.get(name)) for name in differ},
    }


def output_parts(output: Output | None, read: Output | None) -> Fields:
    """What a row carries of its output, or of what would be taken for one.

    Args:
        output: The output; null if the case has none.
        read: What is read of its row; null if nothing is.
    """
    if output is not None:
        return {"output": difference(output, read)}
    return {} if read is None else {UNANSWERED: _answer_digest(read)}


def _answer_digest(output: Output) -> str:
    return _digest({**plain(output), "case_id": ""})


def _differ(one: Fields, other: Fields, name: str) -> bool:
    return name not in one or name not in other or _text(one[name]) != _text(other[name])


def restored(model: type[M], parts: Any, read: M | None) -> M:
    """The value that a row was written from, with what was changed in the row since.

    Args:
        model: Its type.
        parts: What the row carries of it.
        read: What is read of the row; null if nothing is.

    Raises:
        ValueError: If what it carries is damaged.
    """
    try:
        kept, shown = dict(parts.get(KEPT, {})), dict(parts.get(SHOWN, {}))
    except (TypeError, ValueError, AttributeError):
        raise ValueError("what it carries is damaged") from None
    native: Fields = {} if read is None else plain(read)
    same = {name for name, digest in shown.items() if _digest(native.get(name)) == digest}
    if read is None:
        same = set(kept)
    fields = {name: value for name, value in native.items() if name not in same}
    fields |= {name: value for name, value in kept.items() if name in same}
    return model.model_validate(fields)


def _digest(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:16]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


class Collected:
    """The cases and outputs of a dataset, as far as it was read.

    Args:
        source: The file, for the errors.
        framework: Name of the framework.
    """

    def __init__(self, source: Path, framework: str) -> None:
        self._source = source
        self._framework = framework
        self._cases: dict[str, Case] = {}
        self._outputs: dict[tuple[str, str, int], Output] = {}
        self._set: Mapping[str, Any] = {}
        self._apart: dict[str, None] = {}

    def add(self, case: Case, output: Output | None, line: int) -> None:
        """Add one row.

        Raises:
            InputError: If its answer is there already.
        """
        known = self._cases.setdefault(case.id, case)
        if known != case:
            self._apart[case.id] = None
        if output is None:
            return
        if output.key in self._outputs:
            what = f"the answer to case {case.id!r} stands twice"
            raise InputError(what, where=self._source, line=line, fix="keep one of them")
        self._outputs[output.key] = output

    def add_own(
        self, parts: Any, case: Case, output: Output | None, line: int
    ) -> tuple[Case, Output | None]:
        """Add one row that we wrote.

        Args:
            parts: What it carries.
            case: The case as anybody else's row would be read.
            output: The output, likewise.
            line: Its line.

        Raises:
            InputError: If what it carries is damaged.
        """
        try:
            case = restored(Case, parts["case"], case)
            if output is not None and parts.get(UNANSWERED) == _answer_digest(output):
                output = None
            if parts.get("output") is not None:
                output = restored(Output, parts["output"], output)
            self._set = parts.get(SET) or self._set
        except ValidationError as error:
            raise self._damaged(explain(error), line) from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = str(error) if type(error) is ValueError else "what it carries is damaged"
            raise self._damaged(what, line) from None
        if output is not None and output.case_id != case.id:
            output = output.model_copy(update={"case_id": case.id})
        self.add(case, output, line)
        return case, output

    def _damaged(self, what: str, line: int | None = None) -> InputError:
        return InputError(what, where=self._source, line=line, fix=DAMAGED)

    def bundle(self) -> Bundle:
        """Everything that was read, in the order it was written in.

        Raises:
            InputError: If what the set carries is damaged.
        """
        try:
            suite = self._set.get("suite")
            for fields in self._set.get("outputs", ()):
                output = Output.model_validate(fields)
                self._outputs.setdefault(output.key, output)
            order = [(system, case, epoch) for system, case, epoch in self._set.get("order", ())]
            found = dict(self._outputs)
            known = [found.pop(key) for key in order if key in found]
            cases = dict(self._cases)
            first = [cases.pop(name) for name in self._set.get("cases", ()) if name in cases]
            return Bundle(
                suite=None if suite is None else Suite.model_validate(suite),
                cases=(*first, *cases.values()),
                outputs=(*known, *found.values()),
            )
        except ValidationError as error:
            raise self._damaged(explain(error)) from None
        except (ValueError, TypeError, AttributeError):
            raise self._damaged("what it carries for the whole set is damaged") from None

    def notes(self) -> list[str]:
        """What a reader should know."""
        if not self._apart:
            return []
        named = ", ".join(repr(name) for name in list(self._apart)[:3])
        return [f"rows of one case differ ({named}): the first one counts"]


def validated(model: type[M], fields: Mapping[str, Any], source: Path, line: int) -> M:
    """A neutral value of a foreign row.

    Raises:
        InputError: If the row is no such value.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise InputError(explain(error), where=source, line=line, fix="mend the row") from None


def named_checks(bundle: Bundle) -> Sequence[Any]:
    """The suite's checks as they are written in a file, for a script that runs a dataset."""
    return [] if bundle.suite is None else [check.short_form() for check in bundle.suite.checks]
