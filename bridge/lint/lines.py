"""JSON Lines read on and on: every line that is a value, and a finding on every other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from bridge.files.jsonl import parse_object, read_lines
from bridge.lint.finding import LintFinding
from bridge.model.errors import InputError
from bridge.model.values import Model

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Read(Generic[M]):
    """A line that could be read.

    Attributes:
        number: The line's number, 1-based.
        line: The line as it stands in the file.
        data: The object in it.
        value: The same as a value of the model.
    """

    number: int
    line: bytes
    data: dict[str, Any]
    value: M


def read_on(path: Path, model: type[M], findings: list[LintFinding]) -> Iterator[Read[M]]:
    """The lines of a file that are values of a model, in order.

    Args:
        path: A JSON Lines file.
        model: What a line should be.
        findings: Takes a finding on every line that is none.

    Raises:
        InputError: If the file cannot be read.
    """
    for number, line in read_lines(path):
        try:
            data = parse_object(line, path, number)
            value = model.model_validate(data)
        except (InputError, ValidationError) as error:
            findings.append(LintFinding.of(error, "schema", path, number))
        else:
            yield Read(number, line, data, value)
