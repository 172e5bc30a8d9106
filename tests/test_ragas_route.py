"""RAGAS's run: parity with core, both routes, the artefacts, and a faulty case among good ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ragas_jobs import make_job, plain, run_both, shared, switched_off, talk

from bridge.model import Case, InputError, Output
from bridge.plugin.carry import KEY
from bridge.plugin.format import ReadOptions
from bridge_ragas import FRAMEWORK, route
from bridge_ragas.artefact import to_result, write_result
from bridge_ragas.cases import to_sample
from bridge_ragas.format import FORMAT

pytestmark = pytest.mark.xdist_group("ragas")


@pytest.fixture(scope="module", autouse=True)
def _switched_off(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with switched_off(tmp_path_factory.mktemp("ragas")):
        yield


CHECKS = ["equals", "contains", "tool_use", {"latency": {"max": 1}}]
PAIRS = [
    plain("a"),
    plain("b", failure_mode="x"),
    plain("none", expected=""),
    plain("own", checks=[{"regex": {"pattern": "o+"}}]),
    plain("calls", expected_calls={"calls": [{"name": "f"}]}),
    talk(),
]


def taken(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "route.json").read_bytes())
    return record


def test_rows_are_those_of_core(tmp_path: Path) -> None:
    ours, theirs = run_both(make_job(tmp_path, PAIRS, CHECKS))
    assert list(map(shared, ours)) == list(map(shared, theirs))
    assert {row.status for row in theirs} == {"passed", "failed", "skipped", "error"}
    assert {row.framework for row in theirs} == {"ragas"}
    assert {row.framework_version for row in theirs} == {"0.4.3"}


def test_the_direct_route_is_taken_after_a_look_at_the_public_one(tmp_path: Path) -> None:
    list(FRAMEWORK.run(make_job(tmp_path, PAIRS, CHECKS)))
    record = taken(tmp_path)
    assert (record["framework"], record["route"]) == ("ragas", "direct")
    assert record["probe"]["cases"] >= len(PAIRS)
    assert record["probe"]["differences"] == []


def test_the_artefacts_are_what_the_public_route_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = list(FRAMEWORK.run(make_job(tmp_path / "direct", PAIRS, CHECKS)))
    monkeypatch.setattr(route, "_difference", lambda *_: "made up")
    theirs = list(FRAMEWORK.run(make_job(tmp_path / "public", PAIRS, CHECKS)))
    assert taken(tmp_path / "public")["route"] == "evaluate"
    assert sorted(ours, key=str) == sorted(theirs, key=str)
    names = sorted(path.name for path in (tmp_path / "direct").glob("small-0.*"))
    assert names == [
        "small-0.multi_turn.csv",
        "small-0.multi_turn.errors.txt",
        "small-0.multi_turn.jsonl",
        "small-0.single_turn.csv",
        "small-0.single_turn.errors.txt",
        "small-0.single_turn.jsonl",
    ]
    for name in names:
        lines = [
            (tmp_path / way / name).read_text("utf-8").splitlines() for way in ("direct", "public")
        ]
        assert sorted(lines[0]) == sorted(lines[1])


def test_a_private_name_that_has_moved_means_the_public_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route.Direct, "_leave", None)
    ours, theirs = run_both(make_job(tmp_path, PAIRS, CHECKS))
    assert list(map(shared, ours)) == list(map(shared, theirs))
    assert taken(tmp_path)["route"] == "evaluate"
    assert "TypeError" in taken(tmp_path)["probe"]["differences"][0]


def test_a_table_that_ragas_reads_otherwise_means_the_public_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_ragas import artefact

    real = artefact.to_line
    monkeypatch.setattr(artefact, "to_line", lambda row: real(row).replace("c-", "d-"))
    case, output = plain("a", input="c-")
    list(FRAMEWORK.run(make_job(tmp_path, [(case, output)])))
    assert taken(tmp_path)["route"] == "evaluate"
    assert "RAGAS reads other single_turn samples" in taken(tmp_path)["probe"]["differences"][0]


def test_the_table_is_the_one_ragas_makes_itself(tmp_path: Path) -> None:
    from ragas.callbacks import MetricTrace

    samples = [to_sample(*plain(text)) for text in ("a", 'quote " and, comma', "line\r\nend")]
    traces = [MetricTrace(scores={"equals": value}) for value in (1.0, math.nan, 1 / 3)]
    result = to_result(samples, traces, "n")
    write_result(result, tmp_path, "n", "single_turn")
    written = (tmp_path / "n.single_turn.csv").read_bytes().decode("utf-8")
    table = result.to_pandas()
    table[KEY] = [
        json.dumps(json.loads(row)[KEY], separators=(",", ":"))
        for row in (tmp_path / "n.single_turn.jsonl").read_text("utf-8").splitlines()
    ]
    assert written == table.to_csv(index=False)
    assert result["equals"][2] == 1 / 3
    assert "equals" in repr(result)


def test_blanks_tell_why_beside_the_table(tmp_path: Path) -> None:
    list(FRAMEWORK.run(make_job(tmp_path, [plain("a")], CHECKS)))
    text = (tmp_path / "small-0.single_turn.errors.txt").read_text("utf-8")
    assert text == "c-a, epoch 1: latency: ValueError: the output records no latency\n"
    row = json.loads((tmp_path / "small-0.single_turn.jsonl").read_bytes())
    assert row["latency"] is None
    assert row["equals"] == 1.0


def test_no_errors_file_without_errors(tmp_path: Path) -> None:
    list(FRAMEWORK.run(make_job(tmp_path, [plain("a")])))
    assert not list(tmp_path.glob("*.errors.txt"))


def test_a_metric_may_be_named_like_a_column(tmp_path: Path) -> None:
    checks = [{"equals": {"metric": name}} for name in ("response", "bridge", "id", "index")]
    ours, theirs = run_both(make_job(tmp_path, [plain("a"), plain("b")], checks))
    assert list(map(shared, ours)) == list(map(shared, theirs))
    for path in (tmp_path / "small-0.single_turn.csv", tmp_path / "small-0.single_turn.jsonl"):
        bundle, _ = FORMAT.read(path, ReadOptions())
        assert sorted(map(str, bundle.scores)) == sorted(map(str, theirs))
        assert {output.text for output in bundle.outputs} == {"a", "b"}


def test_systems_and_epochs_are_kept_apart(tmp_path: Path) -> None:
    case, _ = plain("a")
    pairs = [
        (case, Output(case_id=case.id, text=text, system=system, epoch=epoch))
        for system, epoch, text in [("one", 1, "a"), ("one", 2, "b"), ("two", 1, "b")]
    ]
    ours, theirs = run_both(make_job(tmp_path, pairs))
    assert list(map(shared, ours)) == list(map(shared, theirs))
    assert len(list(tmp_path.glob("*.csv"))) == 2


def test_a_case_that_cannot_be_translated_costs_no_other(tmp_path: Path) -> None:
    broken = Case.model_validate(
        {"id": "bad", "input": "q", "expected": "a", "extras": {"ragas": {"rubrics": 7}}}
    )
    rows = list(
        FRAMEWORK.run(make_job(tmp_path, [plain("a"), (broken, Output(case_id="bad", text="a"))]))
    )
    assert [(row.case_id, row.status) for row in rows] == [("c-a", "passed"), ("bad", "error")]
    assert "cannot be translated" in (rows[1].error or "")


def test_one_case_twice_in_an_epoch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stands twice in epoch 1"):
        list(FRAMEWORK.run(make_job(tmp_path, [plain("a"), plain("a")])))
    assert not list(tmp_path.glob("*.csv"))


def test_what_raised_is_held_against_the_public_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [plain(str(i)) for i in range(30)]
    pairs += [plain(f"late {i}", checks=[{"latency": {"max": 1}}]) for i in range(25)]
    calls: list[int] = []
    real = route.evaluate_quietly

    def counted(samples: Any, task: Any) -> Any:
        calls.append(len(samples))
        return real(samples, task)

    monkeypatch.setattr(route, "evaluate_quietly", counted)
    ours, theirs = run_both(make_job(tmp_path, pairs))
    assert list(map(shared, ours)) == list(map(shared, theirs))
    assert sum(calls) == 20 + 25
    assert taken(tmp_path)["probe"] == {"cases": 45, "differences": []}


def test_the_event_loop_of_the_process_is_left_alone(tmp_path: Path) -> None:
    """RAGAS's evaluate patches asyncio for the whole process, unless told otherwise."""
    import asyncio

    list(FRAMEWORK.run(make_job(tmp_path, [plain("a")])))
    assert asyncio.run.__module__ == "asyncio.runners"


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    from bridge.model import InfrastructureError

    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InfrastructureError, match="cannot be written"):
        list(FRAMEWORK.run(make_job(tmp_path / "file" / "below", [plain("a")])))
