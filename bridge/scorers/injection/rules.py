"""The rules as data: loading, checking, and expanding their pattern language.

A rule file holds one category. Its patterns are RE2 (no look-around, linear time), ignore case, and
add two things: a space stands for a run of white space and light punctuation (`` ?`` for an
optional one), and ``{name}`` for an entry of ``vocabulary.yaml``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Literal, get_args

import re2
import yaml

from bridge.scorers.injection.normalise import fold_characters

Severity = Literal["low", "medium", "high", "critical"]
Carrier = Literal["user", "tool", "context"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
CARRIERS: tuple[Carrier, ...] = get_args(Carrier)

_SEPARATOR = r"""[\s"'*_~`,:;<>|/\\()\[\]-]+"""
_OPTIONAL = _SEPARATOR[:-1] + "*"
_WORD = _SEPARATOR.replace("[", "[^.!?", 1)
_MACRO = re.compile(r"\{([a-z_]+[0-9]?)\}")
_FILE_KEYS = {"category", "owasp", "references", "unless", "rules"}
_RULE_KEYS = {
    *("id", "severity", "languages", "carriers", "view", "patterns", "unless", "owasp"),
    *("references", "positive", "negative"),
}


class RuleError(ValueError):
    """A rule file is wrong; the message says which file, which rule and what."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of attack.

    Attributes:
        id: unique, lower case with hyphens.
        category: the file's category, such as ``direct_override``.
        severity: how bad one match is.
        languages: BCP 47 languages the patterns are written for.
        carriers: where a match counts: typed by the user, in a tool's result, in context.
        raw: match the text as it came, before folding (for signs that folding removes).
        patterns: RE2 patterns, expanded and folded; any of them is a match.
        unless: a match is dropped when one of these is found in the same line around it.
        owasp: entry of the OWASP Top 10 for LLM applications, 2025.
        references: where the kind of attack is described.
        positive: texts the rule must match.
        negative: texts the rule must not match.
    """

    id: str
    category: str
    severity: Severity
    languages: tuple[str, ...]
    carriers: frozenset[Carrier]
    raw: bool
    patterns: tuple[str, ...]
    unless: tuple[str, ...]
    owasp: str
    references: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]


def _package() -> Traversable:
    return resources.files("bridge.scorers.injection")


def _read(source: Traversable) -> Any:
    return yaml.load(source.read_text("utf-8"), Loader=yaml.CSafeLoader)


@cache
def vocabulary() -> Mapping[str, Any]:
    """``vocabulary.yaml``: the ``macros`` of patterns and the ``keywords`` of the decoders."""
    data: dict[str, Any] = _read(_package() / "vocabulary.yaml")
    return data


def _gap(words: int) -> str:
    return rf"(?:{_SEPARATOR}{_WORD}){{0,{words}}}?{_SEPARATOR}"


def expand(pattern: str) -> str:
    """A rule's pattern as plain RE2.

    ``{gapN}`` (N from 1 to 9) is a separator with up to N words before it.

    Raises:
        KeyError: if the vocabulary lacks a macro.
    """
    macros = vocabulary()["macros"]

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        return _gap(int(name[3:])) if name.startswith("gap") else f"(?:{macros[name]})"

    while (expanded := _MACRO.sub(replacement, pattern)) != pattern:
        pattern = expanded
    optional = fold_characters(pattern).replace(" ?", _OPTIONAL)
    return optional.replace(" ", _SEPARATOR)


def squash(pattern: str) -> str:
    """An expanded pattern for text whose word breaks are lost: separators become optional."""
    return pattern.replace(_SEPARATOR, _OPTIONAL).replace(r"\b", "")


def _expanded(where: str, patterns: list[str]) -> tuple[str, ...]:
    try:
        return tuple(map(expand, patterns))
    except KeyError as error:
        raise RuleError(f"{where}: the vocabulary has no {error}") from error


def options() -> re2.Options:
    """How every pattern is compiled: no case, no groups, ``^`` and ``$`` at line breaks."""
    chosen = re2.Options()
    chosen.case_sensitive = False
    chosen.never_capture = True
    chosen.log_errors = False
    # An upper bound. With re2's 8 MB, long varied text fills some rules' caches again and again.
    chosen.max_mem = 32 << 20
    return chosen


def _rule(where: str, shared: Mapping[str, Any], entry: Mapping[str, Any]) -> Rule:
    where = f"{where}: {entry.get('id', 'a rule without id')}"
    if unknown := set(entry) - _RULE_KEYS:
        raise RuleError(f"{where}: unknown keys {sorted(unknown)}")
    missing = {"id", "severity", "languages", "patterns", "positive", "negative"} - set(entry)
    if missing or not entry["patterns"] or not entry["positive"]:
        raise RuleError(f"{where}: needs {sorted(missing) or 'patterns and positive examples'}")
    carriers = frozenset(entry.get("carriers", CARRIERS))
    if entry["severity"] not in SEVERITIES or not carriers <= set(CARRIERS):
        raise RuleError(f"{where}: unknown severity or carrier")
    raw = entry.get("view", "folded") == "raw"
    unless = [*shared.get("unless", ()), *entry.get("unless", ())]
    return Rule(
        id=entry["id"],
        category=shared["category"],
        severity=entry["severity"],
        languages=tuple(entry["languages"]),
        carriers=carriers,
        raw=raw,
        patterns=tuple(entry["patterns"]) if raw else _expanded(where, entry["patterns"]),
        unless=_expanded(where, unless),
        owasp=entry.get("owasp", shared["owasp"]),
        references=(*shared["references"], *entry.get("references", ())),
        positive=tuple(entry["positive"]),
        negative=tuple(entry["negative"]),
    )


def _load_file(source: Traversable) -> list[Rule]:
    data = _read(source)
    if not isinstance(data, dict) or set(data) - _FILE_KEYS or "rules" not in data:
        raise RuleError(f"{source.name}: expected only the keys {sorted(_FILE_KEYS)}")
    return [_rule(source.name, data, entry) for entry in data["rules"]]


def _rule_files() -> list[Traversable]:
    files = (_package() / "rules").iterdir()
    return sorted((f for f in files if f.name.endswith(".yaml")), key=lambda f: f.name)


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, by file name and then in the file's order.

    Raises:
        RuleError: if a file or a rule is malformed, or an id occurs twice.
    """
    rules = tuple(rule for source in _rule_files() for rule in _load_file(source))
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise RuleError(f"rule id {rule.id} occurs twice")
        seen.add(rule.id)
    return rules


@cache
def rules_digest() -> str:
    """SHA-256 over every data file that decides a scan, in hexadecimal."""
    package = _package()
    digest = hashlib.sha256()
    for source in (*_rule_files(), package / "vocabulary.yaml", package / "confusables.yaml"):
        digest.update(source.read_bytes())
    return digest.hexdigest()
