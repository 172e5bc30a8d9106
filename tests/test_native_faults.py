"""Everything that a judge can do wrong, in every framework's own metrics: an error row of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from judge_server import Act, JudgeServer
from native_judge import CASE, OUTPUT, honest
from test_native_metrics import FRAMEWORKS, judged, rows_of, write

from bridge.judge import kind_of

KEY = "key-0123456789-abcdef"
SAID = f"the key {KEY} is no good".encode()
LASTING: dict[str, Act] = {
    "auth": Act(status=401, body=SAID),
    "forbidden": Act(status=403, body=SAID),
    "not_found": Act(status=404, body=SAID),
}
"""Faults that end a judge: each has one of its own."""
PASSING: dict[str, tuple[str, Act]] = {
    "throttled": ("throttled", Act(status=429, headers={"Retry-After": "0"}, body=SAID)),
    "server": ("server", Act(status=500, body=SAID)),
    "timeout": ("timeout", Act(delay_s=20)),
    "reset": ("connect", Act(reset=True)),
    "refused": ("request", Act(status=422, body=SAID)),
    "nothing": ("empty", Act(body=b"")),
    "html": ("not_json", Act(body=b"<!doctype html>", kind="text/html")),
    "chatter": ("not_json", Act("It is a good answer.")),
    "foo": ("schema", Act({"foo": 1})),
    "refusal": ("refusal", Act(refusal="I cannot judge this.")),
    "cut": ("truncated", Act('{"steps": ["and so', finish="length")),
}
"""By a word in the criteria: the kind of the error, and what the server does."""


def faulty(body: dict[str, Any]) -> Act:
    prompt = "\n".join(message["content"] for message in body["messages"])
    found = re.search(r"fault-(\w+)", prompt)
    assert found is not None, prompt
    return LASTING.get(found[1]) or PASSING[found[1]][1]


def faulty_case(word: str, judge: str) -> tuple[dict[str, Any], dict[str, Any]]:
    check = {"g_eval": {"judge": judge, "criteria": f"fault-{word}"}}
    case = {"id": word, "input": "q", "expected": "", "checks": [check]}
    return case, {"case_id": word, "text": "Paris."}


def test_every_fault_is_an_error_row_of_its_kind(bridge: Bridge, tmp_path: Path) -> None:
    """In one run, which loses no row; the key is in no file of it."""
    kinds = {word: word for word in (*LASTING, "no_key")}
    kinds |= {word: kind for word, (kind, _) in PASSING.items()}
    pairs = [faulty_case(word, word if word in LASTING else "main") for word in kinds]
    pairs = [faulty_case("no_key", "no_key") if c["id"] == "no_key" else (c, o) for c, o in pairs]
    with JudgeServer(faulty) as server:
        given = {"api_key_env": "JUDGE_KEY", "timeout_s": 6.0, "concurrency": 8}
        suite = write(
            tmp_path,
            server,
            ["contains"],
            FRAMEWORKS,
            judge=given,
            cases=[case for case, _ in pairs],
            outputs=[output for _, output in pairs],
            judges={
                **dict.fromkeys(LASTING, given),
                "no_key": {"api_key_env": "NO_SUCH_KEY"},
            },
        )
        done = bridge("run", suite, "--run-dir", tmp_path / "R", JUDGE_KEY=KEY)
    assert done.returncode == 3, done.stderr
    for framework in FRAMEWORKS:
        rows = rows_of(tmp_path / "R", framework)
        found = {row["case_id"]: row for row in rows if row["metric"] == "g_eval"}
        assert {word: kind_of(row["error"] or "") for word, row in found.items()} == kinds
        assert {row["status"] for row in found.values()} == {"error"}
        shared = [row["status"] for row in rows if row["metric"] == "contains"]
        assert shared == ["passed"] * len(kinds), framework
    for path in (tmp_path / "R").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


# --- replies that frameworks take without a word ----------------------------------------------


def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A reply with nothing in the list of that name."""
    return lambda reply: {**reply, name: []}


