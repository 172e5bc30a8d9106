"""Where the config is in its file: outermost, or around a file of tests or assertions alone."""

from __future__ import annotations

from bridge.model.errors import InputError
from bridge_promptfoo.config.files import Document, Folder, Node
from bridge_promptfoo.config.merging import Test

TESTS = ("tests", "scenarios", "defaultTest")
_CONFIG = frozenset({*TESTS, "prompts", "providers", "targets"})
"""Keys of a config; a file without any holds tests or assertions alone."""
_PARTS = frozenset({"vars", "assert", "type", "providerOutput"})


def whole(folder: Folder) -> Node:
    """The config; an empty one around a file that holds tests or assertions alone.

    Raises:
        InputError: If it holds neither.
    """
    main = folder.main
    root = Node(main.value, main).referred()
    if isinstance(root.value, dict) and not _CONFIG.isdisjoint(root.value):
        return root
    parts = root.value if isinstance(root.value, list) else [root.value]
    first = next((part for part in parts if isinstance(part, dict)), {})
    if not _PARTS.isdisjoint(first) or any(key.startswith("__") for key in first):
        return Node({}, main)
    keys = ", ".join(list(first)[:8]) or "nothing"
    fix = "name another file, or the format it is in with --from"
    raise InputError(f"no promptfoo config (it holds {keys})", where=main.path, fix=fix)


def fragment(main: Document) -> tuple[Test, None]:
    """A file of assertions alone, as what all tests have in common; else nothing."""
    root = Node(main.value, main)
    listed = root.get("assert") if isinstance(main.value, dict) else root
    items = listed.items() if listed is not None and "vars" not in main.value else []
    are_assertions = items and all(
        isinstance(item.value, dict) and "type" in item.value for item in items
    )
    return Test("", asserts=tuple(items) if are_assertions else ()), None
