"""DeepEval's own metrics on a job's outputs, their counts checked, in a run file of their own."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from pydantic import BaseModel

from bridge.judge.errors import JudgeError
from bridge.model.case import Case
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.measurer import Question
from bridge.plugin.scoring.native import OneByOne, exact_at_ends
from bridge.plugin.scoring.route import Task
from bridge.plugin.scoring.shared import Answer, summarise
from bridge.scorers.evaluate import threshold_of
from bridge_deepeval.artefact import RunFile
from bridge_deepeval.cases import to_test_case
from bridge_deepeval.info import INFO
from bridge_deepeval.rows import error_of, success_of

if TYPE_CHECKING:
    from deepeval.tracing.api import MetricData

SHOWN = {"input": "INPUT", "reference": "EXPECTED_OUTPUT", "contexts": "RETRIEVAL_CONTEXT"}
SHOWN_OF_TURNS = {
    "input": "SCENARIO",
    "reference": "EXPECTED_OUTCOME",
    "contexts": SHOWN["contexts"],
}
"""DeepEval's names of what G-Eval may be shown, of an answer and of a conversation."""
EVIDENCE = (
    "truths",
    "claims",
    "statements",
    "opinions",
    "evaluation_steps",
    "user_intentions",
    "verdicts",
    "alignment_verdicts",
    "coverage_verdicts",
    "verdicts_list",
    "out_of_character_verdicts",
    "outcome",
)
"""What a metric leaves of how it came to its score."""
MOST_ITEMS = 50
LONGEST = 500
"""Most items of a list, and characters of a text, that are kept as evidence."""


class DeepEvalNatives(OneByOne):
    """A task's native metrics, called one by one as DeepEval's own ``evaluate`` does."""

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(INFO, task, spec)
        self._started = time.perf_counter()

    @cached_property
    def _file(self) -> RunFile:
        return RunFile(self.task.folder / f"{self.name}.json", self.name, self.task.system)

    def prepare(self) -> None:
        """Import DeepEval's metrics and the hook."""
        for name in ("deepeval.metrics", "bridge_deepeval.judge"):
            importlib.import_module(name)

    def measure(self, question: Question) -> Measurement:
        """Carry out one metric."""
        return measure(question)

    def record(self, case: Case, output: Output, answers: Mapping[str, list[Answer]]) -> None:
        """Take a test case with its metric data into the run file."""
        found = [self._to_data(metric, each) for metric, each in answers.items()]
        self._file.add(to_test_case(case, output), output.epoch, found)

    def _to_data(self, metric: str, answers: Sequence[Answer]) -> MetricData:
        from deepeval.tracing.api import MetricData

        total = summarise([found for _, found in answers])
        carried = {KEY: {"status": total.status, "rows": self.encoded(answers)}}
        check = answers[0][0]
        fields = {
            "name": metric,
            "threshold": threshold_of(check),
            "success": success_of(total),
            "score": total.value,
            "reason": total.reason,
            "evaluationModel": None if check.judge is None else f"bridge/{check.judge}",
            "error": error_of(total),
            "verboseLogs": msgspec.json.encode(carried).decode(),
        }
        return MetricData.model_validate(fields)

    def finish(self) -> None:
        """Write the run file."""
        self._file.finish(time.perf_counter() - self._started)


def measure(question: Question) -> Measurement:
    """Carry out one metric.

    Raises:
        JudgeError: If the judge fails, or gives fewer verdicts than there is to judge.
    """
    test_case: Any = to_test_case(question.case, question.output)
    metric: Any = to_metric(question, test_case)
    test_case.multimodal = False  # text that looks like an image's mark is text: nothing is fetched
    if role := getattr(question.params, "role", None):
        test_case.chatbot_role = role
    metric.measure(test_case, _show_indicator=False)
    check_counts(question.metric.name, metric, test_case)
    return Measurement(
        value=exact_at_ends(float(metric.score)),
        reason=metric.reason or f"{own_of(question)} gave no reason",
        details={"native": own_of(question), **evidence_of(metric)},
    )


def to_metric(question: Question, test_case: Any) -> Any:
    """A native metric with its judge, which scores this test case."""
    from deepeval import metrics

    from bridge_deepeval.judge import BridgeModel

    name, params, own = question.metric.name, question.params, own_of(question)
    options = _OPTIONS.get(name, lambda _: {})(params)
    if name == "g_eval":
        options |= {"name": name, "evaluation_params": _shown(params.show, test_case)}
    model = BridgeModel(question.inquiry)
    metric: Any = getattr(metrics, own)(model=model, async_mode=False, **options)
    owed = {each.field: each for each in _COUNTED.get(name, ())}
    model.owed = lambda field: owed[field].owed(metric, test_case) if field in owed else None
    return metric


