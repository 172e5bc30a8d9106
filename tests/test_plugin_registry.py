"""Discovery: by entry point or import string, and what happens when others' packages are broken."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bridge.model import Bundle, InputError, MissingDependency
from bridge.plugin import registry
from bridge.plugin.core import FRAMEWORK
from bridge.plugin.format import FormatInfo
from bridge.plugin.framework import FrameworkInfo, require, version_of


class Fake:
    """A format that is as sure as it is told to be."""

    def __init__(self, name: str, certainty: float) -> None:
        self.info = FormatInfo(name=name, title=name, patterns=(), reads=frozenset())
        self.certainty = certainty

    def sniff(self, head: bytes, path: Path) -> float:
        if self.certainty < 0:
            raise RuntimeError("broken")
        return self.certainty

    def read(self, source: Path, options: Any) -> Any:
        return Bundle(), None

    def write(self, bundle: Bundle, dest: Path, options: Any) -> Any:
        return None


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install entry points, each of an object in a module made for it."""

    def entries(**values: object) -> None:
        module = ModuleType("fake_plugins")
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, "fake_plugins", module)
        points = [
            EntryPoint(name, f"fake_plugins:{name}" if value else "gone_module:x", "bridge.formats")
            for name, value in values.items()
        ]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        registry._entries.cache_clear()

    yield entries
    registry._entries.cache_clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("x")
    return path


def test_the_surest_format_wins(install: Any, file: Path) -> None:
    install(a=Fake("a", 0.2), b=Fake("b", 0.9), c=Fake("c", 0.0))
    assert registry.detect_format(file).info.name == "b"
    assert registry.format_names() == ["a", "b", "c"]


def test_two_that_are_as_sure_are_not_guessed_between(install: Any, file: Path) -> None:
    install(a=Fake("a", 0.9), b=Fake("b", 0.9), c=Fake("c", 0.1))
    with pytest.raises(InputError, match="may be a or b; name one with bridge convert --from"):
        registry.detect_format(file)


def test_a_broken_format_does_not_hide_the_others(install: Any, file: Path) -> None:
    install(a=Fake("a", -1), b=Fake("b", 0.9), c=None)
    assert registry.detect_format(file).info.name == "b"
    install(a=Fake("a", -1), b=Fake("b", 0.0), c=None)
    with pytest.raises(
        InputError, match=r"no known format \(a, c cannot be loaded\); name one with .* --from: b$"
    ):
        registry.detect_format(file)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        registry.detect_format(tmp_path / "gone")
    with pytest.raises(InputError, match="a folder, and no run; name a run or a file in it"):
        registry.detect_format(tmp_path)


def test_a_misspelt_name_is_told_from_an_unknown_one() -> None:
    with pytest.raises(InputError, match="no framework 'cores'; did you mean core"):
        registry.get_framework("cores")
    with pytest.raises(InputError, match="no format 'zzz'; use one of "):
        registry.get_format("zzz")


def test_a_file_that_git_lfs_has_not_fetched(tmp_path: Path) -> None:
    pointer = tmp_path / "run.json"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(
        InputError, match="a Git LFS pointer, not the file; fetch it with git lfs pull"
    ):
        registry.detect_format(pointer)


def test_a_format_that_reads_what_is_wanted_goes_first(install: Any, file: Path) -> None:
    surer, able = Fake("surer", 0.9), Fake("able", 0.1)
    able.info = FormatInfo("able", "able", (), reads=frozenset({"scores"}))
    install(surer=surer, able=able)
    assert registry.detect_format(file) is surer
    assert registry.detect_format(file, "scores") is able
    assert registry.detect_format(file, "outputs") is surer


def test_one_name_from_two_packages(install: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("a", f"pkg{n}:F", "bridge.formats") for n in (1, 2)]
    install()
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    with pytest.raises(InputError, match=r"two packages offer 'a' .*pkg1:F and pkg2:F"):
        registry.get_format("a")
    monkeypatch.setattr(registry, "entry_points", lambda group: [points[0], points[0]])
    assert registry.format_names() == ["a"]


def test_by_import_string(install: Any) -> None:
    install(mine=Fake("mine", 1.0))
    assert registry.get_format("fake_plugins:mine").info.name == "mine"
    assert registry.get_framework("bridge.plugin.core:FRAMEWORK") is FRAMEWORK


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "no framework 'nope'; use one of .*core"),
        ("gone_module:x", "cannot be imported .*ModuleNotFoundError"),
        ("bridge.plugin.core:GONE", "cannot be imported .*AttributeError"),
        ("bridge.plugin.core:", "cannot be imported"),
        (":x", "cannot be imported"),
        ("bridge.model:Case", "does not fulfil the framework protocol"),
        ("exits_on_import:x", "cannot be imported .*SystemExit"),
        ("breaks_on_import:x", "cannot be imported .*ZeroDivisionError"),
    ],
)
def test_what_is_no_framework(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exits_on_import.py").write_text("raise SystemExit(0)")
    (tmp_path / "breaks_on_import.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=message):
        registry.get_framework(name)


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("4.3", True),
        ("4.3.0", True),
        ("4.3.1rc3", True),
        ("4.10", True),
        ("4.99.99.post1", True),
        ("4.2.9", False),
        ("5", False),
        ("5.0.0", False),
        ("5.0rc1", False),
        ("4.3+local5", True),
        ("unknown", False),
    ],
)
def test_versions(version: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    info = FrameworkInfo(
        name="f", title="F", distribution="f", requires=("4.3.0", "5"), install="pip install f"
    )
    assert version_of(info) == version
    if fits:
        require(info)
    else:
        with pytest.raises(MissingDependency, match=r"needs >=4\.3\.0,<5; run: pip install f"):
            require(info)


def test_a_framework_that_is_not_installed() -> None:
    info = FrameworkInfo(name="f", title="F", distribution="no-such-dist", install="pip install f")
    assert version_of(info) == ""
    with pytest.raises(MissingDependency, match="F is not installed; run: pip install f"):
        require(info)
    assert version_of(FrameworkInfo(name="core", title="core")) == ""
