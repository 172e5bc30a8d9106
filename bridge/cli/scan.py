"""``bridge scan``: the injection scanner on its own, JSON Lines out."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

CARRIERS = ("user", "tool", "context")
_FILE_NAME = re.compile(r"\S+\.(?:jsonl?|txt|md|csv|tsv|html?|xml|ya?ml|log|eml)", re.IGNORECASE)


def scan(
    inputs: list[str] = typer.Argument(
        None, metavar="TEXT_OR_FILE", help="Texts, or files; standard input if left out."
    ),
    carrier: str = typer.Option(
        "user", metavar="NAME", help="Where the text comes from: user, tool, context."
    ),
    second_stage: bool = typer.Option(True, help="Weigh the wording by a trained model, too."),
    fail_on: str = typer.Option("", metavar="ACTIONS", help="Exit 1 on these actions: flag,block."),
    system_prompt: Path = typer.Option(
        None, metavar="FILE", help="File with the system prompt; what goes against it counts, too."
    ),
) -> int:
    """Scan texts for prompt injection; one JSON object a text.

    A file ending in .jsonl is scanned line by line (its "text" or "input", else the whole
    line), any other file as one text.
    """
    import json

    from bridge.cli.names import names_in
    from bridge.model.errors import InputError
    from bridge.scorers.injection import scan as scan_text

    if carrier not in CARRIERS:
        raise InputError(f"no carrier {carrier!r}", fix=f"use one of {', '.join(CARRIERS)}")
    failing = names_in(fail_on)
    if {*failing} - {"flag", "block"}:
        raise InputError(f"--fail-on {fail_on!r}", fix="use flag, block or flag,block")
    prompt = _read(system_prompt) if system_prompt else None
    hit = False
    for source, text in _texts(inputs or []):
        result = scan_text(
            text,
            carrier,  # type: ignore[arg-type]
            second_stage=second_stage,
            system_prompt=prompt,
        )
        hit = hit or result.action in failing
        print(json.dumps(_line(source, result), ensure_ascii=True))
    return 1 if hit else 0


def _line(source: str, result: Any) -> dict[str, Any]:
    return {
        "source": source,
        "action": result.action,
        "severity": result.severity,
        "score": result.score,
        "categories": list(result.categories),
        "matches": [
            {
                "rule": match.rule,
                "category": match.category,
                "severity": match.severity,
                "start": match.start,
                "end": match.end,
                "text": match.text,
                "how": match.how,
                "owasp": match.owasp,
            }
            for match in result.matches
        ],
    }


def _texts(inputs: list[str]) -> Iterator[tuple[str, str]]:
    if not inputs:
        if sys.stdin.isatty():
            print("reading standard input; end with Ctrl-D", file=sys.stderr)
        yield "-", sys.stdin.buffer.read().decode("utf-8", "replace")
    for given in inputs:
        path = _existing(given)
        if path is None:
            _refuse_lost_file(given)
            yield "argument", given
        elif path.suffix == ".jsonl":
            yield from _lines(path)
        else:
            yield str(path), _read(path)


def _existing(given: str) -> Path | None:
    try:
        path = Path(given)
        return path if len(given) < 4096 and path.is_file() else None
    except (OSError, ValueError):
        return None


def _refuse_lost_file(given: str) -> None:
    """A misspelt file must not pass as a harmless text."""
    from bridge.model.errors import InputError

    if _FILE_NAME.fullmatch(given) or _is_folder(given):
        raise InputError(
            f"{given}: no such file", fix="check the path, or give a text of this form on stdin"
        )


def _is_folder(given: str) -> bool:
    try:
        return len(given) < 4096 and Path(given).is_dir()
    except (OSError, ValueError):
        return False


def _read(path: Path) -> str:
    from bridge.files.jsonl import unreadable

    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise unreadable(path, error) from None


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    import json

    from bridge.files.jsonl import read_lines

    for number, line in read_lines(path):
        text = line.decode("utf-8", "replace")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = text
        yield f"{path}:{number}", _text_of(data, text)


def _text_of(data: Any, line: str) -> str:
    """The text of a row: its ``text`` or ``input``, user messages joined, else the line itself."""
    if isinstance(data, str):
        return data
    value = data.get("text", data.get("input")) if isinstance(data, dict) else None
    if isinstance(value, list):
        value = "\n".join(str(m.get("content")) for m in value if isinstance(m, dict))
    return value if isinstance(value, str) else line
