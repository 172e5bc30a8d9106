"""Systems behind HTTP and chat endpoints: what is sent, what is read, and every way to fail."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl, write_suite

from bridge.execution.asking import ask
from bridge.execution.plan import make_plan
from bridge.execution.systems import load_system
from bridge.execution.systems.chat import NOT_RUN, read_completion, to_messages
from bridge.execution.systems.http import at, fill
from bridge.execution.systems.request import SystemFault
from bridge.model import Case, InputError, Output, SystemConfig

KEY = "sk-very-secret-0123"


class Server:
    """A server on 127.0.0.1 whose replies the test decides: (status, headers, body)."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.reply: Callable[[int, Any], tuple[int, dict[str, str], bytes]] = lambda _n, _b: (
            200,
            {"content-type": "application/json"},
            b'{"text": "a0"}',
        )
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                body = json.loads(raw) if raw else None
                request = {"path": self.path, "headers": dict(self.headers), "body": body}
                server.requests.append({**request, "method": self.command})
                status, headers, content = server.reply(len(server.requests), body)
                if status == 0:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def says(self, value: Any, status: int = 200, kind: str = "application/json") -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.reply = lambda _n, _b: (status, {"content-type": kind}, body)


@pytest.fixture
def server() -> Iterator[Server]:
    it = Server()
    thread = threading.Thread(target=it.http.serve_forever, daemon=True)
    thread.start()
    yield it
    it.http.shutdown()
    it.http.server_close()
    thread.join()


def outputs_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "R" / "outputs.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def answered(folder: Path, **system: Any) -> Output:
    """One question, asked in this process."""
    config = SystemConfig.model_validate(system)
    case = Case(id="c0", input="q0", expected="a0")
    return asyncio.run(ask(load_system(config, folder), case, 1, config))


def run(bridge: Bridge, folder: Path, system: dict[str, Any], **env: str) -> Any:
    suite = write_suite(folder, {"system": system}, cases=1)
    return bridge("run", suite, "--run-dir", folder / "R", **env)


def test_the_request_is_made_from_the_case_and_the_answer_found(
    bridge: Bridge, tmp_path: Path, server: Server
) -> None:
    server.says({"out": [{"a/b": "a0"}], "n": {"in": 3}, "calls": [{"name": "f", "args": {}}]})
    body = {"q": "{{input}}", "all": "{{messages}}", "say": "case {{id}}, epoch {{ epoch }}"}
    answer = {"text": "/out/0/a~1b", "tool_calls": "/calls", "input_tokens": "/n/in"}
    headers = {"X-Team": "evals", "Authorization": {"env": "BOT_KEY", "prefix": "Bearer "}}
    query = {"q": "{{input}}", "n": "{{epoch}}"}
    http = {"url": f"{server.url}/chat", "body": body, "headers": headers, "answer": answer}
    done = run(bridge, tmp_path, {"http": {**http, "query": query}}, BOT_KEY=KEY)
    assert done.returncode == 0, done.stderr + done.stdout
    (request,) = server.requests
    messages = [{"role": "user", "content": "q0"}]
    assert request["body"] == {"q": "q0", "all": messages, "say": "case c0, epoch 1"}
    assert request["path"] == "/chat?q=q0&n=1"
    assert request["headers"]["Authorization"] == f"Bearer {KEY}"
    (output,) = outputs_of(tmp_path)
    assert output["text"] == "a0"
    assert output["usage"]["input_tokens"] == 3
    assert output["tool_calls"][0]["name"] == "f"


def test_keys_are_never_written(bridge: Bridge, tmp_path: Path, server: Server) -> None:
    server.says({"text": f"your key is {KEY}"})
    headers = {"Authorization": {"env": "BOT_KEY"}}
    run(bridge, tmp_path, {"http": {"url": server.url, "headers": headers}}, BOT_KEY=KEY)
    assert server.requests[0]["headers"]["Authorization"] == KEY
    server.says(f"bad key {KEY}".encode(), 401, "text/plain")
    done = run(bridge, tmp_path, {"http": {"url": server.url, "headers": headers}}, BOT_KEY=KEY)
    assert "bad key [redacted]" in outputs_of(tmp_path)[0]["error"]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ({"http": {"url": "U", "headers": {"X": {"env": "NOPE"}}}}, "NOPE is not set"),
        ({"http": {"url": "U", "headers": {"authorization": "Bearer x"}}}, "is written in"),
        ({"http": "http://me:pw@127.0.0.1/"}, "holds a password"),
        ({"openai": {"model": "m"}}, "OPENAI_API_KEY is not set"),
        ({"openai": {"model": "m", "base_url": "U", "api_key_env": "NOPE"}}, "NOPE is not set"),
        ({"command": ["./nothing-here"]}, "is not there"),
        ({"command": ["nothing-of-that-name"]}, "is not there"),
    ],
)
def test_what_is_missing_is_known_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: dict[str, Any], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = json.dumps(system).replace('"U"', '"http://127.0.0.1:9/"')
    suite = write_suite(tmp_path, {"system": json.loads(text)})
    with pytest.raises(InputError, match=said) as caught:
        make_plan(suite)
    assert str(suite) in str(caught.value)


