"""A bundle as a dataset that Inspect loads, and a task file that ``inspect eval`` runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import NATIVE, Claims, account_bundle, carried, dropped
from bridge.plugin.carry import KEY, plain
from bridge.plugin.cases.dataset import SET, answered, difference, named_checks, set_parts
from bridge.plugin.cases.script import identifier, literal
from bridge_inspect.calls import Fields
from bridge_inspect.dataset.reading import FORMAT_NAME, OUTPUTS, case_of_record
from bridge_inspect.dataset.rows import to_record

WHY = "Inspect's samples have no field for it: kept in their metadata"
REPLAYED = carried("kept in the samples' metadata; replayed by the task")


def write_dataset(bundle: Bundle, dest: Path, *, task: bool) -> ConversionReport:
    """Write samples as JSON Lines, or as a JSON list.

    Args:
        bundle: What is written.
        dest: The file.
        task: Whether a task file is written beside it.

    Raises:
        InputError: If there is no case, or ``dest`` is neither.
        InfrastructureError: If it cannot be written.
    """
    if dest.suffix.lower() not in (".jsonl", ".json"):
        fix = f"write {dest.with_suffix('.jsonl').name}: CSV holds no messages and no metadata"
        raise InputError("an Inspect dataset is written as JSON Lines", where=dest, fix=fix)
    if not bundle.cases:
        raise InputError("there is no case", where=dest, fix="convert a file with cases")
    records = _records(bundle)
    lines = [json.dumps(each, ensure_ascii=False, allow_nan=False) for each in records]
    if dest.suffix.lower() == ".jsonl":
        write_atomically(dest, (f"{line}\n" for line in lines))
    else:
        write_atomically(dest, ["[\n", ",\n".join(lines), "\n]\n"])
    script = task_file(dest)
    if task:
        write_atomically(dest.with_name(script), [_script(dest, bundle)])
    notes = _notes(bundle, script) if task else ()
    return account_bundle(bundle, _claims(bundle), dest, FORMAT_NAME, notes)


def _records(bundle: Bundle) -> list[Fields]:
    by_case: dict[str, list[Output]] = {}
    for output in bundle.outputs:
        by_case.setdefault(output.case_id, []).append(output)
    records = [_record(case, by_case.get(case.id, [])) for case in bundle.cases]
    if found := set_parts(bundle, answered(bundle)):
        records[0]["metadata"][KEY][SET] = found
    return records


def _record(case: Case, outputs: list[Output]) -> Fields:
    """A sample with what it does not say."""
    record = to_record(case)
    parts: Fields = {"case": difference(case, case_of_record(record))}
    if outputs:
        parts[OUTPUTS] = [
            {name: value for name, value in plain(output).items() if name != "case_id"}
            for output in outputs
        ]
    record["metadata"] = {**record.get("metadata", {}), KEY: parts}
    return record


def task_file(dest: Path) -> str:
    """The name of the task file beside a dataset."""
    return f"{identifier(dest.stem)}_task.py"


def _script(dest: Path, bundle: Bundle) -> str:
    name = bundle.suite.name if bundle.suite is not None else dest.stem
    systems = list(dict.fromkeys(output.system for output in bundle.outputs))
    values = {
        "dataset": literal(dest.name),
        "checks": literal(named_checks(bundle)),
        "task": f"{identifier(name)}_task" if identifier(name) in _USED else identifier(name),
    }
    if systems:
        return _RECORDED.format(**values, system=literal(systems[0]))
    chosen = all(case.choices for case in bundle.cases)
    epochs = bundle.suite.epochs if bundle.suite is not None else 1
    return _ASKED.format(
        **values, solver="multiple_choice" if chosen else "generate", epochs=literal(epochs)
    )


_USED = frozenset(
    {"task", "replay", "scorers", "epochs_of", "load_samples", "generate", "multiple_choice"}
)
"""Names that a task file needs itself."""
_RECORDED = '''"""Scores recorded outputs in Inspect with the shared scorers: ``inspect eval FILE``.

No model is asked; ``-T system=NAME`` scores another system's outputs.
"""

from pathlib import Path

from bridge_inspect.dataset.native import epochs_of, load_samples, replay, scorers
from inspect_ai import Task, task

DATASET = Path(__file__).with_name({dataset})
CHECKS = {checks}


@task
def {task}(system: str = {system}):
    return Task(
        dataset=load_samples(DATASET),
        solver=replay(DATASET, system),
        scorer=scorers(DATASET, CHECKS),
        epochs=epochs_of(DATASET, system),
        model="none",
    )
'''
_ASKED = '''"""Asks a model in Inspect, with the shared scorers: ``inspect eval FILE --model M``."""

from pathlib import Path

from bridge_inspect.dataset.native import load_samples, scorers
from inspect_ai import Task, task
from inspect_ai.solver import {solver}

DATASET = Path(__file__).with_name({dataset})
CHECKS = {checks}


@task
def {task}():
    return Task(
        dataset=load_samples(DATASET),
        solver={solver}(),
        scorer=scorers(DATASET, CHECKS),
        epochs={epochs},
    )
'''


def _claims(bundle: Bundle) -> Claims:
    """What became of every neutral field."""
    native = ("id", "input", "expected", "choices", "metadata", "extras.inspect")
    claims = Claims(
        {
            "cases[].*": carried(WHY),
            **{f"cases[].{field}": NATIVE for field in native},
            "cases[].checks": carried("run by the task; kept in the samples' metadata"),
            "outputs[].*": REPLAYED,
            "suite.*": carried("no part of an Inspect dataset: kept in the samples' metadata"),
            "suite.name": NATIVE,
            "suite.checks": NATIVE,
            "suite.epochs": NATIVE,
            "scores[].*": dropped("a dataset holds no scores: write results"),
        }
    )
    for number, case in enumerate(bundle.cases):
        if case.turns:  # its first turn is what is asked
            claims.put(carried(WHY), "cases", number, "input")
    return claims


def _notes(bundle: Bundle, script: str) -> Iterator[str]:
    systems = list(dict.fromkeys(output.system for output in bundle.outputs))
    yield f"run it with: inspect eval {script}{'' if systems else ' --model MODEL'}"
    if len(systems) > 1:
        names = ", ".join(systems[1:4])
        yield f"it replays {systems[0]!r}; for another system add -T system=NAME ({names})"
    if not named_checks(bundle) and not any(case.checks or case.turns for case in bundle.cases):
        yield "there is no check: add some to CHECKS"
