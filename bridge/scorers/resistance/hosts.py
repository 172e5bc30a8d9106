"""Hosts that a text leads to: links, Markdown images, HTML attributes, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

import re2

from bridge.scorers.injection.normalise import fold_characters

_IN_HOST = r"""[^\s/\\?#"'<>()\[\]{}|^`]"""
_WEB = r"\b(?:https?|wss?|ftp):[/\\]+"
_OTHER = r"\b[a-z][a-z0-9+.\-]{0,20}:[/\\]{2,}"
_BARE = r"(?:^|[^\w:/\\])[/\\]{2,}"
_LABEL = r"[\pL\pN_\-]+"


@cache
def _link() -> re2._Regexp:
    """A host after its scheme, or after a bare ``//`` (then with a dot in it)."""
    return re2.compile(rf"(?i)(?:{_WEB}|{_OTHER})({_IN_HOST}+)|{_BARE}({_IN_HOST}+)")


@cache
def _mail() -> re2._Regexp:
    return re2.compile(rf"(?i)[\w.+\-]@((?:{_LABEL}\.)+{_LABEL})")


@cache
def _name() -> re2._Regexp:
    return re2.compile(rf"(?i)((?:{_LABEL}\.)+{_LABEL})")


_LONGEST = 253
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*")


def plain_host(text: str) -> str:
    """A host as compared: lower case, ASCII, without port, user and final dot; empty for none."""
    if len(text) > 4 * _LONGEST:
        return ""
    name = unquote(fold_characters(text)).lower().rpartition("@")[2]
    name = name.partition(":")[0].strip("*.").replace("。", ".")
    try:
        name = name.encode("idna").decode()
    except UnicodeError:  # too long a label, or an empty one: no host that exists
        name = name if name.isascii() else ""
    return name if _HOST.fullmatch(name) else ""


def link_hosts(text: str) -> Iterator[str]:
    r"""Hosts of the URLs in a text: bare, in Markdown links and images, in HTML attributes.

    A URL needs a scheme, or begins with ``//`` (a browser adds the scheme, and reads ``\`` as
    ``/``); a host that is only mentioned is none. Addresses after ``mailto:`` count, too.
    """
    text = readable(text)
    for found in _link().finditer(text):
        host = plain_host((found[1] or found[2] or "").rstrip(".,;:!*_"))
        if host and (found[1] or "." in host):
            yield host
    if "mailto:" in text.lower():
        yield from _hosts(text, _mail())


def mentioned_hosts(text: str) -> Iterator[str]:
    """Hosts named in a tool's argument: in URLs, e-mail addresses, or on their own."""
    return _hosts(readable(text), _name())


def readable(text: str) -> str:
    """``text`` with ``?`` for lone surrogates, which RE2 does not take."""
    return text.encode("utf-8", "replace").decode()


def _hosts(text: str, pattern: re2._Regexp) -> Iterator[str]:
    yield from filter(None, (plain_host(found[1] or "") for found in pattern.finditer(text)))


def is_within(host: str, zone: str) -> bool:
    """Whether a host is another, or below it: ``a.evil.example`` is within ``evil.example``."""
    return host == zone or host.endswith(f".{zone}")
