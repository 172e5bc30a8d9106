"""promptfoo's CSV exports as rows: one line a test, one column (or several) a prompt.

There were three of them. A cell ``[PASS] (1.00, name: 0.50) text``, which may end with
``Pass Reason: ...``; the answer followed by the reason alone; and, today, an answer with columns
``Status``, ``Score``, ``Named Scores`` and ``Grader Reason`` behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.foreign.csv_rows import CsvRows, header_of, open_csv, separator_of
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import NATIVE, Tally, dropped
from bridge_promptfoo.records import ERROR, Grading, Prompt, Row, TestCase

DESCRIPTION = "Description"
COMMENT = dropped("a comment of a person")
BLANK = dropped("an empty cell")
STATUSES = {"PASS": True, "FAIL": False, "ERROR": None}

_MARK = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \((-?[\d.]+)((?:, [^:()]+: -?[\d.]+)*)\))?\s*")
_REASON = re.compile(r"(?:^|\n)(Pass|Fail) Reason: ")
_NAMED = re.compile(r", ([^:()]+): (-?[\d.]+)")
_HEAD = re.compile(r"\[([^\]]*)\] (.*)", re.DOTALL)


@dataclass(slots=True)
class _Prompt:
    """The columns of one prompt with one provider."""

    answer: int
    head: str
    beside: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV export.

    Attributes:
        cells: The file.
        prompts: Its answers' columns.
    """

    cells: CsvRows
    prompts: Sequence[_Prompt]

    @property
    def systems(self) -> list[tuple[str, str]]:
        """Provider and prompt of each column; the provider is "" where the head does not say."""
        found = []
        for prompt in self.prompts:
            match = _HEAD.fullmatch(prompt.head)
            found.append((match[1], match[2]) if match else ("", prompt.head))
        return found

    def account(self, tally: Tally) -> None:
        """Count the cells, by column."""
        for _, cells in self.cells:
            for name, cell in zip(self.cells.header, cells, strict=True):
                told = COMMENT if name == "Comment" else NATIVE
                tally.add(f"[].{name}", told if cell else BLANK)

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every answer as a row, with what it is called in errors."""
        first = self.prompts[0].answer
        names = self.cells.header[:first]
        for number, (line, cells) in enumerate(self.cells):
            given = dict(zip(names, cells, strict=False))
            description = given.pop(DESCRIPTION, None)
            test = TestCase(description=description or None, vars=dict(given))
            for index, prompt in enumerate(self.prompts):
                if not cells[prompt.answer] and not any(cells[at] for at in prompt.beside.values()):
                    continue  # the prompt was not run on this test
                row = _row(prompt, cells)
                row.test_idx, row.prompt_idx, row.test_case = number, index, test
                row.prompt = Prompt(label=prompt.head)
                yield f"the answer on line {line}", row


def open_table(source: Path, encoding: str = "") -> Table:
    """A CSV export.

    Raises:
        InputError: If it is damaged, or no column looks like promptfoo's answers.
    """
    cells = open_csv(source, encoding=encoding, repeated=True)
    prompts = _new_columns(cells.header) or _old_columns(cells)
    if not prompts:
        fix = "name another file"
        raise InputError("no promptfoo results (no column with verdicts)", where=source, fix=fix)
    return Table(cells, prompts)


def looks_like_export(text: str) -> float:
    """How sure a CSV file that begins so is promptfoo's."""
    if _new_columns(header_of(text, separator_of(text))):
        return 0.95
    return 0.9 if re.search(r'(?m)(^|[,;\t])"?\[(PASS|FAIL|ERROR)\] ', text) else 0.0


def _new_columns(header: Sequence[str]) -> list[_Prompt]:
    found: list[_Prompt] = []
    for at, name in enumerate(header):
        free = found[-1].answer + 3 if found else 0  # after an answer, its status and its score
        if name == "Status" and at > free and list(header[at + 1 : at + 2]) == ["Score"]:
            found.append(_Prompt(at - 1, header[at - 1]))
        if found and at > found[-1].answer:
            found[-1].beside.setdefault(name, at)
    for one, after in pairwise(found):
        one.beside = {name: at for name, at in one.beside.items() if at < after.answer}
    return found


def _old_columns(cells: CsvRows) -> list[_Prompt]:
    """The columns in which a verdict stands, all others before the first being variables."""
    marked: set[int] = set()
    for _, row in cells:
        marked.update(
            at for at, cell in enumerate(row) if _MARK.match(cell) or _REASON.search(cell)
        )
    found = []
    for at in sorted(marked):
        prompt = _Prompt(at, cells.header[at])
        for name in ("Grader Reason", "Comment"):
            place = at + 1 + len(prompt.beside)
            if cells.header[place : place + 1] == (name,):
                prompt.beside[name] = place
        found.append(prompt)
    return found


def _row(prompt: _Prompt, cells: Sequence[str]) -> Row:
    beside = {name: cells[at] for name, at in prompt.beside.items()}
    if "Status" in beside:
        return _new_row(cells[prompt.answer], beside)
    return _old_row(cells[prompt.answer], beside.get("Grader Reason", ""))


def _new_row(answer: str, beside: dict[str, str]) -> Row:
    status = beside["Status"].strip().upper()
    named = {
        name.removeprefix("Metric: "): _number(text)
        for name, text in beside.items()
        if name.startswith("Metric: ") and text
    }
    return _make(status, answer, beside["Score"], named, beside.get("Grader Reason", ""))


def _old_row(cell: str, beside: str) -> Row:
    mark = _MARK.match(cell)
    text = cell[mark.end() :] if mark else cell
    *_, reason = [None, *_REASON.finditer(text)]
    status = mark[1] if mark else ("PASS" if reason and reason[1] == "Pass" else "FAIL")
    if mark is None and reason is None:
        status = ""
    told = text[reason.end() :] if reason else beside
    answer = text[: reason.start()] if reason else text
    if status == "FAIL" and reason is None and "\n---\n" in answer:
        told, _, answer = answer.partition("\n---\n")
    named = {name: _number(value) for name, value in _NAMED.findall(mark[3] or "")} if mark else {}
    return _make(status, answer.strip(), (mark[2] or "") if mark else "", named, told.strip())


def _make(status: str, answer: str, score: str, named: dict[str, Any], reason: str) -> Row:
    row = Row(response={"output": answer}, named_scores=named)
    if status not in STATUSES:
        row.failure_reason = ERROR
        row.error = f"the cell has no verdict{f' but {status!r}' if status else ''}"
        return row
    row.success = STATUSES[status]
    if row.success is None:
        row.failure_reason, row.success = ERROR, False
        row.error = reason or answer or "promptfoo could not score it"
        return row
    number = _number(score) if score.strip() else float(row.success)
    row.grading_result = Grading(passed=row.success, score=number, reason=reason)
    return row


def _number(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
