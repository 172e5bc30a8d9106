"""Embeddings of a judge: one request a text list, the same cache, budget, ledger and gateway."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from judge_server import Act, JudgeServer
from test_judge_client import judge

from bridge.judge import JudgeError, Reply, Request, judge_in_force, kind_of
from bridge.judge.gateway import Gateway
from bridge.judge.wire.cache import ReplyCache
from bridge.judge.wire.ledger import Ledger
from bridge.model.judge import JudgeConfig

TEXTS = ("one", "two")
USES: dict[str, Any] = {"embeddings": {"model": "e"}}


def vectors(*values: Any, **fields: Any) -> Act:
    data = [{"index": at, "embedding": each} for at, each in enumerate(values)]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    return Act(body=json.dumps({"data": data, "usage": usage, **fields}).encode())


def ask(server: JudgeServer, texts: tuple[str, ...] = TEXTS, **fields: Any) -> Reply:
    with judge(server, **{**USES, **fields}) as client:
        return client.ask(Request((), embeds=texts))


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer([vectors([1.0, 0], [0, 0.5])]) as running:
        yield running


def test_the_vectors_of_texts(server: JudgeServer) -> None:
    reply = ask(
        server,
        price={"input": 9, "output": 9},
        embeddings={"model": "e", "price": {"input": 1, "output": 0}},
    )
    assert reply.vectors == ((1.0, 0.0), (0.0, 0.5))
    assert reply.input_tokens == 7
    assert reply.cost_usd == pytest.approx(7e-6)
    assert server.bodies == [{"model": "e", "input": ["one", "two"], "encoding_format": "base64"}]


def test_places_decide_and_bytes_are_read(server: JudgeServer) -> None:
    raw = base64.b64encode(struct.pack("<2f", 0.25, -2.0)).decode()
    data = [{"index": 1, "embedding": raw}, {"index": 0, "embedding": [1, 2]}]
    with JudgeServer([Act(body=json.dumps({"data": data}).encode())]) as other:
        assert ask(other).vectors == ((1.0, 2.0), (0.25, -2.0))


@pytest.mark.parametrize(
    ("kind", "act"),
    [
        ("schema", vectors([1.0, 0])),
        ("schema", vectors([1.0], [1.0], [1.0])),
        ("schema", vectors([1.0], [1.0, 2.0])),
        ("schema", vectors([0.0, 0], [1.0, 0])),
        ("schema", vectors([], [])),
        ("schema", vectors([1.0, None], [1.0, 2.0])),
        ("schema", vectors("no base64!", "AAAA")),
        ("schema", vectors("AAA=", [1.0])),
        ("schema", vectors([True, 1.0], [1.0, 1.0])),
        ("schema", Act(body=b'{"data": [1, 2]}')),
        ("schema", Act(body=b'{"data": [{"index": 0}, {"index": 0}]}')),
        ("empty", Act(body=b'{"error": {"message": "no such model"}}')),
        ("not_json", Act(body=b'{"data": [{"index": 0, "embedding": [NaN')),
        ("not_found", Act(status=404, body=b"{}")),
        ("server", Act(status=500)),
    ],
)
def test_faults(kind: str, act: Act) -> None:
    with JudgeServer([act]) as broken, pytest.raises(JudgeError) as caught:
        ask(broken)
    assert (caught.value.kind, kind_of(str(caught.value))) == (kind, kind)


def test_a_judge_without_them(server: JudgeServer) -> None:
    with pytest.raises(JudgeError, match="names no model for embeddings"):
        ask(server, embeddings=None)
    assert server.calls == 0


def test_their_failure_is_not_the_judges() -> None:
    """A server without embeddings goes on to answer questions."""
    with JudgeServer(lambda body: Act(status=404) if "input" in body else Act("yes")) as server:
        with judge(server, **USES) as client:
            for _ in range(2):
                with pytest.raises(JudgeError):
                    client.ask(Request((), embeds=("a",)))
            assert client.ask(Request([{"role": "user", "content": "?"}])).text == "yes"
        assert server.calls == 2  # an answer that will stay is asked for once


def test_another_server_with_another_key(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge's own key never goes to another address."""
    monkeypatch.setenv("CHAT_KEY", "chat-0123456789")
    monkeypatch.setenv("EMBED_KEY", "embed-0123456789")
    elsewhere: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "CHAT_KEY"}
    ask(server, **elsewhere, embeddings={"model": "e", "base_url": server.url})
    ask(
        server,
        **elsewhere,
        embeddings={"model": "e", "base_url": server.url, "api_key_env": "EMBED_KEY"},
    )
    ask(server, api_key_env="CHAT_KEY")
    assert [each["authorization"] for each in server.headers] == [
        "Bearer none",
        "Bearer embed-0123456789",
        "Bearer chat-0123456789",
    ]


def test_kept_noted_and_counted(server: JudgeServer, tmp_path: Path) -> None:
    with (
        closing(ReplyCache(tmp_path / "replies.sqlite")) as cache,
        closing(Ledger(tmp_path / "ledger.jsonl")) as ledger,
    ):
        for cached in (0, 1):
            with judge(server, cache=cache, ledger=ledger, budget={"calls": 1}, **USES) as client:
                request = Request((), tag={"case_id": "c"}, embeds=TEXTS)
                assert client.ask(request).vectors == ((1.0, 0.0), (0.0, 0.5))
                assert (server.calls, client.spending.cached) == (1, cached)
        with judge(server, cache=cache, ledger=ledger, budget={"calls": 1}, **USES) as client:
            client.ask(Request((), embeds=("new", "texts")))
            with pytest.raises(JudgeError, match="budget of 1 calls is spent"):
                client.ask(Request([{"role": "user", "content": "?"}]))
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [(line["model"], line["cached"]) for line in lines[:3]] == [
        ("e", False),
        ("e", True),
        ("e", False),
    ]
    assert lines[0]["tag"] == {"case_id": "c"}
    assert "one" not in (tmp_path / "ledger.jsonl").read_text()


def test_through_the_gateway(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with judge(server, **USES) as client, Gateway({"main": client}) as gateway:
        for name, value in gateway.environment.items():
            monkeypatch.setenv(name, value)
        reply = judge_in_force("main").ask(Request((), embeds=TEXTS))
        assert reply == client.ask(Request((), embeds=TEXTS))
    assert server.calls == 1


@pytest.mark.parametrize("base_url", ["http://u:p@h/v1", "file:///x", "http://h/v1?key=1"])
def test_bad_addresses(base_url: str) -> None:
    given = {"model": "m", "embeddings": {"model": "e", "base_url": base_url}}
    with pytest.raises(ValueError, match="base_url"):
        JudgeConfig.model_validate(given)
