"""A suite: golden set, system, checks, judges and gate policy as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bridge.model.check import Check
from bridge.model.policy import GatePolicy
from bridge.model.values import EMPTY, JsonObject, Model, Name, Text


class GoldenSetRef(Model):
    """A golden set by path, relative to the suite, with the version it should have."""

    path: Name
    version: Text | None = None


class SystemConfig(Model):
    """Where outputs come from: exactly one of ``recorded`` and ``python``.

    Attributes:
        recorded: Outputs files (JSONL), relative to the suite.
        python: ``module:function``, imported with the suite's folder on the path. Called with a
            case's input, and with the case as ``case`` where it takes one; sync or async.
        name: Name of the system in every row.
        concurrency: Calls at a time.
        timeout_s: Seconds one call may take.
    """

    recorded: tuple[Name, ...] = ()
    python: Name | None = None
    name: Name = "default"
    concurrency: int = Field(default=1, ge=1)
    timeout_s: float = Field(default=60.0, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _one_path_is_a_list(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("recorded"), str):
            return {**data, "recorded": [data["recorded"]]}
        return data

    @model_validator(mode="after")
    def _exactly_one_kind(self) -> SystemConfig:
        if bool(self.recorded) == (self.python is not None):
            raise ValueError("a system is {recorded: FILE} or {python: 'module:function'}")
        return self


class FrameworkConfig(Model):
    """A framework to run: its name, or its name with options.

    Attributes:
        name: Entry-point name, or ``module:attribute``.
        python: Interpreter to run it with, relative to the suite.
        timeout_s: Seconds a job may go without a new row before it counts as hung.
        options: The framework's own options.
    """

    name: Name
    python: Text | None = None
    timeout_s: float = Field(default=300.0, gt=0)
    options: JsonObject = EMPTY


class JudgeConfig(Model):
    """A judge: an OpenAI-compatible endpoint. The key is named, never written."""

    model: Name
    base_url: Text | None = None
    api_key_env: Name | None = None
    temperature: float | None = Field(default=None, ge=0)
    seed: int | None = None
    options: JsonObject = EMPTY


def _framework(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping) and "name" not in value and len(value) == 1:
        name, body = next(iter(value.items()))
        body = dict(body or {})
        known = {key: body.pop(key) for key in ("python", "timeout_s") if key in body}
        return {"name": name, **known, "options": body}
    return value


def _golden_sets(value: Any) -> Any:
    entries = value if isinstance(value, list | tuple) else [value]
    if not entries:
        raise ValueError("a suite names at least one golden set")
    return [{"path": entry} if isinstance(entry, str) else entry for entry in entries]


class Suite(Model):
    """``bridge.yaml``. It names golden sets and never holds cases."""

    version: Literal[1] = 1
    name: Name
    golden_set: Annotated[tuple[GoldenSetRef, ...], BeforeValidator(_golden_sets)]
    system: SystemConfig
    frameworks: tuple[Annotated[FrameworkConfig, BeforeValidator(_framework)], ...] = (
        FrameworkConfig(name="core"),
    )
    epochs: int = Field(default=1, ge=1)
    checks: tuple[Check, ...] = ()
    judges: Mapping[Name, JudgeConfig] = EMPTY
    gate: GatePolicy = GatePolicy()
    extras: JsonObject = EMPTY

    @model_validator(mode="after")
    def _names_are_unique(self) -> Suite:
        _refuse_twice("metric", [check.metric for check in self.checks])
        _refuse_twice("framework", [framework.name for framework in self.frameworks])
        for check in self.checks:
            if check.judge is not None and check.judge not in self.judges:
                raise ValueError(f"check {check.metric} names judge {check.judge}, not in judges")
        return self


def _refuse_twice(kind: str, names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{kind} {twice[0]} stands twice; give one of them another name")
