"""The framework protocol: what an adapter has to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pkgutil import resolve_name
from typing import Protocol, runtime_checkable

from bridge.model.bundle import Bundle
from bridge.model.errors import MissingDependency
from bridge.model.job import Job
from bridge.model.score import Score
from bridge.model.verification import LeftOut
from bridge.plugin.metrics import NativeMetric


@dataclass(frozen=True, slots=True)
class FrameworkInfo:
    """What a framework is and needs.

    Attributes:
        name: Name in suites and in score rows.
        title: Name for people.
        distribution: The package on PyPI, or "" where nothing has to be installed.
        requires: Version range that the adapter was tested with, as ``(least, below)``.
        install: The line that installs it.
        environment: Switches set in the worker before the framework is imported
            (telemetry off, no ``.env``, caches inside the run); ``{native_dir}`` is filled in.
        scrubbed: Environment variables taken away, so that nothing is uploaded.
        features: What it can hold of a case: ``tools``, ``turns``, ``contexts``, ``epochs``.
        native_metrics: The framework's own metrics under neutral names.
        version: Import string of a function that gives the installed version ("" for none), for
            a framework that is no Python package.
        setup: Import string of a function that ``bridge setup`` calls, for what pip cannot
            install: it is given a function that says what it does, and returns a closing line.
    """

    name: str
    title: str
    distribution: str = ""
    requires: tuple[str, str] = ("", "")
    install: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    scrubbed: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    native_metrics: tuple[NativeMetric, ...] = ()
    version: str = ""
    setup: str = ""


@runtime_checkable
class Framework(Protocol):
    """One evaluation framework. Nothing heavy is imported before ``to_native`` or ``run``."""

    @property
    def info(self) -> FrameworkInfo:
        """What the framework is and needs."""
        ...

    def ensure_available(self) -> None:
        """Raise :class:`MissingDependency` unless the framework is installed and recent enough."""
        ...

    def to_native(self, bundle: Bundle) -> object:
        """The bundle as the framework's own objects, with the shared scorers attached."""
        ...

    def run(self, job: Job) -> Iterator[Score]:
        """Score a job natively, leaving the native artefact in ``job.spec.native_dir``."""
        ...


OWN_CHECKS = "own_checks"
"""Option of a job in a framework with :class:`OwnChecks`: carry out its own checks."""


@runtime_checkable
class OwnChecks(Protocol):
    """A framework whose files hold checks of its own, which ``run`` can carry out.

    With the option ``own_checks`` true, each check that was read from such a file, or that the
    framework has one of its own for, is carried out by the framework's own; the others by the
    shared scorers. Nothing that is code is carried out.
    """

    def left_out(self, bundle: Bundle) -> Iterable[LeftOut]:
        """The checks of the framework's own that no check of the bundle stands for, and why."""
        ...


def version_of(info: FrameworkInfo) -> str:
    """The installed version of a framework; "" where there is none."""
    if info.version:
        found: str = resolve_name(info.version)()
        return found
    return _version_of_distribution(info)


def _version_of_distribution(info: FrameworkInfo) -> str:
    if not info.distribution:
        return ""
    try:
        return metadata.version(info.distribution)
    except metadata.PackageNotFoundError:
        return ""


def require(info: FrameworkInfo) -> None:
    """Make sure that a framework's package is there in a known version; imports nothing.

    Raises:
        MissingDependency: With the line that mends it.
    """
    version = _version_of_distribution(info)
    if not version:
        raise MissingDependency(f"{info.title} is not installed", fix=f"run: {info.install}")
    least, below = info.requires
    if (least and _numbers(version) < _numbers(least)) or (
        below and _numbers(version) >= _numbers(below)
    ):
        raise MissingDependency(
            f"{info.title} {version} is installed, this adapter needs >={least},<{below}",
            fix=f"run: {info.install}",
        )


def _numbers(version: str) -> tuple[int, ...]:
    """The release of a version without final zeros: ``1.2.0rc3`` is of release (1, 2)."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    parts = re.sub(r"(?:\.0+)+$", "", release[0]) if release else "0"
    return tuple(map(int, parts.split(".")))
