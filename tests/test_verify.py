"""``bridge convert --verify``: the same outputs on both sides, verdict held against verdict."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Bridge, write_jsonl, write_suite

from bridge import convert
from bridge.conversion import Given, verify
from bridge.conversion.rows import compare_rows
from bridge.model import InputError, Score
from bridge.model.verification import Verification
from bridge.plugin.format import Format
from bridge.plugin.formats import GOLDEN_SET, SUITE
from bridge.plugin.registry import format_names, get_format
from bridge.report.conversion import conversion_to_terminal
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.install import require_installed

CONFIG_TEXT = """
description: support
prompts: ["{{question}}"]
providers: [{id: echo, label: bot}]
defaultTest:
  vars: {days: "5"}
  assert: [{type: not-contains, value: "As an AI"}]
tests:
  - description: texts
    vars: {question: "When {{x}}?", x: "{% set y = 1 %}is it", n: [1, 2]}
    providerOutput: "Refunds take 5 days, {{days}}."
    assert:
      - {type: equals, value: "Refunds take 5 days, {{days}}."}
      - {type: contains, value: "{{days}} days", weight: 2}
      - {type: contains, value: never, weight: 0}
      - {type: not-contains, value: money}
      - {type: icontains, value: REFUND}
      - {type: contains-all, value: [Refunds, days]}
      - {type: contains-any, value: "hours, weeks"}
      - {type: icontains-all, value: [REFUNDS, DAYS]}
      - {type: icontains-any, value: [HOURS, DAYS]}
      - {type: regex, value: "take \\\\d+ days"}
      - {type: not-regex, value: "^R"}
      - {type: javascript, value: "process.exit(7)", metric: code}
      - {type: llm-rubric, value: is polite}
      - {type: regex, value: "(?<=take) 5"}
      - {type: latency, threshold: 100}
  - description: json
    vars: {question: "{{ 7 * 7 }}"}
    providerOutput: {a: 1}
    assert:
      - {type: is-json}
      - {type: is-json, value: {type: object, required: [b]}, metric: has_b}
      - type: assert-set
        threshold: 0.5
        metric: either
        assert: [{type: contains, value: nowhere}, {type: contains, value: '"a"'}]
      - {type: not-equals, value: {a: 2}}
  - description: threshold
    vars: {question: first}
    providerOutput: first
    threshold: 0.5
    assert: [{type: contains, value: first}, {type: regex, value: "^Q"}, {type: equals, value: First}]
  - description: foreign
    vars: {question: second}
    providerOutput: second
    threshold: 0.5
    options: {disableDefaultAsserts: true}
    assert: [{type: contains, value: second}, {type: python, value: "1"}]
  - description: measures
    vars: {question: fourth}
    providerOutput: "Refunds are paid within five days."
    assert:
      - {type: starts-with, value: Refunds}
      - {type: not-starts-with, value: refunds}
      - {type: levenshtein, value: "Refunds are paid within 5 days.", threshold: 5}
      - {type: rouge-n, value: "Refunds are paid in five days.", threshold: 0.5}
      - {type: bleu, value: "Refunds are paid in five days.", threshold: 0.1}
      - {type: gleu, value: "Refunds are paid in five days.", threshold: 0.1}
      - {type: word-count, value: {min: 2, max: 5}}
      - {type: is-refusal}
      - {type: contains-json}
  - description: markup
    vars: {question: fifth}
    providerOutput: "<ul><li>one</li></ul>"
    assert: [{type: is-html}, {type: contains-html}, {type: is-xml}, {type: contains-xml}, {type: not-is-sql}]
  - description: sql
    vars: {question: sixth}
    providerOutput: "SELECT a FROM t WHERE b = 1"
    assert: [{type: is-sql}, {type: contains-sql}, {type: not-is-html}]
  - {description: unanswered, vars: {question: third}, assert: [{type: contains, value: x}]}
