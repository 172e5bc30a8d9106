"""The ten inputs on which published gates pass when they should not, in the result file of every
format that the gate reads: each ends with exit code 2 or 3, and with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bridge.cli.gate import decide_and_report
from bridge.model import InputError
from bridge.plugin.format import Streaming
from bridge.plugin.registry import format_names, get_format

Rows = Sequence[tuple[str, str]]
"""Ids with their scores, as a file spells them."""

GOOD: Rows = [(f"c{i:02d}", "1.0") for i in range(20)]
HERE = '"@"'
"""Where a score goes in a row of JSON."""


def as_json(row: Callable[[str], Mapping[str, Any]], rows: Rows) -> list[str]:
    return [json.dumps(row(case)).replace(HERE, score) for case, score in rows]


def promptfoo_row(case: str) -> dict[str, Any]:
    graded = {"pass": True, "score": "@", "reason": ""}
    return {
        "testIdx": 0,
        "promptIdx": 0,
        "testCase": {"description": case, "vars": {"q": case}},
        "vars": {"q": case},
        "response": {"output": "a"},
        "provider": "p",
        "success": True,
        "failureReason": 0,
        "gradingResult": {
            **graded,
            "componentResults": [{**graded, "assertion": {"type": "equals"}}],
        },
    }


def promptfoo(rows: Rows) -> str:
    lines = as_json(promptfoo_row, rows)
    numbered = [line.replace('"testIdx": 0', f'"testIdx": {i}') for i, line in enumerate(lines)]
    return f'{{"results": {{"version": 3, "results": [{", ".join(numbered)}]}}}}'


def deepeval_row(case: str) -> dict[str, Any]:
    metric = {"name": "Faithfulness", "threshold": 0.5, "success": True, "score": "@"}
    return {
        "name": case,
        "input": "q",
        "actualOutput": "a",
        "success": True,
        "metricsData": [metric],
    }


def deepeval(rows: Rows) -> str:
    return f'{{"testCases": [{", ".join(as_json(deepeval_row, rows))}]}}'


def inspect_row(case: str) -> dict[str, Any]:
    said = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "a"}}]}
    return {
        "id": case,
        "epoch": 1,
        "input": "q",
        "target": "a",
        "messages": [],
        "output": said,
        "scores": {"accuracy": {"value": "@"}},
    }


def inspect(rows: Rows) -> str:
    spec = {
        "task": "t",
        "model": "m",
        "created": "2026-01-01T00:00:00+00:00",
        "dataset": {},
        "config": {},
    }
    head = json.dumps({"version": 2, "status": "success", "eval": spec})
    return f'{head[:-1]}, "samples": [{", ".join(as_json(inspect_row, rows))}]}}'


def ragas(rows: Rows) -> str:
    lines = [f"{case},{case}?,a,{score}" for case, score in rows]
    return "\n".join(["id,user_input,response,faithfulness", *lines, ""])


def lm_eval_row(case: str) -> dict[str, Any]:
    return {
        "doc_id": case,
        "doc": {},
        "target": "a",
        "filtered_resps": ["a"],
        "metrics": ["acc"],
        "acc": "@",
    }


def lm_eval(rows: Rows) -> str:
    return "\n".join(as_json(lm_eval_row, rows))


def every_eval_ever_row(case: str) -> dict[str, Any]:
    return {
        "schema_version": "instance_level_eval_0.2.2",
        "evaluation_id": "e",
        "model_id": "m",
        "evaluation_name": "n",
        "sample_id": case,
        "input": {"raw": "q", "reference": ["a"]},
        "output": {"raw": ["a"]},
        "evaluation": {"score": "@"},
    }


def every_eval_ever(rows: Rows) -> str:
    return "\n".join(as_json(every_eval_ever_row, rows))


def junit(rows: Rows) -> str:
    tests = "\n".join(f'<testcase classname="s" name="{case}"/>' for case, _ in rows)
    return f'<testsuite name="s" tests="{len(rows)}">\n{tests}\n</testsuite>'


class Form(NamedTuple):
    """How a format writes rows down; ``scores`` says whether it has any beside pass and fail."""

    suffix: str
    write: Callable[[Rows], str]
    scores: bool = True


FORMS = {
    "promptfoo": Form(".json", promptfoo),
    "deepeval": Form(".json", deepeval),
    "inspect": Form(".json", inspect),
    "ragas": Form(".csv", ragas),
    "lm_eval": Form(".jsonl", lm_eval),
    "every_eval_ever": Form(".jsonl", every_eval_ever),
    "junit": Form(".xml", junit, scores=False),
}
SCORES = {"a NaN score": "NaN", "text in a score column": '"high"', "a score of 5": "5"}
ROWS: dict[str, Rows] = {
    "8 of 20 cases missing": GOOD[:12],
    "a duplicate id": [*GOOD, GOOD[3]],
    "disjoint ids": [(f"d{case}", score) for case, score in GOOD],
    "an empty id": [("", GOOD[0][1]), *GOOD[1:]],
    **{
        name: [*GOOD[:3], (GOOD[3][0], score), *GOOD[4:]]
        for name, score in SCORES.items()
    },
}  # fmt: skip
TEXTS: dict[str, Callable[[str], str]] = {
    "an empty file": lambda _: "",
    "a truncated file": lambda text: text[: len(text) * 2 // 3],
    "another tool's file": lambda _: json.dumps({"name": "x", "scripts": {"test": "jest"}}),
}
SAID = {
    "8 of 20 cases missing": "8 cases of the baseline without a row",
    "a duplicate id": "1 row twice|fewer than 2 epochs|the name of another: 1",
    "disjoint ids": "no case in common",
    "an empty id": "empty case_id|sample_id is ''|1 case of the baseline without a row",
    "a NaN score": "could not be scored|nan|NaN|not a number",
    "text in a score column": "high|could not be scored",
    "a score of 5": "5 is outside|outside|could not be scored",
    "an empty file": "is empty",
    "a truncated file": "",
    "another tool's file": "no known format|no JUnit|no .*results",
}
TRIED = [
    (form, fault)
    for form in FORMS
    for fault in [*ROWS, *TEXTS]
    if FORMS[form].scores or fault not in SCORES
]


def outcome(result: Path, baseline: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and what is said."""
    try:
        return decide_and_report([result], baseline=baseline), capsys.readouterr().out
    except InputError as error:
        return error.exit_code, str(error)


def put(folder: Path, form: Form, text: str) -> Path:
    folder.mkdir()
    path = folder / f"results{form.suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_format_whose_scores_the_gate_reads_is_tried() -> None:
    streaming = {name for name in format_names() if isinstance(get_format(name), Streaming)}
    assert streaming <= set(FORMS), "add it to FORMS"


@pytest.mark.parametrize("name", FORMS)
def test_the_good_file_passes(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = FORMS[name]
    files = [put(tmp_path / each, form, form.write(GOOD)) for each in ("before", "now")]
    code, said = outcome(files[1], files[0], capsys)
    assert code == 0, said


@pytest.mark.parametrize(("name", "fault"), TRIED)
def test_a_bad_file_is_refused_with_the_reason(
    name: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = FORMS[name]
    before = put(tmp_path / "before", form, form.write(GOOD))
    text = form.write(ROWS[fault]) if fault in ROWS else TEXTS[fault](form.write(GOOD))
    code, said = outcome(put(tmp_path / "now", form, text), before, capsys)
    assert code in (2, 3), said
    assert re.search(SAID[fault], said), said
