"""Every command that a page shows: its options are there, and where it can run it runs as printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from conftest import ROOT, write_jsonl

from bridge.cli.main import COMMANDS
from bridge.files.suite import read_suite
from bridge.model import Suite

pytestmark = pytest.mark.xdist_group("docs")

PAGES = sorted(
    {
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*/README.md"),
        *ROOT.glob("*/*/README.md"),
        ROOT / "action.yml",
        ROOT / ".pre-commit-hooks.yaml",
    }
)
CALL = re.compile(r"(?<![\w/.-])(?:\.venv/bin/)?bridge (?!import)([a-z]+)((?: [^`\n#&|]*)?)")
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"(?<!\S)(--?[a-z][\w-]*)")


class Command(NamedTuple):
    """A command as a page prints it."""

    page: str
    line: int
    name: str
    rest: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line} bridge {self.name}"


def code_of(text: str) -> Iterator[tuple[int, str]]:
    """Code of a page with its line: blocks, and what stands between backticks."""
    for block in BLOCK.finditer(text):
        first = text[: block.start()].count("\n") + 2
        yield from enumerate(block[2].splitlines(), first)
    for inline in re.finditer(r"`([^`\n]+)`", BLOCK.sub(lambda b: "\n" * b[0].count("\n"), text)):
        yield text[: inline.start()].count("\n") + 1, inline[1]


def commands_of(page: Path) -> Iterator[Command]:
    text = page.read_text("utf-8")
    code = code_of(text) if page.suffix == ".md" else enumerate(text.splitlines(), 1)
    for line, each in code:
        for name, rest in CALL.findall(each):
            yield Command(str(page.relative_to(ROOT)), line, name, rest)


SHOWN = [command for page in PAGES for command in commands_of(page)]


def options_of(name: str) -> set[str]:
    app = typer.Typer(add_completion=False)
    app.command()(getattr(import_module(f"bridge.cli.{name}"), name))
    params = typer.main.get_command(app).params
    return {flag for each in params for flag in (*each.opts, *each.secondary_opts)} | {"--help"}


def test_pages_show_commands() -> None:
    assert {each.page for each in SHOWN} >= {"README.md", "docs/ci.md", "action.yml"}
    assert {each.name for each in SHOWN} >= set(COMMANDS)


@pytest.mark.parametrize("name", sorted({each.name for each in SHOWN}))
def test_every_option_that_a_page_shows_is_there(name: str) -> None:
    assert name in COMMANDS, [str(each) for each in SHOWN if each.name == name]
    known = options_of(name)
    for each in SHOWN:
        if each.name == name:
            assert set(FLAG.findall(each.rest)) <= known, str(each)


def can_run(command: Command) -> bool:
    """Whether all that it names is in the checkout, and nothing is a placeholder."""
    words = command.rest.split()
    paths = [word for word in words if word.startswith(("examples/", "cases/"))]
    return bool(paths) and all((ROOT / path).exists() for path in paths)


RUNNABLE = [each for each in SHOWN if can_run(each)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the pages find what they name, and leave what they make."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("examples", "cases"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run_as_printed(command: Command, folder: Path) -> subprocess.CompletedProcess[str]:
    """Where a run names no framework, core alone: README's first command goes through all."""
    words = shlex.split(command.rest)
    if command.name == "run" and "--frameworks" not in words:
        words += ["--frameworks", "core"]
    return run_in(folder, command.name, *words)


def run_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "bridge", *arguments],
        cwd=folder,
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def exit_code_said(command: Command) -> int:
    """0, unless the rest of the line says another."""
    line = (ROOT / command.page).read_text("utf-8").splitlines()[command.line - 1]
    said = re.search(r"#.*exit (\d)", line)
    return int(said[1]) if said else 0


@pytest.mark.parametrize("command", RUNNABLE, ids=str)
def test_it_runs_as_printed(command: Command, checkout: Path) -> None:
    done = run_as_printed(command, checkout)
    assert done.returncode == exit_code_said(command), done.stdout + done.stderr
    if command.page == "README.md":
        assert as_shown(done.stdout), done.stdout


