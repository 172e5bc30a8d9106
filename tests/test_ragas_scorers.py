"""The shared scorers as RAGAS metrics, through both of its APIs."""

from __future__ import annotations

import asyncio
import logging
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ragas_jobs import make_bundle, plain, switched_off, talk

from bridge.model import Case, InputError, Output
from bridge.plugin.carry import KEY
from bridge_ragas import FRAMEWORK, to_dataset
from bridge_ragas.cases import to_sample

pytestmark = pytest.mark.xdist_group("ragas")


@pytest.fixture(scope="module", autouse=True)
def _switched_off(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with switched_off(tmp_path_factory.mktemp("ragas")):
        yield


def evaluate(dataset: Any, metrics: Any) -> Any:
    """RAGAS's own function, as a person calls it."""
    import ragas

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ragas.evaluate(dataset, list(metrics), show_progress=False)


LATE = {"latency": {"max": 1}}
PAIRS = [plain("a"), plain("b"), plain("none", expected=""), plain("own", checks=[LATE])]


def test_evaluate_runs_the_shared_scorers_on_single_turn_samples() -> None:
    native = FRAMEWORK.to_native(make_bundle(PAIRS, ["equals", "contains"]))
    assert native.multi_turn is None
    result = evaluate(native.single_turn, native.metrics)
    assert result["equals"][:2] == [1.0, 0.0]
    assert math.isnan(result["equals"][2])
    assert list(result.to_pandas().columns) == [
        *["user_input", "response", "reference", "equals", "contains", "latency"]
    ]


def test_status_and_reason_stand_in_the_traces() -> None:
    native = FRAMEWORK.to_native(make_bundle(PAIRS))
    traces = evaluate(native.single_turn, native.metrics).traces
    found = [trace["equals"][KEY]["output"] for trace in traces]
    assert [each["status"] for each in found] == ["passed", "failed", "skipped", "failed"]
    assert found[2]["rows"][0]["reason"] == "no reference answer"
    late = [trace["latency"][KEY]["output"] for trace in traces]
    assert [each["status"] for each in late] == ["skipped"] * 3 + ["error"]
    assert [len(each["rows"]) for each in late] == [0, 0, 0, 1]


def test_evaluate_runs_them_on_conversations() -> None:
    native = FRAMEWORK.to_native(make_bundle([talk()], ["equals", "tool_use"]))
    assert native.single_turn is None
    result = evaluate(native.multi_turn, native.metrics)
    assert result["equals"] == [0.5]
    rows = result.traces[0]["equals"][KEY]["output"]["rows"]
    assert [(row["turn"], row["status"]) for row in rows] == [(0, "passed"), (1, "failed")]


def test_a_bundle_of_both_kinds_makes_two_datasets() -> None:
    bundle = make_bundle([plain("a"), talk()])
    native = FRAMEWORK.to_native(bundle)
    assert (len(native.single_turn or ()), len(native.multi_turn or ())) == (1, 1)
    with pytest.raises(InputError, match="one kind"):
        to_dataset(bundle)
    assert len(to_dataset(bundle, "multi_turn")) == 2


def test_no_output_makes_no_dataset() -> None:
    with pytest.raises(InputError, match="no output"):
        FRAMEWORK.to_native(make_bundle([]))
    with pytest.raises(InputError, match="no output"):
        to_dataset(make_bundle([]))


def test_a_metric_can_be_made_without_a_suite() -> None:
    from ragas import EvaluationDataset, SingleTurnSample

    from bridge_ragas.scorers import SCORERS

    metric = SCORERS["contains"](value="refund", ignore_case=True, metric="says_refund")
    samples = [SingleTurnSample(response="A Refund."), SingleTurnSample(response="no")]
    result = evaluate(EvaluationDataset(samples=list(samples)), [metric])
    assert result["says_refund"] == [1.0, 0.0]


def test_a_wrong_parameter_is_refused_when_the_metric_is_made() -> None:
    from bridge_ragas.scorers import SCORERS

    with pytest.raises(InputError, match="valu"):
        SCORERS["contains"](valu="refund")


def test_raise_exceptions_finds_nothing_to_raise() -> None:
    """A scorer that fails is a row with an error, natively NaN; the other metrics go on."""
    native = FRAMEWORK.to_native(make_bundle([plain("a")], [LATE, "equals"]))
    import ragas

    assert native.single_turn is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result: Any = ragas.evaluate(
            native.single_turn,
            list(native.metrics),
            show_progress=False,
            raise_exceptions=True,
        )
    assert math.isnan(result["latency"][0])
    assert result["equals"] == [1.0]


def test_an_error_is_logged_as_ragas_logs_its_own(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What other frameworks do to logging in this process is undone for this one logger.
    log = logging.getLogger("bridge_ragas.scorers")
    monkeypatch.setattr(logging.root.manager, "disable", logging.NOTSET)
    monkeypatch.setattr(log, "disabled", False)
    monkeypatch.setattr(log, "handlers", [caplog.handler])
    caplog.set_level(logging.ERROR, log.name)
    native = FRAMEWORK.to_native(make_bundle([plain("a")], [LATE]))
    evaluate(native.single_turn, native.metrics)
    assert "the output records no latency" in caplog.text


# --- the newer API ----------------------------------------------------------------------------


def collection(name: str, **params: Any) -> Any:
    from bridge_ragas.scorers import SCORERS

    return SCORERS[name](collection=True, **params)


def test_the_newer_api_scores_columns() -> None:
    from ragas.metrics.collections.base import BaseMetric

    metric = collection("equals")
    assert isinstance(metric, BaseMetric)
    right = metric.score(response="a", reference="a")
    wrong = metric.score(response="b", reference="a")
    assert (right.value, wrong.value) == (1.0, 0.0)
    assert right.traces is not None
    assert right.traces["output"]["status"] == "passed"
    assert wrong.reason


def test_the_newer_api_scores_samples_with_what_they_carry() -> None:
    case, output = talk()
    found = asyncio.run(collection("tool_use").ascore(sample=to_sample(case, output)))
    assert found.value == 1.0
    assert [row["status"] for row in found.traces["output"]["rows"]] == ["passed", "skipped"]


def test_the_newer_api_scores_conversations_and_batches() -> None:
    messages = [
        {"type": "human", "content": "one?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"x": 1}}]},
        {"type": "ai", "content": "1"},
    ]
    calls = [{"name": "f", "args": {"x": 1}}]
    rows = [
        {"user_input": messages, "reference_tool_calls": calls},
        {"user_input": messages, "reference_tool_calls": []},
    ]
    found = collection("tool_use").batch_score(rows)
    assert [each.value for each in found] == [1.0, 0.0]


def test_what_cannot_be_scored_has_no_value_and_a_reason() -> None:
    skipped = collection("equals").score(response="a")
    broken = collection("latency", max=1).score(response="a")
    assert (skipped.value, broken.value) == (None, None)
    assert skipped.traces["output"]["status"] == "skipped"
    assert broken.traces["output"]["status"] == "error"
    assert "no latency" in broken.reason


def test_a_misspelt_column_is_no_empty_answer() -> None:
    with pytest.raises(TypeError, match="no column respone"):
        collection("equals").score(respone="a", reference="a")


def test_an_experiment_keeps_every_row(tmp_path: Path) -> None:
    """RAGAS drops a row whose metric raises; a shared scorer does not raise."""
    from ragas import Dataset, experiment
    from ragas.backends import LocalJSONLBackend

    backend = LocalJSONLBackend(root_dir=str(tmp_path))
    rows = [{"id": str(i), "response": "a", "reference": "a" if i else ""} for i in range(3)]
    dataset: Any = Dataset(name="d", backend=backend, data=rows)
    metric = collection("equals")

    @experiment()
    async def measured(row: Any) -> dict[str, Any]:
        found = await metric.ascore(response=row["response"], reference=row["reference"])
        return {**row, "equals": found.value, "equals_reason": found.reason}

    found: Any = asyncio.run(measured.arun(dataset, name="e", backend=backend))
    assert sorted((row["id"], row["equals"]) for row in found) == [
        ("0", None),
        ("1", 1.0),
        ("2", 1.0),
    ]


def test_the_example_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import doctest

    from bridge_ragas import framework

    text = framework.to_dataset.__doc__ or ""
    example = doctest.DocTestParser().get_doctest(text, {}, "to_dataset", None, 0)
    assert len(example.examples) == 10
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner().run(example)
    assert result.failed == 0


def test_metrics_of_case_and_suite_meet_under_one_name() -> None:
    own = Case.model_validate(
        {"id": "own", "input": "q", "expected": "a", "checks": [{"equals": {"threshold": 0.0}}]}
    )
    native = FRAMEWORK.to_native(
        make_bundle([plain("b"), (own, Output(case_id="own", text="b"))], ["equals"])
    )
    assert [metric.name for metric in native.metrics] == ["equals"]
    traces = evaluate(native.single_turn, native.metrics).traces
    statuses = [trace["equals"][KEY]["output"]["status"] for trace in traces]
    assert statuses == ["failed", "passed"]
