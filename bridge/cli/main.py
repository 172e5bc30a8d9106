"""The ``bridge`` command: dispatch to one file a command.

The overview is printed from the table below and a command's module is imported only when it is
called: importing typer alone costs eight times a bare interpreter's start.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

COMMANDS = {
    "init": "Write a working starter suite and a CI workflow.",
    "run": "Collect outputs, score them in each framework, write the run.",
    "gate": "Decide over runs and result files whether to pass.",
    "compare": "Hold two runs or two frameworks against each other.",
    "report": "Show a verdict again, in another format.",
    "calibrate": "Hold a judge's scores against people's labels.",
    "baseline": "Write a run's accepted values as a baseline to commit.",
    "convert": "Convert between formats, every value accounted for.",
    "check": "Lint golden sets, suites and reports.",
    "scan": "Scan texts for prompt injection.",
    "doctor": "Show what is installed, and the line that mends each gap.",
    "setup": "Install what a framework needs that pip cannot install.",
}
"""Each command's one line; the command is the function of that name in ``bridge.cli.<name>``."""

USAGE = """\
Usage: bridge [--debug] COMMAND [ARGS]...

One golden set through several LLM evaluation frameworks, and one gate report.

Commands:
{commands}

Options:
  --version  Print the version and exit.
  --debug    Show a traceback with every error.
  --help     Show this message, or with a command its own help.

Exit codes:
  0    passed, or done
  1    the gate failed, --strict dropped something, a judge is not trusted
  2    wrong use, or a bad file
  3    the rows cannot be trusted, or a framework broke
  130  interrupted
  141  standard output was closed"""


CLOSED_PIPE = 141
"""Exit code where standard output was closed: 128 + SIGPIPE, as shells have it."""

WRONG_PATH = frozenset(
    {
        errno.EACCES,
        errno.EEXIST,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)
"""What the operating system says of a path that the user named and that does not fit."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(_say("interrupted", 130))
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # the option parser's own way out
            _leave_pipe()
        raise
    except BrokenPipeError:
        _leave_pipe()
    except Exception as error:  # noqa: BLE001  # the one place where an error meets a person
        if debug:
            from traceback import print_exc

            print_exc()
        sys.exit(_report(error, next(iter(arguments), "COMMAND")))


def _leave_pipe() -> NoReturn:
    """End quietly, as other commands do, where who reads our output has had enough of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
    sys.exit(CLOSED_PIPE)


def _dispatch(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("--help", "-h"):
        width = max(map(len, COMMANDS)) + 2
        lines = (f"  {each:<{width}}{summary}" for each, summary in COMMANDS.items())
        print(USAGE.format(commands="\n".join(lines)))
        return 0
    if name == "--version":
        from importlib.metadata import version

        print(f"bridge-evals {version('bridge-evals')}")
        return 0
    if name not in COMMANDS:
        return _say(f"no command {name!r}; see: bridge --help", 2)
    return _call(name, arguments[1:])


def _call(name: str, arguments: Sequence[str]) -> int:
    from importlib import import_module

    import typer

    command: Callable[..., int] = getattr(import_module(f"bridge.cli.{name}"), name)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(command)
    result = app(arguments, prog_name=f"bridge {name}", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _report(error: Exception, command: str) -> int:
    """Say in one line what went wrong; returns the exit code."""
    show = getattr(error, "format_message", None)  # wrong usage, from the option parser
    if show is not None:
        return _say(f"{show().rstrip('.')}; see: bridge {command} --help", 2)
    if type(error).__name__ == "Abort":  # the option parser's own Ctrl-C
        return _say("interrupted", 130)
    from bridge.model.errors import BridgeError

    if isinstance(error, BridgeError):
        return _say(str(error), error.exit_code)
    if isinstance(error, OSError) and error.errno in WRONG_PATH and error.filename is not None:
        return _say(f"{error.filename}: {error.strerror}; check the path and its permissions", 2)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return _say(f"internal error: {text}; run again with --debug", 3)


def _say(text: str, code: int) -> int:
    from bridge.report.inert import one_line  # file names and keys may hold anything

    print(f"bridge: {one_line(text, 2000)}", file=sys.stderr)
    return code