"""
DIFFERS = """
prompts: ["{{question}}"]
providers: [echo]
tests:
  - description: folded
    vars: {question: "Where?"}
    assert:
      - {type: icontains, value: STRASSE}
      - {type: icontains, value: DER}
      - {type: latency, threshold: 1000}
      - {type: cost, threshold: 0.01}
"""


SCORER = """import os
from bridge import Measurement, Scorer
always = Scorer("always", "1", lambda case, output, params: BODY)
"""


def verified(source: Path, target: Path, writer: Format, **given: Any) -> Verification:
    """A conversion, proven."""
    reader = CONFIG if source.name == "promptfooconfig.yaml" else get_format("suite")
    done = convert(source, target, reader=reader, writer=writer)
    return verify(source, Path(done.written.source), reader, writer, Given(**given))


def written(folder: Path, text: str) -> Path:
    path = folder / "promptfooconfig.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Verification:
    """A config with every kind of assertion that maps, held against the real promptfoo."""
    require_installed()
    folder = tmp_path_factory.mktemp("verify")
    return verified(written(folder, CONFIG_TEXT), folder / "out", SUITE)


AGREE = {
    "not-contains": 7,  # the default's, for six cases, and one more
    "equals": 2,
    "contains": 5,
    "icontains": 1,
    "contains-all": 1,
    "contains-any": 1,
    "icontains-all": 1,
    "icontains-any": 1,
    "regex": 2,
    "not-regex": 1,
    "is-json": 2,
    "assert-set": 2,
    "not-equals": 1,
    "starts-with": 1,
    "not-starts-with": 1,
    "levenshtein": 1,
    "rouge-n": 1,
    "bleu": 1,
    "gleu": 1,
    "word-count": 1,
    "is-refusal": 1,
    "contains-json": 1,
    "is-html": 1,
    "contains-html": 1,
    "is-xml": 1,
    "contains-xml": 1,
    "not-is-html": 1,
}


@pytest.mark.xdist_group("promptfoo")
def test_every_assertion_that_maps_agrees_with_promptfoo(proof: Verification) -> None:
    assert proof.disagreements == ()
    found = {each.type: (each.agreed, each.compared) for each in proof.agreements}
    assert found == {kind: (n, n) for kind, n in AGREE.items()}
    assert proof.proven
    assert (proof.source.framework, proof.source.way) == ("promptfoo", "own")
    assert (proof.target.framework, proof.target.way) == ("core", "shared")
    assert proof.source.version


@pytest.mark.xdist_group("promptfoo")
def test_what_cannot_be_compared_is_said_with_its_reason(proof: Verification) -> None:
    left = {each.type: each for each in proof.left_out}
    assert "never run" in left["javascript"].reason
    assert "judge" in left["llm-rubric"].reason
    assert "RE2" in left["regex"].reason
    assert "latency" in left["latency"].reason
    assert "threshold" in left["contains"].reason
    assert {"is-sql", "not-is-sql", "contains-sql"} <= set(left)
    assert "node-sql-parser" in left["is-sql"].reason
    assert "never run" in left["python"].reason
    assert proof.notes == (
        "1 cases have no recorded output",
        "1 cases have no check that can be compared",
    )
    assert (proof.cases, proof.outputs) == (6, 6)


@pytest.mark.xdist_group("promptfoo")
def test_a_disagreement_is_found_with_both_reasons(tmp_path: Path, bridge: Bridge) -> None:
    """JavaScript's lower case knows no ss for ß; the shared scorer folds by Unicode's rules."""
    written(tmp_path, DIFFERS)
    answer = {"case_id": "folded", "text": "In der Straße.", "latency_s": 2, "cost_usd": 0.001}
    write_jsonl(tmp_path / "v1.outputs.jsonl", [answer])
    done = bridge(
        "convert", "promptfooconfig.yaml", "out/bridge.yaml", "--verify", "--report", "r.json",
        "--outputs", "v1.outputs.jsonl", "--verify-dir", "kept",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "verified: NO, 3 of 4 verdicts agree" in done.stdout
    assert "verdict: folded icontains" in done.stdout
    (found,) = json.loads((tmp_path / "r.json").read_bytes())["verification"]["disagreements"]
    assert (found["case_id"], found["source"]["status"]) == ("folded", "failed")
    assert found["target"]["status"] == "passed"
    assert "STRASSE" in found["source"]["reason"]
    assert found["target"]["reason"]
    assert (tmp_path / "kept/source/run/run.json").is_file()
    assert (tmp_path / "kept/target/run/run.json").is_file()


@pytest.mark.xdist_group("promptfoo")
def test_our_checks_written_for_promptfoo_are_its_own(tmp_path: Path) -> None:
    """The other way round: a suite is proven against the assertions it was written as."""
    checks: list[Any] = [
        "equals",
        {"contains": {"value": "a", "metric": "has_a"}},
        {"latency": {"max": 1}},
        {"regex": {"pattern": "(?i)^A", "metric": "re2"}},
    ]
    suite = write_suite(tmp_path, {"checks": checks})
    proof = verified(suite, tmp_path / "out", CONFIG)
    assert proof.proven
    assert {each.type: each.compared for each in proof.agreements} == {
        "equals": 4,
        "contains": 4,
        "regex": 4,
    }
    assert (proof.source.way, proof.target.framework, proof.target.way) == (
        "shared",
        "promptfoo",
        "own",
    )


@pytest.mark.xdist_group("promptfoo")
def test_the_example_of_the_guide_is_what_happens(tmp_path: Path, bridge: Bridge) -> None:
    page = (ROOT / "docs" / "migrate" / "README.md").read_text("utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    (config,) = (text for kind, text in blocks if kind == "yaml")
    (shown,) = (text for kind, text in blocks if kind == "text")
    command = next(text for kind, text in blocks if kind == "bash")
    written(tmp_path, config)
    done = bridge(*shlex.split(command)[1:])
    assert done.stdout == shown
    assert done.returncode == 1


def test_the_guide_names_formats_that_are_there() -> None:
    page = (ROOT / "docs" / "migrate" / "README.md").read_text("utf-8")
    table = page.partition("## Formats of others")[2]
    named = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert named
    assert set(named) <= set(format_names())


# --- a results file ------------------------------------------------------------------------------

RECORDED = Path(__file__).parent / "native" / "promptfoo" / "library.json"


def rescored(source: Path, folder: Path) -> Verification:
    reader = get_format("promptfoo")
    done = convert(source, folder / "cases.jsonl", reader=reader, writer=GOLDEN_SET)
    return verify(source, Path(done.written.source), reader, GOLDEN_SET)


def test_a_foreign_log_is_scored_again_without_its_framework(tmp_path: Path) -> None:
    proof = rescored(RECORDED, tmp_path)
    assert (proof.source.way, proof.source.version) == ("recorded", "0.123.1")
    assert {each.type: (each.agreed, each.compared) for each in proof.agreements} == {
        "contains": (40, 40),
        "latency": (8, 8),
        "assert-set": (4, 4),
    }
    left = {each.type: each for each in proof.left_out}
    assert left["javascript"].count == 16
    assert "HTTP 503" in left["contains"].reason
    assert proof.proven


def test_a_verdict_that_was_tampered_with_is_found(tmp_path: Path) -> None:
    content = json.loads(RECORDED.read_bytes())
    components = [
        each
        for row in content["results"]["results"]
        for each in (row.get("gradingResult") or {}).get("componentResults") or ()
        if (each.get("assertion") or {}).get("type") == "contains"
    ]
    components[3]["pass"] = not components[3]["pass"]
    components[3]["score"] = 1 - components[3]["score"]
    source = tmp_path / "results.json"
    source.write_text(json.dumps(content))
    proof = rescored(source, tmp_path)
    (found,) = proof.disagreements
    assert (found.what, found.type, proof.proven) == ("verdict", "contains", False)
    assert found.source is not None
    assert found.source.reason == components[3]["reason"]


def test_a_log_without_checks_is_scored_by_those_of_a_suite(tmp_path: Path) -> None:
    """In its own framework and in the target's; its own verdicts are named as not compared."""
    source = RECORDED.parents[1] / "inspect" / "foreign.json"
    suite = write_suite(tmp_path, {"checks": [{"regex": {"pattern": "."}}]})
    reader = get_format("inspect")
    done = convert(source, tmp_path / "log.jsonl", reader=reader, writer=GOLDEN_SET)
    target = Path(done.written.source)
    with pytest.raises(InputError, match="nothing to verify: no check"):
        verify(source, target, reader, GOLDEN_SET)
    proof = verify(source, target, reader, GOLDEN_SET, Given(suite=suite))
    assert (proof.source.framework, proof.source.way) == ("inspect", "shared")
    assert [each.type for each in proof.agreements] == ["regex"]
    assert proof.compared == proof.agreed > 0
    assert {each.reason for each in proof.left_out if "own" in each.reason}


