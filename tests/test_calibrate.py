"""``bridge calibrate``: a judge held against labels, and what the gate makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl
from gate_rows import Row, row, verdict, write_run

from bridge.files.labels import read_calibration, write_calibration
from bridge.gate.calibration.calibrate import Request, calibrate
from bridge.gate.decide import decide
from bridge.gate.intake.gather import gather
from bridge.judge.trust.calibration import Pair, measure
from bridge.model.calibration import Calibration, CalibrationEntry
from bridge.model.errors import InputError
from bridge.model.policy import CalibrationPolicy, GatePolicy

JUDGES = {"main": {"model": "m"}}
JUDGED = {"metric": "rubric", "scorer": "rubric", "judge": "main"}


def judged_rows(values: Iterable[float | None], **changes: Any) -> list[Row]:
    rows = []
    for i, value in enumerate(values):
        own = {**JUDGED, **changes}
        if value is None:
            own |= {"status": "error", "error": "judge_error[timeout]: slow"}
        rows.append(row(f"c{i:03d}", value, **own))
    return rows


def run_of(folder: Path, rows: Sequence[Row], gate: Any = None, **record: Any) -> Path:
    metric = {
        "scorer": "rubric",
        "version": "1",
        "threshold": 0.5,
        "judge": "main",
        "judges": ["main"],
    }
    metrics = {"rubric": {**metric, "params_digest": "p"}}
    record = {"metrics": metrics, **record}
    return write_run(
        folder, {"core": rows}, judges=record.pop("judges", JUDGES), gate=gate or {},
        checks=[{"rubric": {"judge": "main"}}], **record,
    )  # fmt: skip


def labels_of(path: Path, labels: Iterable[Any], **fields: Any) -> Path:
    lines = [{"case_id": f"c{i:03d}", "label": label, **fields} for i, label in enumerate(labels)]
    return write_jsonl(path, lines)


def entry_of(
    tmp_path: Path, values: Sequence[float | None], labels: Iterable[Any], **fields: Any
) -> CalibrationEntry:
    run = run_of(tmp_path / "R", judged_rows(values), **fields)
    (entry,) = calibrate(Request(run, labels_of(tmp_path / "l.jsonl", labels)))
    return entry


def sides(hits: int, misses: int, false: int, right: int) -> tuple[list[float | None], list[bool]]:
    """Values of the judge and labels with these counts."""
    values: list[float | None] = [*[0.9] * hits, *[0.1] * misses, *[0.9] * false, *[0.1] * right]
    return values, [*[True] * (hits + misses), *[False] * (false + right)]


class TestWhatIsMeasured:
    def test_rates_and_confusion(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(20, 5, 10, 15))
        assert (found.n, found.cases, found.kind) == (50, 50, "binary")
        assert found.agreement.value == pytest.approx(0.7)
        assert found.kappa.value == pytest.approx(0.4, abs=1e-9)
        assert found.true_positive_rate.value == pytest.approx(20 / 25)
        assert found.false_positive_rate.value == pytest.approx(10 / 25)
        assert found.false_pass_rate.value == pytest.approx(10 / 30)
        counts = {(each.human, each.judge): each.n for each in found.confusion}
        assert counts == {
            ("fail", "fail"): 15, ("fail", "pass"): 10, ("pass", "fail"): 5, ("pass", "pass"): 20,
        }  # fmt: skip

    @pytest.mark.parametrize(
        "labels", [["pass", "FAIL"], ["yes", "no"], ["correct", " incorrect "], [True, False]]
    )
    def test_how_people_write_it(self, tmp_path: Path, labels: list[Any]) -> None:
        assert entry_of(tmp_path, [0.9, 0.1], labels).agreement.value == 1.0

    def test_levels_are_weighted(self, tmp_path: Path) -> None:
        """By hand: quadratic weights on four levels."""
        values = [0.1, 0.4, 0.7, 0.9, 0.9, 0.1]
        labels = ["poor", "fair", "good", "excellent", "poor", "excellent"]
        found = entry_of(tmp_path, values, labels)
        assert (found.kind, found.weights) == ("levels", "quadratic")
        # observed 2 * 9; expected sum over i, j of rows_i columns_j (i-j)^2 / 6, rows = columns
        counts = [2, 1, 1, 2]
        expected = sum(counts[i] * counts[j] * (i - j) ** 2 for i in range(4) for j in range(4)) / 6
        assert found.kappa.value == pytest.approx(1 - 18 / expected, abs=1e-9)
        assert found.false_pass_rate.value == pytest.approx(1 / 3)  # good and two excellent

    def test_values_become_levels(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, [0.1, 0.4, 0.7], [0.2, 0.35, 1])
        assert [(each.human, each.judge) for each in found.confusion] == [
            ("poor", "poor"), ("fair", "fair"), ("excellent", "good"),
        ]  # fmt: skip

    def test_rows_that_were_not_scored(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, [0.9, None, 0.1], [True, True, False])
        assert (found.n, found.unscored) == (2, 1)

    @pytest.mark.parametrize(
        ("said", "values", "verdict", "why"),
        [
            (True, [0.9] * 38 + [0.1] * 2, "marginal", "people passed every labelled case"),
            (False, [0.1] * 40, "marginal", "people failed every labelled case"),
            (True, [0.9] * 20 + [0.1] * 20, "unusable", "agreement is at most 0.65, below 0.85"),
        ],
    )
    def test_labels_of_one_class_say_nothing_by_kappa(
        self, tmp_path: Path, said: bool, values: list[float | None], verdict: str, why: str
    ) -> None:
        """Whose kappa is 0 with an interval of width 0, or undefined, whatever the judge does."""
        found = entry_of(tmp_path, values, [said] * 40)
        assert (found.verdict, found.labels_needed) == (verdict, None)
        assert found.reasons[0].startswith(why)

    def test_labels_of_another_system_may_be_of_another_kind(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "R", judged_rows([0.9, 0.1]))
        lines: list[dict[str, Any]] = [
            {"case_id": "c000", "label": True},
            {"case_id": "c000", "label": "good", "system": "other"},
        ]
        (entry,) = calibrate(Request(run, write_jsonl(tmp_path / "l.jsonl", lines)))
        assert (entry.kind, entry.n) == ("binary", 1)

    def test_labels_of_other_systems_are_counted(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "R", judged_rows([0.9, 0.1]))
        lines = [
            {"case_id": "c000", "label": True},
            {"case_id": "c000", "label": False, "system": "other"},
        ]
        (entry,) = calibrate(Request(run, write_jsonl(tmp_path / "l.jsonl", lines)))
        assert (entry.n, entry.other_systems) == (1, 1)
        labels = write_jsonl(tmp_path / "l.jsonl", lines[1:])
        with pytest.raises(InputError, match="no label is of system 'default'") as raised:
            calibrate(Request(run, labels))
        assert raised.value.fix.endswith("the labels are of: other")

    def test_slices(self, tmp_path: Path) -> None:
        run = run_of(tmp_path / "R", judged_rows([0.9, 0.9, 0.1]))
        lines = [json.loads(line) for line in (run / "rows.jsonl").read_text().splitlines()]
        for line, tags, mode in zip(
            lines, [["a"], ["a", "b"], []], [None, None, "stale"], strict=True
        ):
            line.update(tags=tags, failure_mode=mode)
        write_jsonl(run / "rows.jsonl", lines)
        labels = labels_of(tmp_path / "l.jsonl", [True, False, True])
        (entry,) = calibrate(Request(run, labels))
        found = [(each.by, each.name, each.n, each.false_passes) for each in entry.slices]
        assert found == [("failure_mode", "stale", 1, 0), ("tag", "a", 2, 1), ("tag", "b", 1, 1)]

    def test_what_to_label_next(self, tmp_path: Path) -> None:
        values = [0.9] * 5 + [0.1 + i / 100 for i in range(30)]
        found = entry_of(tmp_path, values, [True] * 5)
        assert found.label_next == ("c034", "c033", "c032")  # the tenth nearest to 0.5


class TestTrust:
    def test_trusted(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(60, 2, 2, 56))
        assert (found.verdict, found.reasons, found.labels_needed) == ("trusted", (), None)
        assert found.kappa.low is not None
        assert found.kappa.low >= 0.6

    def test_marginal_says_how_many_would_settle_it(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(20, 2, 2, 16))
        assert found.verdict == "marginal"
        assert "agreement may be as low as 0.77, below 0.85" in found.reasons
        assert found.labels_needed is not None
        assert found.labels_needed > 40
        grown = entry_of(
            tmp_path, *sides(*[n * -(-found.labels_needed // 40) for n in (20, 2, 2, 16)])
        )
        assert grown.verdict == "trusted"

    def test_more_labels_would_not_help(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(30, 12, 12, 26))
        assert (found.verdict, found.labels_needed) == ("marginal", None)

    def test_unusable_by_the_upper_bound(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(25, 25, 25, 25))
        assert found.verdict == "unusable"

    def test_too_few(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(15, 0, 0, 14))
        assert found.verdict == "marginal"
        assert found.reasons == ("29 labelled cases; 30 at least",)
        assert found.labels_needed == 30

    def test_one_sided_labels_say_nothing(self, tmp_path: Path) -> None:
        found = entry_of(tmp_path, *sides(50, 0, 0, 0))
        assert found.verdict == "marginal"
        assert "people passed every labelled case" in found.reasons[0]

    def test_many_rows_of_few_cases_are_few(self) -> None:
        pairs = [
            Pair(f"c{i % 10}", word, word, word == "pass", word == "pass")
            for i in range(200)
            for word in [("fail", "pass")[i % 2]]
        ]
        assert measure(pairs, "binary", "quadratic", CalibrationPolicy())["verdict"] == "marginal"

    def test_rows_of_one_case_count_once(self) -> None:
        words = [("pass", "pass")] * 20 + [("fail", "fail")] * 16 + [("fail", "pass")] * 4
        pairs = [
            Pair(f"c{i}", human, judge, human == "pass", judge == "pass")
            for i, (human, judge) in enumerate(words)
        ]
        once, often = (
            measure(each, "binary", "quadratic", CalibrationPolicy()) for each in (pairs, pairs * 9)
        )
        assert (often["n"], often["cases"]) == (360, 40)
        assert often["kappa"].low == once["kappa"].low
        assert often["agreement"].low == once["agreement"].low

    def test_the_policy_of_the_suite_decides(self, tmp_path: Path) -> None:
        gate = {"calibration": {"kappa": 0.1, "agreement": 0.5, "labels": 10}}
        assert entry_of(tmp_path, *sides(20, 5, 5, 15), gate=gate).verdict == "trusted"


class TestBadLabels:
    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ([], "holds no label"),
            ([{"case_id": "c000"}], "l.jsonl:1: label: is missing"),
            ([{"case_id": "zzz", "label": True}], "l.jsonl:1: no row for case 'zzz'"),
            ([{"case_id": "c000", "label": True, "turn": 3}], "turn 3"),
            ([{"case_id": "c000", "label": True}] * 2, "l.jsonl:2: case 'c000' is labelled twice"),
            ([{"case_id": "c000", "label": "so so"}], "l.jsonl:1: no label: 'so so'"),
            ([{"case_id": "c000", "label": 7}], "no label: 7"),
            ([{"case_id": "c000", "label": True, "metric": "x"}], "no judged metric 'x'"),
            (
                [{"case_id": "c000", "label": True}, {"case_id": "c001", "label": "good"}],
                "labels of two kinds",
            ),
            ([{"case_id": "c000", "label": True, "lable": 1}], "lable"),
        ],
    )
    def test_refused(self, tmp_path: Path, lines: list[Mapping[str, Any]], said: str) -> None:
        run = run_of(tmp_path / "R", judged_rows([0.9, 0.1]))
        with pytest.raises(InputError) as caught:
            calibrate(Request(run, write_jsonl(tmp_path / "l.jsonl", lines)))
        assert said in str(caught.value)

    def test_a_run_without_a_judge(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "R", {"core": [row("c000")]})
        with pytest.raises(InputError, match="no judged metric in it"):
            calibrate(Request(run, labels_of(tmp_path / "l.jsonl", [True])))

    def test_nothing_was_scored(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no labelled row of rubric was scored"):
            entry_of(tmp_path, [None], [True])


def gated(run: Path, calibration: Calibration | None, **fields: Any) -> Any:
    evidence = gather([run])
    policy = GatePolicy.model_validate({"calibration": fields or "require"})
    return decide(evidence, policy, calibration=calibration)


class TestTheGate:
    @pytest.fixture
    def run(self, tmp_path: Path) -> Path:
        return run_of(tmp_path / "R", judged_rows(sides(60, 0, 0, 0)[0]))

    def calibration(self, tmp_path: Path, *counts: int, **changes: Any) -> Calibration:
        entry = entry_of(tmp_path / "C", *sides(*counts))
        now = datetime.now(UTC).isoformat()
        return Calibration(created=now, entries=(entry.model_copy(update=changes),))

    def test_a_trusted_judge_passes(self, tmp_path: Path, run: Path) -> None:
        found = gated(run, self.calibration(tmp_path, 60, 1, 1, 56))
        assert found.passed, found.reasons
        assert not [note for note in found.notes if "judge" in note]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"judge_digest": "other"}, "calibration is stale: the judge changed"),
            ({"params_digest": "other"}, "calibration is stale: the check's parameters changed"),
            ({"scorer_version": "0"}, "calibration is stale: the scorer changed"),
            ({"metric": "other"}, "its judge is not calibrated; see bridge calibrate"),
            ({"verdict": "unusable", "reasons": ("kappa low",)}, "its judge is unusable"),
        ],
    )
    def test_what_does_not_hold(
        self, tmp_path: Path, run: Path, changes: dict[str, Any], said: str
    ) -> None:
        calibration = self.calibration(tmp_path, 60, 1, 1, 56, **changes)
        found = gated(run, calibration)
        assert found.verdict == "error"
        assert any(said in reason for reason in found.reasons), found.reasons
        warned = gated(run, calibration, treat="warn")
        assert warned.passed
        assert any(said in note for note in warned.notes)
        assert not any(said in note for note in gated(run, calibration, treat="off").notes)

    def test_missing(self, run: Path) -> None:
        assert gated(run, None).verdict == "error"
        assert verdict(run).passed  # warn by default
        assert any("not calibrated" in note for note in verdict(run).notes)

    def test_a_marginal_judge_is_said_and_no_error(self, tmp_path: Path, run: Path) -> None:
        found = gated(run, self.calibration(tmp_path, 20, 2, 2, 16))
        assert found.passed
        assert any("judge is marginal on 40 labelled cases" in note for note in found.notes)

    def test_an_old_one(self, tmp_path: Path, run: Path) -> None:
        old = self.calibration(tmp_path, 60, 1, 1, 56)
        made = (datetime.now(UTC) - timedelta(days=40)).isoformat()
        old = old.model_copy(update={"created": made})
        assert gated(run, old, treat="require", max_age_days=60).passed
        assert gated(run, old, treat="require", max_age_days=30).verdict == "error"
        undated = old.model_copy(update={"created": "yesterday"})
        assert gated(run, undated, treat="require", max_age_days=30).verdict == "error"

    def test_a_metric_that_decides_nothing(self, tmp_path: Path) -> None:
        rows = [*judged_rows([0.9, 0.9]), row("c000"), row("c001")]
        run = run_of(tmp_path / "R", rows)
        policy = GatePolicy.model_validate(
            {"calibration": "require", "metrics": {"rubric": {"gate": False}}}
        )
        assert decide(gather([run]), policy).passed

    def test_rows_without_their_run(self, tmp_path: Path, run: Path) -> None:
        found = gated(run / "scores" / "core.jsonl", None)
        assert any("judge main cannot be told from these rows" in each for each in found.reasons)


class TestMetricsOfTheFrameworks:
    """The same name is another metric in each framework: trust in one is none in another."""

    def rows(self, framework: str, values: Iterable[float | None], version: str = "1") -> list[Row]:
        own = {"framework": framework, "scorer_version": f"{framework} {version}"}
        return judged_rows(values, metric="g_eval", scorer="g_eval", **own)

    def run(self, folder: Path, **versions: str) -> Path:
        """DeepEval's agrees with people, RAGAS's passes everything, core has none."""
        good, _ = sides(60, 1, 1, 56)
        record = {"scorer": "g_eval", "version": "", "judge": "main", "judges": ["main"]}
        none = {"status": "unsupported", "error": None, "threshold": None}
        absent = [{**each, **none} for each in self.rows("core", [None] * 118)]
        return write_run(
            folder,
            {
                "core": absent,
                "deepeval": self.rows("deepeval", good, **versions),
                "ragas": self.rows("ragas", [0.9] * 118),
            },
            judges=JUDGES,
            checks=[{"g_eval": {"judge": "main", "criteria": "It is."}}],
            metrics={"g_eval": {**record, "params_digest": "p", "threshold": 0.5}},
            gate={"calibration": "require"},
        )

    def labels(self, folder: Path, **fields: Any) -> Path:
        return labels_of(folder / "l.jsonl", sides(60, 1, 1, 56)[1], **fields)

    @pytest.mark.parametrize("fields", [{}, {"metric": "g_eval"}])
    def test_each_is_held_against_the_same_labels(
        self, tmp_path: Path, fields: dict[str, str]
    ) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path, **fields)
        found = {each.metric: each.verdict for each in calibrate(Request(run, labels))}
        assert found == {"deepeval/g_eval": "trusted", "ragas/g_eval": "unusable"}

    def test_one_that_scored_nothing_stops_no_other(self, bridge: Bridge, tmp_path: Path) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path)
        scores = run / "scores" / "ragas.jsonl"
        write_jsonl(scores, self.rows("ragas", [None] * 118))
        done = bridge("calibrate", run, "--labels", labels)
        assert done.returncode == 1, done.stderr
        assert "ragas/g_eval: none of 118 labelled rows was scored; judge_error[time" in done.stdout
        made = read_calibration(run / "calibration.json")
        found = {each.metric: (each.verdict, each.n) for each in made.entries}
        assert found == {"deepeval/g_eval": ("trusted", 118), "ragas/g_eval": ("unusable", 0)}
        write_jsonl(scores, self.rows("ragas", [0.9] * 118))
        again = gated(run, made)
        assert again.verdict == "error"
        assert any("ragas/g_eval: its judge is unusable on 0" in each for each in again.reasons)

    @pytest.mark.parametrize(
        ("fields", "asked"),
        [
            ({"metric": "deepeval/g_eval"}, {}),
            ({"metric": "g_eval"}, {"metric": "deepeval/g_eval"}),
            ({}, {"framework": "deepeval"}),
        ],
    )
    def test_one_alone(self, tmp_path: Path, fields: dict[str, str], asked: dict[str, str]) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path, **fields)
        (entry,) = calibrate(Request(run, labels, **asked))  # type: ignore[arg-type]
        assert (entry.metric, entry.scorer_version) == ("deepeval/g_eval", "deepeval 1")

    @pytest.mark.parametrize("renamed", ["deepeval/g_eval", "g_eval"])
    def test_trust_in_one_is_none_in_another(self, tmp_path: Path, renamed: str) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path)
        (entry,) = calibrate(Request(run, labels, framework="deepeval"))
        entry = entry.model_copy(update={"metric": renamed})
        made = Calibration(created=datetime.now(UTC).isoformat(), entries=(entry,))
        found = gated(run, made)
        assert found.verdict == "error"
        doubted = {each.partition(":")[0] for each in found.reasons if "not calibrated" in each}
        assert doubted == {"deepeval/g_eval", "ragas/g_eval"} - {renamed}

    def test_a_row_that_never_came_changes_no_version(self, tmp_path: Path) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path)
        lost = {"framework_version": "", "scorer_version": "deepeval ", "case_id": "lost"}
        scores = run / "scores" / "deepeval.jsonl"
        rows = [json.loads(line) for line in scores.read_text().splitlines()]
        write_jsonl(scores, [*rows, {**rows[0], **lost}])
        (entry,) = calibrate(Request(run, labels, framework="deepeval"))
        assert entry.scorer_version == "deepeval 1"

    def test_another_version_of_the_framework_is_another_metric(self, tmp_path: Path) -> None:
        run, labels = self.run(tmp_path / "R"), self.labels(tmp_path)
        made = Calibration(created="", entries=tuple(calibrate(Request(run, labels))))
        found = gated(self.run(tmp_path / "later", version="2"), made)
        assert (
            "deepeval/g_eval: its calibration is stale: the scorer changed since" in found.reasons
        )


def test_the_command(bridge: Bridge, tmp_path: Path) -> None:
    values, labels = sides(60, 1, 2, 56)
    run = run_of(tmp_path / "R", judged_rows(values), gate={"calibration": "require"})
    said = labels_of(tmp_path / "l.jsonl", labels)
    assert bridge("gate", run).returncode == 3
    done = bridge("calibrate", run, "--labels", said)
    assert done.returncode == 0, done.stderr
    assert "trusted" in done.stdout
    assert "people said fail, the judge pass: 2" in done.stdout
    made = read_calibration(run / "calibration.json")  # where the suite's gate looks
    assert [entry.metric for entry in made.entries] == ["rubric"]
    assert bridge("gate", run).returncode == 1  # 58 cases fail, but the judge is believed


def test_the_command_below_trust(bridge: Bridge, tmp_path: Path) -> None:
    values, labels = sides(25, 25, 25, 25)
    run = run_of(tmp_path / "R", judged_rows(values))
    other = entry_of(tmp_path / "O", *sides(2, 0, 0, 2)).model_copy(update={"metric": "a\x1b[31m"})
    write_calibration(Calibration(created="", entries=(other,)), tmp_path / "c.json")
    said = labels_of(tmp_path / "l.jsonl", labels)
    done = bridge("calibrate", run, "--labels", said, "-o", tmp_path / "c.json", "--json")
    assert done.returncode == 1
    entries = json.loads(done.stdout)["entries"]
    assert [each["metric"] for each in entries] == ["a\x1b[31m", "rubric"]
    assert entries[1]["verdict"] == "unusable"
    assert bridge("calibrate", run, "--labels", said, "--weights", "cubic").returncode == 2


def test_a_file_that_is_none(bridge: Bridge, tmp_path: Path) -> None:
    run = run_of(tmp_path / "R", judged_rows([0.9]))
    (run / "calibration.json").write_text("{}")
    done = bridge("gate", run)
    assert done.returncode == 2
    assert "not a calibration" in done.stderr
