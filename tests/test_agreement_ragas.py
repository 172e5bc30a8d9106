"""RAGAS's metrics without a model and ours, on one table of tricky answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from ragas_jobs import switched_off

from bridge.model import Case, Check, Output
from bridge.scorers import evaluate, validate_check


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """RAGAS's switches as in a worker."""
    with switched_off(tmp_path_factory.mktemp("ragas")):
        yield


def native(name: str, **options: Any) -> Any:
    """A metric of RAGAS, imported from its own module: the package warns of every use."""
    names = ("string", "rouge_score", "bleu_score", "chrf_score", "context_recall")
    modules = [import_module(f"ragas.metrics._{each}") for each in (*names, "context_precision")]
    module = next(each for each in modules if hasattr(each, name))
    if "distance_measure" in options:
        options["distance_measure"] = modules[0].DistanceMeasure(options["distance_measure"])
    return getattr(module, name)(**options)


TEXTS = [
    "Paris",
    "paris",
    " Paris ",
    "Paris.",
    "The cat sat on the mat.",
    "the cats were sitting on the mats",
    "The cat sat on the mat",
    "a cat",
    "x",
    "👍🏽 ok",
    "日本語のテキスト",
    "Straße",
    "cafe\u0301",
    "5",
    "5.0",
    "skies dying apologies additionally happily",
    "sky die apology addition happy",
    "no-one's e-mail: a_b 3.14",
    "word " * 300,
    "line one\nline two",
]

MEASURES = ("levenshtein", "hamming", "jaro", "jaro_winkler")
PAIRS: list[tuple[str, dict[str, Any], Any]] = [
    ("ExactMatch", {}, {"equals": {"strip": False}}),
    ("StringPresence", {}, "contains"),
    ("NonLLMStringSimilarity", {}, "similarity"),
    *(
        ("NonLLMStringSimilarity", {"distance_measure": each}, {"similarity": {"measure": each}})
        for each in MEASURES
    ),
    *(
        (
            "RougeScore",
            {"rouge_type": kind, "mode": mode},
            {"rouge": {"type": kind, "mode": mode}},
        )
        for kind in ("rouge1", "rougeL")
        for mode in ("fmeasure", "precision", "recall")
    ),
    ("BleuScore", {}, "sacrebleu"),
    ("BleuScore", {"kwargs": {"tokenize": "char"}}, {"sacrebleu": {"tokenize": "char"}}),
    ("ChrfScore", {}, "chrf"),
    ("ChrfScore", {"kwargs": {"word_order": 2}}, {"chrf": {"word_order": 2}}),
]


def ours(written: Any, text: Any, reference: Any) -> float | None:
    check = Check.model_validate(written)
    validate_check(check)
    case, output = Case(id="a", input="q", expected=reference), Output(case_id="a", text=text)
    found = evaluate(check, case, output)
    assert found.error is None
    return found.value


def theirs(metric: Any, text: str, reference: str) -> float:
    from ragas.dataset_schema import SingleTurnSample

    sample = SingleTurnSample(user_input="q", response=text, reference=reference)
    # its public method reports the use of the metric before it calls this one
    return float(asyncio.run(metric._single_turn_ascore(sample, callbacks=[])))


@pytest.mark.parametrize(("name", "options", "written"), PAIRS, ids=str)
def test_agreement(name: str, options: dict[str, Any], written: Any) -> None:
    metric = native(name, **options)
    for text in TEXTS:
        for reference in TEXTS:
            value = pytest.approx(theirs(metric, text, reference), abs=1e-12)
            assert ours(written, text, reference) == value, (text, reference)


def test_the_first_sentence_alone_is_scored_there() -> None:
    """Its split at ". " pairs sentences with references of one sentence each; ours reads all."""
    reference = "The sky is blue today. Grass is green all year."
    wrong = "The sky is blue today. Cows can fly to the moon."
    value = theirs(native("BleuScore"), wrong, reference)
    assert ours("sacrebleu", wrong, reference) != pytest.approx(value)
    assert ours("sacrebleu", reference, reference) == pytest.approx(1.0)


PASSAGES = ["Refunds take five days.", "Shipping is free.", "Refunds take 5 days", "x", "Ship!"]
METRICS: list[tuple[str, Any]] = [
    ("NonLLMContextRecall", "passage_recall"),
    ("NonLLMContextPrecisionWithReference", "passage_precision"),
    ("IDBasedContextRecall", {"passage_recall": {"by": "id"}}),
    ("IDBasedContextPrecision", {"passage_precision": {"by": "id"}}),
]


@pytest.mark.parametrize(("name", "written"), METRICS)
def test_passages_agree(name: str, written: Any) -> None:
    from ragas.dataset_schema import SingleTurnSample

    metric, check = native(name), Check.model_validate(written)
    subsets = [[i for i in range(len(PASSAGES)) if mask >> i & 1] for mask in range(1, 32)]
    for found in subsets:
        for wanted in subsets[::3]:
            sample = SingleTurnSample(
                retrieved_contexts=[PASSAGES[i] for i in found],
                reference_contexts=[PASSAGES[i] for i in wanted],
                retrieved_context_ids=list[Any](found),
                reference_context_ids=list[Any](wanted),
            )
            value = asyncio.run(metric._single_turn_ascore(sample, callbacks=[]))
            contexts = [{"text": PASSAGES[i], "id": str(i)} for i in wanted]
            case = Case.model_validate(
                {"id": "a", "input": "q", "expected": "", "reference_contexts": contexts}
            )
            retrieved = [{"text": PASSAGES[i], "id": str(i)} for i in found]
            output = Output.model_validate({"case_id": "a", "retrieved_contexts": retrieved})
            ours_value = evaluate(check, case, output).value
            assert ours_value == pytest.approx(value, abs=1e-9), (found, wanted)
