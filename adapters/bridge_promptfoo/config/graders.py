"""Graders as judges and back: the one table of what promptfoo and a judge both say.

Only chat models behind an OpenAI-compatible address can be judges. A key that is written out is
never taken; the variable that a config names for it is (``apiKeyEnvar``, ``{{env.NAME}}``).
https://www.promptfoo.dev/docs/configuration/expected-outputs/model-graded/#overriding-the-llm-grader
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, count, islice
from typing import Any

from pydantic import ValidationError

from bridge.model.check import Check, judges_named
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.judge import JudgeConfig
from bridge.plugin.scoring.applicable import leaves_of
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.templates import is_template

GRADER = "promptfoo_grader"
"""Key of a check's extras: what its judge was to promptfoo when its assertion was read."""
EMBEDDING = "embedding"
PARTS = frozenset({"text", EMBEDDING, "classification", "moderation"})
"""Keys of a grader that is another for each kind of request."""

_CHAT = re.compile(r"openai:(?:chat:(.+)|([^:]+))", re.DOTALL)
_EMBEDDING = re.compile(r"openai:embeddings?:(.+)", re.DOTALL)
_NO_MODEL = frozenset({"chat", "completion", "embedding", "responses", "realtime", "moderation"})
_ENV = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")
_SAME = {
    "apiBaseUrl": "base_url",
    "apiKeyEnvar": "api_key_env",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "seed": "seed",
}
"""Settings of a provider, each with the field of a judge that means the same."""
_ABOUT = frozenset({"id", "label", "config"})
_OF_KEY = frozenset({"apiKey", "apiKeyRequired"})
NO_KEY = "-"
"""The key that is no secret: without one promptfoo sends OpenAI's key to whatever address."""
NONE_NAMED = "asks a judge, and no grader is named: --read-option judge=MODEL makes a check of it"


def to_judge(provider: Any) -> JudgeConfig:
    """The judge that a grader is.

    Args:
        provider: Its id, ``{id, config}``, or one for each kind of request.

    Raises:
        ValueError: If a judge cannot be the same; why.
    """
    parts: Mapping[str, Any] = {"text": provider}
    if isinstance(provider, Mapping) and provider and set(provider) <= PARTS:
        parts = provider
    fields = _fields(parts.get("text"), _CHAT)
    if (embedding := parts.get(EMBEDDING)) is not None:
        known = _fields(embedding, _EMBEDDING)
        own = {key: known[key] for key in ("model", *_ADDRESS) if key in known}
        elsewhere = "base_url" in fields and "base_url" not in own
        fields["embeddings"] = {**(_OPENAI if elsewhere else {}), **own}
    try:
        return JudgeConfig.model_validate(fields)
    except ValidationError as error:
        raise ValueError(f"its grader is no judge ({explain(error)})") from None


_ADDRESS = ("base_url", "api_key_env")
_OPENAI = {"base_url": "https://api.openai.com/v1", "api_key_env": "OPENAI_API_KEY"}
"""Where a provider asks that names no address."""


def _fields(provider: Any, ids: re.Pattern[str]) -> Fields:
    whole = {"id": provider} if isinstance(provider, str) else provider
    if not isinstance(whole, Mapping) or not isinstance(whole.get("id"), str):
        raise ValueError("its grader is no provider with an id")
    named = ids.fullmatch(whole["id"])
    model = next((each for each in named.groups() if each), "") if named else ""
    if not model or model in _NO_MODEL:
        raise ValueError(f"its grader {whole['id'][:80]} is no model behind an OpenAI-like address")
    config = whole.get("config") or {}
    if not isinstance(config, Mapping):
        raise ValueError("its grader's config is no object")
    _refuse_others({*whole} - _ABOUT, {*config} - {*_SAME, *_OF_KEY})
    fields = {ours: config[theirs] for theirs, ours in _SAME.items() if theirs in config}
    fields = {name: value for name, value in fields.items() if value is not None}
    key = _ENV.fullmatch(str(config.get("apiKey") or ""))
    if key is not None:
        fields.setdefault("api_key_env", key[1])
    if is_template({"model": model, **fields}):
        raise ValueError("its grader is a template")
    return {"model": model, **fields}


def _refuse_others(*unknown: set[str]) -> None:
    others = ", ".join(sorted(map(str, set().union(*unknown))))
    if others:
        raise ValueError(f"its grader has {others[:80]}, which no judge has")


