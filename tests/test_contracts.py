"""The public contracts: a stranger's adapter passes them, and each of many broken ones does not."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT

pytestmark = [pytest.mark.xdist_group("contracts"), pytest.mark.timeout(900)]

EXAMPLE = ROOT / "examples" / "unittest_adapter"

ROWS = "test_every_row_is_there_once"
PARITY = "test_rows_are_bit_identical_with_core"
ENDS = "test_it_ends_well"
ORDER = "test_the_order_of_cases_does_not_matter"
FRAMEWORKS: dict[str, set[str]] = {
    "sound": set(),
    "drops": {ROWS, PARITY},
    "repeats": {ROWS},
    "invents": {ROWS, ENDS},
    "by_position": {PARITY, ORDER},
    "not_a_number": {"test_every_row_is_a_score", PARITY, ORDER},
    "raises": {ENDS},
    "stale": {PARITY, ORDER},
    "litters": {"test_nothing_is_written_beside_the_suite"},
    "unstamped": {"test_rows_are_stamped"},
    "unnamed": {"test_it_fulfils_the_protocol", "test_rows_are_stamped"},
    "heavy": {"test_looking_at_it_imports_nothing_heavy"},
    "untranslatable": {"test_to_native_takes_a_bundle"},
}
"""Every broken framework, and what the contract says of it."""

FIELDS = "test_every_field_is_found_again_or_has_a_line"
EXECUTED = "test_nothing_is_executed_and_no_framework_imported"
AGAIN = "test_reading_changes_nothing_and_gives_the_same_again"
WRITTEN = "test_what_is_written_is_read_again"
REFUSED = "test_what_is_no_data_is_refused_in_one_line"
KNOWN = "test_a_sample_is_known_for_its_own"
FORMATS: dict[str, set[str]] = {
    "plain": set(),
    "loses": {FIELDS},
    "claims": {FIELDS},
    "executes": {EXECUTED},
    "unpickles": {EXECUTED},
    "starts": {EXECUTED},
    "imports": {EXECUTED},
    "sniffs_everything": {
        "test_it_is_sure_of_no_file_that_is_another_s",
        "test_it_is_sure_of_no_file_that_is_no_data",
    },
    "shy": {KNOWN},
    "overwrites": {AGAIN},
    "counts": {AGAIN, WRITTEN},
    "breaks": {REFUSED},
    "forgets": {WRITTEN},
}
"""Every broken format likewise."""

BROKEN = '''
import importlib.metadata
import shutil
from pathlib import Path
import pytest
from bridge.plugin import registry
from bridge.testing import FormatContract, FrameworkContract, score, shuffled_suite
from conftest import write_suite

FRAMEWORKS, FORMATS = {frameworks!r}, {formats!r}
NAMES = [f"broken_adapters:{{name}}" for name in FRAMEWORKS]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    suite = write_suite(
        tmp_path_factory.mktemp("suite"), {{"checks": ["equals", "contains", {{"word_count": {{"max": 3}}}}]}}, cases=6
    )
    alone = score(suite, ["core", *(name for name in NAMES if "litters" not in name)],
                  tmp_path_factory.mktemp("run"))
    littered = score(suite, ["core", *(name for name in NAMES if "litters" in name)],
                     tmp_path_factory.mktemp("run"))
    again = score(shuffled_suite(suite), NAMES, tmp_path_factory.mktemp("run"))
    return alone, littered, again


class Shared(FrameworkContract):
    @pytest.fixture(scope="class")
    @classmethod
    def scored(cls, run):
        return run["litters" in cls.framework]

    @pytest.fixture(scope="class")
    @classmethod
    def shuffled(cls, run):
        return run[2]


for name in FRAMEWORKS:
    fields = {{"framework": f"broken_adapters:{{name}}"}}
    globals()[f"Test_{{name}}"] = type(f"Test_{{name}}", (Shared,), fields)


@pytest.fixture(autouse=True)
def known(request, monkeypatch):
    """The format of a class is installed under its own name, and no other of the broken ones."""
    name = getattr(request.cls, "format", "")
    if name:
        point = importlib.metadata.EntryPoint(name, name, "bridge.formats")
        monkeypatch.setitem(registry._entries("bridge.formats"), name, point)


for name in FORMATS:
    sample = Path(__file__).with_name(f"{{name}}.quiz.json")
    shutil.copy({sample!r}, sample)
    fields = {{"format": f"broken_adapters:{{name}}", "samples": (sample,)}}
    globals()[f"Test_{{name}}"] = type(f"Test_{{name}}", (FormatContract,), fields)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as it is installed: its wheel, unpacked where Python looks."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=EXAMPLE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder / "site")
    return folder / "site"


def outcomes(path: Path, site: Path, folder: Path) -> dict[str, dict[str, bool]]:
    """Run pytest; by class and test, whether every item of it passed."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:deepeval"]
    done = subprocess.run(
        [
            *command,
            "-p",
            "no:asyncio",
            "--rootdir",
            str(path.parent),
            "--junitxml",
            str(report),
            str(path),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, dict[str, bool]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        assert case.find("skipped") is None
        assert case.find("error") is None, ElementTree.tostring(case)
        tests = found.setdefault(case.attrib["classname"].rpartition(".")[2], {})
        name = case.attrib["name"].partition("[")[0]
        tests[name] = tests.get(name, True) and case.find("failure") is None
    return found


def test_a_stranger_s_adapter_passes_once_it_is_installed(site: Path, tmp_path: Path) -> None:
    found = outcomes(EXAMPLE / "tests" / "test_contracts.py", site, tmp_path)
    assert set(found) == {"TestUnittest", "TestQuiz"}
    assert all(len(tests) >= 9 and all(tests.values()) for tests in found.values()), found


@pytest.fixture(scope="module")
def broken(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bool]]:
    folder = tmp_path_factory.mktemp("broken")
    sample = str(EXAMPLE / "tests" / "capitals.quiz.json")
    text = BROKEN.format(frameworks=[*FRAMEWORKS], formats=[*FORMATS], sample=sample)
    path = folder / "test_broken.py"
    path.write_text(text, "utf-8")
    return outcomes(path, site, folder)


@pytest.mark.parametrize("name", [*FRAMEWORKS, *FORMATS])
def test_a_broken_adapter_fails_where_it_is_broken(
    broken: dict[str, dict[str, bool]], name: str
) -> None:
    failed = {test for test, passed in broken[f"Test_{name}"].items() if not passed}
    assert failed == {**FRAMEWORKS, **FORMATS}[name]


def test_every_promise_is_broken_by_some_adapter(broken: dict[str, dict[str, bool]]) -> None:
    """A test of a contract that nothing fails would be none."""
    tests = {test for found in broken.values() for test in found}
    assert tests - set().union(*FRAMEWORKS.values(), *FORMATS.values()) == {
        "test_how_sure_it_is_lies_between_0_and_1",
    }
