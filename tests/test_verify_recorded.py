"""Results of a framework's own metrics: the checks that stand for them, held against the verdicts.

The files were written by the frameworks themselves with metrics that ask no model
(``tests/native/*/record.py``); here nothing of a framework is imported to score them again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from test_checks_by_framework import table

from bridge import convert
from bridge.conversion import verify
from bridge.files.yaml import parse_yaml
from bridge.model import Check, InputError
from bridge.model.verification import Verification
from bridge.plugin.formats import GOLDEN_SET
from bridge.plugin.registry import detect_format, framework_names, get_framework
from bridge.plugin.results.counterparts import (
    Counterpart,
    HasCounterparts,
    StandIns,
    check_of,
    recorded_as,
)
from bridge.scorers import registry

NATIVE = Path(__file__).parent / "native"
DEEPEVAL = NATIVE / "deepeval" / "own_metrics.json"
INSPECT = NATIVE / "inspect" / "own_scorers.json"
RAGAS = NATIVE / "ragas" / "own_metrics.csv"
AGREE = {
    DEEPEVAL: {"Exact Match": 4},
    INSPECT: dict.fromkeys(
        (
            "match", "match1", "match2", "match3", "includes", "includes1", "exact", "f1", "f11",
            "pattern", "answer", "answer1",
        ),
        9,
    ),
    RAGAS: dict.fromkeys(
        (
            "exact_match", "string_present", "non_llm_string_similarity", "rouge_score",
            "bleu_score", "chrf_score", "non_llm_context_recall",
            "non_llm_context_precision_with_reference",
        ),
        4,
    ),
}  # fmt: skip
LEFT = {
    DEEPEVAL: {"Pattern Match": "its pattern is not in a run file"},
    INSPECT: {"pattern1": "with its options no scorer of ours says the same"},
    RAGAS: {},
}


def proven(source: Path, folder: Path) -> Verification:
    reader = detect_format(source)
    done = convert(source, folder / "cases.jsonl", reader=reader, writer=GOLDEN_SET)
    return verify(source, Path(done.written.source), reader, GOLDEN_SET)


@pytest.mark.parametrize("source", AGREE, ids=lambda path: path.parent.name)
def test_each_metric_is_scored_again_and_agrees(source: Path, tmp_path: Path) -> None:
    proof = proven(source, tmp_path)
    assert proof.disagreements == ()
    assert {each.type: (each.agreed, each.compared) for each in proof.agreements} == {
        name: (count, count) for name, count in AGREE[source].items()
    }
    left = {each.type: each.reason for each in proof.left_out}
    assert set(left) == set(LEFT[source])
    assert all(reason in left[name] for name, reason in LEFT[source].items())
    assert (proof.source.way, proof.proven) == ("recorded", True)


def tampered(source: Path, folder: Path) -> Path:
    """A file with one verdict turned round."""
    target = folder / source.name
    text = source.read_text("utf-8")
    if source == RAGAS:
        target.write_text(text.replace(",1.0,", ",0.0,", 1), "utf-8")
        return target
    content = json.loads(text)
    if source == DEEPEVAL:
        content["testCases"][1]["metricsData"][0] |= {"success": False, "score": 0}
    else:
        content["samples"][0]["scores"]["match2"]["value"] = "P"
    target.write_text(json.dumps(content), "utf-8")
    return target


@pytest.mark.parametrize("source", AGREE, ids=lambda path: path.parent.name)
def test_a_verdict_that_was_tampered_with_is_found(source: Path, tmp_path: Path) -> None:
    proof = proven(tampered(source, tmp_path), tmp_path)
    (found,) = proof.disagreements
    assert (found.what, proof.proven) == ("verdict", False)
    assert found.type in AGREE[source]


def test_the_checks_go_into_what_is_written(tmp_path: Path) -> None:
    convert(INSPECT, tmp_path / "cases.jsonl", writer=GOLDEN_SET)
    case = json.loads((tmp_path / "cases.jsonl").read_text("utf-8").splitlines()[0])
    checks = [Check.model_validate(each) for each in case["checks"]]
    assert {each.metric for each in checks} == set(AGREE[INSPECT])
    (begin,) = (each for each in checks if each.metric == "match2")
    assert (begin.scorer, begin.params) == ("match", {"location": "begin", "ignore_case": False})


def test_a_threshold_comes_along(tmp_path: Path) -> None:
    content = json.loads(DEEPEVAL.read_bytes())
    content["testCases"][0]["metricsData"][0]["threshold"] = 0.25
    source = tmp_path / "run.json"
    source.write_text(json.dumps(content), "utf-8")
    convert(source, tmp_path / "cases.jsonl", writer=GOLDEN_SET)
    case = json.loads((tmp_path / "cases.jsonl").read_text("utf-8").splitlines()[0])
    assert case["checks"] == [{"equals": {"metric": "Exact Match", "threshold": 0.25}}]


def test_what_a_judge_said_is_named_with_that_reason(tmp_path: Path, bridge: Bridge) -> None:
    source = NATIVE / "ragas" / "result.csv"
    done = bridge("convert", source, "cases.jsonl", "--to", "golden_set", "--verify")
    assert done.returncode == 1  # its rouge_score was a stand-in's
    assert re.search(r"rouge_score +0 of 3", done.stdout)
    assert re.search(r"faithfulness +3 +asks a judge", done.stdout)


def deepeval_run(folder: Path, *names: str) -> Path:
    """A run of one case, with what metrics of these names said of it."""
    said = [{"name": each, "score": 1.0, "success": True, "threshold": 0.5} for each in names]
    case = {"name": "a", "input": "q", "actualOutput": "a", "expectedOutput": "a", "success": True}
    path = folder / "run.json"
    path.write_text(json.dumps({"testCases": [{**case, "metricsData": said}]}), "utf-8")
    return path


def ragas_table(folder: Path, *names: str) -> Path:
    """A table of one row, with a column of each metric."""
    columns = {"user_input": "q", "response": "a", "reference": "a", **dict.fromkeys(names, "1.0")}
    path = folder / "result.csv"
    path.write_text(f"{','.join(columns)}\n{','.join(columns.values())}\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("source", "compared", "left"),
    [
        (
            lambda folder: deepeval_run(
                folder, "Exact Match", "Pattern Match", "Json Correctness", "Tool Correctness"
            ),
            "Exact Match",
            {
                "Pattern Match": "its pattern is not in a run file",
                "Json Correctness": "its schema is not in a run file",
                "Tool Correctness": "compares names alone unless told otherwise",
            },
        ),
        (
            lambda folder: ragas_table(folder, "exact_match", "tool_call_accuracy", "mine"),
            "exact_match",
            {
                "tool_call_accuracy": "calls",
                "mine": "a metric of the source's own, which no check stands for",
            },
        ),
    ],
    ids=["deepeval", "ragas"],
)
def test_what_cannot_be_verified_is_named_with_its_reason(
    tmp_path: Path, bridge: Bridge, source: Any, compared: str, left: dict[str, str]
) -> None:
    """Metric by metric, in what a person reads."""
    path = source(tmp_path)
    done = bridge("convert", path, "cases.jsonl", "--to", "golden_set", "--verify")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{compared} +1 of 1", done.stdout)
    for name, reason in left.items():
        assert re.search(rf"{name} +1 .*{reason}", done.stdout), done.stdout


def test_metrics_of_someones_own_have_no_check(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which no check stands for"):
        proven(NATIVE / "inspect" / "foreign.json", tmp_path)


def test_rounding_is_that_of_the_metric_alone(tmp_path: Path) -> None:
    """Inspect rounds f1 to two decimals; a score that is further off is a difference."""
    content = json.loads(INSPECT.read_bytes())
    scored = next(each for each in content["samples"] if each["id"] == "words")["scores"]
    assert scored["f1"]["value"] == round(scored["f1"]["value"], 2) not in (0, 1)
    scored["f1"]["value"] += 0.004
    source = tmp_path / "log.json"
    source.write_text(json.dumps(content), "utf-8")
    (found,) = proven(source, tmp_path).disagreements
    assert (found.case_id, found.type) == ("words", "f1")


def own(name: str) -> Sequence[Counterpart]:
    found = get_framework(name)
    assert isinstance(found, HasCounterparts)
    return found.counterparts()


@pytest.mark.parametrize("name", framework_names())
def test_what_a_judge_measures_has_a_name_of_ours(name: str) -> None:
    """Of a native metric, or of a shared scorer or comparison that asks a judge."""
    framework = get_framework(name)
    found = framework.counterparts() if isinstance(framework, HasCounterparts) else ()
    assert {each.judged for each in found} <= {*registry.NATIVE, *registry.JUDGED, "pairwise", ""}


PAGES = {
    "promptfoo": "promptfoo",
    "inspect": "Inspect AI",
    "ragas": "RAGAS",
    "deepeval": "DeepEval",
}


@pytest.mark.parametrize("framework", PAGES)
def test_what_stands_for_a_metric_is_what_the_page_says(framework: str) -> None:
    """The page has more: nearest checks, and what to write where a file does not say the options."""
    page = table(PAGES[framework])
    for each in own(framework):
        if each.check is not None:
            names = [name for name in page if name.split("(")[0] == each.name.removesuffix("()")]
            read = [
                parse_yaml(page[name][0].strip("`").encode(), Path("page"))[0] for name in names
            ]
            scorers = {Check.model_validate(one).scorer for one in read if one != "none"}
            check = check_of(each)
            assert check is not None
            assert check.scorer in scorers or each.name == "ToolCallF1", each.name


@pytest.mark.parametrize("framework", PAGES)
def test_names_are_given_once(framework: str) -> None:
    metrics = own(framework)
    names = [each.name for each in metrics]
    recorded = [name for each in metrics for name in each.recorded]
    assert len(set(names)) == len(names)
    assert len(set(recorded)) == len(recorded)
    assert all(each.note for each in metrics if each.check is None and not each.judged)


def test_the_names_in_run_files_are_deepevals() -> None:
    from deepeval import metrics

    for each in own("deepeval"):
        kind = getattr(metrics, each.name)
        if each.recorded:
            assert kind.__dict__["__name__"].fget(None) == each.recorded[0], each.name


@pytest.mark.filterwarnings("ignore")
def test_the_names_in_results_are_ragas() -> None:
    import ragas.metrics as metrics

    for each in own("ragas"):
        kind: Any = getattr(metrics, each.name)
        default = getattr(kind, "name", "")  # rubrics are named when they are made
        assert not default or default in each.recorded, each.name


def test_a_number_tells_two_of_a_name_apart() -> None:
    known = {"f1": Counterpart("f1()"), "match": Counterpart("match()")}
    assert recorded_as(known, "f1") is known["f1"]
    assert recorded_as(known, "f11") is known["f1"]
    assert recorded_as(known, "match10") is known["match"]
    assert recorded_as(known, "other") is None
    assert recorded_as(known, "12") is None


def test_a_case_with_checks_keeps_them() -> None:
    from bridge.files.scores import ScoreRow
    from bridge.model import Case

    row = ScoreRow(framework="x", case_id="a", metric="m", status="scored", value=1.0)
    stand_ins = StandIns(lambda _: Check.model_validate("equals"))
    given = Case(id="a", input="q", expected="", checks=(Check.model_validate("contains"),))
    assert stand_ins.put(given, [row]) is given
    bare = Case(id="a", input="q", expected="")
    assert [each.metric for each in stand_ins.put(bare, [row]).checks] == ["m"]
