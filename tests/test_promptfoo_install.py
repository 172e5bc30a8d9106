"""``bridge setup promptfoo``: what it puts where, and what it says when it cannot."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Bridge

from bridge.model.errors import InfrastructureError, MissingDependency
from bridge.plugin.framework import version_of
from bridge_promptfoo import install
from bridge_promptfoo.framework import FRAMEWORK
from bridge_promptfoo.info import INFO

NPM = ROOT / "adapters" / "bridge_promptfoo" / "npm"
NOWHERE = "http://127.0.0.1:9/"
"""A registry that nothing listens at."""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where nothing is set up yet."""
    monkeypatch.setenv("BRIDGE_PROMPTFOO_DIR", str(tmp_path / "p"))
    return tmp_path / "p"


def test_what_is_set_up_is_found_by_the_launcher() -> None:
    """The PyPI launcher ``promptfoo`` takes our copy and the wheel's Node."""
    FRAMEWORK.ensure_available()
    code = "from promptfoo.cli import _find_external_promptfoo as f; print(f())"
    env = {"PATH": install.search_path(), "HOME": os.environ["HOME"]}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).is_relative_to(install.home())
    assert version_of(INFO) == install.VERSION


def test_a_second_set_up_does_nothing() -> None:
    before = (install.home() / "bridge.json").stat().st_mtime_ns
    said: list[str] = []
    assert install.VERSION in install.setup(said.append)
    assert (install.home() / "bridge.json").stat().st_mtime_ns == before
    assert len(said) == 1
    assert said[0].startswith("to use it by hand: export PATH=")


def test_only_this_platforms_native_package_is_there() -> None:
    found = [path.name for path in (install.home() / "node_modules" / "@libsql").iterdir()]
    native = [name for name in found if re.search(r"(gnu|musl|msvc|darwin|eabihf)", name)]
    assert len(native) == 1
    total = sum(path.lstat().st_size for path in install.home().rglob("*") if not path.is_symlink())
    assert total < 320e6


def test_the_lock_file_pins_and_hashes_every_package() -> None:
    lock = json.loads((NPM / "package-lock.json").read_text("utf-8"))
    packages: dict[str, Any] = lock["packages"]
    assert packages[""]["dependencies"] == {"promptfoo": install.VERSION}
    assert json.loads((NPM / "package.json").read_text("utf-8"))["dependencies"] == {
        "promptfoo": install.VERSION
    }
    for path, package in packages.items():
        if path:
            assert package["integrity"].startswith("sha512-"), path
            assert package["resolved"].startswith("https://registry.npmjs.org/"), path
    natives = [name for name, package in packages.items() if package.get("optional")]
    assert natives
    assert all(name.startswith("node_modules/@libsql/") for name in natives)
    assert all(packages[name].get("os") and packages[name].get("cpu") for name in natives)


def test_another_place_is_taken_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_PROMPTFOO_DIR", str(tmp_path / "a"))
    assert install.home().parent == tmp_path / "a"
    monkeypatch.delenv("BRIDGE_PROMPTFOO_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "b"))
    assert install.home().parent == tmp_path / "b" / "bridge-evals" / "promptfoo"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "c"))
    assert install.home().is_relative_to(tmp_path / "c" / ".local" / "share")


def test_nothing_set_up_is_a_missing_dependency_with_the_line(elsewhere: Path) -> None:
    with pytest.raises(MissingDependency, match="run: bridge setup promptfoo"):
        FRAMEWORK.ensure_available()
    assert version_of(INFO) == ""
    assert not elsewhere.exists()


def test_a_set_up_from_another_lock_file_does_not_count(elsewhere: Path) -> None:
    install.home().mkdir(parents=True)
    for mark in ('{"promptfoo": "0.123.1", "lock": "other"}', "{", ""):
        (install.home() / "bridge.json").write_text(mark)
        assert install.installed_version() == ""
    assert elsewhere.is_dir()


