"""The judge as a promptfoo provider: a config's ``provider`` for model-graded assertions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.judge.errors import KINDS, JudgeError, Kind
from bridge_promptfoo.calls import Fields

SCRIPT = f"file://{Path(__file__).with_name('judge.cjs')}"
_SAID = re.compile(r"judge_error\[(\w+)\]: (.*)", re.DOTALL)


def to_judge(name: str, tag: Mapping[str, Any], *, vary: bool = False) -> Fields:
    """A judge of the suite as a provider of texts and of embeddings.

    Args:
        name: The judge's name.
        tag: What it is asked for, for the ledger.
        vary: Whether a question that is asked again may be answered differently.
    """
    return {"id": SCRIPT, "config": {"judge": name, "tag": dict(tag), "vary": vary}}


def judge_error_of(reason: str) -> JudgeError | None:
    """The judge's failure in what promptfoo says of an assertion; ``None`` if there is none."""
    found = _SAID.search(reason)
    kinds: Mapping[str, Kind] = {kind: kind for kind in KINDS}
    kind = kinds.get(found[1]) if found else None
    return JudgeError(kind, found[2]) if found and kind else None
