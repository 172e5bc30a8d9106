"""The gateway: the same judge for every process of a run, and for nobody else."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from bridge.judge import JudgeError, Reply, Request, judge_in_force, judges_in_force
from bridge.judge.gateway import Gateway
from bridge.judge.session import TOKEN, URL

REQUEST = Request(
    [{"role": "user", "content": "Größe? \U0001f600"}], {"type": "object"}, 2, {"a": 1}
)


class Parrot:
    """Answers with what it was asked."""

    def ask(self, request: Request) -> Reply:
        if request.messages[0]["content"] == "fail":
            raise JudgeError("truncated", "cut off")
        return Reply(request.messages[0]["content"], request.schema, request.sample, 1, 0.5)


def post(gateway: Gateway, body: bytes, headers: Mapping[str, str], path: str = "/ask") -> int:
    host = gateway.environment[URL].removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=10)
    connection.request("POST", path, body, dict(headers))
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Any:
    with Gateway({"main": Parrot()}) as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


def test_a_reply_comes_through_as_it_is(gateway: Gateway) -> None:
    assert judge_in_force("main").ask(REQUEST) == Parrot().ask(REQUEST)


def test_so_does_an_error(gateway: Gateway) -> None:
    with pytest.raises(JudgeError) as caught:
        judge_in_force("main").ask(Request([{"role": "user", "content": "fail"}]))
    assert (caught.value.kind, caught.value.text) == ("truncated", "cut off")


def test_another_process_asks(gateway: Gateway) -> None:
    code = (
        "from bridge.judge import *\n"
        "r = Request([{'role': 'user', 'content': 'hello'}])\n"
        "print(judge_in_force('main').ask(r).text)\n"
        "import sys; print('openai' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["hello", "False"]


def test_strangers_are_refused(gateway: Gateway) -> None:
    body = json.dumps(
        {
            "judge": "main",
            "messages": [{"role": "user", "content": "x"}],
            "schema": None,
            "sample": 0,
            "tag": {},
        }
    ).encode()
    ours = {"Authorization": f"Bearer {gateway.token}"}
    assert post(gateway, body, ours) == 200
    assert post(gateway, body, {}) == 403
    assert post(gateway, body, {"Authorization": "Bearer guess"}) == 403
    assert post(gateway, body, {**ours, "Origin": "http://evil.example"}) == 403
    assert post(gateway, body, ours, "/other") == 400
    assert post(gateway, b"no JSON", ours) == 400
    assert post(gateway, b"[" * 100_000, ours) == 400
    assert post(gateway, b"{}", ours) == 400
    assert post(gateway, b"", {**ours, "Content-Length": str(1 << 40)}) == 400


def test_no_such_judge(gateway: Gateway) -> None:
    with pytest.raises(JudgeError, match="gateway does not answer"):
        judge_in_force("other").ask(REQUEST)


def test_no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL, raising=False)
    for name in (None, "main"):
        with pytest.raises(JudgeError) as caught:
            judge_in_force(name)
        assert caught.value.kind == "request"
    monkeypatch.setenv(URL, "http://127.0.0.1:9")
    monkeypatch.setenv(TOKEN, "t")
    with pytest.raises(JudgeError) as caught:
        judge_in_force("main").ask(REQUEST)
    assert caught.value.kind == "connect"


def test_in_force_for_a_while() -> None:
    outer, inner = Parrot(), Parrot()
    with judges_in_force({"main": outer}):
        with judges_in_force({"main": inner}):
            assert judge_in_force("main") is inner
        assert judge_in_force("main") is outer
