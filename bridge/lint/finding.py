"""What lint says: one finding a line, an error or a warning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One finding.

    Attributes:
        level: ``error`` makes the check fail, ``warning`` does not.
        rule: Short name of the rule.
        path: The file.
        line: 1-based line, where one is known.
        message: What is wrong and what to do.
    """

    level: Literal["error", "warning"]
    rule: str
    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        return f"{place}: {self.level}: {self.message} [{self.rule}]"