@pytest.mark.parametrize("value", ["sk-1234\nX-Other: 1", "sk-schlüssel"])
def test_a_key_that_no_header_can_hold_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("BOT_KEY", value)
    headers = {"X-Key": {"env": "BOT_KEY"}}
    config = SystemConfig.model_validate(
        {"http": {"url": "http://127.0.0.1:9", "headers": headers}}
    )
    with pytest.raises(InputError, match="BOT_KEY holds what no header can") as caught:
        load_system(config, tmp_path)
    assert "sk-" not in str(caught.value)


def test_a_missing_key_is_exit_2(bridge: Bridge, tmp_path: Path) -> None:
    done = run(bridge, tmp_path, {"openai": {"model": "m"}}, OPENAI_API_KEY="")
    assert done.returncode == 2
    assert "OPENAI_API_KEY is not set" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "R").exists()


FAILURES: list[tuple[int, str, bytes, str]] = [
    (401, "application/json", b'{"error": "no key"}', 'HTTP 401: {"error": "no key"}'),
    (404, "text/html", b"<html>no</html>", "HTTP 404: an HTML page"),
    (302, "text/plain", b"", "HTTP 302"),
    (200, "text/html", b"<html><body>log in</body></html>", "the reply is an HTML page"),
    (200, "application/json", b" <!DOCTYPE html><p>", "the reply is an HTML page"),
    (200, "application/json", b'{"text": "a0"', "the reply is no JSON"),
    (200, "application/json", b'{"text": NaN}', "the reply is no JSON"),
    (200, "application/json", b"", "the reply is empty"),
    (200, "application/json", b'{"answer": "a0"}', "unknown keys: answer"),
    (200, "application/json", b'{"text": "a", "latency_s": "x"}', "is not an output"),
    (200, "application/json", b"[" * 5000, "the reply is no JSON"),
]


@pytest.mark.parametrize(("status", "kind", "body", "said"), FAILURES)
def test_a_bad_reply_is_an_error_of_the_case(
    tmp_path: Path, server: Server, status: int, kind: str, body: bytes, said: str
) -> None:
    server.reply = lambda _n, _b: (status, {"content-type": kind}, body)
    assert said in (answered(tmp_path, http=server.url).error or "")
    assert len(server.requests) == 1, "asked again in vain"


def test_a_failed_case_is_an_error_row(bridge: Bridge, tmp_path: Path, server: Server) -> None:
    server.says({"error": "no"}, 401)
    done = run(bridge, tmp_path, {"http": server.url})
    assert done.returncode == 3
    row = json.loads((tmp_path / "R" / "scores" / "core.jsonl").read_text("utf-8"))
    assert row["status"] == "error"
    assert row["error"] == 'the system failed: HTTP 401: {"error": "no"}'


@pytest.mark.parametrize("status", [429, 500, 503, 0])
def test_what_may_pass_is_tried_again(tmp_path: Path, server: Server, status: int) -> None:
    fine = (200, {"content-type": "text/plain"}, b"a0")
    server.reply = lambda n, _b: (status, {}, b"later") if n == 1 else fine
    assert answered(tmp_path, http=server.url).text == "a0"
    assert len(server.requests) == 2
    server.requests.clear()
    server.reply = lambda _n, _b: (status, {}, b"never")
    error = answered(tmp_path, http={"url": server.url, "retries": 1}).error or ""
    assert len(server.requests) == 2
    assert "(after 2 tries)" in error
    assert ("the connection failed" if status == 0 else f"HTTP {status}: never") in error


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(
    tmp_path: Path, server: Server
) -> None:
    server.reply = lambda _n, _b: (429, {"retry-after": "3600"}, b"slow down")
    started = time.monotonic()
    assert answered(tmp_path, http=server.url, timeout_s=20).error == "HTTP 429: slow down"
    assert time.monotonic() - started < 15


