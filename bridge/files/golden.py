"""Golden sets: JSONL, one case a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import lone_surrogates, parse_object, read_lines, write_atomically
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.explain import explain


class GoldenSet:
    """The cases of one or more golden sets.

    Attributes:
        cases: In the order of the files.
        places: Where each was read, (path, line) by id.
        replaced_surrogates: Lone surrogates in all files, each read as U+FFFD.
    """

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.places: dict[str, tuple[Path, int]] = {}
        self.replaced_surrogates = 0

    def add(self, path: Path) -> None:
        """Read one more file.

        Raises:
            InputError: On a faulty line, or an id that is there already.
        """
        before = len(self.cases)
        for number, case, surrogates in _stream(path):
            self.replaced_surrogates += surrogates
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
        if len(self.cases) == before:
            raise InputError("holds no case", where=path, fix="add one case a line")

    def notes(self) -> list[str]:
        """What a reader should know of how the files were read."""
        count = self.replaced_surrogates
        return [f"{count} lone surrogates of the golden set were read as U+FFFD"] if count else []


def stream_cases(path: Path) -> Iterator[tuple[int, Case]]:
    """Stream (line number, case) of a golden set.

    Raises:
        InputError: At the first faulty line.
    """
    for number, case, _ in _stream(path):
        yield number, case


def _stream(path: Path) -> Iterator[tuple[int, Case, int]]:
    for number, line in read_lines(path):
        data = parse_object(line, path, number)
        try:
            yield number, Case.model_validate(data), lone_surrogates(line, data)
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
