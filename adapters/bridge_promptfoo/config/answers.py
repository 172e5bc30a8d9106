"""The recorded answers that a config can hold: replayed by our provider, or ``providerOutput``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.message import passage_text
from bridge.model.output import Output
from bridge.plugin.carry import plain
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.cases import text_sent, to_response
from bridge_promptfoo.config.templates import escaped
from bridge_promptfoo.config.to_assertions import is_touched
from bridge_promptfoo.seal import inert


def replayed(bundle: Bundle) -> list[Output]:
    """The outputs that a provider can replay: those of a case, by systems told apart by name."""
    cases = {case.id for case in bundle.cases}
    names: dict[str, str] = {}
    return [
        output
        for output in bundle.outputs
        if output.case_id in cases
        and names.setdefault(inert(output.system), output.system) == output.system
    ]


def by_case(outputs: Sequence[Output]) -> dict[str, dict[int, list[Output]]]:
    """Outputs by case and epoch."""
    found: dict[str, dict[int, list[Output]]] = {}
    for output in outputs:
        found.setdefault(output.case_id, {}).setdefault(output.epoch, []).append(output)
    return found


def recorded(
    bundle: Bundle, answers: Mapping[str, Mapping[int, Sequence[Output]]]
) -> dict[str, Any] | None:
    """The one answer of each case that has any, if ``providerOutput`` can say it for all systems.

    Returns:
        ``None`` where it cannot.
    """
    found: dict[str, Any] = {}
    systems = len({output.system for output in bundle.outputs})
    for case_id, epochs in answers.items():
        outputs = epochs.get(1, ())
        texts = [plain(each.text) for each in outputs]
        same = len(outputs) == systems and all(text == texts[0] for text in texts)
        if len(epochs) > 1 or not same or not _is_recordable(texts[0]):
            return None
        if any(to_response(_NOBODY, each).keys() - {"output", "metadata"} for each in outputs):
            return None
        found[case_id] = texts[0]
    return found


def told_of(case: Case, outputs: Sequence[Output], variables: Mapping[str, Any]) -> Fields:
    """The variables that graders read of a case and its answers: ``query`` and ``context``.

    Args:
        case: The case.
        outputs: Its answers; those of one test share its variables.
        variables: Those that the test has.

    Returns:
        Those that the test may be given, or has already as they should be.
    """
    told: Fields = {"query": escaped(text_sent(case))}
    contexts = {
        tuple(passage_text(each) for each in output.retrieved_contexts) for output in outputs
    }
    passages = contexts.pop() if len(contexts) == 1 else ()
    if passages and all(passages):
        told["context"] = [escaped(each) for each in passages]
    return {
        name: value
        for name, value in told.items()
        if name not in variables or variables[name] in (value, *_alone(value))
    }


def _alone(value: Any) -> list[Any]:
    """The one item of a list, which promptfoo takes as well."""
    return value if isinstance(value, list) and len(value) == 1 else []


_NOBODY = Case(id="-", input="", expected="")


def _is_recordable(text: Any) -> bool:
    return bool(text) and isinstance(text, str | dict) and not is_touched(text)
