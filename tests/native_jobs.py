"""Jobs of native metrics in this process, and judges that need no server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from native_judge import CASE, OUTPUT, honest

from bridge.execution.worker import set_environment
from bridge.judge import JudgeError, Reply, Request, judges_in_force
from bridge.judge.wire.reading import read_object
from bridge.model import Case, Job, JobSpec, Output, Score
from bridge.plugin.registry import get_framework

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

PYTHON = ("deepeval", "inspect", "ragas")
TALK = {
    "id": "talk",
    "input": "someone asks twice",
    "expected": "",
    "turns": [{"user": "What is the capital of France?", "expected": "Paris"}, {"user": "Sure?"}],
}
TALKED = {
    "case_id": "talk",
    "turns": [{"text": "Paris.", "retrieved_contexts": ["Paris."]}, {"text": "Yes, Paris."}],
}
CALLS = {
    **CASE,
    "expected_calls": {"calls": [{"name": "f", "arguments": {"x": 1}}]},
}
CALLED = {**OUTPUT, "tool_calls": [{"name": "f", "arguments": {"x": 1}}]}
PARAMS: dict[str, dict[str, Any]] = {
    "g_eval": {"criteria": "It names the city."},
    "role_adherence": {"role": "a guide"},
    "topic_adherence": {"topics": ["cities"]},
}


class Minimal:
    """A judge whose replies are the least that their schemas ask for."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.embeds:
            return Reply("", vectors=tuple((1.0, 0.5) for _ in request.embeds))
        data = least(request.schema or {})
        return Reply(json.dumps(data), data, 10, 5, 0.25)


class Honest:
    """The tests' own judge without a server."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.embeds:
            raise JudgeError("not_found", "no embeddings here")
        act = honest({"messages": [dict(each) for each in request.messages]})
        assert act.status == 200, act.body
        return Reply(
            json.dumps(act.content), read_object(json.dumps(act.content), request.schema or {})
        )


def least(schema: Mapping[str, Any], name: str = "") -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return least(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        return {key: least(each, key) for key, each in schema.get("properties", {}).items()}
    if kind == "array":
        found = [least(schema["items"])] * max(1, schema.get("minItems", 1))
        return [] if name in ("FP", "FN") else found
    return {"string": "a text", "boolean": True}.get(kind or "", 0)


@contextmanager
def switched(framework: str, folder: Path) -> Iterator[None]:
    """A framework's switches as a worker sets them, while it is used in this process."""
    before = dict(os.environ)
    set_environment(get_framework(framework).info, folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run(
    framework: str,
    folder: Path,
    checks: list[Any],
    pairs: list[tuple[Any, Any]],
    judge: Any,
    **config: Any,
) -> list[Score]:
    """The rows of a job in this process."""
    given = {"model": "m", "embeddings": {"model": "e"}, **config}
    spec = {
        "framework": framework,
        "suite": "s",
        "checks": checks,
        "judges": {"main": given},
        "native_dir": folder,
    }
    job = Job(
        spec=JobSpec.model_validate(spec),
        cases=tuple(Case.model_validate(case) for case, _ in pairs),
        outputs=tuple(Output.model_validate(output) for _, output in pairs),
    )
    with switched(framework, folder), judges_in_force({"main": judge}):
        return list(get_framework(framework).run(job))
