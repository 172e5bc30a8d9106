"""The judge client against a server that does as llama.cpp's does: small, slow and particular."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from judge_server import Act, JudgeServer
from llama_cpp import LlamaCpp
from test_judge_client import GOOD, SCHEMA, failure, judge, question

from bridge.judge import JudgeError, Request
from bridge.judge.wire import transport


def good(_: dict[str, Any]) -> Any:
    return GOOD


def schema_with(**properties: Any) -> dict[str, Any]:
    fields = {"why": {"type": "string"}, "score": {"type": "number"}, **properties}
    return {"type": "object", "properties": fields, "required": ["why", "score"]}


REFUSED = schema_with(all={"type": "array", "minItems": 5000})


class TestSchemas:
    def forms(self, server: JudgeServer) -> list[str]:
        return [body.get("response_format", {}).get("type") for body in server.bodies]

    @pytest.mark.parametrize("first", [0, 1])
    def test_one_that_it_refuses_is_not_all(self, first: int) -> None:
        """Whether it is asked with that one first or later."""
        with JudgeServer(LlamaCpp(good)) as server, judge(server) as client:
            asked = [question("a"), question("b")]
            asked.insert(first, question("c", schema=REFUSED))
            assert [client.ask(each).data for each in asked] == [GOOD] * 3
            client.ask(question("d", schema=REFUSED))  # that one is not sent again
            client.ask(question("e"))
            forms = ["json_schema", "json_schema"]
            forms[first:first] = ["json_schema", "json_object"]
            assert self.forms(server) == [*forms, "json_object", "json_schema"]

    def test_a_kind_that_it_does_not_know_is_given_up(self) -> None:
        def without(body: dict[str, Any]) -> Act:
            form = body["response_format"]["type"]
            said = b'{"error": "response_format json_schema is not supported"}'
            return Act(status=400, body=said) if form == "json_schema" else Act(GOOD)

        with JudgeServer(without) as server, judge(server) as client:
            for number in range(4):
                schema = schema_with(**{f"n{number}": {"type": "null"}})
                client.ask(question(schema=schema))
            refused, taken = "json_schema", "json_object"
            assert self.forms(server) == [refused, taken, refused, taken, taken, taken]


class TestLength:
    def ramble(self, _: dict[str, Any]) -> Any:
        return {"why": "so " * 2000, "score": 1}

    def test_at_max_tokens(self) -> None:
        with JudgeServer(LlamaCpp(self.ramble)) as server:
            error = failure(server, max_tokens=100)
        assert error.kind == "truncated"
        assert error.text.endswith("raise it, or bound lists and texts by limits")

    def test_where_the_context_is_full(self) -> None:
        with JudgeServer(LlamaCpp(self.ramble, context=50)) as server:
            error = failure(server)
        assert error.kind == "truncated"
        assert "cut off after 48 tokens, before max_tokens: the server's context" in error.text

    def test_in_its_reasoning(self) -> None:
        with JudgeServer([Act("", finish="length", reasoning="Well", usage=None)]) as server:
            error = failure(server)
        assert error.kind == "truncated"
        assert error.text.startswith("max_tokens were used up by the model's reasoning")

    def test_of_the_question(self) -> None:
        with JudgeServer(LlamaCpp(good, context=50)) as server:
            with judge(server, retries=3) as client, pytest.raises(JudgeError) as caught:
                client.ask(question("word " * 60))
            assert server.calls == 1
        assert caught.value.kind == "request"
        assert "(60 tokens) exceeds the available context size (50 tokens)" in caught.value.text

    def test_of_the_question_without_a_word(self) -> None:
        """Ollama reads half of its context, and answers that (its issue 17889)."""
        with JudgeServer([Act(GOOD, usage=(2050, 20))]) as server, judge(server) as client:
            with pytest.raises(JudgeError) as caught:
                client.ask(question("word " * 3000))
            assert client.ask(question("word " * 2050)).data == GOOD
        assert caught.value.kind == "truncated"
        assert "read 2050 tokens of a question of 3000 words" in caught.value.text

    def test_a_server_whose_counts_mean_nothing(self) -> None:
        with JudgeServer([Act(GOOD, usage=(1, 1))]) as server, judge(server) as client:
            assert client.ask(question("word " * 3000)).data == GOOD


class TestRoles:
    ASKED: tuple[dict[str, str], ...] = (
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "How good?"},
        {"role": "user", "content": "And why?"},
        {"role": "assistant", "content": "Well"},
    )

    def test_a_chat_template_without_a_system(self) -> None:
        with JudgeServer(LlamaCpp(good, knows_system=False)) as server, judge(server) as client:
            for sample in range(2):
                assert client.ask(Request(self.ASKED, SCHEMA, sample)).data == GOOD
            assert server.calls == 3  # what was learned stays
            for body in server.bodies[1:]:
                assert body["messages"] == [
                    {"role": "user", "content": "You judge.\n\nHow good?\n\nAnd why?"},
                    {"role": "assistant", "content": "Well"},
                ]
                assert body["response_format"]["type"] == "json_schema"

    def test_a_server_that_knows_all_is_sent_all(self) -> None:
        with JudgeServer(LlamaCpp(good)) as server, judge(server) as client:
            client.ask(Request(self.ASKED, SCHEMA))
            assert server.bodies[0]["messages"] == list(self.ASKED)


class TestTime:
    def test_one_slot_and_many_questions(self) -> None:
        """Together they take longer than one may: each is answered all the same."""
        server = JudgeServer(LlamaCpp(good, seconds=0.5))
        asked = [question(str(number)) for number in range(6)]
        with server, judge(server, timeout_s=1.2, concurrency=6, retries=3) as client:
            with ThreadPoolExecutor(6) as pool:
                replies = list(pool.map(client.ask, asked))
            assert [reply.data for reply in replies] == [GOOD] * 6
            assert server.most_at_once == 6
            server.most_at_once = 0
            with ThreadPoolExecutor(6) as pool:
                list(pool.map(client.ask, [question(str(number), sample=1) for number in "ab"]))
            assert server.most_at_once == 1  # what was learned stays

    def test_a_slow_answer_by_itself_changes_nothing(self) -> None:
        acts = [Act(delay_s=1.0), Act(GOOD, delay_s=0.1)]
        with (
            JudgeServer(acts) as server,
            judge(server, timeout_s=0.5, concurrency=4, retries=1) as client,
        ):
            client.ask(question())
            server.most_at_once = 0
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(client.ask, [question(number) for number in "abcd"]))
            assert server.most_at_once >= 4

    def test_a_model_that_is_still_loading(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transport, "LOADING_S", 0.3)
        with (
            JudgeServer(LlamaCpp(good, loading=2)) as server,
            judge(server, retries=2) as client,
        ):
            assert client.ask(question()).data == GOOD
            assert server.times[2] - server.times[0] > 0.6


def test_embeddings_that_it_was_not_started_for() -> None:
    with (
        JudgeServer(LlamaCpp(good)) as server,
        judge(server, retries=3, embeddings={"model": "e"}) as client,
    ):
        with pytest.raises(JudgeError) as caught:
            client.ask(Request((), embeds=("a",)))
        assert server.calls == 1  # nothing that may pass
    assert caught.value.kind == "request"
    assert "Start it with `--embeddings`" in caught.value.text


def test_bounds_of_numbers_that_its_grammars_ignore() -> None:
    """Of whole numbers it keeps to them, of others it does not: the reply is held against them."""
    with JudgeServer(LlamaCpp(lambda _: json.dumps({"why": "", "score": 3.5}))) as server:
        assert failure(server).kind == "range"
