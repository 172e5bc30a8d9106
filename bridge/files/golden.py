"""Golden sets: JSONL, one case a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import explain, parse_object, read_lines, write_atomically
from bridge.model.case import Case
from bridge.model.errors import InputError


class GoldenSet:
    """The cases of one or more golden sets, each with the place it was read from."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.places: dict[str, tuple[Path, int]] = {}

    def add(self, path: Path) -> None:
        """Read one more file.

        Raises:
            InputError: On a faulty line, or an id that is there already.
        """
        for number, case in stream_cases(path):
            if case.id in self.places:
                first, line = self.places[case.id]
                raise InputError(
                    f"id {case.id!r} stands twice (first at {first}:{line})",
                    where=path,
                    line=number,
                    fix="give each case its own id",
                )
            self.places[case.id] = (path, number)
            self.cases.append(case)
        if not any(place == path for place, _ in self.places.values()):
            raise InputError("holds no case", where=path, fix="add one case a line")


def stream_cases(path: Path) -> Iterator[tuple[int, Case]]:
    """Stream (line number, case) of a golden set.

    Raises:
        InputError: At the first faulty line.
    """
    for number, line in read_lines(path):
        data = parse_object(line, path, number)
        try:
            yield number, Case.model_validate(data)
        except ValidationError as error:
            fix = "every line has id, input and expected; see docs/schemas/case.schema.json"
            raise InputError(explain(error), where=path, line=number, fix=fix) from None


def read_golden_set(*paths: Path) -> GoldenSet:
    """Read golden sets into one, ids unique over all of them."""
    golden = GoldenSet()
    for path in paths:
        golden.add(path)
    return golden


def write_cases(cases: Iterable[Case], path: Path) -> None:
    """Write a golden set, atomically; fields at their default are left out."""
    write_atomically(path, (f"{case.model_dump_json(exclude_defaults=True)}\n" for case in cases))
