"""The ``bridge`` command. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import sys

import typer

from bridge.cli.baseline import baseline
from bridge.cli.check import check
from bridge.cli.doctor import doctor
from bridge.cli.gate import gate
from bridge.cli.run import run
from bridge.cli.scan import scan

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="One golden set through several LLM evaluation frameworks, and one gate report.",
    epilog="Exit codes: 0 passed or done, 1 the gate failed, 2 wrong use or a bad file, "
    "3 the rows cannot be trusted or a framework broke, 130 interrupted.",
)
for command in (run, gate, baseline, check, scan, doctor):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"bridge-evals {version('bridge-evals')}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback with every error."),
) -> None:
    """Options of every command."""


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        result = app(arguments, standalone_mode=False)
    except Exception as error:
        if "--debug" in arguments:
            raise
        sys.exit(_report(error))
    except KeyboardInterrupt:
        print("bridge: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(result if isinstance(result, int) else 0)


def _report(error: Exception) -> int:
    """Say in one line what went wrong; returns the exit code."""
    show = getattr(error, "format_message", None)  # wrong usage, from the option parser
    if show is not None:
        print(f"bridge: {show()}; see: bridge --help", file=sys.stderr)
        return 2
    if type(error).__name__ == "Abort":
        print("bridge: interrupted", file=sys.stderr)
        return 130
    from bridge.model.errors import BridgeError

    if isinstance(error, BridgeError):
        print(f"bridge: {error}", file=sys.stderr)
        return error.exit_code
    name = type(error).__name__
    text = " ".join(f"{name}: {error}".split())
    print(f"bridge: internal error: {text}; run again with --debug", file=sys.stderr)
    return 3