def own_of(question: Question) -> str:
    """The class that carries a metric out: of G-Eval, the one for what is to be scored."""
    is_whole = question.metric.name == "g_eval" and bool(question.case.turns)
    return "ConversationalGEval" if is_whole else question.metric.own


def _shown(names: Sequence[str], test_case: Any) -> list[Any]:
    """What G-Eval is shown: the answer, and what is wanted beside it as far as it is there.

    DeepEval refuses a test case without a field that it is to show, but looks for no contexts in
    turns.
    """
    from deepeval.test_case import ConversationalTestCase, MultiTurnParams, SingleTurnParams

    if isinstance(test_case, ConversationalTestCase):
        wanted = [MultiTurnParams[SHOWN_OF_TURNS[each]] for each in names]
        answer = [MultiTurnParams.CONTENT, MultiTurnParams.ROLE]
        return [each for each in wanted if getattr(test_case, each.value, True)] + answer
    asked = [SingleTurnParams[SHOWN[each]] for each in names]
    return [
        *(each for each in asked if getattr(test_case, each.value)),
        SingleTurnParams.ACTUAL_OUTPUT,
    ]


LEVELS = ((0, 2), (3, 4), (5, 6), (7, 8), (9, 10))
"""G-Eval's scale, parted among the levels of a rubric."""


def _rubric(levels: Sequence[str]) -> list[Any]:
    from deepeval.metrics.g_eval import Rubric

    return [
        Rubric(score_range=scores, expected_outcome=level)
        for scores, level in zip(LEVELS, levels, strict=True)
    ]


def _tool_options(params: Any) -> dict[str, Any]:
    from deepeval.test_case import ToolCallParams

    compared = [ToolCallParams.INPUT_PARAMETERS] if params.arguments else []
    return {"evaluation_params": compared, "should_consider_ordering": params.ordered}


_OPTIONS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "g_eval": lambda params: {
        "criteria": params.criteria,
        "evaluation_steps": list(params.steps) or None,
        **({"rubric": _rubric(params.rubric)} if params.rubric else {}),
    },
    "summarization": lambda params: {"assessment_questions": list(params.questions) or None},
    "task_completion": lambda params: {"task": params.task},
    "topic_adherence": lambda params: {"relevant_topics": list(params.topics)},
    "tool_correctness": _tool_options,
}


class _Counted(NamedTuple):
    """What is judged, of the metric or of its test case, and the verdicts: one each.

    Attributes:
        items: What is judged.
        verdicts: What the metric keeps of the verdicts.
        field: The list of them in a reply.
    """

    items: str
    verdicts: str = "verdicts"
    field: str = "verdicts"

    def owed(self, metric: Any, test_case: Any) -> int | None:
        """How many verdicts there must be; ``None`` while that is not known."""
        found = getattr(metric, self.items, None)
        if found is None:
            found = getattr(test_case, self.items, None)
        return None if found is None else len(found)


_COUNTED: Mapping[str, tuple[_Counted, ...]] = {
    "faithfulness": (_Counted("claims"),),
    "answer_relevancy": (_Counted("statements"),),
    "context_precision": (_Counted("retrieval_context"),),
    "hallucination": (_Counted("context"),),
    "toxicity": (_Counted("opinions"),),
    "bias": (_Counted("opinions"),),
    "summarization": (
        _Counted("claims", "alignment_verdicts"),
        _Counted("assessment_questions", "coverage_verdicts", "answers"),
    ),
    "conversation_completeness": (_Counted("user_intentions"),),
}


def check_counts(name: str, metric: Any, test_case: Any) -> None:
    """Make sure that a judge gave a verdict on each thing it was to judge, which DeepEval does not.

    Raises:
        JudgeError: Of kind ``schema``, if it did not.
    """
    for each in _COUNTED.get(name, ()):
        owed = each.owed(metric, test_case) or 0
        given = len(getattr(metric, each.verdicts, None) or ())
        if given != owed:
            text = f"{given} verdicts on {owed} {each.items.replace('_', ' ')}"
            raise JudgeError("schema", f"the judge gave {text}")
    if name == "role_adherence":
        _check_places(metric, test_case)


def _check_places(metric: Any, test_case: Any) -> None:
    places = [each.index for each in metric.out_of_character_verdicts.verdicts]
    if len(set(places)) != len(places) or not set(places) <= set(range(len(test_case.turns))):
        raise JudgeError("schema", f"the judge named turns {places} of {len(test_case.turns)}")


def evidence_of(metric: Any) -> dict[str, Any]:
    """How a metric came to its score, as plain JSON of bounded size."""
    found = {name: getattr(metric, name, None) for name in EVIDENCE}
    return {name: _plain(value) for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: _plain(item) for name, item in value if item is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value[:MOST_ITEMS]]
    return value[:LONGEST] if isinstance(value, str) else value
