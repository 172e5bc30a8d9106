"""A suite: golden set, system, checks, judges and gate policy as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from bridge.model.check import Check, Checks, judges_named
from bridge.model.judge import JudgeConfig
from bridge.model.policy import GatePolicy
from bridge.model.spelling import AlsoAlone, AlsoWritten
from bridge.model.system import SystemConfig
from bridge.model.values import (
    EMPTY,
    FirstVersion,
    JsonObject,
    Keyed,
    Model,
    Name,
    Number,
    Text,
    Whole,
    clean_text,
)


class GoldenSetRef(Model):
    """A golden set by path, relative to the suite.

    ``version`` is the digest that its cases must have (order aside), or the beginning of it.
    """

    path: Name
    version: Text | None = None


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
    timeout_s: Number = Field(default=300.0, gt=0)
    options: JsonObject = EMPTY


def _framework(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping) and "name" not in value and len(value) == 1:
        name, body = next(iter(value.items()))
        if not isinstance(body, Mapping | None):
            shown = clean_text(str(name))
            raise ValueError(f"{shown} takes options by name: {{{shown}: {{option: value}}}}")
        body = dict(body or {})
        known = {key: body.pop(key) for key in ("python", "timeout_s") if key in body}
        return {"name": name, **known, "options": body}
    return value


def _golden_sets(value: Any) -> Any:
    entries = value if isinstance(value, list | tuple) else [value]
    if not entries:
        raise ValueError("a suite names at least one golden set")
    return [{"path": entry} if isinstance(entry, str) else entry for entry in entries]


def _some_frameworks(value: Any) -> Any:
    if isinstance(value, list | tuple) and not value:
        raise ValueError("a suite names at least one framework")
    return value


GoldenSets = Annotated[
    tuple[Annotated[GoldenSetRef, AlsoWritten(({"type": "string", "pattern": "\\S"},))], ...],
    BeforeValidator(_golden_sets),
    AlsoAlone(least=1),
]
"""One golden set or several, each as a path or as ``{path, version}``."""

Frameworks = Annotated[
    tuple[
        Annotated[
            FrameworkConfig,
            BeforeValidator(_framework),
            AlsoWritten(
                (
                    {"type": "string", "pattern": "\\S"},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "maxProperties": 1,
                        "not": {"required": ["name"]},
                        "additionalProperties": {"type": ["object", "null"]},
                    },
                )
            ),
        ],
        ...,
    ],
    BeforeValidator(_some_frameworks),
    Field(json_schema_extra={"minItems": 1}),
]
"""Frameworks, each as a name or as ``{name: options}``."""


class Suite(Model):
    """``bridge.yaml``. It names golden sets and never holds cases."""

    version: FirstVersion = 1
    name: Name
    golden_set: GoldenSets
    system: SystemConfig
    frameworks: Frameworks = (FrameworkConfig(name="core"),)
    epochs: Whole = Field(default=1, ge=1)
    checks: Checks = ()
    judges: Keyed[Name, JudgeConfig] = EMPTY
    gate: GatePolicy = GatePolicy()
    extras: JsonObject = EMPTY

    @model_validator(mode="after")
    def _names_are_unique(self) -> Suite:
        counts = Counter(framework.name for framework in self.frameworks)
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"framework {twice} stands twice; keep one")
        for check in self.checks:
            _refuse_unknown_judge(check, self.judges)
        return self


def _refuse_unknown_judge(check: Check, judges: Mapping[str, JudgeConfig]) -> None:
    for name in judges_named(check):
        if name not in judges:
            raise ValueError(f"check {check.metric} names judge {name}, not in judges")
