"""Where DeepEval's own defaults turn a failure green, and what keeps ours from it.

Each test first shows the framework going wrong, then the guard.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from adapter_jobs import make_job
from conftest import Bridge, write_jsonl, write_suite
from native_gate import gate

from bridge.execution.worker import set_environment
from bridge.files.golden import read_golden_set
from bridge.files.scores import write_scores
from bridge.model import Bundle, Case, InputError, Measurement, Output, Score, Suite
from bridge.plugin.format import ReadOptions
from bridge.scorers import NoParams, Scorer
from bridge_deepeval.format import FORMAT
from bridge_deepeval.framework import FRAMEWORK
from bridge_deepeval.info import INFO

pytest.importorskip("deepeval")


@pytest.fixture(autouse=True)
def apart(tmp_path: Path) -> Iterator[None]:
    """DeepEval's switches as in a worker, a folder and an event loop of its own."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        patch.chdir(tmp_path)
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, tmp_path)
        yield
    asyncio.set_event_loop(None)
    loop.close()


# --- DeepEval as its users have it ------------------------------------------------------------


def own_metric(
    name: str, score: Callable[[Any], float | None], threshold: float | None = 0.5, wait: float = 0
) -> Any:
    """A metric as DeepEval's users write one: nothing is reset between two cases."""
    from deepeval.metrics import BaseMetric

    class Own(BaseMetric):  # type: ignore[no-untyped-call]
        def __init__(self, threshold: float | None = threshold) -> None:
            self.threshold = threshold

        @property
        def __name__(self) -> Any:
            return name

        def measure(self, test_case: Any, *_: Any, **__: Any) -> Any:
            found = score(test_case)
            if found is not None:
                self.score, self.reason = found, f"is {found}"
            return self.score

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> Any:
            await asyncio.sleep(wait)
            return self.measure(test_case)

    return Own()


def answered(text: str, **fields: Any) -> Any:
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(name=text, input="q", actual_output=text, **fields)


def evaluate(
    test_cases: Sequence[Any],
    *metrics: Any,
    run_async: bool = False,
    cache: bool = False,
    **errors: bool,
) -> tuple[list[Any], Path | None]:
    """DeepEval's own function: its results, and the run file it left."""
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.evaluate import evaluate as native

    folder = Path(f"results-{time.monotonic_ns()}").absolute()
    with redirect_stdout(io.StringIO()):
        result = native(
            list(test_cases),
            list(metrics),
            async_config=AsyncConfig(run_async=run_async, max_concurrent=2),
            cache_config=CacheConfig(write_cache=cache, use_cache=cache),
            error_config=ErrorConfig(**errors),
            display_config=DisplayConfig(
                show_indicator=False, print_results=False, results_folder=str(folder)
            ),
        )
    file = next(iter(folder.glob("test_run_*.json")), None)
    return list(result.test_results), file


def raising(_: Any) -> float:
    raise ValueError("boom")


def one(_: Any) -> float:
    return 1.0


# --- the shared checks through our run --------------------------------------------------------


def sleepy(case: Case, output: Output, params: NoParams) -> list[Measurement]:
    del case, output, params
    time.sleep(0.1)
    return [Measurement(value=1.0, reason="at last")]


SLEEPY = Scorer("sleepy", "1", sleepy, threshold=1.0)


def run(folder: Path, outputs: Sequence[dict[str, Any]], *checks: Any, **case: Any) -> list[Score]:
    """The rows of answers to one kind of case."""
    fields = {"input": "q", "expected": "a", **case}
    job = make_job(
        "deepeval",
        folder,
        cases=[{"id": output["case_id"], **fields} for output in outputs],
        outputs=outputs,
        checks=checks,
    )
    return list(FRAMEWORK.run(job))


def suite_of(*checks: Any) -> Suite:
    system = {"recorded": "o"}
    return Suite.model_validate(
        {"name": "s", "golden_set": "c", "system": system, "checks": checks}
    )


def read(file: Path | None) -> Bundle:
    assert file is not None
    return FORMAT.read(file, ReadOptions())[0]


# --- never a false green ----------------------------------------------------------------------


@pytest.mark.parametrize("run_async", [False, True])
def test_a_metric_that_crashes_without_a_threshold(tmp_path: Path, run_async: bool) -> None:
    metrics = [own_metric("fine", one), own_metric("crash", raising, threshold=None)]
    results, file = evaluate([answered("a")], *metrics, run_async=run_async, ignore_errors=True)
    assert [each.success for each in results] == [True]  # DeepEval
    assert file is not None
    assert json.loads(file.read_bytes())["testPassed"] == 1

    found = gate(file)
    assert found.code == 3
    assert "1 row could not be scored, such as deepeval/crash of case 'a'" in found.reasons
    rows = run(tmp_path, [{"case_id": "a", "text": "a"}], "equals", {"latency": {"max": 1}})
    assert [row.status for row in rows] == ["passed", "error"]