def fewer(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A reply with one less in the list of that name."""
    return lambda reply: {**reply, name: reply[name][:-1]}


def first(name: str, **changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A reply whose first item of that list is another."""
    return lambda reply: {**reply, name: [{**reply[name][0], **changes}, *reply[name][1:]]}


LIES: dict[str, tuple[str, str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "deepeval-1": ("faithfulness", "EACH claim contradicts", without("verdicts")),
    "deepeval-2": ("faithfulness", "EACH claim contradicts", fewer("verdicts")),
    "deepeval-3": ("faithfulness", "EACH claim contradicts", first("verdicts", verdict="maybe")),
    "deepeval-4": ("faithfulness", "provided actual AI output", without("claims")),
    "deepeval-5": ("faithfulness", "from the provided text", without("truths")),
    "deepeval-6": ("answer_relevancy", "relevant to address the input", fewer("verdicts")),
    "deepeval-7": ("context_recall", "attributed to the nodes", without("verdicts")),
    "deepeval-8": ("g_eval", "10 indicating strong", lambda reply: {**reply, "score": 11}),
    "ragas-1": ("faithfulness", "judge the faithfulness", fewer("statements")),
    "ragas-2": ("faithfulness", "judge the faithfulness", first("statements", verdict=7)),
    "ragas-3": ("faithfulness", "complexity of each sentence", without("statements")),
    "ragas-4": (
        "context_recall",
        "the statement can be attri",
        first("classifications", attributed=7),
    ),
    "ragas-5": ("context_recall", "the statement can be attri", without("classifications")),
    "ragas-6": ("answer_relevancy", "is noncommittal", lambda reply: {**reply, "noncommittal": 2}),
    "ragas-7": ("g_eval", "criteria defined", lambda reply: {**reply, "score": 11}),
    "promptfoo-1": ("faithfulness", "Natural language inference", fewer("verdicts")),
    "promptfoo-2": ("faithfulness", "more statements from each", without("statements")),
    "promptfoo-3": ("context_recall", "classify if the sentence can", without("classifications")),
    "promptfoo-4": ("answer_relevancy", "Generate question", lambda reply: {"question": ""}),
    "promptfoo-5": ("g_eval", "rate the Reply", lambda reply: {**reply, "score": 11}),
    "promptfoo-6": ("g_eval", "applicable to any text", without("steps")),
    "inspect-1": ("g_eval", "meet the criterion", lambda reply: {**reply, "grade": "N"}),
}
"""By the case: the metric, the question that is answered with a lie, and the lie."""


def lying(body: dict[str, Any]) -> Act:
    act = honest(body)
    prompt = "\n".join(message["content"] for message in body.get("messages", ()))
    for word, (_, question, lie) in LIES.items():
        if question in prompt and re.search(rf"\b{word}\b", prompt):
            return Act(lie(act.content))
    return act


def test_what_frameworks_take_without_a_word_is_an_error(bridge: Bridge, tmp_path: Path) -> None:
    """Each case is lied about in one reply of one framework; all other rows are sound."""
    cases, outputs = [], []
    for word, (metric, _, _) in LIES.items():
        params = {"criteria": f"It names the city, {word}."} if metric == "g_eval" else {}
        own = {"checks": [judged(metric, **params)]}
        said = f"Paris is the {word}."
        cases.append({**CASE, **own, "id": word, "expected": f"{CASE['expected']} {said}"})
        contexts = [f"{OUTPUT['retrieved_contexts'][0]} {said}"]
        text = f"{OUTPUT['text']} {said}"
        outputs.append({"case_id": word, "text": text, "retrieved_contexts": contexts})
    with JudgeServer(lying) as server:
        suite = write(tmp_path, server, [], FRAMEWORKS, cases=cases, outputs=outputs)
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 3, done.stderr
    for framework in FRAMEWORKS:
        for row in rows_of(tmp_path / "R", framework):
            lied_to = row["case_id"].startswith(framework)
            assert (row["status"] == "error") == lied_to, row
            if lied_to:
                assert kind_of(row["error"]) in ("schema", "range"), row


SLOW = """
from bridge.judge import Request, judge_in_force
from bridge.plugin.core import CoreFramework

class Slow(CoreFramework):
    def run(self, job):
        judge_in_force("main").ask(Request([{"role": "user", "content": "?"}]))
        yield from super().run(job)

FRAMEWORK = Slow()
"""


def test_a_worker_that_waits_for_a_judge_is_not_hung(bridge: Bridge, tmp_path: Path) -> None:
    """Though it gives no row for longer than a framework may."""
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    with JudgeServer([Act("well", delay_s=9.0)]) as server:
        framework = {"name": "slow:FRAMEWORK", "timeout_s": 6.0}
        check = judged("faithfulness")
        suite = write(tmp_path, server, ["contains", check], [framework])
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 0, done.stdout + done.stderr
    assert server.calls == 1


def test_retry_after_is_kept_to(bridge: Bridge, tmp_path: Path) -> None:
    """A framework does not see what has passed."""
    acts = iter([Act(status=429, headers={"Retry-After": "1"}, body=b"slow down")])
    with JudgeServer(lambda body: next(acts, None) or honest(body)) as server:
        check = judged("g_eval", criteria="It names the city.")
        suite = write(tmp_path, server, [check], ["inspect"], judge={"retries": 1})
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.times[1] - server.times[0] >= 1.0
    (row,) = rows_of(tmp_path / "R", "inspect")
    assert row["value"] == pytest.approx(1.0)
