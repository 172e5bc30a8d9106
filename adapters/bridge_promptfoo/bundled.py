"""A bundle as a promptfoo config: plain data that ``promptfoo eval`` runs as it is."""

from __future__ import annotations

from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.scoring.shared import shared_metrics
from bridge_promptfoo.asserted import PROMPT, has_own, own_assertions, to_variables
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.info import INFO
from bridge_promptfoo.replay import around, to_checked_test
from bridge_promptfoo.seal import inert


def make_config(bundle: Bundle) -> Fields:
    """Cases with their outputs as a config: a column for each system, a test a case and epoch.

    With assertions of promptfoo's own there is a test for each system too.

    Raises:
        InputError: If there is no output.
    """
    if not bundle.outputs:
        raise InputError("there is no output to make tests of")
    checks = bundle.suite.checks if bundle.suite else ()
    metrics = shared_metrics(checks, bundle.cases)
    by_id = {case.id: case for case in bundle.cases}
    judges = bundle.suite.judges if bundle.suite else {}
    asked = any(has_own(by_id[output.case_id], checks) for output in bundle.outputs)
    systems = dict.fromkeys(output.system for output in bundle.outputs)
    answers: dict[tuple[str, int], list[Output]] = {}
    for output in bundle.outputs:
        answers.setdefault((output.case_id, output.epoch), []).append(output)
    tests = []
    for (case_id, _), answered in answers.items():
        case = by_id[case_id]
        # what promptfoo's own assertions read is one output's
        for outputs in [[each] for each in answered] if asked else [answered]:
            test = to_checked_test(case, outputs, metrics, checks)
            if len(outputs) < len(systems):
                test["providers"] = [inert(output.system) for output in outputs]
            if asked:
                test["vars"] = to_variables(case, outputs[0])
                test["assert"] += own_assertions(INFO, judges, checks, case, outputs[0])
            tests.append(test)
    made = around(bundle.suite.name if bundle.suite else "bridge", systems, tests)
    return {**made, "prompts": [PROMPT]} if asked else made