def test_a_case_whose_every_metric_was_skipped(tmp_path: Path) -> None:
    from deepeval.metrics import ExactMatchMetric

    cases = [answered(name, expected_output=name if name != "b" else None) for name in "abc"]
    results, file = evaluate(cases, ExactMatchMetric(), skip_on_missing_params=True)
    assert [each.success for each in results] == [True, True, True]  # DeepEval
    assert [case.id for case in read(file).cases] == ["a", "c"]  # the case is not even written

    assert file is not None
    assert gate(file).code == 0
    assert "by their order 1 test cases are not in the file" in gate(file).notes
    found = gate(file, "abc")
    assert (found.code, found.reasons) == (
        3,
        "deepeval: no row of 1 case of the suite, such as 'b'",
    )
    rows = run(tmp_path, [{"case_id": "b", "text": "b"}], "equals", "tool_use", expected="")
    assert [row.status for row in rows] == ["skipped", "skipped"]
    write_scores(rows, tmp_path / "rows.jsonl")
    assert "on 1 case nothing was scored" in gate(tmp_path / "rows.jsonl").reasons


def test_an_empty_list_of_cases(tmp_path: Path, bridge: Bridge) -> None:
    assert evaluate([], own_metric("fine", one)) == ([], None)  # DeepEval: no word

    with pytest.raises(InputError, match="no output"):
        FRAMEWORK.to_native(Bundle())
    empty = tmp_path / "run.json"
    empty.write_text('{"testCases": []}')
    with pytest.raises(InputError, match="holds no row"):
        gate(empty)
    suite = write_suite(tmp_path, {"frameworks": ["deepeval"]}, cases=0)
    assert bridge("run", suite, "--gate").returncode == 2


def test_cases_that_the_deadline_of_a_run_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"c{index}" for index in range(12)]
    monkeypatch.delenv("DEEPEVAL_DISABLE_TIMEOUTS")
    monkeypatch.setenv("DEEPEVAL_PER_TASK_TIMEOUT_SECONDS_OVERRIDE", "0.5")
    monkeypatch.setenv("DEEPEVAL_TASK_GATHER_BUFFER_SECONDS_OVERRIDE", "0.1")
    slow = own_metric("slow", one, wait=0.3)
    results, file = evaluate(map(answered, names), slow, run_async=True, ignore_errors=True)  # type: ignore[arg-type]
    assert 0 < len(results) < 12  # DeepEval: two at a time, and the rest is not mentioned

    assert file is not None
    found = gate(file, names)
    assert found.code == 3
    assert f"deepeval: no row of {12 - len(results)} cases of the suite" in found.reasons
    monkeypatch.setenv(
        "DEEPEVAL_DISABLE_TIMEOUTS", dict(INFO.environment)["DEEPEVAL_DISABLE_TIMEOUTS"]
    )
    outputs = [{"case_id": name, "text": name} for name in names]
    rows = run(tmp_path, outputs, f"{__name__}:SLEEPY")
    assert [(row.case_id, row.status) for row in rows] == [(name, "passed") for name in names]


def test_two_metrics_of_one_name_are_counted_as_one() -> None:
    metrics = [own_metric("same", one), own_metric("same", lambda _: 0.0)]
    _, file = evaluate([answered("a")], *metrics)
    assert file is not None
    (pooled,) = json.loads(file.read_bytes())["metricsScores"]
    assert (pooled["metric"], pooled["scores"]) == ("same", [1.0, 0.0])  # DeepEval

    bundle = read(file)
    assert [(row.metric, row.value) for row in bundle.scores] == [("same", 1.0), ("same (2)", 0.0)]
    with pytest.raises(ValueError, match="stands twice"):
        suite_of("equals", {"contains": {"value": "a", "metric": "equals"}})


def test_two_cases_of_one_name_cannot_be_told_apart() -> None:
    metric = own_metric("right", lambda case: float(case.input == "q"))
    twin = answered("a")
    twin.input = "another question"
    results, file = evaluate([twin, answered("a")], metric)
    by_name = {each.name: each.success for each in results}
    assert by_name == {"a": True}  # DeepEval: the one that failed is gone

    assert [(row.case_id, row.status) for row in read(file).scores] == [
        ("a", "failed"),
        ("a (2)", "passed"),
    ]
    assert file is not None
    gated = gate(file)
    assert gated.code == 3
    assert "cases with the name of another: 1, such as 'a (2)'" in gated.reasons


