"""What leads a judge astray: each probe finds a judge made so, and leaves an honest one alone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl, write_suite
from judge_server import Act, JudgeServer
from test_calibrate import entry_of, judged_rows, labels_of, run_of, sides
from test_judge_groundedness import texts_of

from bridge.gate.calibration.calibrate import Request, calibrate
from bridge.judge import Request as Asked
from bridge.judge.trust.biases import BY_LABELS, LEAST, Observation, find_biases
from bridge.judge.trust.calibration import Pair
from bridge.judge.trust.correction import corrected_rates
from bridge.judge.trust.family import family_of
from bridge.model.calibration import Bias, BiasName, Unmeasured
from bridge.stats import spearman


def seen(n: int, judge: Callable[[int, float], float], **fields: Any) -> list[Observation]:
    """``n`` cases that people gave values from 0 to 1, and what a judge makes of each."""
    draw = random.Random(3)
    people = [draw.random() for _ in range(n)]
    return [
        Observation(
            f"c{i}",
            human,
            min(1.0, max(0.0, judge(i, human))),
            **{name: read(i) for name, read in fields.items()},
        )
        for i, human in enumerate(people)
    ]


def bias(observations: list[Observation], name: str) -> Bias | None:
    found = next(each for each in find_biases(observations) if each.name == name)
    return found if isinstance(found, Bias) else None


def why_not(observations: list[Observation], name: BiasName) -> str:
    found = next(each for each in find_biases(observations) if each.name == name)
    assert isinstance(found, Unmeasured)
    return found.why


NOISE = [random.Random(5).gauss(0, 0.1) for _ in range(200)]
RANDOM = [random.Random(6 + i).random() for i in range(200)]


class TestProbes:
    @pytest.mark.parametrize("gone_by", ["length", "overlap", "rationale"])
    def test_what_the_excess_goes_with(self, gone_by: str) -> None:
        name = {"length": "length", "overlap": "reference_wording", "rationale": "rationale_length"}
        fields = {gone_by: lambda i: RANDOM[i] * 100}
        swayed = bias(
            seen(100, lambda i, human: human + 0.3 * RANDOM[i] + NOISE[i], **fields), name[gone_by]
        )
        assert swayed is not None
        assert swayed.found
        assert swayed.measure == "spearman"
        assert 0 < swayed.low < swayed.value < swayed.high
        honest = bias(seen(100, lambda i, human: human + NOISE[i], **fields), name[gone_by])
        assert honest is not None
        assert not honest.found

    def test_what_is_small_is_not_called_a_bias(self) -> None:
        """However sure it is: 2000 cases show a correlation of a tenth."""
        draw = random.Random(8)
        lengths = [draw.random() for _ in range(2000)]
        slight = [
            Observation(
                f"c{i}", 0.5, 0.45 + 0.03 * long + draw.uniform(-0.1, 0.1), length=int(1000 * long)
            )
            for i, long in enumerate(lengths)
        ]
        found = bias(slight, "length")
        assert found is not None
        assert 0 < found.low < found.value < 0.2
        assert not found.found

    def test_the_correlation_is_spearmans(self) -> None:
        observations = seen(50, lambda i, human: human + NOISE[i], length=lambda i: i)
        found = bias(observations, "length")
        expected = spearman([each.judge - each.human for each in observations], list(range(50)))
        assert found is not None
        assert found.value == expected

    @pytest.mark.parametrize(("shift", "found"), [(0.2, True), (-0.2, True), (0.0, False)])
    def test_inflation(self, shift: float, found: bool) -> None:
        each = bias(seen(60, lambda i, human: human + shift + NOISE[i] / 4), "inflation")
        assert each is not None
        assert each.found is found
        assert each.low <= each.value <= each.high

    def test_clustering(self) -> None:
        levels = ("poor", "fair", "good", "excellent")
        alike = seen(80, lambda *_: 0.7, levels=lambda i: (levels[i % 4], "good"))
        found = bias(alike, "clustering")
        assert found is not None
        assert found.found
        assert found.value == pytest.approx(0.75)
        honest = seen(80, lambda *_: 0.7, levels=lambda i: (levels[i % 4], levels[(i + 1) % 4]))
        apart = bias(honest, "clustering")
        assert apart is not None
        assert not apart.found
        assert bias(seen(80, lambda *_: 0.7), "clustering") is None

    def test_self_preference(self) -> None:
        kin = {"akin": lambda i: i % 2 == 0}
        found = bias(
            seen(60, lambda i, human: human / 2 + (0.3 if i % 2 == 0 else 0), **kin),
            "self_preference",
        )
        assert found is not None
        assert found.found
        assert found.value == pytest.approx(0.3, abs=0.15)
        honest = bias(seen(60, lambda i, human: human + NOISE[i], **kin), "self_preference")
        assert honest is not None
        assert not honest.found
        assert (
            bias(seen(60, lambda _, human: human, akin=lambda _: True), "self_preference") is None
        )

    def test_too_few_labels_say_nothing(self) -> None:
        few = seen(LEAST - 1, lambda *_: 1.0)
        assert {each.name for each in find_biases(few)} == set(BY_LABELS)
        assert why_not(few, "inflation") == "19 labelled cases; 20 at least"
        one_case = [Observation("c", 0.0, 1.0)] * 50
        assert why_not(one_case, "length") == "1 labelled cases; 20 at least"

    def test_rows_of_one_case_are_no_further_cases(self) -> None:
        """Each case four times over: the same value, no narrower."""
        once = seen(30, lambda i, human: human + 0.3 * RANDOM[i], length=lambda i: RANDOM[i])
        one, four = bias(once, "length"), bias(once * 4, "length")
        assert one is not None
        assert four is not None
        assert four.high - four.low == pytest.approx(one.high - one.low, rel=0.05)

    def test_constant_scores(self) -> None:
        names = {
            each.name
            for each in find_biases(seen(40, lambda _, human: human, length=lambda i: i))
            if isinstance(each, Bias)
        }
        assert names == {"inflation"}  # no excess to go with anything

    def test_what_is_not_measured_says_why(self) -> None:
        plain = seen(40, lambda _, human: human, length=lambda i: i)
        assert "the same in every row" in why_not(plain, "length")
        assert why_not(plain, "reference_wording") == "known of 0 labelled cases; 20 at least"
        assert "no levels" in why_not(plain, "clustering")
        assert why_not(plain, "self_preference").startswith("0 cases answered by its family")
        kin = seen(40, lambda _, human: human, akin=lambda i: i < 3)
        assert why_not(kin, "self_preference").startswith("3 cases answered by its family, 37 by")

    def test_epochs_of_a_case_are_no_further_evidence_of_a_preference(self) -> None:
        kin = {"akin": lambda i: i % 2 == 0}
        once = seen(30, lambda i, human: human + NOISE[i] + 0.2 * (i % 2 == 0), **kin)
        one, four = bias(once, "self_preference"), bias(once * 4, "self_preference")
        assert one is not None
        assert four is not None
        assert (four.value, four.low, four.high) == pytest.approx((one.value, one.low, one.high))
        assert (one.n, four.n) == (30, 120)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "openai"),
        ("o3-mini", "openai"),
        ("azure/gpt-4.1", "openai"),
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta"),
        ("models/gemini-2.5-pro", "google"),
        ("Qwen/Qwen3-8B", "alibaba"),
        ("accounts/fireworks/models/mixtral-8x7b", "mistral"),
        ("phi4", "microsoft"),
        ("acme-large-2", "acme"),
        ("42", "42"),
    ],
)
def test_families(model: str, family: str) -> None:
    assert family_of(model) == family


class TestCorrected:
    def test_the_judge_s_errors_are_taken_out(self, tmp_path: Path) -> None:
        """40 labelled of 140: it passes a fifth of what people fail."""
        values, labels = sides(28, 2, 2, 8)
        run = run_of(tmp_path / "R", judged_rows([*values, *[0.9] * 70, *[0.1] * 30]))
        (entry,) = calibrate(Request(run, labels_of(tmp_path / "l.jsonl", labels)))
        found = {each.method: each for each in entry.corrected}
        tpr, tnr, q = 28 / 30, 8 / 10, 100 / 140
        assert found["rogan_gladen"].value == pytest.approx((q + tnr - 1) / (tpr + tnr - 1))
        assert found["prediction_powered"].value == pytest.approx(q + 0 / 40)
        assert {each.judge for each in entry.corrected} == {q}
        assert {each.n for each in entry.corrected} == {140}
        assert all(each.low <= each.value <= each.high for each in entry.corrected)

    def test_few_labels_correct_nothing(self, tmp_path: Path) -> None:
        assert entry_of(tmp_path, *sides(20, 1, 1, 7)).corrected == ()

    def test_a_judge_without_an_error_gets_no_interval_of_width_zero(self, tmp_path: Path) -> None:
        found = {each.method: each for each in entry_of(tmp_path, *sides(20, 0, 0, 20)).corrected}
        assert set(found) == {"rogan_gladen"}
        assert found["rogan_gladen"].low < 0.5 < found["rogan_gladen"].high

    def test_people_who_pass_everything(self) -> None:
        pairs = [Pair(f"c{i}", "pass", "pass", True, True) for i in range(40)]
        methods = [each.method for each in corrected_rates(pairs, [("c0", True)] * 2)]
        assert "rogan_gladen" not in methods


def likes_long(body: dict[str, Any]) -> Act:
    """Scores by length; criteria by their place; and less without the reference."""
    texts = texts_of(Asked(body["messages"]))
    asked = body["messages"][-1]["content"].split("Criteria")[1]
    names = sorted(("exact", "short"), key=lambda name: asked.index(f"- {name}:"))
    score = min(8, len(texts["ANSWER"]) // 10) - (0 if "REFERENCE" in texts else 3)
    scores = dict(zip(names, (max(0, score) + 2, max(0, score)), strict=True))
    return Act({name: {"rationale": "x" * 5, "score": scores[name]} for name in ("exact", "short")})


def run_with(bridge: Bridge, folder: Path, server: JudgeServer, n: int = 40) -> Path:
    check = {"judge": "main", "criteria": {"exact": "Is it exact?", "short": "Is it short?"}}
    judges = {"main": {"model": "gpt-5", "base_url": server.url, "retries": 0}}
    suite = write_suite(folder, {"checks": [{"rubric": check}], "judges": judges}, cases=n)
    draw = random.Random(1)
    lengths = [draw.randrange(80) for _ in range(n)]
    outputs = [
        {"case_id": f"c{i}", "text": "x" * length, "model": "gpt-5-mini" if i % 2 else "claude-5"}
        for i, length in enumerate(lengths)
    ]
    write_jsonl(folder / "v1.outputs.jsonl", outputs)
    assert bridge("run", suite, "--run-dir", folder / "R").returncode == 0
    labels = [{"case_id": f"c{i}", "label": draw.random()} for i in range(n)]
    return write_jsonl(folder / "labels.jsonl", labels)


class TestCommand:
    def test_what_sways_a_judge(self, bridge: Bridge, tmp_path: Path) -> None:
        with JudgeServer(likes_long) as server:
            labels = run_with(bridge, tmp_path, server)
            calls = server.calls
            done = bridge("calibrate", tmp_path / "R", "--labels", labels)
            assert done.returncode == 1
            assert "it favours long answers (rank correlation +" in done.stdout
            assert server.calls == calls  # without --probe nobody is asked
            done = bridge("calibrate", tmp_path / "R", "--labels", labels, "--probe", "--json")
            assert done.returncode == 1
            assert server.calls == calls + 80
            (entry,) = json.loads(done.stdout)["entries"]
        found = {each["name"]: each for each in entry["biases"]}
        assert found["length"]["found"]
        assert found["criteria_order"]["found"]
        assert found["criteria_order"]["value"] == pytest.approx(0.2)
        assert found["shown_reference"]["value"] < 0
        assert found["shown_reference"]["found"]
        assert found["self_preference"]["n"] == 40
        assert not found["self_preference"]["found"]
        assert "reference_wording" not in found  # no answer has a word of it
        assert "contexts_order" not in found
        why = {each["name"]: each["why"] for each in entry["not_measured"]}
        assert "the same in every row" in why["reference_wording"]
        assert why["contexts_order"] == "it can be changed in 0 labelled cases; 20 at least"
        assert "bridge compare --judge measures it" in why["position"]

    def test_a_judge_that_reads_the_first_context_alone(
        self, bridge: Bridge, tmp_path: Path
    ) -> None:
        def reads_first(body: dict[str, Any]) -> Act:
            told = texts_of(Asked(body["messages"]))["CONTEXT"].index("true")
            return Act({"exact": {"rationale": "so", "score": 8 if told < 10 else 3}})

        check = {"judge": "main", "criteria": {"exact": "Is it exact?"}, "show": ["contexts"]}
        with JudgeServer(reads_first) as server:
            judges = {"main": {"model": "m", "base_url": server.url, "retries": 0}}
            suite = write_suite(
                tmp_path, {"checks": [{"rubric": check}], "judges": judges}, cases=24
            )
            outputs = [
                {"case_id": f"c{i}", "text": "x", "retrieved_contexts": ["true", f"other {i}"]}
                for i in range(24)
            ]
            write_jsonl(tmp_path / "v1.outputs.jsonl", outputs)
            assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 0
            labels = labels_of(tmp_path / "l.jsonl", [])
            labels = write_jsonl(labels, [{"case_id": f"c{i}", "label": 0.5} for i in range(24)])
            done = bridge("calibrate", tmp_path / "R", "--labels", labels, "--probe")
        assert "it favours contexts in the order given (difference +0.50" in done.stdout
        assert "not measured, and the file says why: " in done.stdout
        assert "nothing of the kind to change in this check" in (
            (tmp_path / "calibration.json").read_text()
        )

    def test_a_judge_that_is_away(self, bridge: Bridge, tmp_path: Path) -> None:
        with JudgeServer(likes_long) as server:
            labels = run_with(bridge, tmp_path, server, n=25)
        done = bridge("calibrate", tmp_path / "R", "--labels", labels, "--probe")
        assert done.returncode == 3
        assert "no row could be asked again: judge_error[connect]" in done.stderr
        assert done.stderr.count("\n") == 1
