"""promptfoo reports to its own host on every run, telemetry disabled or not: ours does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, need_network_namespace

from bridge_promptfoo.install import node, search_path
from bridge_promptfoo.launch import OFFLINE

pytestmark = pytest.mark.xdist_group("promptfoo")

GUARD = f"--require {ROOT / 'tests' / 'network_guard' / 'guard.cjs'}"
SUITE = ROOT / "examples" / "support_bot" / "bridge.yaml"


def guarded(log: Path, command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the guard in every Node that it starts."""
    whole = {**os.environ, "NODE_OPTIONS": GUARD, "NETWORK_GUARD_LOG": str(log), **env}
    return subprocess.run(
        command, capture_output=True, text=True, env=whole, timeout=280, check=False
    )


def seen(log: Path) -> str:
    return log.read_text("utf-8") if log.exists() else ""


def test_promptfoo_itself_calls_home_although_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("prompts: [p]\nproviders: [echo]\ntests: [{vars: {a: b}}]\n")
    switches = {
        "PATH": search_path(),
        "HOME": str(tmp_path),
        "PROMPTFOO_CONFIG_DIR": str(tmp_path),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_DISABLE_SHARING": "1",
    }
    command = ["promptfoo", "eval", "-c", str(tmp_path / "c.yaml"), "--no-write"]
    done = guarded(tmp_path / "log", command, **switches)
    assert done.returncode == 0, done.stderr
    assert "promptfoo.app" in seen(tmp_path / "log")


def test_our_run_looks_nothing_up_and_connects_nowhere(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    command = [sys.executable, "-m", "bridge", "run", str(SUITE), "--frameworks", "promptfoo"]
    command += ["--run-dir", str(tmp_path / "R"), "--limit", "20"]
    keys = {"PROMPTFOO_API_KEY": "secret", "PROMPTFOO_SHARING_APP_BASE_URL": "http://192.0.2.1"}
    done = guarded(tmp_path / "log", command, HOME=str(tmp_path / "home"), **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    assert seen(tmp_path / "log") == ""
    assert list((tmp_path / "home").iterdir()) == []


PROBE = """
const http = require('node:http'), net = require('node:net'), dns = require('node:dns');
const tried = [];
const told = (what) => (error) => tried.push(`${what}: ${error?.message ?? 'reached'}`);
const server = http.createServer((_, reply) => reply.end('here'));
server.listen(0, '127.0.0.1', async () => {
  const here = `http://127.0.0.1:${server.address().port}`;
  tried.push(`here: ${await (await fetch(here)).text()}`);
  await fetch('http://192.0.2.1/').catch((error) => tried.push(`fetch: ${error.cause.message}`));
  await dns.promises.lookup('a.invalid').catch(told('promise'));
  await new Promise((done) => dns.lookup('b.invalid', (error) => done(told('lookup')(error))));
  for (const given of [[{ port: 9, host: '192.0.2.2' }], [9, '192.0.2.3']]) {
    await new Promise((done) => net.connect(...given).on('error', (e) => done(told('net')(e))));
  }
  server.close();
  console.log(tried.join('\\n'));
});
"""


def test_only_this_machine_can_be_reached_under_the_option() -> None:
    env = {**os.environ, "NODE_OPTIONS": OFFLINE}
    done = subprocess.run(
        [node(), "-e", PROBE], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines() == [
        "here: here",
        "fetch: bridge: 192.0.2.1 is off this machine",
        "promise: bridge: a.invalid is off this machine",
        "lookup: bridge: b.invalid is off this machine",
        "net: bridge: 192.0.2.2 is off this machine",
        "net: bridge: 192.0.2.3 is off this machine",
    ], done.stderr


def test_our_run_needs_no_network(tmp_path: Path) -> None:
    """In an empty network namespace, where not even a name can be looked up."""
    need_network_namespace()
    command = ["unshare", "-rn", sys.executable, "-m", "bridge", "run", str(SUITE)]
    command += ["--frameworks", "core,promptfoo", "--run-dir", str(tmp_path / "R"), "--limit", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
