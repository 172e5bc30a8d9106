"""The judge client against a scripted server: answers, every class of failure, cache, budget."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from judge_server import Act, JudgeServer, Script

from bridge.judge import JudgeClient, JudgeError, Reply, Request, kind_of
from bridge.judge.wire.cache import ReplyCache
from bridge.judge.wire.ledger import Ledger
from bridge.model.errors import InfrastructureError
from bridge.model.judge import JudgeConfig

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "why": {"type": "string"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["why", "score"],
    "additionalProperties": False,
}
GOOD = {"why": "it says so", "score": 0.75}
KEY = "sk-test-0123456789abcdef"


def question(text: str = "How good?", **fields: Any) -> Request:
    return Request([{"role": "user", "content": text}], **{"schema": SCHEMA, **fields})


@contextmanager
def judge(
    server: JudgeServer,
    *,
    cache: ReplyCache | None = None,
    ledger: Ledger | None = None,
    **fields: Any,
) -> Iterator[JudgeClient]:
    given = {"model": "m", "base_url": server.url, "timeout_s": 5.0, "retries": 0, **fields}
    config = JudgeConfig.model_validate(given)
    client = JudgeClient("main", config, cache=cache, ledger=ledger, backoff_s=0.01)
    try:
        yield client
    finally:
        client.close()


def failure(server: JudgeServer, **fields: Any) -> JudgeError:
    with judge(server, **fields) as client, pytest.raises(JudgeError) as caught:
        client.ask(question())
    return caught.value


class TestAnswers:
    def test_a_reply_that_meets_its_schema(self) -> None:
        price = {"input": 10, "output": 50}
        with JudgeServer([Act(GOOD)]) as server, judge(server, seed=7, price=price) as client:
            reply = client.ask(question())
            assert reply == Reply(json.dumps(GOOD), GOOD, 100, 20, 0.002)
            (body,) = server.bodies
            assert body["temperature"] == 0
            assert (body["seed"], body["max_tokens"], body["model"]) == (7, 1024, "m")
            wanted = body["response_format"]["json_schema"]
            assert (wanted["schema"], wanted["strict"]) == (SCHEMA, True)
            assert client.spending.cost_usd == 0.002

    def test_free_text(self) -> None:
        with JudgeServer([Act("C")]) as server, judge(server, temperature=None) as client:
            assert client.ask(question(schema=None)).text == "C"
            assert not {"response_format", "temperature", "seed"} & set(server.bodies[0])

    def test_further_fields_of_the_body(self) -> None:
        with JudgeServer([Act(GOOD)]) as server, judge(server, options={"top_k": 1}) as client:
            client.ask(question())
            assert server.bodies[0]["top_k"] == 1

    @pytest.mark.parametrize(
        "said",
        [
            f"```json\n{json.dumps(GOOD)}\n```",
            f"Sure! {json.dumps(GOOD)} Hope {{that}} helps.",
            f'<think>{{"why": "x", "score": 0}}</think>{json.dumps(GOOD)}',
            f'The answer says {{"score": 1}}. {json.dumps(GOOD)}',
            f"{json.dumps(GOOD)}\n{json.dumps(GOOD, indent=2)}",
        ],
    )
    def test_chatter_around_the_object(self, said: str) -> None:
        with JudgeServer([Act(said)]) as server, judge(server) as client:
            assert client.ask(question()).data == GOOD

    def test_content_in_parts(self) -> None:
        act = Act(GOOD)
        whole = json.loads(act.spelled())
        parts = [{"type": "text", "text": '{"why": "", '}, {"type": "text", "text": '"score": 1}'}]
        whole["choices"][0]["message"]["content"] = parts
        with JudgeServer([Act(body=json.dumps(whole).encode())]) as server, judge(server) as client:
            assert client.ask(question()).data == {"why": "", "score": 1}

    def test_from_an_event_loop(self) -> None:
        async def both(client: JudgeClient) -> list[Reply]:
            return await asyncio.gather(*[client.ask_async(question(str(i))) for i in range(2)])

        with JudgeServer([Act(GOOD)]) as server, judge(server) as client:
            for _ in range(2):  # every run has a loop of its own
                assert [reply.data for reply in asyncio.run(both(client))] == [GOOD, GOOD]
            assert server.calls == 2

    def test_no_more_at_once_than_asked_for(self) -> None:
        with JudgeServer([Act(GOOD, delay_s=0.05)]) as server, judge(server, concurrency=3) as c:
            with ThreadPoolExecutor(12) as pool:
                list(pool.map(lambda i: c.ask(question(str(i))), range(12)))
            assert server.calls == 12
            assert server.most_at_once == 3

    def test_requests_a_minute(self) -> None:
        with JudgeServer([Act(GOOD)]) as server, judge(server, requests_per_minute=600) as client:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda i: client.ask(question(str(i))), range(4)))
            assert server.times[-1] - server.times[0] > 0.27  # three gaps of 0.1 s


FAULTS: dict[str, list[Act]] = {
    "auth": [Act(status=401, body=b'{"error": {"message": "bad key"}}')],
    "forbidden": [Act(status=403, body=b"{}")],
    "not_found": [Act(status=404, body=b'{"error": "no such model"}')],
    "throttled": [Act(status=429, headers={"Retry-After": "0"}, body=b"slow down")],
    "server": [Act(status=500, body=b"oops"), Act(status=503, body=b"oops")],
    "timeout": [Act(GOOD, delay_s=0.8), Act(GOOD, drip_s=0.02)],
    "connect": [Act(reset=True)],
    "request": [Act(status=422, body=b'{"error": "no"}')],
    "empty": [
        Act(body=b""),
        Act(""),
        Act(" \n"),
        Act(body=b'{"choices": []}'),
        Act(body=b'{"error": {"message": "overloaded"}}'),
        Act(body=b'{"choices": [{"message": null}]}'),
        Act("<think>on and on</think>"),
    ],
    "not_json": [
        Act(body=b"<!doctype html><title>Sign in</title>", kind="text/html"),
        Act(body=b"[1]"),
        Act(body=b'{"choices": '),
        Act(body=b"[" * 100_000),
        Act("The answer is good."),
        Act('{"why": "cut'),
        Act('{"a":' * 5000),
    ],
    "schema": [
        Act({"score": 1}),
        Act({"why": "x", "score": "high"}),
        Act({"why": "x", "score": None}),
        Act({"why": "x", "score": 1, "more": 1}),
        Act('{"why": "a", "score": 1} {"why": "a", "score": 0}'),
    ],
    "range": [Act({"why": "x", "score": 7}), Act({"why": "x", "score": -0.1})],
    "refusal": [Act(refusal="I cannot judge this."), Act(GOOD, finish="content_filter")],
    "truncated": [Act(GOOD, finish="length"), Act('{"why": "and so', finish="length")],
}
"""By kind, what a server does to be met with it."""


def test_limits_bound_what_a_small_model_says() -> None:
    """A longer list is no reply, a longer text is one; a list with a place for each keeps it."""
    inner = {"type": "string", "enum": ["a long word", "no"]}
    schema = {
        "type": "object",
        "properties": {
            "texts": {"type": "array", "items": {"type": "string", "maxLength": 3}},
            "each": {"type": "array", "items": inner, "minItems": 4, "maxItems": 4},
            "why": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
    said = {"texts": ["abc"], "each": ["no"] * 4, "why": "a" * 10}
    wordy, longer = {**said, "why": "a" * 11}, {**said, "texts": ["a", "b", "c"]}
    with (
        JudgeServer([Act(said), Act(wordy), Act(longer)]) as server,
        judge(server, limits={"items": 2, "characters": 10}) as client,
    ):
        assert client.ask(question(schema=schema)).data == said
        assert client.ask(question("Again?", schema=schema)).data == wordy
        with pytest.raises(JudgeError, match=r"judge_error\[schema\]"):
            client.ask(question("Once more?", schema=schema))
    sent = server.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]
    assert sent["texts"] == {
        "type": "array",
        "items": {"type": "string", "maxLength": 3},
        "maxItems": 2,
    }
    assert sent["each"] == {"type": "array", "items": inner, "minItems": 4, "maxItems": 4}
    assert sent["why"] == {"anyOf": [{"type": "string", "maxLength": 10}, {"type": "null"}]}


class TestFailures:
    @pytest.mark.parametrize(
        ("kind", "act"),
        [
            pytest.param(k, act, id=f"{k}-{i}")
            for k, acts in FAULTS.items()
            for i, act in enumerate(acts)
        ],
    )
    def test_each_has_its_kind(self, kind: str, act: Act) -> None:
        with JudgeServer([act]) as server:
            error = failure(server, timeout_s=0.4 if kind == "timeout" else 5.0)
            assert error.kind == kind
            assert kind_of(f"x: {error}") == kind
            assert server.calls == 1
            assert "\n" not in str(error)

    def test_nobody_listens(self) -> None:
        with JudgeServer([Act()]) as server:
            pass
        assert failure(server).kind == "connect"

    def test_no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NO_SUCH_KEY", raising=False)
        with JudgeServer([Act(GOOD)]) as server:
            error = failure(server, api_key_env="NO_SUCH_KEY")
            assert (error.kind, server.calls) == ("no_key", 0)
            assert "NO_SUCH_KEY" in error.text
            monkeypatch.setenv("NO_SUCH_KEY", "a\nb")
            assert failure(server, api_key_env="NO_SUCH_KEY").kind == "no_key"

    def test_an_answer_without_end(self) -> None:
        with JudgeServer([Act(body=b" " * (9 << 20))]) as server:
            assert "larger than 8 MiB" in failure(server).text

    @pytest.mark.parametrize("kind", ["auth", "forbidden", "not_found"])
    def test_what_will_stay_is_asked_once(self, kind: str) -> None:
        with JudgeServer(FAULTS[kind]) as server, judge(server, retries=3) as client:
            for text in "abc":
                with pytest.raises(JudgeError) as caught:
                    client.ask(question(text))
                assert caught.value.kind == kind
            assert server.calls == 1

    def test_a_failure_is_shared_like_an_answer(self) -> None:
        """Every framework of a run gets the same row."""
        with JudgeServer([Act(""), Act(GOOD)]) as server, judge(server) as client:
            for _ in range(2):
                with pytest.raises(JudgeError):
                    client.ask(question())
            assert server.calls == 1

    def test_kinds_in_other_texts(self) -> None:
        assert kind_of("judge_error[nonsense]: x") is None
        assert kind_of("no number") is None


class TestRepeating:
    @pytest.mark.parametrize("kind", ["throttled", "server", "connect"])
    def test_what_may_pass_is_tried_again(self, kind: str) -> None:
        with JudgeServer([*FAULTS[kind][:1] * 2, Act(GOOD)]) as server:
            with judge(server, retries=2) as client:
                assert client.ask(question()).data == GOOD
            assert server.calls == 3

    def test_a_bad_reply_is_not(self) -> None:
        with JudgeServer([Act("no JSON"), Act(GOOD)]) as server:
            assert failure(server, retries=3).kind == "not_json"
            assert server.calls == 1

    def test_no_more_often_than_asked_for(self) -> None:
        with JudgeServer(FAULTS["server"]) as server:
            assert failure(server, retries=2).kind == "server"
            assert server.calls == 3

    @pytest.mark.parametrize("as_date", [False, True])
    def test_retry_after_is_waited_for(self, as_date: bool) -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
        wait = Act(status=429, headers={"Retry-After": later if as_date else "0.6"}, body=b"")
        with JudgeServer([wait, Act(GOOD)]) as server, judge(server, retries=1) as client:
            client.ask(question())
            assert server.times[1] - server.times[0] >= 0.55

    def test_everyone_waits(self) -> None:
        """One answer that says to wait holds the others back too."""
        acts = [Act(status=429, headers={"Retry-After": "1"}, body=b""), Act(GOOD)]
        with JudgeServer(acts) as server, judge(server, retries=1, concurrency=2) as client:
            first = client.submit(question("a"))
            while not server.calls:
                time.sleep(0.01)
            time.sleep(0.3)  # the answer that says to wait is there
            client.ask(question("b"))
            first.result()
            assert server.times[1] - server.times[0] >= 0.9

    @pytest.mark.parametrize("wait", ["86400", "inf", "nan", "soon", "-5"])
    def test_a_wait_that_makes_no_sense(self, wait: str) -> None:
        act = Act(status=429, headers={"Retry-After": wait}, body=b"")
        with JudgeServer([act]) as server:
            assert failure(server, retries=1).kind == "throttled"
            assert server.calls == (1 if wait in ("86400", "inf") else 2)


class TestDialects:
    """Servers that lack structured output, or want another name for a field."""

    def server_of(self, *known: str, tokens: str = "max_tokens") -> Script:
        def answer(body: dict[str, Any]) -> Act:
            form = (body.get("response_format") or {"type": "prompt"})["type"]
            if tokens not in body:
                return Act(status=400, body=b'{"error": "unsupported: use max_completion_tokens"}')
            if form not in known:
                said = f'{{"error": "response_format {form} is not supported"}}'
                return Act(status=400, body=said.encode())
            return Act(GOOD)

        return answer

    @pytest.mark.parametrize("best", ["json_schema", "json_object", "prompt"])
    def test_the_first_that_is_not_refused(self, best: str) -> None:
        with JudgeServer(self.server_of(best)) as server, judge(server, concurrency=1) as client:
            assert client.ask(question("a")).data == GOOD
            refused = server.calls - 1
            assert client.ask(question("b")).data == GOOD
            assert server.calls == refused + 2  # what was learned stays
            last = server.bodies[-1]["messages"][-1]["content"]
            assert ("JSON Schema" in last) == (best != "json_schema")
            assert refused == ("json_schema", "json_object", "prompt").index(best)

    def test_another_name_for_the_most_tokens(self) -> None:
        script = self.server_of("json_object", tokens="max_completion_tokens")
        with JudgeServer(script) as server, judge(server) as client:
            assert client.ask(question()).data == GOOD
            assert server.bodies[-1]["max_completion_tokens"] == 1024

    def test_what_the_suite_says_is_not_given_up(self) -> None:
        with JudgeServer(self.server_of("prompt")) as server:
            assert failure(server, structured="json_schema").kind == "request"
            assert server.calls == 1

    def test_other_refusals_are_no_dialect(self) -> None:
        with JudgeServer([Act(status=400, body=b'{"error": "context too long"}')]) as server:
            assert failure(server).kind == "request"
            assert server.calls == 1

    def test_a_server_that_ignores_the_schema(self) -> None:
        with JudgeServer([Act({"foo": 1})]) as server:
            assert failure(server).kind == "schema"


class TestOnce:
    def test_equal_requests_are_one(self) -> None:
        with JudgeServer([Act(GOOD, delay_s=0.05)]) as server, judge(server) as client:
            with ThreadPoolExecutor(8) as pool:
                replies = list(pool.map(lambda _: client.ask(question()), range(8)))
            assert server.calls == 1
            assert len(set(map(id, replies))) == 1
            client.ask(question(sample=1))
            assert server.calls == 2

    def ask(self, server: JudgeServer, path: Path, request: Request, **fields: Any) -> Reply:
        cache = ReplyCache(path)
        try:
            with judge(server, cache=cache, **fields) as client:
                return client.ask(request)
        finally:
            cache.close()

    def test_a_second_run_makes_no_call(self, tmp_path: Path) -> None:
        with JudgeServer([Act(GOOD)]) as server:
            first = self.ask(server, tmp_path / "c.sqlite", question())
            assert self.ask(server, tmp_path / "c.sqlite", question()) == first
            assert server.calls == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"model": "other"},
            {"temperature": 0.5},
            {"temperature": None},
            {"seed": 1},
            {"max_tokens": 5},
            {"options": {"top_p": 1}},
            {"structured": "prompt"},
        ],
    )
    def test_a_changed_judge_is_asked_again(self, change: dict[str, Any], tmp_path: Path) -> None:
        with JudgeServer([Act(GOOD)]) as server:
            self.ask(server, tmp_path / "c.sqlite", question())
            self.ask(server, tmp_path / "c.sqlite", question(), **change)
            assert server.calls == 2

    def test_a_changed_question_is_asked_again(self, tmp_path: Path) -> None:
        other = {
            **SCHEMA,
            "properties": {**SCHEMA["properties"], "why": {"type": "string", "maxLength": 99}},
        }
        with JudgeServer([Act(GOOD)]) as server:
            for request in (
                question(),
                question("other"),
                question(schema=other),
                question(sample=1),
            ):
                self.ask(server, tmp_path / "c.sqlite", request)
            assert server.calls == 4

    def test_a_failure_is_not_kept(self, tmp_path: Path) -> None:
        with JudgeServer([Act(""), Act(GOOD)]) as server:
            with pytest.raises(JudgeError):
                self.ask(server, tmp_path / "c.sqlite", question())
            assert self.ask(server, tmp_path / "c.sqlite", question()).data == GOOD

    def test_no_cache_where_none_is_wanted(self, tmp_path: Path) -> None:
        with JudgeServer([Act(GOOD)]) as server:
            cache = ReplyCache(tmp_path / "c.sqlite")
            for _ in range(2):
                config = JudgeConfig(model="m", base_url=server.url, cache=False)
                client = JudgeClient("main", config, cache=cache)
                client.ask(question())
                client.close()
            cache.close()
            assert server.calls == 2

    def test_a_damaged_cache_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "c.sqlite"
        path.write_bytes(b"not a database, but long enough to be read as one" * 100)
        with pytest.raises(InfrastructureError, match="cache cannot be used"):
            ReplyCache(path)


class TestBudget:
    def spend(self, budget: dict[str, float], **fields: Any) -> tuple[int, list[str]]:
        kinds = []
        with JudgeServer([Act(GOOD)]) as server:
            with judge(server, budget=budget, concurrency=1, **fields) as client:
                for text in "abcde":
                    try:
                        client.ask(question(text))
                        kinds.append("ok")
                    except JudgeError as error:
                        kinds.append(error.kind)
            return server.calls, kinds

    def test_calls(self) -> None:
        assert self.spend({"calls": 2}) == (2, ["ok", "ok", "budget", "budget", "budget"])
        assert self.spend({"calls": 0})[0] == 0

    def test_tokens(self) -> None:
        assert self.spend({"tokens": 240})[0] == 2  # 120 each

    def test_usd(self) -> None:
        price = {"input": 1e6, "output": 0}  # 100 dollars a call
        assert self.spend({"usd": 300}, price=price)[0] == 3

    def test_repetitions_count(self) -> None:
        with JudgeServer(FAULTS["server"]) as server:
            assert failure(server, retries=5, budget={"calls": 2}).kind == "budget"
            assert server.calls == 2

    def test_a_bad_reply_costs_too(self) -> None:
        with JudgeServer([Act("no JSON")]) as server, judge(server) as client:
            with pytest.raises(JudgeError):
                client.ask(question())
            assert client.spending.input_tokens == 100


class TestSecrets:
    """No key, of ours or of any known shape, in an error, a reply, a cache or a ledger."""

    def test_a_server_that_echoes_keys(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("JUDGE_KEY", KEY)
        leak = f"bad key {KEY}, Bearer {KEY} and sk-other-abcdefghijkl, rate limit 429"
        for act in (
            Act(status=401, body=json.dumps({"error": leak}).encode()),
            Act(status=429, body=leak.encode()),
            Act(status=500, body=leak.encode()),
            Act(body=f"<html>{leak}".encode()),
            Act(refusal=leak),
        ):
            with JudgeServer([act]) as server:
                error = failure(server, api_key_env="JUDGE_KEY")
                assert server.headers[0]["authorization"] == f"Bearer {KEY}"
            for word in (KEY, "sk-", "429", "rate limit"):
                assert word not in str(error), str(error)

    def test_a_judge_that_repeats_the_key(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("JUDGE_KEY", KEY)
        cache, ledger = ReplyCache(tmp_path / "c.sqlite"), Ledger(tmp_path / "l.jsonl")
        with (
            JudgeServer([Act({"why": KEY, "score": 1})]) as server,
            judge(server, api_key_env="JUDGE_KEY", cache=cache, ledger=ledger) as client,
        ):
            assert client.ask(question()).data == {"why": "[redacted]", "score": 1}
        cache.close()
        ledger.close()
        for path in tmp_path.iterdir():
            assert KEY.encode() not in path.read_bytes(), path

    def test_no_key_is_sent_where_none_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with JudgeServer([Act(GOOD)]) as server, judge(server) as client:
            client.ask(question())
            assert KEY not in json.dumps(server.headers)


def test_the_ledger_says_what_was_asked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.jsonl")
    cache = ReplyCache(tmp_path / "c.sqlite")
    with JudgeServer([Act(status=500, body=b""), Act(GOOD), Act("")]) as server:
        for retries in (1, 1):
            with judge(server, retries=retries, ledger=ledger, cache=cache) as client:
                client.ask(question(tag={"case_id": "a"}))
        with judge(server, ledger=ledger) as client, pytest.raises(JudgeError):
            client.ask(question("b"))
    ledger.close()
    cache.close()
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    seen = [(line["attempts"], line["cached"], line["error"], line["tag"]) for line in lines]
    tag = {"case_id": "a"}
    assert seen == [(2, False, None, tag), (0, True, None, tag), (1, False, "empty", {})]
    assert lines[0]["input_tokens"] == 100
    assert "How good" not in (tmp_path / "l.jsonl").read_text()


def test_closing_ends_what_is_under_way() -> None:
    before = threading.active_count()
    with JudgeServer([Act(GOOD, delay_s=1)]) as server:
        with judge(server) as client:
            waiting = client.submit(question())
        with pytest.raises(CancelledError):
            waiting.result(timeout=5)
        client.close()  # twice does no harm
    assert threading.active_count() <= before + 1


def test_text_that_no_file_can_hold() -> None:
    said = Act(body=Act({"why": "\ud800", "score": 1}).spelled())
    with JudgeServer([said]) as server, judge(server) as client:
        assert client.ask(question("\ud800 \x00")).data == {"why": "\ufffd", "score": 1}