def test_an_unknown_framework_is_said_before_anything_is_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    done = convert(suite, tmp_path / "out", writer=SUITE)
    given = Given(framework="nope", folder=tmp_path / "kept")
    with pytest.raises(InputError, match="no framework 'nope'"):
        verify(suite, Path(done.written.source), SUITE, SUITE, given)
    assert not (tmp_path / "kept").exists()


# --- without promptfoo ----------------------------------------------------------------------------


def test_a_target_that_was_changed_is_found(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"checks": ["equals", {"contains": "a"}]})
    done = convert(suite, tmp_path / "out" / "bridge.yaml", writer=SUITE)
    target = Path(done.written.source)
    cases = target.with_name("bridge.cases.jsonl")
    rows = [json.loads(line) for line in cases.read_text().splitlines()]
    rows[0]["expected"] = "another"
    write_jsonl(cases, rows[:3])
    proof = verify(suite, target, SUITE, SUITE)
    found = {(each.case_id, each.metric): each for each in proof.disagreements}
    assert set(found) == {("c0", "equals"), ("c3", "equals"), ("c3", "contains")}
    assert found["c0", "equals"].what == "verdict"
    lost = found["c3", "contains"]
    assert (lost.what, lost.target) == ("missing", None)
    assert lost.source is not None
    assert (proof.compared, proof.agreed, proof.proven) == (8, 5, False)