def test_time_outs_and_refused_connections(tmp_path: Path, server: Server) -> None:
    def slow(_n: int, _b: Any) -> tuple[int, dict[str, str], bytes]:
        time.sleep(1.5)
        return 200, {}, b"a0"

    server.reply = slow
    output = answered(tmp_path, http=server.url, timeout_s=0.5)
    assert output.error == "no answer within 0.5 s"
    assert len(server.requests) == 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    output = answered(tmp_path, http={"url": url, "retries": 0})
    assert "the connection failed (ConnectError" in (output.error or "")


def test_a_cookie_of_one_case_is_not_sent_with_the_next(tmp_path: Path, server: Server) -> None:
    server.reply = lambda _n, _b: (
        200,
        {"set-cookie": "case=1", "content-type": "text/plain"},
        b"a",
    )
    turns = [{"user": "1"}, {"user": "2"}]
    case = Case.model_validate({"id": "c", "input": "", "expected": "", "turns": turns})
    config = SystemConfig.model_validate({"http": server.url})
    asyncio.run(ask(load_system(config, tmp_path), case, 1, config))
    assert len(server.requests) == 2
    assert "Cookie" not in server.requests[1]["headers"]


def test_templates_are_filled_once_and_know_their_names() -> None:
    known = {"input": "{{id}} and {{secret}}", "id": 7, "messages": [{"a": None}]}
    assert fill({"x": ["{{input}}", 1, None]}, known) == {"x": ["{{id}} and {{secret}}", 1, None]}
    assert fill("{{messages}}", known) == [{"a": None}]
    assert fill("n: {{id}} {{messages}}", known) == 'n: 7 [{"a": null}]'
    with pytest.raises(SystemFault, match=r"\{\{nmae\}\}"):
        fill("{{nmae}}", known)


def test_pointers_are_rfc_6901() -> None:
    value = {"a": [{"": 1}], "x/y": {"~": 2}, "n": None}
    assert at(value, "") == (True, value)
    assert at(value, "/a/0/") == (True, 1)
    assert at(value, "/x~1y/~0") == (True, 2)
    assert at(value, "/n") == (True, None)
    for nothing in ("/a/1", "/a/-", "/a/0/b", "/a/00x", "/n/x", "/b"):
        assert at(value, nothing) == (False, None)


# --- chat endpoints ---------------------------------------------------------------------------

TOOL = {"name": "f", "description": "d", "parameters": {"type": "object"}}
TALK = [
    {
        "id": "talk",
        "input": "scenario, never sent",
        "expected": "",
        "tools": [TOOL],
        "turns": [{"user": "one"}, {"user": "two"}],
        "checks": [{"regex": "done"}],
    }
]


