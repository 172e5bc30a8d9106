"""Records ``own_metrics.csv`` beside this file: ``python record.py``, with ragas installed.

RAGAS's own metrics without a model on a few made-up answers, by RAGAS's own ``evaluate``.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ["RAGAS_DO_NOT_TRACK"] = "true"
warnings.simplefilter("ignore")

from ragas import EvaluationDataset, evaluate  # noqa: E402
from ragas.metrics import (  # noqa: E402
    BleuScore,
    ChrfScore,
    ExactMatch,
    NonLLMContextPrecisionWithReference,
    NonLLMContextRecall,
    NonLLMStringSimilarity,
    RougeScore,
    StringPresence,
)

RULES = ["Rule 9 sets the fee for late books.", "Shipping is free."]
ROWS = [
    {
        "user_input": "Name it.",
        "response": response,
        "reference": reference,
        "retrieved_contexts": RULES,
        "reference_contexts": wanted,
    }
    for response, reference, wanted in (
        ("Oslo", "Oslo", RULES),
        ("oslo", "Oslo", RULES[:1]),
        ("The capital is Oslo", "Oslo", ["Dogs are welcome."]),
        ("the cat sat on the mat", "The cats were sitting on the mats", RULES[1:]),
    )
]
METRICS = [
    ExactMatch(), StringPresence(), NonLLMStringSimilarity(), RougeScore(), BleuScore(),
    ChrfScore(), NonLLMContextRecall(), NonLLMContextPrecisionWithReference(),
]  # fmt: skip


def main() -> None:
    result: Any = evaluate(EvaluationDataset.from_list(ROWS), METRICS, show_progress=False)
    result.to_pandas().to_csv(HERE / "own_metrics.csv", index=False)


if __name__ == "__main__":
    main()
