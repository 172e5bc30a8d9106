"""Which models are of one family, told from their names."""

from __future__ import annotations

import re

_MAKERS = {
    "openai": ("gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "palm"),
    "meta": ("llama", "codellama"),
    "mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral"),
    "alibaba": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "xai": ("grok",),
    "cohere": ("command", "aya"),
    "microsoft": ("phi",),
    "amazon": ("nova", "titan"),
    "zhipu": ("glm", "chatglm"),
    "moonshot": ("kimi",),
    "ibm": ("granite",),
    "huggingface": ("smollm", "zephyr"),
}
_FAMILY = {name: maker for maker, names in _MAKERS.items() for name in names}


def family_of(model: str) -> str:
    """The family of a model, such as ``openai``; the first word of a name that is not known.

    Args:
        model: Its name at a server, with or without its maker and version.
    """
    words = re.findall(r"[a-z]+[0-9]*", model.casefold())
    for word in words:
        known = _FAMILY.get(word) or _FAMILY.get(word.rstrip("0123456789"))
        if known is not None:
            return known
    return words[0] if words else model.casefold()
