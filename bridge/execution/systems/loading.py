"""From a suite's system to something that can be asked, and what must be there for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bridge.execution.systems.python import load_python
from bridge.execution.systems.request import System
from bridge.model.errors import InputError
from bridge.model.system import Secret, SystemConfig

SENSITIVE = frozenset(
    {"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-auth-token"}
)
"""Headers whose value belongs in the environment: a suite, and a run's record of it, are read."""

SHORTEST_SECRET = 4
"""Fewest characters of a value that is looked for in what is written."""


def load_system(config: SystemConfig, folder: Path) -> System:
    """The system, ready to be asked; each kind's libraries are loaded only for it.

    Args:
        config: The suite's system; not a recorded one.
        folder: The suite's folder, on the import path already.

    Raises:
        InputError: If it is not there, or lacks a key in the environment.
    """
    headers = _headers(config)
    if config.http is not None:
        from bridge.execution.systems.http import HttpSystem

        return HttpSystem(config.http, headers)
    if config.openai is not None:
        from bridge.execution.systems.chat import ChatSystem

        return ChatSystem(config.openai, headers)
    if config.command:
        from bridge.execution.systems.command import CommandSystem

        program = _program(config.command[0], folder)
        return CommandSystem([program, *config.command[1:]], folder)
    return load_python(config.python or "", folder)


def ensure_askable(config: SystemConfig, folder: Path) -> None:
    """Make sure, before anything is run, that a system's program and keys are there.

    Raises:
        InputError: With what to do about it.
    """
    if config.command:
        _program(config.command[0], folder)
    if config.http is not None:
        _refuse_written_secrets(config.http.url, config.http.headers)
    if config.openai is not None:
        _refuse_written_secrets(config.openai.url, {})
    _headers(config)


def secrets_of(config: SystemConfig) -> tuple[str, ...]:
    """The values of the secrets that a system names, longest first."""
    found = {os.environ.get(secret.env, "").strip() for secret in _secrets(config).values()}
    return tuple(sorted((each for each in found if len(each) >= SHORTEST_SECRET), key=len))[::-1]


def _secrets(config: SystemConfig) -> dict[str, Secret]:
    if config.openai is not None and config.openai.key is not None:
        return {"Authorization": Secret(env=config.openai.key, prefix="Bearer ")}
    if config.http is not None:
        headers = config.http.headers.items()
        return {name: value for name, value in headers if isinstance(value, Secret)}
    return {}


def _headers(config: SystemConfig) -> dict[str, str]:
    given = {} if config.http is None else config.http.headers
    written = {name: value for name, value in given.items() if isinstance(value, str)}
    return {**written, **{name: _read(secret) for name, secret in _secrets(config).items()}}


def _read(secret: Secret) -> str:
    value = os.environ.get(secret.env, "").strip()
    if not value:
        raise InputError(
            f"environment variable {secret.env} is not set, and the system needs it",
            fix=f"export {secret.env}=...",
        )
    if not (value.isascii() and value.isprintable()):
        raise InputError(
            f"environment variable {secret.env} holds what no header can", fix="use printable ASCII"
        )
    return f"{secret.prefix}{value}"


def _refuse_written_secrets(url: str, headers: Mapping[str, object]) -> None:
    if "@" in urlsplit(url).netloc:
        raise InputError(
            "the system's url holds a password", fix="send it as a header: {env: NAME}"
        )
    for name, value in headers.items():
        if name.lower() in SENSITIVE and isinstance(value, str):
            raise InputError(
                f"header {name} is written in the suite",
                fix=f"name an environment variable: {name}: {{env: NAME}}",
            )


def _program(name: str, folder: Path) -> str:
    """A program by its path, relative to the suite, or by its name on the search path."""
    if "/" in name:
        path = (folder / Path(name).expanduser()).absolute()
        found = str(path) if os.access(path, os.X_OK) and path.is_file() else None
    else:
        found = shutil.which(name)
    if found is None:
        raise InputError(f"the system's program {name!r} is not there", fix="check command")
    return found