def to_provider(judge: JudgeConfig) -> Fields | None:
    """The grader that a judge is; ``None`` where promptfoo has none that asks the same."""
    made = _provider(f"openai:chat:{judge.model}", judge, _SAME.values())
    vectors = judge.for_embeddings()
    if vectors is not None:
        name = f"openai:embedding:{vectors.model}"
        made = {"text": made, EMBEDDING: _provider(name, vectors, _ADDRESS)}
    unsaid = judge.temperature is None or judge.options or is_template(made)
    return None if unsaid else made


def _provider(name: str, judge: JudgeConfig, wanted: Collection[str]) -> Fields:
    values = {theirs: getattr(judge, ours) for theirs, ours in _SAME.items() if ours in wanted}
    config = {
        key: value
        for key, value in values.items()
        if value != JudgeConfig.model_fields[_SAME[key]].default
    }
    if judge.base_url is not None and judge.api_key_env is None:
        config["apiKey"] = NO_KEY
    return {"id": name, "config": config} if config else {"id": name}


def _identity(judge: JudgeConfig) -> str:
    """What a judge is to promptfoo, else all that it is."""
    said = to_provider(judge)
    return judge.model_dump_json() if said is None else json.dumps(said, sort_keys=True)


class Graders:
    """The judges of one config, each named once.

    Args:
        fallback: The judge where no grader is named that can be one; ``None`` for none.
        known: Judges that are there already, by name.
        default: The grader of tests that name none.
    """

    def __init__(
        self, fallback: JudgeConfig | None, known: Mapping[str, JudgeConfig], default: Any = None
    ) -> None:
        self._fallback = fallback
        self._default = default
        self._known: dict[str, JudgeConfig] = {}
        self._names: dict[str, str] = {}
        for name, judge in known.items():
            self._known[name] = judge
            self._names.setdefault(_identity(judge), name)
        numbered = chain(["grader"], (f"grader_{number}" for number in count(2)))
        self._free = (name for name in numbered if name not in known)

    def name_of(self, provider: Any) -> str:
        """The name of the judge that a grader is.

        Args:
            provider: The grader that is named for an assertion; ``None`` where none is.

        Raises:
            ValueError: If no judge is it; why.
        """
        judge = self._judge(self._default if provider is None else provider)
        identity = _identity(judge)
        if identity not in self._names:
            self._names[identity] = name = next(self._free)
            self._known[name] = judge
        return self._names[identity]

    def _judge(self, provider: Any) -> JudgeConfig:
        if provider is None:
            if self._fallback is None:
                raise ValueError(NONE_NAMED)
            return self._fallback
        try:
            return to_judge(provider)
        except ValueError as error:
            if self._fallback is None:
                why = f"{error}: --read-option judge=MODEL names another"
                raise ValueError(why) from None
            return self._fallback

    def provider_of(self, name: str) -> Fields | None:
        """What promptfoo sees of a judge."""
        return to_provider(self._known[name])

    def named_in(self, checks: Iterable[Check]) -> dict[str, JudgeConfig]:
        """The judges that checks name."""
        names = {name for check in checks for name in judges_named(check)}
        return {name: judge for name, judge in self._known.items() if name in names}


SHOWN = 5
"""Judges that notes tell of."""


def told_of(judges: Mapping[str, JudgeConfig], checks: Iterable[Check]) -> Iterator[str]:
    """What a person should know: whom a run would ask, with which key, and in which framework."""
    flat = (leaf for check in checks for leaf in leaves_of(check))
    if own := sorted({leaf.scorer for leaf in flat}):
        yield f"{', '.join(own)}: metrics of frameworks' own; run them with --frameworks promptfoo"
    if len(judges) > SHOWN:
        yield f"{len(judges)} judges are asked in a run; the first {SHOWN}:"
    for name, judge in islice(judges.items(), SHOWN):
        key = judge.api_key_env or ("no key" if judge.base_url else "OPENAI_API_KEY")
        where = judge.base_url or "OpenAI's address"
        yield f"judge {name} is {judge.model} at {where} (key: {key}); a run asks it, no read does"


def fallback_of(value: Any) -> JudgeConfig | None:
    """The read option ``judge``: a model's name, a provider's id, or a judge as in a suite.

    Raises:
        InputError: If it is none.
    """
    if value is None:
        return None
    try:
        if isinstance(value, str) and value.startswith("openai:"):
            return to_judge(value)
        return JudgeConfig.model_validate({"model": value} if isinstance(value, str) else value)
    except ValidationError as error:
        what = f"judge: {explain(error)}"
    except ValueError as error:
        what = f"judge: {error}"
    raise InputError(what, fix="write judge=MODEL, or judge={model: MODEL, base_url: ADDRESS}")
