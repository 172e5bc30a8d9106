"""An OpenAI-compatible server on 127.0.0.1 that does what a test tells it, and keeps what it saw."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast


@dataclass(frozen=True)
class Act:
    """What the server does with one request.

    Attributes:
        content: What the judge says, as text or as JSON to be spelled.
        status: HTTP status.
        body: The whole body, in place of a completion.
        kind: Its content type.
        headers: Further headers.
        delay_s: Seconds before it answers.
        drip_s: Seconds between the bytes of the answer.
        reset: Break the connection off without an answer.
        finish: ``finish_reason``.
        refusal: The message's ``refusal``.
        reasoning: The message's ``reasoning_content``.
        slot: What must be free while it answers, unless the client goes away meanwhile.
        usage: Tokens in and out; ``None`` leaves ``usage`` out.
    """

    content: Any = ""
    status: int = 200
    body: bytes | None = None
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    reset: bool = False
    finish: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    slot: threading.Semaphore | None = None
    usage: tuple[int, int] | None = (100, 20)

    def spelled(self) -> bytes:
        if self.body is not None:
            return self.body
        said = self.content if isinstance(self.content, str) else json.dumps(self.content)
        message = {"role": "assistant", "content": said, "refusal": self.refusal}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        answer: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
        }
        if self.usage is not None:
            names = ("prompt_tokens", "completion_tokens")
            answer["usage"] = dict(zip(names, self.usage, strict=True))
        return json.dumps(answer).encode()


Script = Callable[[dict[str, Any]], Act]


class JudgeServer:
    """The server.

    Args:
        acts: What it does with the first requests, in order; with all later ones the last of
            these. Or a function of the request's body.
    """

    def __init__(self, acts: Iterable[Act] | Script) -> None:
        self._script = acts if callable(acts) else None
        self._acts = [] if callable(acts) else list(acts)
        self._lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.at_once = self.most_at_once = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def calls(self) -> int:
        return len(self.bodies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, body: dict[str, Any], headers: Mapping[str, str]) -> Act:
        with self._lock:
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.times.append(time.monotonic())
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            if self._script is not None:
                return self._script(body)
            return self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]

    def done(self) -> None:
        with self._lock:
            self.at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: JudgeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        read = self.rfile.read(int(self.headers["Content-Length"]))
        owner = cast("_Server", self.server).owner
        act = owner.take(json.loads(read), dict(self.headers))
        try:
            if act.slot is None:
                time.sleep(act.delay_s)
            elif not self._took(act.slot, act.delay_s):
                return
            if act.reset:
                self._reset()
            else:
                self._send(act)
        finally:
            owner.done()

    def _took(self, slot: threading.Semaphore, seconds: float) -> bool:
        """Whether the client stayed until a slot was free and had been held for some time."""
        while not slot.acquire(timeout=0.01):
            if self._is_alone():
                return False
        try:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(0.01)
                if self._is_alone():
                    return False
            return True
        finally:
            slot.release()

    def _is_alone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _reset(self) -> None:
        """Close with RST: whoever waits reads ``Connection reset by peer``."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _send(self, act: Act) -> None:
        body = act.spelled()
        self.send_response(act.status)
        self.send_header("Content-Type", act.kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in act.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if not act.drip_s:
            self.wfile.write(body)
            return
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(act.drip_s)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""