def test_checks_that_the_target_cannot_hold_are_the_suites(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    proof = verified(suite, tmp_path / "out.jsonl", GOLDEN_SET)
    assert (proof.compared, proof.proven) == (4, True)


def test_outputs_and_checks_are_given_beside_a_golden_set(tmp_path: Path, bridge: Bridge) -> None:
    write_suite(tmp_path, {})
    bare = bridge("convert", "cases.jsonl", "out/cases.jsonl", "--verify")
    assert bare.returncode == 2
    assert "no output is recorded; name recorded outputs with --outputs FILE" in bare.stderr
    answered = ("--verify", "--outputs", "v1.outputs.jsonl")
    none = bridge("convert", "cases.jsonl", "out/cases.jsonl", *answered)
    assert none.returncode == 2
    assert "no check; name a suite with checks with --suite FILE" in none.stderr
    done = bridge("convert", "cases.jsonl", "out/cases.jsonl", *answered, "--suite", "bridge.yaml")
    assert done.returncode == 0, done.stderr
    assert "verified: 4 of 4 verdicts agree" in done.stdout
    alone = bridge("convert", "cases.jsonl", "out/cases.jsonl", "--outputs", "v1.outputs.jsonl")
    assert alone.returncode == 2
    assert "are for --verify" in alone.stderr


def test_other_frameworks_can_be_asked(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    proof = verified(suite, tmp_path / "out", SUITE, framework="inspect")
    assert (proof.target.framework, proof.compared, proof.proven) == ("inspect", 4, True)


def test_code_in_a_foreign_file_is_not_run(tmp_path: Path) -> None:
    """A scorer is named by module:function only in a file of ours."""
    suite = write_suite(
        tmp_path,
        {"checks": ["equals", "own:always"]},
        own=SCORER.replace("BODY", "[Measurement(value=1.0)]"),
    )
    assert verified(suite, tmp_path / "out", SUITE).compared == 8
    convert(suite, tmp_path / "pf", writer=CONFIG)
    proof = verify(tmp_path / "pf/promptfooconfig.yaml", suite, CONFIG, SUITE)
    (left,) = proof.left_out
    assert (left.type, left.count) == ("own:always", 4)
    assert "code, which is not run" in left.reason


def test_a_broken_framework_is_no_verdict(tmp_path: Path, bridge: Bridge) -> None:
    write_suite(
        tmp_path,
        {"checks": ["own:always"]},
        own=SCORER.replace("BODY", "os._exit(5)"),
    )
    done = bridge("convert", "bridge.yaml", "out/bridge.yaml", "--verify")
    assert done.returncode == 3
    assert "core did not get to its end (the worker ended with exit code 5)" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def row(status: str, value: float | None = None, **fields: Any) -> Score:
    return Score.model_validate(
        {"framework": "core", "metric": "m", "case_id": "a", "status": status, "value": value}
        | fields
    )


@pytest.mark.parametrize(
    ("source", "target", "what"),
    [
        (row("passed", 1.0), row("passed", 1.0), None),
        (row("passed", 0.5), row("passed", 0.7), "score"),
        (row("passed", 1.0), row("failed", 0.0), "verdict"),
        (row("scored", 0.5), row("failed", 0.5), None),
        (row("scored", 0.5), row("scored", 0.6), "verdict"),
        (row("failed", 0.0), row("skipped"), "verdict"),
        (row("error", error="x"), row("failed", 0.0), "verdict"),
        (row("failed", 0.0), None, "missing"),
        (None, row("failed", 0.0), "missing"),
    ],
)
def test_when_two_rows_agree(source: Score | None, target: Score | None, what: str | None) -> None:
    rows = ([each] if each is not None else [] for each in (source, target))
    found = compare_rows(*rows)
    assert [each.what for each in found.disagreements] == ([what] if what else [])
    (count,) = found.agreements
    assert (count.compared, count.agreed) == (1, int(what in (None, "score")))
    assert count.scores_differ == int(what == "score")


def test_what_neither_side_decides_is_not_compared() -> None:
    found = compare_rows([row("error", error="x")], [row("error", error="y")])
    assert (found.agreements, found.disagreements) == ((), ())
    assert found.undecided[0].reason == "x"
    found = compare_rows([row("passed", 1.0)], [row("unsupported", reason="no such thing")])
    assert (found.agreements, found.undecided[0].reason) == ((), "no such thing")


def test_a_proof_with_nothing_in_it_proves_nothing(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"checks": [{"latency": {"max": 1}}]})
    done = convert(suite, tmp_path / "out", writer=SUITE)
    proof = verify(suite, Path(done.written.source), SUITE, SUITE)
    assert (proof.compared, proof.proven) == (0, False)
    shown = conversion_to_terminal(done.model_copy(update={"verification": proof}))
    assert "verified: nothing could be compared" in shown


def test_a_target_without_cases_proves_nothing(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    outputs = get_format("outputs")
    done = convert(suite, tmp_path / "x.outputs.jsonl", writer=outputs)
    with pytest.raises(InputError, match="a migration is proven on cases, and outputs holds none"):
        verify(suite, Path(done.written.source), SUITE, outputs)
