"""A judge as a worker sees it: behind the run's gateway, by the standard library alone.

So a framework's own interpreter needs no further package, whatever its pins.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from bridge.judge.errors import KINDS, JudgeError, Kind
from bridge.judge.exchange import Reply, Request


class RemoteJudge:
    """A judge behind a gateway.

    Args:
        name: The judge's name in the suite.
        url: The gateway's address.
        token: The run's token.
    """

    def __init__(self, name: str, url: str, token: str) -> None:
        self.name = name
        self._host = urlsplit(url).netloc
        self._token = token

    def ask(self, request: Request) -> Reply:
        """The answer to one request.

        Raises:
            JudgeError: If there is no usable one.
        """
        body = {
            "judge": self.name,
            "messages": [dict(message) for message in request.messages],
            "schema": request.schema,
            "sample": request.sample,
            "tag": dict(request.tag),
            "embeds": list(request.embeds),
        }
        try:
            answer = self._post(json.dumps(body).encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            text = f"the run's judge gateway does not answer ({type(error).__name__}: {error})"
            raise JudgeError("connect", text) from None
        failure = answer.get("error")
        if failure is not None:
            known: Mapping[str, Kind] = {kind: kind for kind in KINDS}
            raise JudgeError(known.get(failure["kind"], "request"), failure["text"])
        return Reply(**answer)

    def _post(self, body: bytes) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self._host)
        try:
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            connection.request("POST", "/ask", body, headers)
            response = connection.getresponse()
            read = response.read()
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ValueError(f"status {response.status}")
        answer: dict[str, Any] = json.loads(read)
        return answer
