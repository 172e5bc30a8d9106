"""The contract of a format: what any reader and writer of files must do.

::

    from pathlib import Path
    from bridge.testing import FormatContract


    class TestAcme(FormatContract):
        format = "acme"
        samples = (Path(__file__).with_name("results.acme.json"),)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.carry import plain
from bridge.plugin.format import Format, ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format, framework_names, get_format, get_framework
from bridge.testing import watched
from bridge.testing.accounted import assert_accounted
from bridge.testing.files import NO_DATA, OURS, documents_of
from bridge.testing.looked import modules_of

PARTS = ("suite", "cases", "outputs", "scores")


class FormatContract:
    """Subclass it, name the format and files of it, and let pytest collect the subclass.

    Attributes:
        format: Name of its entry point in ``bridge.formats``, or ``module:attribute``.
        samples: Files of that format, as its own tools write them.
        changed: Fields that are read into other values (milliseconds into seconds), as the report
            names them.
        may_be_empty: Whether an empty file is one of the format, without a row.
    """

    format: ClassVar[str]
    samples: ClassVar[Sequence[Path]] = ()
    changed: ClassVar[Collection[str]] = ()
    may_be_empty: ClassVar[bool] = False

    def documents(self, path: Path) -> list[Any]:
        """What a sample holds, as JSON data; override it for what is no JSON, YAML or table."""
        return documents_of(path)

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        """A test a sample, and one a file that is no data."""
        if "sample" in metafunc.fixturenames:
            if not cls.samples:
                raise pytest.UsageError(f"{cls.__name__}.samples is empty; name files to be read")
            ids = [path.name or str(path) for path in cls.samples]
            metafunc.parametrize("sample", cls.samples, ids=ids)
        if "no_data" in metafunc.fixturenames:
            metafunc.parametrize("no_data", NO_DATA)

    @property
    def subject(self) -> Format:
        """The format."""
        return get_format(self.format)

    def read(self, path: Path) -> Bundle:
        """What is in a file."""
        return self.subject.read(path, ReadOptions())[0]

    def named_in(self, folder: Path) -> Path:
        """A path as files of the format are usually called."""
        pattern = self.subject.info.patterns[0].rsplit("/", 1)[-1]
        return folder / pattern.replace("*", "x")

    def distribution(self) -> str:
        """The package of the framework whose files these are; its name, where it has no adapter."""
        name = self.subject.info.framework
        return get_framework(name).info.distribution if name in framework_names() else name

    def test_it_fulfils_the_protocol(self) -> None:
        """It is found by its name, and says what it reads and writes."""
        info = self.subject.info
        assert isinstance(self.subject, Format)
        assert info.name == self.format, "its name is that of the entry point"
        assert info.title
        assert info.patterns, "name the files as they are usually called"
        assert info.reads <= set(PARTS)
        assert info.writes <= set(PARTS)
        assert info.reads, "it reads nothing"

    def test_a_sample_is_known_for_its_own(self, sample: Path) -> None:
        """``bridge convert`` and ``bridge gate`` need no ``--from``."""
        assert detect_format(sample).info.name == self.format

    def test_it_is_sure_of_no_file_that_is_another_s(self, tmp_path: Path) -> None:
        """Golden sets, outputs, scores and suites stay ours."""
        for name, (file, text) in OURS.items():
            path = tmp_path / file
            path.write_text(text, "utf-8")
            assert name == self.format or detect_format(path).info.name == name

    def test_it_is_sure_of_no_file_that_is_no_data(self, no_data: str) -> None:
        """It is not at all sure of what nobody can read."""
        for suffix in (".json", ".jsonl", ".csv", ".yaml", ".txt"):
            certainty = self.subject.sniff(NO_DATA[no_data], Path(f"x{suffix}"))
            assert certainty == 0.0, suffix

    def test_how_sure_it_is_lies_between_0_and_1(self, sample: Path) -> None:
        """And no beginning of a file makes it raise."""
        heads = [*NO_DATA.values(), *(text.encode() for _, text in OURS.values())]
        if sample.is_file():
            whole = sample.read_bytes()
            heads += [whole[:size] for size in (1, 2, 100, 1000, len(whole))]
        assert all(0.0 <= self.subject.sniff(head, sample) <= 1.0 for head in heads)

    def test_reading_changes_nothing_and_gives_the_same_again(self, sample: Path) -> None:
        """A reader has no effect and no memory."""
        before = contents(sample)
        bundle, report = self.subject.read(sample, ReadOptions())
        assert (bundle, report) == self.subject.read(sample, ReadOptions())
        assert contents(sample) == before
        assert report.format == self.format
        held = {part for part in PARTS if getattr(bundle, part)}
        assert held, "nothing was read"
        assert held <= self.subject.info.reads

    def test_every_field_is_found_again_or_has_a_line(self, sample: Path) -> None:
        """Counts add up to the source's own, and what is native, carried or code is somewhere."""
        bundle, report = self.subject.read(sample, ReadOptions())
        documents = self.documents(sample)
        assert report.total == sum(map(count_leaves, documents)), "leaves that are in no line"
        if len(documents) == 1:  # of an archive, where each member stands is the format's own
            assert_accounted(documents[0], bundle, report, changed=self.changed)

    def test_nothing_is_executed_and_no_framework_imported(self, tmp_path: Path) -> None:
        """A file is data: no code, pickle, tag, program or connection comes of it."""
        files = list(self.samples)
        for index, data in enumerate(NO_DATA.values()):
            path = self.named_in(tmp_path / str(index))
            path.parent.mkdir()
            path.write_bytes(data)
            files.append(path)
        command = [sys.executable, "-P", watched.__file__, self.format, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr
        happened = json.loads(done.stdout.splitlines()[-1])
        assert happened["executed"] == [], "reading executes nothing"
        own = type(self.subject).__module__.partition(".")[0]
        framework = set(happened["loaded"]) & modules_of(self.distribution()) - {own}
        assert framework == set(), "a format never imports its framework"

    def test_what_is_no_data_is_refused_in_one_line(self, no_data: str, tmp_path: Path) -> None:
        """Whoever named the wrong file is told so, and which it is."""
        path = self.named_in(tmp_path)
        path.write_bytes(NO_DATA[no_data])
        if no_data == "nothing" and self.may_be_empty:
            assert self.read(path) == Bundle()
            return
        with pytest.raises(InputError) as caught:
            self.read(path)
        told = str(caught.value)
        assert "\n" not in told
        assert told.startswith(str(path)), "say which file"

    def test_what_is_written_is_read_again(self, sample: Path, tmp_path: Path) -> None:
        """Of what it writes, the very parts come back; a format that writes nothing says so."""
        bundle = self.read(sample)
        dest = self.named_in(tmp_path)
        if not self.subject.info.writes:
            with pytest.raises(InputError):
                self.subject.write(bundle, dest, WriteOptions())
            assert not dest.exists()
            return
        report = self.subject.write(bundle, dest, WriteOptions())
        assert report.total == count_leaves(plain(bundle)), "leaves that are in no line"
        assert all(line.reason for line in report.lines if line.fate != "native")
        again = self.read(dest)
        for part in sorted(self.subject.info.writes & self.subject.info.reads):
            assert held(again, part) == held(bundle, part), part


def held(bundle: Bundle, part: str) -> Any:
    """A part of a bundle as it is compared: scores by key, a suite without the files it names."""
    if part == "scores":
        return {row.key: row for row in bundle.scores}
    if part == "suite" and bundle.suite is not None:
        return bundle.suite.model_dump(mode="json", exclude={"golden_set", "system"})
    return getattr(bundle, part)


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a sample."""
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return {str(each): each.read_bytes() for each in files}
