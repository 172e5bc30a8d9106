"""The kinds of system that can be asked: Python, HTTP, a command, a chat endpoint."""

from bridge.execution.systems.loading import ensure_askable, load_system, secrets_of
from bridge.execution.systems.request import Request, System

__all__ = ["Request", "System", "ensure_askable", "load_system", "secrets_of"]
