"""``bridge gate`` and ``bridge baseline`` as a person or a CI job runs them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from gate_rows import binary, graded, row, write_run, write_scores

from bridge.cli.gate import decide_and_report
from bridge.gate.intake import gather as gathering
from bridge.model import InputError, Score
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.message import Usage
from bridge.model.output import Output
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions

GOOD = binary([1.0] * 20)
WORSE = binary([0.0] * 8 + [1.0] * 12)
RELAXED = {"metrics": {"equals": {"min": 0.1}}}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_run(tmp_path / "good", {"core": GOOD}, gate=RELAXED)


@pytest.fixture
def worse(tmp_path: Path) -> Path:
    return write_run(tmp_path / "worse", {"core": WORSE}, gate=RELAXED)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return write_run(tmp_path / "broken", {"core": GOOD[:12]}, owed=GOOD, gate=RELAXED)


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "eval-report.json").read_text())
    assert f" {found['verdict'].upper()}" in (folder / "eval-report.md").read_text()
    return found


class TestExitCodes:
    """0 passed, 1 failed, 2 wrong use or a bad file, 3 not to be trusted."""

    def test_passed_failed_and_error(
        self, bridge: Bridge, tmp_path: Path, good: Path, worse: Path, broken: Path
    ) -> None:
        baseline = tmp_path / "baseline.json"
        made = bridge("baseline", good, "-o", baseline)
        assert (made.returncode, made.stderr) == (0, "")
        assert made.stdout == f"{baseline}: 1 metric, 20 case values\n"
        for run, code, word in ((good, 0, "PASSED"), (worse, 1, "FAILED"), (broken, 3, "ERROR")):
            done = bridge("gate", run, "--baseline", baseline, "--report-dir", tmp_path / "d")
            assert (done.returncode, done.stderr) == (code, "")
            assert done.stdout.startswith(f"{word} small: ")
            assert report(tmp_path / "d")["passed"] is (code == 0)

    def test_inconclusive(self, bridge: Bridge, tmp_path: Path) -> None:
        for on, code in (("warn", 0), ("fail", 1)):
            gate = {**RELAXED, "margin": 0.01, "on_inconclusive": on}
            run = write_run(tmp_path / on, {"core": GOOD}, gate=gate)
            done = bridge("gate", run, "--baseline", run, "--report-dir", tmp_path / "d")
            assert done.returncode == code
            assert done.stdout.startswith("INCONCLUSIVE small: ")
            assert report(tmp_path / "d")["passed"] is (code == 0)

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "is empty"),
            (b"\x00\x01\x02", "scores.jsonl"),
            (b'{"metric": "m", "status": ', "scores.jsonl:1: not a score row"),
        ],
    )
    def test_a_bad_file(self, bridge: Bridge, tmp_path: Path, content: bytes, words: str) -> None:
        (tmp_path / "scores.jsonl").write_bytes(content)
        done = bridge("gate", tmp_path / "scores.jsonl")
        assert (done.returncode, done.stdout) == (2, "")
        assert one_error_line(done)
        assert words in done.stderr

    def test_no_such_file(self, bridge: Bridge, tmp_path: Path, good: Path) -> None:
        gone = tmp_path / "gone.json"
        for arguments in ([gone], [good, "--baseline", gone], [good, "--suite", gone]):
            done = bridge("gate", *arguments)
            assert done.returncode == 2
            assert one_error_line(done)
            assert str(gone) in done.stderr

    def test_wrong_use(self, bridge: Bridge, good: Path) -> None:
        for arguments in ([], [good, "--sytem", "x"], [good, "--system", "x"]):
            done = bridge("gate", *arguments)
            assert (done.returncode, done.stdout) == (2, "")
            assert one_error_line(done)

    def test_debug_shows_where(self, bridge: Bridge, tmp_path: Path) -> None:
        done = bridge("--debug", "gate", tmp_path / "gone.json")
        assert done.returncode != 0
        assert "Traceback" in done.stderr
        assert done.stdout == ""


def one_error_line(done: subprocess.CompletedProcess[str]) -> bool:
    return done.stderr.startswith("bridge: ") and done.stderr.count("\n") == 1


def test_json_is_one_document_and_nothing_else(bridge: Bridge, good: Path, worse: Path) -> None:
    for run, passed in ((good, True), (worse, False)):
        done = bridge("gate", run, "--baseline", good, "--json")
        document = json.loads(done.stdout)
        assert document["passed"] is passed
        assert (done.returncode == 0) is passed
        assert done.stderr == ""


def test_what_a_pipe_gets(bridge: Bridge, good: Path) -> None:
    """No colour, and no line wrapped."""
    done = bridge("gate", good, "--baseline", good, COLUMNS="40")
    assert "\x1b" not in done.stdout
    assert "95% interval" in done.stdout


class TestReportDirectory:
    """A report tells of this verdict, or is not there."""

    def test_no_report_stays_from_before(self, tmp_path: Path, good: Path) -> None:
        folder = tmp_path / "d"
        assert decide_and_report([good], report_dir=folder) == 0
        assert report(folder)["passed"] is True
        with pytest.raises(InputError):
            decide_and_report([tmp_path / "gone.json"], report_dir=folder)
        assert not (folder / "eval-report.json").exists()
        assert not (folder / "eval-report.md").exists()


class TestBaselineOption:
    """A baseline file, a run or a scores file; the policy's own by default."""

    def test_relative_to_the_suite(self, bridge: Bridge, tmp_path: Path, good: Path) -> None:
        gate = {**RELAXED, "baseline": "accepted/b.json"}
        run = write_run(tmp_path / "suite", {"core": WORSE}, gate=gate)
        done = bridge("gate", run)
        assert done.returncode == 2
        assert "accepted/b.json: the baseline is not there; make one with: bridge" in done.stderr
        assert bridge("baseline", good, "-o", run / "accepted" / "b.json").returncode == 0
        done = bridge("gate", run, "--report-dir", tmp_path / "d")
        assert done.returncode == 1
        assert report(tmp_path / "d")["baseline"] == str(run / "accepted" / "b.json")

    @pytest.mark.parametrize("name", ["", "scores/core.jsonl"])
    def test_a_run_or_its_scores(
        self, good: Path, worse: Path, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert decide_and_report([worse], baseline=good / name) == 1
        assert "fell by 0.4 on 20 paired cases" in capsys.readouterr().out

    def test_not_of_a_broken_run(self, bridge: Bridge, tmp_path: Path, broken: Path) -> None:
        done = bridge("baseline", broken, "-o", tmp_path / "b.json")
        assert done.returncode == 2
        assert one_error_line(done)
        assert "no baseline of rows that cannot be trusted: core: 8 owed rows missing" in (
            done.stderr
        )
        assert not (tmp_path / "b.json").exists()


class TestSuiteOption:
    """The policy, and for loose files the cases they owe."""

    def suite(self, folder: Path, cases: int, **gate: Any) -> Path:
        golden = [{"id": f"c{i:03d}", "input": "?", "expected": "!"} for i in range(cases)]
        write_scores(folder / "cases.jsonl", golden)
        whole = {
            "name": "named",
            "golden_set": "cases.jsonl",
            "system": {"recorded": "o.jsonl"},
            "checks": ["equals"],
            "gate": gate,
        }
        path = folder / "bridge.yaml"
        path.write_text(json.dumps(whole))
        return path

    def test_policy_and_cases(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        loose = write_scores(tmp_path / "scores.jsonl", WORSE)
        suite = self.suite(tmp_path, 20, metrics={"equals": {"min": 0.5}})
        assert decide_and_report([loose]) == 1
        assert decide_and_report([loose], suite=suite) == 0
        assert capsys.readouterr().out.count("PASSED named: 20 cases") == 1
        suite = self.suite(tmp_path, 25, metrics={"equals": {"min": 0.5}})
        assert decide_and_report([loose], suite=suite) == 3
        assert "no row of 5 cases of the suite, such as 'c020'" in capsys.readouterr().out

    def test_weights(self, bridge: Bridge, tmp_path: Path, good: Path) -> None:
        suite = self.suite(tmp_path, 20, metrics={"equals": {"weight": 0.5}})
        done = bridge("gate", good, "--suite", suite)
        assert done.returncode == 2
        assert "weights sum to 0.5, not to 1" in done.stderr

    def test_a_run_owes_what_it_says_itself(self, tmp_path: Path, good: Path) -> None:
        suite = self.suite(tmp_path, 25, metrics={"equals": {"min": 0.5}})
        assert decide_and_report([good], suite=suite) == 0

    def test_runs_of_different_policies(self, tmp_path: Path, good: Path) -> None:
        other = write_run(tmp_path / "other", {"core": [row("x")]}, gate={"min_effect": 0.5})
        with pytest.raises(InputError, match="different gate policies; name one by --suite"):
            decide_and_report([good, other])
        suite = self.suite(tmp_path, 20)
        assert decide_and_report([good, other], suite=suite) == 0


def test_several_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*GOOD, *({**each, "system": "new"} for each in WORSE)]
    source = write_scores(tmp_path / "scores.jsonl", rows)
    with pytest.raises(InputError, match=r"several systems in one result.*; name one by --system"):
        decide_and_report([source])
    assert decide_and_report([source], system="default") == 0
    assert decide_and_report([source], system="new") == 1
    assert "8 owed" not in capsys.readouterr().out


class FakeFormat:
    """A foreign result file: its rows as JSON, one system, no thresholds."""

    info = FormatInfo("fake", "Fake", ("*.fake",), frozenset({"scores"}))

    def sniff(self, head: bytes, path: Path) -> float:
        return float(path.suffix == ".fake")

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        scores = tuple(Score(**each) for each in json.loads(source.read_text()))
        usage = Usage(input_tokens=5, output_tokens=2)
        outputs = tuple(Output(case_id=f"c{i}", latency_s=0.5, usage=usage) for i in range(12))
        report = ConversionReport(source=source.name, notes=("one row had no id",))
        return Bundle(scores=scores, outputs=outputs), report

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        raise NotImplementedError


class TestNativeFiles:
    """A result file of a framework, read by whichever format knows it."""

    @pytest.fixture(autouse=True)
    def _fake(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gathering, "detect_format", lambda *_: FakeFormat())

    def write(self, folder: Path, name: str, value: float) -> Path:
        rows = [graded(f"c{i}", value, framework="fake", reason=f"r{i}") for i in range(12)]
        rows[0] = {**rows[0], "status": "failed", "threshold": 0.95, "label": "C"}
        path = folder / name
        path.write_text(json.dumps(rows))
        return path

    def test_beside_a_baseline(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = self.write(tmp_path, "before.fake", 0.9)
        now = self.write(tmp_path, "now.fake", 0.4)
        made = write_scores(tmp_path / "before.jsonl", json.loads(before.read_text()))
        assert decide_and_report([now], baseline=made) == 1
        said = capsys.readouterr().out
        assert "fake/faithfulness: fell by 0.5 on 12 paired cases" in said
        assert "c0    fake/faithfulness  0.90  0.40  -             r0" in said
        assert "note: now.fake: one row had no id" in said

    def test_an_answer_counts_once_in_however_many_files(self, tmp_path: Path) -> None:
        one, other = (self.write(tmp_path, f"{name}.fake", 0.9) for name in "ab")
        other.write_text(other.read_text().replace('"fake"', '"fake2"'))
        decide_and_report([one, other], report_dir=tmp_path)
        totals = report(tmp_path)["totals"]
        assert (totals["rows"], totals["latency_s"], totals["input_tokens"]) == (24, 6.0, 60)

    def test_without_scores(self, tmp_path: Path) -> None:
        (tmp_path / "none.fake").write_text("[]")
        with pytest.raises(InputError, match=r"none\.fake: holds no score"):
            decide_and_report([tmp_path / "none.fake"])