def completion(content: Any, **message: Any) -> dict[str, Any]:
    return {
        "model": "m-1",
        "choices": [{"message": {"content": content, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


def call(name: str, arguments: str, identity: str = "c1") -> dict[str, Any]:
    return {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def chat(bridge: Bridge, folder: Path, server: Server, desk: str = "", **more: Any) -> Any:
    write_jsonl(folder / "cases.jsonl", TALK)
    openai: dict[str, Any] = {"model": "m", "base_url": f"{server.url}/v1/", "api_key_env": "KEY"}
    openai |= {"system_prompt": "Be kind.", "temperature": 0, "options": {"max_tokens": 9}}
    system = {"openai": openai, **more}
    suite = {"name": "s", "golden_set": "cases.jsonl", "system": system}
    (folder / "bridge.yaml").write_text(json.dumps(suite), "utf-8")
    (folder / "desk.py").write_text(desk, "utf-8")
    return bridge("run", folder / "bridge.yaml", "--run-dir", folder / "R", KEY=KEY)


def test_a_chat_endpoint_is_sent_history_and_tools(
    bridge: Bridge, tmp_path: Path, server: Server
) -> None:
    server.says(completion("done"))
    done = chat(bridge, tmp_path, server)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = server.requests
    assert first["path"] == "/v1/chat/completions"
    assert first["headers"]["Authorization"] == f"Bearer {KEY}"
    assert first["body"] == {
        "model": "m",
        "temperature": 0,
        "max_tokens": 9,
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "one"},
        ],
        "tools": [{"type": "function", "function": TOOL}],
    }
    assert [m["role"] for m in second["body"]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    (output,) = outputs_of(tmp_path)
    assert output["model"] == "m-1"
    assert output["usage"] == {"input_tokens": 10, "output_tokens": 4, "extras": {}}
    assert [turn["text"] for turn in output["turns"]] == ["done", "done"]


RUNNER = """
def run(name, arguments):
    if arguments.get("x") == 2: raise RuntimeError("no such thing")
    return {"n": arguments["x"]}
"""


def test_a_tool_runner_answers_the_calls(bridge: Bridge, tmp_path: Path, server: Server) -> None:
    def reply(n: int, body: Any) -> tuple[int, dict[str, str], bytes]:
        calls = [call("f", '{"x": 1}', "c1"), call("f", '{"x": 2}', "c2"), call("f", "{", "c3")]
        asks = body["messages"][-1]["role"] == "user" and n < 3
        answer = completion(None, tool_calls=calls) if asks else completion("done")
        return 200, {}, json.dumps(answer).encode()

    server.reply = reply
    done = chat(bridge, tmp_path, server, RUNNER, tools="desk:run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(server.requests) == 3
    messages = server.requests[1]["body"]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", *["tool"] * 3]
    assert messages[2]["tool_calls"][0] == call("f", '{"x": 1}')
    assert messages[3] == {"role": "tool", "tool_call_id": "c1", "content": '{"n": 1}'}
    assert "RuntimeError: no such thing" in messages[4]["content"]
    turn = outputs_of(tmp_path)[0]["turns"][0]
    assert turn["text"] == "done"
    assert [c["result"] for c in turn["tool_calls"]] == [{"n": 1}, None, None]
    errors = [c["error"] for c in turn["tool_calls"]]
    assert errors == [None, "RuntimeError: no such thing", "the arguments are no JSON object"]
    assert turn["usage"]["input_tokens"] == 10, "both steps count"


def test_endless_tool_calls_are_an_error(bridge: Bridge, tmp_path: Path, server: Server) -> None:
    server.says(completion(None, tool_calls=[call("f", '{"x": 1}')]))
    done = chat(bridge, tmp_path, server, RUNNER, tools="desk:run", max_steps=3)
    assert done.returncode == 3
    assert len(server.requests) == 3
    turn = outputs_of(tmp_path)[0]["turns"][0]
    assert turn["error"] == "tools were still called after 3 steps"
    assert len(turn["tool_calls"]) == 3


def test_calls_that_nobody_runs_are_recorded_and_answered_for_the_protocol(
    bridge: Bridge, tmp_path: Path, server: Server
) -> None:
    server.says(completion("done", tool_calls=[call("f", '{"x": 1}')]))
    done = chat(bridge, tmp_path, server)
    assert done.returncode == 0, done.stdout
    messages = server.requests[1]["body"]["messages"]
    assert messages[3] == {"role": "tool", "tool_call_id": "c1", "content": NOT_RUN}
    assert outputs_of(tmp_path)[0]["turns"][0]["tool_calls"][0]["arguments"] == {"x": 1}


def test_calls_without_ids_get_some() -> None:
    history: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}, {"name": "g"}]},
        {"role": "tool", "content": "1", "tool_call_id": None, "name": "f"},
        {"role": "user", "content": "and?"},
        {"role": "tool", "content": "belongs to no call"},
    ]
    sent = to_messages(history)
    ids = [each["id"] for each in sent[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [m.get("tool_call_id") for m in sent[1:]] == [*ids, None]
    assert sent[-1] == {"role": "user", "content": "and?"}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ([], "no object"),
        ({"choices": []}, r"no choices\[0\]"),
        ({"choices": [{"message": "x"}]}, r"no choices\[0\]"),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        (completion(None), "neither content nor tool calls"),
        (completion({"x": 1}), "not a text"),
    ],
)
def test_completions_that_are_none(reply: Any, said: str) -> None:
    with pytest.raises(SystemFault, match=said):
        read_completion(reply)


def test_a_refusal_is_an_answer() -> None:
    assert read_completion(completion(None, refusal="I cannot."))["text"] == "I cannot."
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_completion(completion(parts))["text"] == "a\nb"
