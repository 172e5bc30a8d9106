"""Where RAGAS's own defaults turn a failure green, and what keeps ours from it.

Each test first shows the framework going wrong, then the guard.
"""

from __future__ import annotations

import asyncio
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from native_gate import gate
from pydantic import ValidationError
from ragas_jobs import make_bundle, make_job, plain, switched_off

from bridge.model import InputError
from bridge.plugin.carry import KEY
from bridge.plugin.format import ReadOptions
from bridge_ragas import FRAMEWORK
from bridge_ragas.format import FORMAT
from bridge_ragas.rows import read_score

pytestmark = pytest.mark.xdist_group("ragas")

KEY_OF_ROW = {"framework": "ragas", "system": "s", "case_id": "c", "epoch": 1}


@pytest.fixture(scope="module", autouse=True)
def _switched_off(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with switched_off(tmp_path_factory.mktemp("ragas")):
        yield


def own_metric(name: str, score: Any) -> Any:
    """A metric as RAGAS's users write one."""
    from ragas.metrics.base import SingleTurnMetric

    class Own(SingleTurnMetric):
        def init(self, run_config: Any) -> None:
            pass

        async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
            found = score(sample)
            return float(await found if asyncio.iscoroutine(found) else found)

    return Own(name=name)


def evaluate(texts: list[str], *metrics: Any, **options: Any) -> Any:
    """RAGAS's own function on a few answers."""
    import ragas

    dataset = ragas.EvaluationDataset(
        samples=[ragas.SingleTurnSample(user_input="q", response=text) for text in texts]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ragas.evaluate(dataset, list(metrics), show_progress=False, **options)


def read_back(result: Any, folder: Path) -> Any:
    """A result of RAGAS's, saved as people save it and read by our format."""
    path = folder / "result.csv"
    result.to_pandas().to_csv(path, index=False)
    return FORMAT.read(path, ReadOptions())


def test_a_metric_that_crashes_leaves_the_mean(tmp_path: Path) -> None:
    def score(sample: Any) -> float:
        if sample.response == "bad":
            raise ValueError("no")
        return 1.0

    result = evaluate(["good", "bad", "bad"], own_metric("mine", score))
    assert repr(result) == "{'mine': 1.0000}"  # two of three failed

    bundle, report = read_back(result, tmp_path)
    assert [row.status for row in bundle.scores] == ["scored", "error", "error"]
    assert "2 of 3 values of mine are blank: errors" in report.notes
    found = gate(tmp_path / "result.csv")
    assert found.code == 3
    assert "2 rows could not be scored" in found.reasons


def test_a_shared_scorer_that_crashes_is_an_error_row(tmp_path: Path) -> None:
    native = FRAMEWORK.to_native(make_bundle([plain("a")], [{"latency": {"max": 1}}, "equals"]))
    import ragas

    assert native.single_turn is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result: Any = ragas.evaluate(
            native.single_turn,
            list(native.metrics),
            show_progress=False,
        )
    assert math.isnan(result["latency"][0])  # all that RAGAS itself can say

    assert result.traces[0]["latency"][KEY]["output"]["status"] == "error"
    rows = list(FRAMEWORK.run(make_job(tmp_path, [plain("a")], [{"latency": {"max": 1}}])))
    assert [(row.status, row.value) for row in rows] == [("error", None)]


def test_a_skipped_case_and_a_failed_one_are_not_the_same_blank(tmp_path: Path) -> None:
    pairs = [plain("a", expected=""), plain("b")]
    rows = list(FRAMEWORK.run(make_job(tmp_path, pairs, ["equals", {"latency": {"max": 1}}])))
    table = (tmp_path / "small-0.single_turn.csv").read_text("utf-8").splitlines()
    assert ",,," in table[1]  # to RAGAS both are NaN
    assert [row.status for row in rows] == ["skipped", "error", "failed", "error"]


def test_a_deadline_becomes_a_number_that_is_none(tmp_path: Path) -> None:
    from ragas import RunConfig

    async def slow(sample: Any) -> float:
        await asyncio.sleep(5 if sample.response == "slow" else 0)
        return 1.0

    metric = own_metric("mine", slow)
    result = evaluate(["quick", "slow"], metric, run_config=RunConfig(timeout=0.05))  # type: ignore[arg-type]
    assert repr(result) == "{'mine': 1.0000}"
    assert result.traces[1].scores == {"mine": {}}

    bundle, _ = read_back(result, tmp_path)
    assert [row.status for row in bundle.scores] == ["scored", "error"]
    (row,) = read_score("mine", {}, result.traces[1].get("mine"), KEY_OF_ROW)
    assert row.status == "error"


def test_a_run_in_which_everything_failed_returns_as_usual(tmp_path: Path) -> None:
    result = evaluate(["a", "b"], own_metric("faithfulness", lambda _: 1 / 0))
    assert repr(result) == "{'faithfulness': nan}"

    bundle, _ = read_back(result, tmp_path)
    assert [row.status for row in bundle.scores] == ["error", "error"]


def test_of_two_metrics_with_one_name_the_last_wins() -> None:
    result = evaluate(["a"], own_metric("same", lambda _: 0.0), own_metric("same", lambda _: 1.0))
    assert result.scores == [{"same": 1.0}]  # the 0 is gone

    with pytest.raises(ValueError, match="stands twice"):
        make_bundle([plain("a")], ["equals", {"contains": {"metric": "equals"}}])


def test_an_experiment_drops_the_rows_that_raise(tmp_path: Path) -> None:
    from ragas import Dataset, experiment
    from ragas.backends import LocalJSONLBackend

    from bridge_ragas.scorers import SCORERS

    backend = LocalJSONLBackend(root_dir=str(tmp_path))
    numbers = [{"id": f"n{n}", "user_input": "q", "n": str(n)} for n in range(3)]
    dataset: Any = Dataset(name="d", backend=backend, data=numbers)

    @experiment()
    async def crashing(row: Any) -> dict[str, Any]:
        return {**row, "response": row["n"], "inverse": 1 / int(row["n"])}

    kept: Any = asyncio.run(crashing.arun(dataset, name="one", backend=backend))
    assert len(kept) == 2  # three went in; nothing says which is missing
    found = gate(tmp_path / "experiments" / "one.jsonl", ["n0", "n1", "n2"], inverse=0.5)
    assert found.code == 3
    assert "ragas: no row of 1 case of the suite, such as 'n0'" in found.reasons

    metric = SCORERS["latency"](max=1, collection=True)

    @experiment()
    async def shared(row: Any) -> dict[str, Any]:
        found = await metric.ascore(response=row["n"])
        return {"n": row["n"], "value": found.value, "reason": found.reason}

    rows: Any = asyncio.run(shared.arun(dataset, name="two", backend=backend))
    assert len(rows) == 3
    assert all(row["value"] is None and "no latency" in row["reason"] for row in rows)


def test_columns_that_ragas_does_not_know_vanish(tmp_path: Path) -> None:
    import ragas

    from bridge_ragas.scorers import SCORERS

    dataset = ragas.EvaluationDataset.from_list([{"question": "q", "answer": "a"}])
    assert dataset.to_list() == [{}]  # an empty sample that a metric scores all the same

    with pytest.raises(TypeError, match="no column answer, question"):
        SCORERS["equals"](collection=True).score(question="q", answer="a")
    path = tmp_path / "old.csv"
    path.write_text("question,answer,contexts,faithfulness\nq,a,['c'],1.0\n", "utf-8")
    bundle, _ = FORMAT.read(path, ReadOptions())
    assert bundle.outputs[0].text == "a"


def test_a_role_without_a_type_becomes_a_human(tmp_path: Path) -> None:
    from ragas import MultiTurnSample

    said: Any = {"role": "assistant", "content": "it is done"}
    sample = MultiTurnSample(user_input=[said])
    assert sample.user_input[0].type == "human"  # the answer is now a question

    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"user_input": [{"role": "assistant", "content": "done"}], "m": 1.0}\n', "utf-8"
    )
    with pytest.raises(InputError, match="type"):
        FORMAT.read(path, ReadOptions())


def test_a_value_out_of_its_range_counts_as_it_is(tmp_path: Path) -> None:
    result = evaluate(["a", "b"], own_metric("context_recall", lambda _: 7.0))
    assert repr(result) == "{'context_recall': 7.0000}"

    bundle, _ = read_back(result, tmp_path)
    assert [row.status for row in bundle.scores] == ["error", "error"]
    assert "declare the scale" in (bundle.scores[0].error or "")


def test_no_cases_are_an_index_error() -> None:
    with pytest.raises(IndexError):
        evaluate([], own_metric("mine", lambda _: 1.0))

    with pytest.raises(InputError, match="no output"):
        FRAMEWORK.to_native(make_bundle([]))


def test_an_empty_answer_and_a_missing_one_are_told_apart() -> None:
    from ragas import SingleTurnSample

    from bridge_ragas.scorers import SCORERS

    blank: Any = math.nan  # as pandas has it
    with pytest.raises(ValidationError):
        SingleTurnSample(response=blank)
    metric = SCORERS["equals"](collection=True)
    assert metric.score(response="", reference="a").value == 0.0
    missing = metric.score(reference="a")
    assert (missing.value, (missing.traces or {})["output"]["status"]) == (None, "error")
