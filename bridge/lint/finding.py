"""What lint says: one finding a line, an error or a warning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from bridge.model.errors import InputError
from bridge.model.explain import explain


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

    @classmethod
    def of(
        cls,
        error: InputError | ValidationError,
        rule: str,
        path: Path,
        line: int | None = None,
    ) -> LintFinding:
        """The finding that an error stands for.

        Args:
            error: What reading raised; what it says of its own place goes before the next two.
            rule: Short name of the rule.
            path: The file.
            line: 1-based line, where one is known.
        """
        if isinstance(error, ValidationError):
            return cls("error", rule, path, line, explain(error))
        message = f"{error.what}; {error.fix}" if error.fix else error.what
        return cls("error", rule, Path(error.where or path), error.line or line, message)

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line is not None else str(self.path)
        return f"{place}: {self.level}: {self.message} [{self.rule}]"
