"""The contract of a framework: what any adapter must do, held against the real thing.

::

    from bridge.testing import FrameworkContract


    class TestAcme(FrameworkContract):
        framework = "acme"
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.model.suite import Suite
from bridge.plugin.format import ReadOptions
from bridge.plugin.framework import Framework, version_of
from bridge.plugin.registry import get_format, get_framework
from bridge.testing import looked
from bridge.testing.cases import write_contract_suite
from bridge.testing.scored import (
    MOST,
    Key,
    Row,
    Scored,
    by_key,
    differences,
    key_of,
    score,
    shuffled_suite,
)


class FrameworkContract:
    """Subclass it, name the framework, and let pytest collect the subclass.

    The suite goes through the framework and through ``core`` once a class, in worker processes as
    in ``bridge run``. A fixture can be overridden: ``suite`` for cases of your own, ``scored`` to
    share one run between classes.

    Attributes:
        framework: Name of its entry point in ``bridge.frameworks``, or ``module:attribute``.
        heavy: Further modules that looking at the adapter must not import.
    """

    framework: ClassVar[str]
    heavy: ClassVar[frozenset[str]] = frozenset()

    @pytest.fixture(scope="class")
    @classmethod
    def suite(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """The suite that is scored."""
        return write_contract_suite(tmp_path_factory.mktemp("contract"))

    @pytest.fixture(scope="class")
    @classmethod
    def scored(cls, suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Scored:
        """The suite, scored by the framework and by ``core``."""
        frameworks = tuple(dict.fromkeys(("core", cls.framework)))
        return score(suite, frameworks, tmp_path_factory.mktemp("run"))

    @pytest.fixture(scope="class")
    @classmethod
    def shuffled(cls, scored: Scored, tmp_path_factory: pytest.TempPathFactory) -> Scored:
        """The suite in another order, scored by the framework."""
        again = shuffled_suite(scored.suite)
        return score(again, (cls.framework,), tmp_path_factory.mktemp("shuffled"))

    def test_it_fulfils_the_protocol(self) -> None:
        """It is found by its name, says what it is, and is installed."""
        framework = get_framework(self.framework)
        assert isinstance(framework, Framework)
        assert framework.info.name == self.framework, "its name is that of the entry point"
        assert framework.info.title
        assert framework.info.install or not framework.info.distribution, "say how to install it"
        framework.ensure_available()

    def test_looking_at_it_imports_nothing_heavy(self) -> None:
        """``bridge run --help``, a gate or a conversion must not pay for a framework."""
        command = [sys.executable, "-P", looked.__file__, self.framework, *sorted(self.heavy)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [], "discovery and ensure_available imported the framework"

    def test_to_native_takes_a_bundle(self) -> None:
        """A bundle becomes objects of the framework's own, or plain data."""
        assert get_framework(self.framework).to_native(small_bundle()) is not None

    def test_it_ends_well(self, scored: Scored) -> None:
        """No worker broke, and the driver had nothing to say."""
        assert scored.record_of(self.framework).notes == ()

    def test_every_row_is_there_once(self, scored: Scored) -> None:
        """In whatever order: rows join by key, and the driver puts them in order."""
        given = Counter(map(key_of, scored.given(self.framework)))
        owed = scored.owed(self.framework)
        asked = set(owed)
        assert [key for key in owed if key not in given][:MOST] == [], "rows that are missing"
        assert [key for key in given if given[key] > 1][:MOST] == [], "rows that stand twice"
        assert [key for key in given if key not in asked][:MOST] == [], "rows nobody asked for"

    def test_every_row_is_a_score(self, scored: Scored) -> None:
        """NaN, a value out of range or with the wrong status: none gets into a file."""
        for line in scored.lines(self.framework):
            Score.model_validate_json(line)

    def test_rows_are_stamped(self, scored: Scored) -> None:
        """Each row says which framework, scorer and versions it is of."""
        version = version_of(get_framework(self.framework).info)
        assert scored.record_of(self.framework).version == version
        rows = scored.given(self.framework)
        assert {row["framework"] for row in rows} == {self.framework}
        assert all(row["scorer"] and row["scorer_version"] for row in rows)
        assert len({row["framework_version"] for row in rows}) == 1

    def test_rows_are_bit_identical_with_core(self, scored: Scored) -> None:
        """A shared check has one value, status and reason everywhere."""
        ours, theirs = by_key(scored.given("core")), by_key(scored.given(self.framework))
        assert ours
        assert differences(ours, theirs) == []

    def test_the_order_of_cases_does_not_matter(self, scored: Scored, shuffled: Scored) -> None:
        """What neighbours a case has, and which case was scored before it, changes nothing."""
        before, after = by_key(scored.given(self.framework)), by_key(shuffled.given(self.framework))
        assert after
        in_order = [key for key in before if key in after] == list(after)
        assert not in_order, "the order is not another"
        assert differences({key: before[key] for key in after if key in before}, after) == []

    def test_nothing_is_written_beside_the_suite(self, scored: Scored) -> None:
        """What a framework leaves is in its own folder of the run."""
        assert scored.left == frozenset()


class ArtefactContract(FrameworkContract):
    """The contract of a framework that leaves result files which a format of its own reads.

    Attributes:
        artefact: Name of that format.
    """

    artefact: ClassVar[str]

    def test_the_artefact_reads_back_into_the_rows(self, scored: Scored) -> None:
        """The format finds in the framework's own file what the run recorded."""
        reader = get_format(self.artefact)
        found: dict[Key, Row] = {}
        for path in artefacts(scored.store.native_dir(self.framework)):
            try:
                bundle, _ = reader.read(path, ReadOptions())
            except InputError:
                continue  # another file of the framework's
            rows = by_key([row.model_dump(mode="json") for row in bundle.scores])
            twice = found.keys() & rows.keys()
            assert differences({key: found[key] for key in twice}, rows) == [], "two files differ"
            found |= rows
        assert differences(by_key(scored.given(self.framework)), found) == []


def artefacts(folder: Path) -> Iterator[Path]:
    """The files that a framework left at the top of its folder, but for our own note on the way."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.name != "route.json":
            yield path


def small_bundle() -> Bundle:
    """One case with its answer and a check."""
    suite = {"name": "s", "golden_set": "c", "system": {"recorded": "o"}, "checks": ["equals"]}
    return Bundle(
        suite=Suite.model_validate(suite),
        cases=(Case(id="a", input="q", expected="x"),),
        outputs=(Output(case_id="a", text="x"),),
    )
