"""What a case is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bridge_promptfoo.config.columns import shortened
from bridge_promptfoo.config.inputs import ASKED
from bridge_promptfoo.config.merging import Test
from bridge_promptfoo.config.templates import js_text, render


class Names:
    """The ids of the cases of one config."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def of(self, test: Test) -> str:
        """The name that a test has, with a number from the second time on."""
        metadata = test.fields.get("metadata")
        given = metadata if isinstance(metadata, Mapping) else {}
        names = (given.get("case_id"), given.get("id"), test.fields.get("description"))
        name = next((str(each) for each in names if _is_name(each)), "")
        name = name or shortened(_shown(test))
        self._given[name] += 1
        return name if self._given[name] == 1 else f"{name} ({self._given[name]})"


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())


def _shown(test: Test) -> str:
    """What a test without a name is called: what it asks, else its first own variable's text."""
    own = [test.variables[name] for name in (*ASKED, *test.own) if name in test.variables]
    texts = (js_text(each) for each in own)
    text = next((text for text in texts if text and text.strip()), "test")
    try:
        shown: str = render(text, test.variables)
    except ValueError:
        return text
    return shown if shown.strip() else text
