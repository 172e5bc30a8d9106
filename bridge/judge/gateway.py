"""One loopback gateway to a run's judges, for workers and whatever they start.

Cache, budget, ledger and keys are in one process; a worker asks over HTTP with a token of this run
alone. Only this machine can connect, and no page in a browser: a request with an ``Origin`` is
refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Judge, Reply, Request
from bridge.judge.session import TOKEN, URL
from bridge.judge.wire.ledger import Spending

LARGEST = 32 << 20
"""Most bytes of a question."""


class Gateway:
    """Judges by name, behind ``POST /ask``.

    Args:
        judges: Who answers.
    """

    def __init__(self, judges: Mapping[str, Judge]) -> None:
        self.judges = judges
        self.token = secrets.token_urlsafe(32)
        self._waiting = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.gateway = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), daemon=True, name="judge-gateway"
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """What a worker needs in its environment."""
        return {URL: f"http://127.0.0.1:{self._server.server_port}", TOKEN: self.token}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer: a worker that does is not hung."""
        return self._waiting > 0

    def answer(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to one question: a reply, or the error as ``{error: {kind, text}}``."""
        self._count(1)
        try:
            return self._ask(body)
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._lock:
            self._waiting += more

    def _ask(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            judge = self.judges[body["judge"]]
            request = Request(
                body["messages"],
                body["schema"],
                body["sample"],
                body["tag"],
                body.get("embeds", ()),
            )
            reply = judge.ask(request)
        except JudgeError as error:
            return {"error": {"kind": error.kind, "text": error.text}}
        except CancelledError:
            return {"error": {"kind": "connect", "text": "the run has ended"}}
        return {name: getattr(reply, name) for name in Reply.__slots__}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    gateway: Gateway


class _Handler(BaseHTTPRequestHandler):
    timeout = 30  # of a client that says nothing

    def do_POST(self) -> None:
        code, answer = self._handle()
        body = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _handle(self) -> tuple[int, Mapping[str, Any]]:
        gateway = cast("_Server", self.server).gateway
        wanted = f"Bearer {gateway.token}"
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), wanted.encode()) or "Origin" in self.headers:
            return 403, {}
        try:
            size = int(self.headers.get("Content-Length", ""))
            if self.path != "/ask" or not 0 < size <= LARGEST:
                return 400, {}
            return 200, gateway.answer(json.loads(self.rfile.read(size)))
        except (KeyError, TypeError, ValueError, RecursionError):
            return 400, {}

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Say nothing: prompts belong in no log."""


def spending_of(judges: Mapping[str, Judge]) -> dict[str, Spending]:
    """What each judge took so far, of those that know."""
    found = {name: getattr(judge, "spending", None) for name, judge in judges.items()}
    return {name: each for name, each in found.items() if isinstance(each, Spending)}
