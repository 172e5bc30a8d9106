"""Many rows: columns instead of objects, and a report of bounded size."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NoReturn

import pytest
from gate_rows import Row, row, write_scores

from bridge.gate.baseline import make_baseline
from bridge.gate.decide import decide
from bridge.gate.intake.gather import gather
from bridge.model import Score
from bridge.model.policy import GatePolicy
from bridge.model.values import Model
from bridge.report.json import to_json
from bridge.report.markdown import LIMIT, to_markdown
from bridge.report.terminal import to_terminal

CASES = 2_000
METRICS = 10


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two scores files of 20,000 rows; in the second, a tenth of the first metric is lost."""
    folder = tmp_path_factory.mktemp("many")

    def rows(lost: int) -> list[Row]:
        return [
            row(f"c{case:05d}", float(metric > 0 or case >= lost), metric=f"m{metric}")
            for case in range(CASES)
            for metric in range(METRICS)
        ]

    return [write_scores(folder / f"{lost}.jsonl", rows(lost)) for lost in (0, CASES // 10)]


def test_no_model_object_a_row(many: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[type] = []
    init = Model.__init__

    def count(self: Model, **data: Any) -> None:
        made.append(type(self))
        init(self, **data)

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a model object for a row")

    monkeypatch.setattr(Model, "__init__", count)
    for name in ("model_validate", "model_validate_json", "model_construct"):
        monkeypatch.setattr(Model, name, refuse)
    baseline = make_baseline(gather(many[:1]))
    found = decide(gather(many[1:]), GatePolicy(), baseline)
    assert found.verdict == "failed"
    assert [each.metric for each in found.regressed] == ["m0"]
    assert found.totals.rows == CASES * METRICS
    assert Score not in made
    assert len(made) < CASES / 4


def test_in_little_time(many: list[Path]) -> None:
    """Far below what an object a row costs; benchmarks/gate.py has the exact numbers."""
    started = time.process_time()
    decide(gather(many[1:]), GatePolicy(), make_baseline(gather(many[:1])))
    assert time.process_time() - started < 4


def test_reports_are_bounded(tmp_path: Path) -> None:
    worst = [
        row(f"{'c' * 5000}{i}", 0.0, metric="m" * 5000, reason="x" * 1_000_000) for i in range(20)
    ]
    worst += [row(f"c{i}", 0.0, metric=f"m{i}" * 20, reason="y" * 3000) for i in range(600)]
    found = decide(gather([write_scores(tmp_path / "s.jsonl", worst)]), GatePolicy())
    assert len(to_markdown(found)) <= LIMIT
    assert "(cut: the whole list is in eval-report.json)" in to_markdown(found)
    text = to_terminal(found, width=100)
    assert len(text) < 120_000
    assert max(map(len, text.splitlines())) <= 300
    assert len(to_json(found)) < 10_000_000
