"""Bundles that a dataset can hold, for the round trips of every dataset format."""

from __future__ import annotations

from typing import Any

from bridge.model import Bundle, Case, Output


def answered(bundle: Bundle, outputs: list[Output]) -> Bundle:
    """A bundle without scores whose outputs are, but for one, answers to its cases."""
    ids = [case.id for case in bundle.cases]
    mine = {}
    for index, output in enumerate(outputs):
        made = output.model_copy(update={"case_id": ids[index % len(ids)]})
        mine[made.key] = made
    mine.update({output.key: output for output in bundle.outputs[:1]})
    return bundle.model_copy(update={"outputs": tuple(mine.values()), "scores": ()})


def a_case(**fields: Any) -> Case:
    """A case of plain fields."""
    return Case.model_validate(fields)


def an_output(**fields: Any) -> Output:
    """An output of plain fields."""
    return Output.model_validate(fields)