def test_a_cached_result_for_a_changed_tool_call(tmp_path: Path) -> None:
    from deepeval.test_case import ToolCall

    metric = own_metric("calls", lambda case: float(case.tools_called[0].name == "refund"))
    for tool in ("refund", "delete_account"):
        called = answered("done", tools_called=[ToolCall(name=tool, input_parameters={})])
        results, _ = evaluate([called], metric, cache=True)
        assert results[0].success is True  # DeepEval: the second is the first one's result

    wanted = {"expected_calls": {"calls": [{"name": "refund"}]}}
    statuses = []
    for tool in ("refund", "delete_account"):
        output = {"case_id": "a", "text": "done", "tool_calls": [{"name": tool}]}
        statuses += [row.status for row in run(tmp_path, [output], "tool_use", **wanted)]
    assert statuses == ["passed", "failed"]


def test_a_cached_result_for_a_changed_metric(tmp_path: Path) -> None:
    from deepeval.metrics import PatternMatchMetric

    for pattern in ("yes", "something else"):
        results, _ = evaluate([answered("yes")], PatternMatchMetric(pattern=pattern), cache=True)
        assert results[0].success is True  # DeepEval: by the pattern before

    statuses = []
    for pattern in ("yes", "something else"):
        output = {"case_id": "a", "text": "yes"}
        statuses += [row.status for row in run(tmp_path, [output], {"regex": {"pattern": pattern}})]
    assert statuses == ["passed", "failed"]


def test_a_score_of_the_case_before(tmp_path: Path) -> None:
    first_only = own_metric("m", lambda case: 1.0 if case.actual_output == "first" else None)
    results, _ = evaluate([answered("first"), answered("second")], first_only)
    (data,) = results[1].metrics_data
    assert (results[1].success, data.score, data.reason) == (True, 1.0, "is 1.0")  # DeepEval

    outputs: list[dict[str, Any]] = [
        {"case_id": "first", "text": "a", "latency_s": 0.5},
        {"case_id": "second", "text": "a"},
    ]
    bundle = Bundle(
        suite=suite_of({"latency": {"max": 1}}),
        cases=tuple(Case(id=each["case_id"], input="q", expected="a") for each in outputs),
        outputs=tuple(Output.model_validate(output) for output in outputs),
    )
    native = FRAMEWORK.to_native(bundle)
    results, file = evaluate(native.test_cases, *native.metrics)
    assert [each.success for each in results] == [True, False]
    assert [row.status for row in read(file).scores] == ["passed", "error"]
    rows = run(tmp_path, outputs, {"latency": {"max": 1}})
    assert [row.status for row in rows] == ["passed", "error"]


def test_a_score_that_is_no_number() -> None:
    free = own_metric("free", lambda _: math.nan, threshold=None)
    results, file = evaluate([answered("a")], own_metric("fine", one), free)
    assert results[0].success is True  # DeepEval
    assert file is not None
    assert "NaN" in file.read_text()  # which is no JSON

    assert [row.status for row in read(file).scores] == ["passed", "error"]
    assert gate(file).code == 3


def test_a_score_that_is_out_of_range() -> None:
    results, file = evaluate([answered("a")], own_metric("rank", lambda _: 7.0))
    assert results[0].success is True  # DeepEval

    (row,) = read(file).scores
    assert (row.status, row.value) == ("error", None)
    assert "declare the scale" in (row.error or "")


def test_a_typo_in_a_field(tmp_path: Path) -> None:
    from deepeval.metrics import ExactMatchMetric

    typo = answered("wrong", expected_outputs="right")
    results, _ = evaluate([typo], ExactMatchMetric(), skip_on_missing_params=True)
    assert results[0].success is True  # DeepEval: there is nothing to compare with

    line = {"id": "a", "input": "q", "expected": "", "expected_outputs": "right"}
    path = write_jsonl(tmp_path / "cases.jsonl", [line])
    with pytest.raises(InputError, match=r"cases\.jsonl:1: .*expected_outputs"):
        read_golden_set(path)


def test_what_is_fine_stays_fine() -> None:
    _, file = evaluate([answered("a"), answered("b")], own_metric("fine", one))
    assert file is not None
    found = gate(file, "ab", fine=1.0)
    assert (found.code, found.reasons) == (0, "")
    assert found.metrics["deepeval/fine"]["n"] == 2
