"""The columns of a config: its providers with its prompts, which are systems here."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import carried
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import FILE, Folder, Node, is_code

LONGEST_NAME = 60
"""Characters of a text in a name; what is cut gets a digest."""
_TEXT = (".txt", ".md", ".json", ".j2")
_BETWEEN = "\n---\n"
"""What stands between the prompts of one text file."""


class Columns:
    """Prompts and providers of a config.

    Attributes:
        prompts: The prompts as text; none where one of them is not known without running it.
        systems: The name of each column.
        notes: What a reader should know.
    """

    def __init__(self, root: Node, folder: Folder) -> None:
        self._folder = folder
        self.notes: list[str] = []
        self._prompts = [each for node in _prompts(root) for each in self._read(node)]
        texts = [_raw(each) for each in self._prompts]
        self.prompts = [text for text in texts if text is not None]
        if len(self.prompts) < len(texts):
            self.prompts = []
        self.systems = self._systems(root)

    def kept(self) -> Fields:
        """The prompts for extras, the texts of files written out."""
        return {"prompts": self._prompts} if self._prompts else {}

    def _systems(self, root: Node) -> list[str]:
        found = root.get("providers") or root.get("targets")
        providers = [_provider(node.value) for node in found.items()] if found is not None else []
        named = list(dict.fromkeys(name for name in providers if name)) or ["default"]
        if len(self._prompts) < 2:
            return named
        labels = [shortened(_label(each)) for each in self._prompts]
        return [f"{name} | {label}" for name in named for label in labels]

    def _read(self, node: Node) -> list[Any]:
        """A prompt as it is kept: one of a text file as its text, labelled with the file."""
        name = node.value
        if not isinstance(name, str) or not name.startswith(FILE) or not name.endswith(_TEXT):
            return [node.plain()]
        try:
            document = self._folder.read(name, node, as_text=True)
        except InputError as error:
            if "outside" in error.what:
                raise
            self.notes.append(f"prompt {name} could not be read ({error.what})")
            return [name]
        document.claims.put(carried("says what is asked: kept for promptfoo"))
        texts = document.value.split(_BETWEEN) if name.endswith(".txt") else [document.value]
        label = name.removeprefix(FILE)
        return [{"raw": text.strip(), "label": label} for text in texts if text.strip()]


def _prompts(root: Node) -> list[Node]:
    found = root.get("prompts")
    if found is None:
        return []
    return [node for _, node in found.fields()] if isinstance(found.value, dict) else found.items()


def _raw(prompt: Any) -> str | None:
    """The text of a prompt, as far as it is data."""
    text = prompt.get("raw") if isinstance(prompt, dict) else prompt
    if not isinstance(text, str) or is_code(text) or text.startswith(("exec:", FILE)):
        return None
    return text


def _provider(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("label") or value.get("id") or next(iter(value), "")
    return value if isinstance(value, str) else ""


def _label(prompt: Any) -> str:
    if isinstance(prompt, dict):
        prompt = prompt.get("label") or prompt.get("raw") or prompt.get("id")
    return str(prompt)


def shortened(text: str) -> str:
    """A text on one line, of bounded length, still different from others."""
    flat = " ".join(text.split())
    if len(flat) <= LONGEST_NAME:
        return flat
    digest = hashlib.sha256(json.dumps(text).encode()).hexdigest()
    return f"{flat[:LONGEST_NAME]} {digest[:8]}"
