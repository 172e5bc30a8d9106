"""The verdict on the terminal that the command runs in."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.model.verdict import Verdict


def show(verdict: Verdict) -> None:
    """Print the verdict, as wide as the terminal and coloured unless NO_COLOR is set."""
    from bridge.report.terminal import to_terminal

    on_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else None
    colour = on_terminal and not os.environ.get("NO_COLOR")
    print(to_terminal(verdict, width=width, colour=colour), end="")
