"""The judges in force in this process, by name: where a judged scorer finds the one it asks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Judge

URL = "BRIDGE_JUDGE_URL"
TOKEN = "BRIDGE_JUDGE_TOKEN"  # noqa: S105  # the variable's name
"""The environment variables by which a worker finds the gateway; neither is ever in a file."""

_IN_FORCE: dict[str, Judge] = {}


@contextmanager
def judges_in_force(judges: Mapping[str, Judge]) -> Iterator[None]:
    """Let checks ask these judges, in every thread of this process.

    Example:
        >>> from bridge.judge import JudgeClient, judges_in_force
        >>> with judges_in_force({"main": JudgeClient("main", config)}):  # doctest: +SKIP
        ...     evaluate(Check.model_validate({"rubric": {..., "judge": "main"}}), case, output)
    """
    before = dict(_IN_FORCE)
    _IN_FORCE.update(judges)
    try:
        yield
    finally:
        _IN_FORCE.clear()
        _IN_FORCE.update(before)


def judge_in_force(name: str | None) -> Judge:
    """The judge of that name: one put in force here, else the run's own behind its gateway.

    Raises:
        JudgeError: Of kind ``request``, if there is none.
    """
    if name is None:
        raise JudgeError("request", "the check names no judge")
    judge = _IN_FORCE.get(name)
    if judge is not None:
        return judge
    url, token = os.environ.get(URL), os.environ.get(TOKEN)
    if not url or not token:
        text = f"judge {name} is not in force; use bridge run or judges_served"
        raise JudgeError("request", text)
    from bridge.judge.remote import RemoteJudge

    return RemoteJudge(name, url, token)
