"""The kinds of report by name, each found by an import string so that none is loaded unused."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge.model.errors import InputError
from bridge.model.exhibit import Exhibit
from bridge.model.verdict import Verdict

NAME = "eval-report"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of report.

    Attributes:
        maker: Import string of the function that makes it of a verdict.
        suffix: End of its file's name; empty for what is only printed.
        shows_cases: Whether it takes the cases behind the verdict as well.
    """

    maker: str
    suffix: str = ""
    shows_cases: bool = False

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{NAME}{self.suffix}"

    def make(self, verdict: Verdict, exhibit: Exhibit | None = None) -> str:
        """The report as text."""
        module, _, name = self.maker.partition(":")
        maker: Callable[..., str] = getattr(importlib.import_module(module), name)
        return maker(verdict, exhibit) if self.shows_cases else maker(verdict)


KINDS = {
    "json": Kind("bridge.report.json:to_json", ".json"),
    "markdown": Kind("bridge.report.markdown:to_markdown", ".md"),
    "html": Kind("bridge.report.html.page:to_html", ".html", shows_cases=True),
    "junit": Kind("bridge.report.junit:to_junit", ".junit.xml"),
    "sarif": Kind("bridge.report.sarif:to_sarif", ".sarif"),
    "github": Kind("bridge.report.github:to_annotations"),
    "terminal": Kind("bridge.report.terminal:to_terminal"),
}
"""Every kind of report. ``github`` and ``terminal`` are printed, the others are files."""

USUAL = ("json", "markdown")
"""The files that a gate writes if none is named."""


def ensure_kinds(names: Iterable[str]) -> None:
    """Make sure that names are those of kinds.

    Raises:
        InputError: If one is not.
    """
    unknown = next((name for name in names if name not in KINDS), None)
    if unknown is not None:
        raise InputError(f"no report format {unknown!r}", fix=f"use one of {', '.join(KINDS)}")


def files_of(kinds: Iterable[str]) -> tuple[str, ...]:
    """Those of the kinds that are files."""
    return tuple(name for name in kinds if KINDS[name].suffix)


def write_reports(
    verdict: Verdict, kinds: Sequence[str], folder: Path, exhibit: Exhibit | None = None
) -> list[Path]:
    """Write the kinds that are files into a folder, each whole or not at all."""
    paths = []
    for name in files_of(kinds):
        path = folder / KINDS[name].file
        write_atomically(path, [KINDS[name].make(verdict, exhibit)])
        paths.append(path)
    return paths


def remove_reports(folder: Path) -> None:
    """Remove earlier reports: one that stays would tell of a verdict that is not this one's."""
    for name in files_of(KINDS):
        (folder / KINDS[name].file).unlink(missing_ok=True)
