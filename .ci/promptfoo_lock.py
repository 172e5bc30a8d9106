"""Write the lock file of the promptfoo that ``bridge setup`` installs.

``npm`` resolves promptfoo's whole tree, 2 GB of it. Kept is what promptfoo needs to start: whatever
is not optional, and libsql's native package for each platform. Run it after changing the version in
``package.json`` (and ``VERSION`` in ``install.py``)::

    python .ci/promptfoo_lock.py
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge_promptfoo.install import node

NPM = Path(__file__).parent.parent / "adapters" / "bridge_promptfoo" / "npm"
NATIVE = "libsql"
"""The package whose optional dependencies are its builds for each platform."""
NEEDLESS = ("funding", "optionalDependencies", "peer", "optional")

Packages = dict[str, dict[str, Any]]


def main() -> None:
    """Resolve, trim, write."""
    lock = resolve((NPM / "package.json").read_text("utf-8"))
    packages: Packages = lock["packages"]
    kept = {path: trimmed(path, packages[path]) for path in sorted(needed(packages))}
    text = json.dumps({**lock, "packages": kept}, indent=2, ensure_ascii=False)
    (NPM / "package-lock.json").write_text(f"{text}\n", "utf-8")


def resolve(package: str) -> dict[str, Any]:
    """The lock file as npm makes it, with nothing left out."""
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    flags = ["--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved=false"]
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "package.json").write_text(package, "utf-8")
        subprocess.run([node(), npm, "install", *flags], cwd=name, check=True)  # noqa: S603
        lock: dict[str, Any] = json.loads((Path(name) / "package-lock.json").read_bytes())
        return {**lock, "name": json.loads(package)["name"]}


def needed(packages: Packages) -> set[str]:
    """The places of all packages that promptfoo starts with."""
    found, waiting = {""}, [""]
    while waiting:
        path = waiting.pop()
        for name in dependencies(path, packages[path]):
            place = placed(path, name, packages)
            if place not in found:
                found.add(place)
                waiting.append(place)
    return found


def dependencies(path: str, package: dict[str, Any]) -> Iterator[str]:
    """What a package needs, by name."""
    yield from package.get("dependencies", ())
    optional = package.get("peerDependenciesMeta", {})
    for name in package.get("peerDependencies", ()):
        if not optional.get(name, {}).get("optional"):
            yield name
    if path.endswith(f"node_modules/{NATIVE}"):
        yield from package["optionalDependencies"]


def placed(path: str, name: str, packages: Packages) -> str:
    """Where Node finds a package from ``path``: beside it, or further up."""
    while True:
        place = f"{path}/node_modules/{name}".lstrip("/")
        if place in packages:
            return place
        path = path.rpartition("node_modules/")[0].rstrip("/")


def trimmed(path: str, package: dict[str, Any]) -> dict[str, Any]:
    """A package's entry, native builds marked by platform and C library."""
    build = f"/@{NATIVE}/" in path and "cpu" in package
    if build or path.endswith(f"node_modules/{NATIVE}"):
        entry = {name: value for name, value in package.items() if name != "funding"}
    else:
        entry = {name: value for name, value in package.items() if name not in NEEDLESS}
    if build and "linux" in package["os"]:
        entry["libc"] = ["musl" if "musl" in path else "glibc"]
    return entry


if __name__ == "__main__":
    main()