def as_shown(printed: str) -> bool:
    """Whether README's picture of the first command's end is what was printed."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    (picture,) = (text for kind, text in blocks if not kind and text.startswith("PASSED"))
    return printed.startswith(picture.removesuffix("...\n"))


def yaml_blocks() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        if page.suffix == ".md":
            for kind, text in BLOCK.findall(page.read_text("utf-8")):
                if kind == "yaml":
                    yield str(page.relative_to(ROOT)), text


def test_readme_s_suite_and_golden_set_work_together(tmp_path: Path) -> None:
    (suite,) = (
        text for page, text in yaml_blocks() if page == "README.md" and "golden_set" in text
    )
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    (golden,) = (text for kind, text in blocks if kind == "json")
    (tmp_path / "bridge.yaml").write_text(suite, "utf-8")
    (tmp_path / "cases.jsonl").write_text(golden, "utf-8")
    outputs = [
        {
            "case_id": json.loads(line)["id"],
            "text": "A refund.",
            "latency_s": 0.1,
            "tool_calls": calls,
        }
        for line, calls in zip(golden.splitlines(), ([], APPLE), strict=True)
    ]
    write_jsonl(tmp_path / "v1.outputs.jsonl", outputs)
    first = run_in(tmp_path, "run", "bridge.yaml", "--frameworks", "core", "--run-dir", "run")
    assert first.returncode == 0, first.stdout + first.stderr
    made = run_in(tmp_path, "baseline", "run", "-o", "baseline.json")
    assert made.returncode == 0, made.stdout + made.stderr
    gated = run_in(tmp_path, "gate", "run")
    assert gated.returncode == 0, gated.stdout + gated.stderr
    checked = run_in(tmp_path, "check", ".")
    assert checked.returncode == 0, checked.stdout


APPLE = [{"name": "get_stock_price", "arguments": {"symbol": "AAPL"}}]


def test_the_parts_of_suites_on_the_pages_are_valid(tmp_path: Path) -> None:
    """A block with keys of a suite is one, with what it leaves out filled in."""
    whole = {"name": "s", "golden_set": "c.jsonl", "system": {"recorded": "o.jsonl"}}
    seen = 0
    for page, text in yaml_blocks():
        for part in parts_of(text):
            keys = {line.split(":")[0] for line in part.splitlines() if re.match(r"\w+:", line)}
            if not keys or not keys <= set(Suite.model_fields):
                continue
            spare = {**whole, "judges": judges_of(part)}
            head = "".join(f"{key}: {json.dumps(spare[key])}\n" for key in spare if key not in keys)
            path = tmp_path / "bridge.yaml"
            path.write_text(head + part, "utf-8")
            try:
                read_suite(path)
            except Exception as error:
                raise AssertionError(f"{page}: {error}\n{part}") from error
            seen += 1
    assert seen >= 6


def judges_of(part: str) -> dict[str, dict[str, str]]:
    """Judges of the names that the part gives its checks."""
    panels = " ".join(re.findall(r"judges: \{names: \[([^]]*)\]", part))
    names = [*re.findall(r"judge: (\w+)", part), *re.findall(r"\w+", panels)]
    return {name: {"model": "m", "base_url": "http://127.0.0.1:1/v1"} for name in names}


def parts_of(text: str) -> Iterator[str]:
    """The block, cut where a key of its first column comes again; a bare list is one of checks."""
    if text.lstrip().startswith("- ") and not text.startswith("- run:"):
        text = f"checks:\n{text}"
    lines: list[str] = []
    keys: set[str] = set()
    for line in text.splitlines(keepends=True):
        key = line.split(":")[0]
        if re.match(r"\w", line) and key in keys:
            yield "".join(lines)
            lines, keys = [], set()
        if re.match(r"\w", line):
            keys.add(key)
        lines.append(line)
    yield "".join(lines)