def test_each_lock_file_has_a_folder_of_its_own(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two checkouts on one machine do not take each other's copy away."""
    ours = install.home()
    ours.mkdir(parents=True)
    monkeypatch.setattr(install, "_mark", lambda: {"promptfoo": install.VERSION, "lock": "f" * 64})
    assert install.home() != ours
    install._discard_broken(install.home())
    assert list(elsewhere.iterdir()) == [ours]


def test_a_broken_copy_that_another_set_up_takes_away_first_is_no_fault(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = install.home()
    target.mkdir(parents=True)
    rename = Path.rename

    def late(self: Path, to: Path) -> Path:
        self.rmdir()
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", late)
    install._discard_broken(target)
    assert list(elsewhere.iterdir()) == []


def test_without_node_the_line_is_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r"run: pip install 'bridge-evals\[promptfoo\]'"):
        FRAMEWORK.ensure_available()


def test_an_old_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "20.20.2")
    with pytest.raises(MissingDependency, match=r"Node.js 20.20.2 is installed, promptfoo needs"):
        install.node()


def test_offline_is_one_line_that_says_what_to_do(
    tmp_path: Path, elsewhere: Path, bridge: Bridge
) -> None:
    env = {
        "BRIDGE_PROMPTFOO_DIR": str(elsewhere),
        "npm_config_registry": NOWHERE,
        "npm_config_cache": str(tmp_path / "cache"),
    }
    done = bridge("setup", "promptfoo", **env)
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert "the npm registry cannot be reached" in last
    assert "HTTPS_PROXY" in last
    assert last.endswith("then run again: bridge setup promptfoo")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("npm error code E407", "the proxy asks for a login"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"),
        ("npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "NODE_EXTRA_CA_CERTS"),
        ("npm error code E404\nnpm error 404 Not Found", "does not give out a package"),
        ("npm error code EINTEGRITY", "not the one in the lock file"),
        ("npm error code ENOSPC", "the disk is full"),
        ("npm error code EACCES", "BRIDGE_PROMPTFOO_DIR"),
        ("npm error code EAI_AGAIN", "cannot be reached"),
        ("npm error code ENOTFOUND", "cannot be reached"),
        ("something\nnew", "npm failed (something new)"),
    ],
)
def test_npms_complaints_are_explained(said: str, told: str) -> None:
    with pytest.raises(InfrastructureError) as caught:
        install._why(said)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_interrupted_set_up_leaves_nothing(tmp_path: Path, elsewhere: Path) -> None:
    """Ctrl-C while npm waits for a registry that does not answer."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        registry = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        env = {
            **os.environ,
            "npm_config_registry": registry,
            "npm_config_cache": str(tmp_path / "cache"),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "bridge", "setup", "promptfoo"],
            env=env, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while not list(elsewhere.glob(".*/package-lock.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert list(elsewhere.iterdir()) == []


def test_what_a_killed_set_up_left_is_taken_away(elsewhere: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    target = install.home()
    left = target.with_name(f".{target.name}.{gone.pid}")
    other = target.with_name(f".{target.name}.{os.getpid()}")
    for folder in (left, other, target):
        folder.mkdir(parents=True)
    install._discard_broken(target)
    assert sorted(elsewhere.iterdir()) == [other]  # of a set-up that is under way


def test_the_quicker_of_two_set_ups_wins(elsewhere: Path) -> None:
    target = install.home()
    for index, folder in enumerate((target, target.with_name("late"))):
        folder.mkdir(parents=True)
        (folder / "bridge.json").write_text(json.dumps(install._mark()))
        (folder / "which").write_text(str(index))
    install._put_in_place(target.with_name("late"), target)
    assert (target / "which").read_text() == "0"
    (target / "bridge.json").unlink()
    with pytest.raises(OSError, match=r"."):
        install._put_in_place(target.with_name("late"), target)
    assert elsewhere.is_dir()


def test_doctor_shows_the_mending_line(elsewhere: Path, bridge: Bridge) -> None:
    done = bridge("doctor", "--json", BRIDGE_PROMPTFOO_DIR=str(elsewhere))
    rows = {row["name"]: row for row in json.loads(done.stdout)["installed"]}
    assert rows["promptfoo"]["state"] == f"promptfoo {install.VERSION} is not set up"
    assert rows["promptfoo"]["fix"] == "run: bridge setup promptfoo"


def test_a_framework_without_a_set_up_says_so(bridge: Bridge) -> None:
    done = bridge("setup", "core")
    assert done.returncode == 0
    assert "needs no set-up of its own" in done.stdout
    assert bridge("setup", "nonsense").returncode == 2
