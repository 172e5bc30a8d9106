"""Texts to train on that a grammar makes: ``phrases.yaml``, expanded in a fixed order."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

import yaml

PER_TEMPLATE = 40

_CHOICE = re.compile(r"\[([^\[\]{}]*(?:\{[a-z_]+\}[^\[\]{}]*)*)\]|\{([a-z_]+)\}")


class Example(NamedTuple):
    """A labelled text; ``label`` is 1 for an attack, 0 for a benign text."""

    text: str
    label: int
    source: str


def phrases(seed: int = 0) -> Iterator[Example]:
    """``PER_TEMPLATE`` expansions of every template, the same for the same seed.

    Sources are ``phrases`` for all families: they count as one source.
    """
    file = resources.files("bridge.scorers.injection.model") / "phrases.yaml"
    grammar: dict[str, Any] = yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader)
    draw = random.Random(seed)  # noqa: S311  # reproducible, not secret
    for label, kind in enumerate(("benign", "attack")):
        for templates in grammar[kind].values():
            for template in templates:
                for _ in range(PER_TEMPLATE):
                    yield Example(_expand(template, grammar["slots"], draw), label, "phrases")


def _expand(template: str, slots: dict[str, list[str]], draw: random.Random) -> str:
    def chosen(found: re.Match[str]) -> str:
        options = found[1].split("|") if found[1] is not None else slots[found[2]]
        return options[int(draw.random() * len(options))]

    while (text := _CHOICE.sub(chosen, template)) != template:
        template = text
    return " ".join(text.split())
