"""A bundle as a config with its data files, which ``promptfoo eval`` runs as they are.

A bundle that came from a config goes back into its prompts and providers. Any other is asked with
one prompt, ``{{input}}``; recorded outputs are replayed by a provider of ours, a column a system.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from bridge.files.jsonl import write_atomically
from bridge.files.yaml import dump_yaml
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import account_bundle
from bridge.plugin.carry import KEY, pack, plain
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.cases import to_bare_test
from bridge_promptfoo.config.accounts import claims_of
from bridge_promptfoo.config.answers import by_case, recorded, replayed
from bridge_promptfoo.config.checks import DefaultChecks, thawed
from bridge_promptfoo.config.inputs import input_of
from bridge_promptfoo.config.own import SHOWN, digest, shown_of
from bridge_promptfoo.config.templates import escaped
from bridge_promptfoo.config.tests import MERGED
from bridge_promptfoo.config.to_assertions import SHIM, has_shared, is_touched
from bridge_promptfoo.replay import to_provider
from bridge_promptfoo.rows import NAME
from bridge_promptfoo.seal import inert, seal

REPLAY = "bridge_replay.cjs"
"""The file beside a written config that finds our provider."""
INPUT = "input"
CARRIED_KEYS = ("description", "prompts", "providers", "targets", "defaultTest", "metadata")
"""Keys of a config that are made here."""
HERE = "bridge_promptfoo.config"


def write_config(bundle: Bundle, dest: Path, *, inline: bool) -> ConversionReport:
    """Write a bundle.

    Args:
        bundle: What is written.
        dest: The config; other files are put beside it.
        inline: Whether the tests stand in the config.

    Raises:
        InfrastructureError: If it cannot be written.
    """
    writing = ConfigWriting(bundle)
    config, tests = thawed(writing.config), writing.tests
    if inline or dest.suffix == ".json":
        config = {**config, "tests": tests}
    else:
        beside = dest.with_name(f"{dest.stem}.tests.jsonl")
        write_atomically(beside, (f"{_json(test)}\n" for test in tests))
        config = {**config, "tests": [f"file://{beside.name}"]}
    for name in writing.scripts():
        text = files(HERE).joinpath(name).read_text("utf-8")
        write_atomically(dest.with_name(name), [text])
    text = f"{_json(config)}\n" if dest.suffix == ".json" else dump_yaml(config)
    write_atomically(dest, [text])
    return account_bundle(
        bundle, claims_of(bundle, back=writing.back), dest, "promptfoo_config", writing.notes()
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


class ConfigWriting:
    """One bundle as a config.

    Attributes:
        config: The config without its tests.
        tests: The tests.
        back: Whether it goes back into the config it came from.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._suite = bundle.suite
        self._kept: Mapping[str, Any] = _kept_of(bundle.suite)
        self._shown = replayed(bundle)
        self._answers = by_case(self._shown)
        self._recorded = recorded(bundle, self._answers) if self._restorable() else None
        self.back = self._recorded is not None
        self._checks = DefaultChecks(bundle, back=self.back)
        self._input = _free_name(bundle.cases)
        self.tests = [test for case in bundle.cases for test in self._tests(case)]
        self.config = self._config()

    # --- back into the config it came from ----------------------------------------------------

    def _restorable(self) -> bool:
        """Whether the config's own prompts and providers ask what the cases ask."""
        kept, cases = self._kept, self._bundle.cases
        if not kept.get("prompts") or not (kept.get("providers") or kept.get("targets")):
            return False
        prompts = [
            each.get("raw") if isinstance(each, Mapping) else each for each in kept["prompts"]
        ]
        texts = [each for each in prompts if isinstance(each, str) and "://" not in each[:12]]
        texts = texts if len(texts) == len(prompts) else []
        return all(
            NAME in case.extras
            and plain_input(case) == input_of(texts, _kept_of(case), dict(case.vars))
            for case in cases
        )

    # --- tests ----------------------------------------------------------------------------------

    def _tests(self, case: Case) -> Iterator[Fields]:
        groups = self._answers.get(case.id, {})
        if self.back or not groups:
            yield self._test(case, [])
            return
        systems = self._systems()
        for outputs in groups.values():
            test = self._test(case, outputs)
            if len(outputs) < len(systems):
                test["providers"] = [inert(output.system) for output in outputs]
            yield test

    def _test(self, case: Case, outputs: Sequence[Output]) -> Fields:
        kept = _kept_of(case)
        known = {key: plain(kept[key]) for key in _OF_TEST if key in kept}
        test: Fields = known if self.back else {}
        test["vars"] = self._variables(case)
        self._checks.put(test, case, kept, outputs)
        options = dict(test.get("options") or {})
        if not self.back or any(isinstance(each, list) for each in test["vars"].values()):
            options["disableVarExpansion"] = True
        if options:
            test["options"] = options
        if self._recorded and case.id in self._recorded:
            test["providerOutput"] = self._recorded[case.id]
        if has_shared([*self._checks.default, *test["assert"]]):
            test.setdefault("assertScoringFunction", f"file://{SHIM}:summary")
        return self._sealed(test, case, outputs)

    def _sealed(self, test: Fields, case: Case, outputs: Sequence[Output]) -> Fields:
        """A test with its case; what promptfoo sees of it is digested."""
        base = to_bare_test(case, outputs)
        shown = {key: value for key, value in case.metadata.items() if not is_touched({key: value})}
        if not self.back:
            test["description"] = base["description"]
        given = shown if not self.back else dict(case.metadata)
        metadata = {**plain(given), **base["metadata"]}
        test["metadata"] = {key: value for key, value in metadata.items() if key != KEY}
        parts = base["metadata"][KEY]
        for output in outputs:
            parts["outputs"][inert(output.system)]["carried"] = pack(output, {})
        test["metadata"][KEY] = seal({**parts, SHOWN: shown_of(test)})
        return test

    def _variables(self, case: Case) -> Fields:
        if self.back:
            return dict(plain(case.vars))
        shown = {
            key: escaped(value) if isinstance(value, str) else plain(value)
            for key, value in case.vars.items()
            if value is not None and (isinstance(value, str) or not is_touched(value))
        }
        named = {key: value for key, value in shown.items() if not is_touched({key: 0})}
        return {self._input: escaped(_asked(case)), **named}

    # --- around the tests -------------------------------------------------------------------------

    def _config(self) -> Fields:
        kept = {key: plain(value) for key, value in self._kept.items() if key not in CARRIED_KEYS}
        made: Fields = {}
        if self._suite is not None and not (self.back and "description" not in self._kept):
            made["description"] = inert(self._suite.name)
        made |= self._asking()
        default = self._unused() if self.back else {}
        if self._checks.default:
            default["assert"] = self._checks.default
        if default:
            made["defaultTest"] = default
        if self._suite is not None and self._suite.epochs > 1 and not self._bundle.outputs:
            options = kept.get("evaluateOptions")
            base = options if isinstance(options, dict) else {}
            kept["evaluateOptions"] = {**base, "repeat": self._suite.epochs}
        metadata = self._kept.get("metadata")
        known = plain(metadata) if isinstance(metadata, Mapping) else {}
        made["metadata"] = {**known, KEY: self._carried(made)}
        return {**made, **kept}

    def _unused(self) -> Fields:
        """What was common to all tests although every one of them said otherwise."""
        default = self._kept.get("defaultTest")
        kept = default if isinstance(default, Mapping) else {}
        return {key: plain(kept[key]) for key in MERGED if isinstance(kept.get(key), Mapping)}

    def _asking(self) -> Fields:
        """Prompts and providers."""
        if self.back:
            key = "providers" if self._kept.get("providers") else "targets"
            return {"prompts": plain(self._kept["prompts"]), key: plain(self._kept[key])}
        prompts = [{"raw": f"{{{{{self._input}}}}}", "label": self._input}]
        systems = self._systems()
        if not systems:
            return {"prompts": prompts, "providers": ["echo"]}
        providers = [{**to_provider(system), "id": f"file://{REPLAY}"} for system in systems]
        return {"prompts": prompts, "providers": providers}

    def _systems(self) -> list[str]:
        return list(dict.fromkeys(output.system for output in self._shown))

    def _carried(self, made: Mapping[str, Any]) -> str:
        outputs = self._bundle.outputs
        shown = set() if self.back else {output.key for output in self._shown}
        apart = [each for each in outputs if each.key not in shown]
        return seal(
            {
                "suite": None if self._suite is None else _dumped(self._suite),
                "outputs": [_dumped(each) for each in apart],
                "order": [list(output.key) for output in outputs],
                SHOWN: {
                    "description": digest(made.get("description")),
                    "assert": digest(self._checks.default),
                },
            }
        )

    def scripts(self) -> list[str]:
        """The scripts that the config needs beside it."""
        asserts = [each for test in self.tests for each in test["assert"]]
        names = [SHIM] if has_shared([*self._checks.default, *asserts]) else []
        return names if self.back or not self._systems() else [*names, REPLAY]

    # --- what became of it ----------------------------------------------------------------------

    def notes(self) -> Iterator[str]:
        """What a person should know of the config."""
        if not self.back and not self._systems():
            yield "no output is recorded and no provider known: it asks echo; name your own"
        unanswered = sum(case.id not in self._answers for case in self._bundle.cases)
        if self._systems() and unanswered:
            yield f"{unanswered} cases have no recorded output: promptfoo reports them as errors"
        if SHIM in self.scripts():
            yield f"{SHIM} runs our checks: promptfoo needs a Python with bridge-evals"
        if not self.back and self._kept.get("prompts"):
            yield "the config's own prompts and providers do not ask what the cases do: left out"


_OF_TEST = (
    "description",
    "options",
    "provider",
    "providers",
    "prompts",
    "assertScoringFunction",
)
"""Fields of a test that its case keeps in extras."""


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_defaults=True)


def _kept_of(value: Any) -> Mapping[str, Any]:
    """What a suite or case keeps of a config."""
    kept = None if value is None else value.extras.get(NAME)
    return kept if isinstance(kept, Mapping) else {}


def plain_input(case: Case) -> Any:
    """A case's input as JSON data."""
    return plain(case)["input"]


def _asked(case: Case) -> str:
    """What a system is sent, as the text of a prompt: messages as a JSON list."""
    if isinstance(case.input, tuple):
        return as_text([plain(message) for message in case.input])
    return as_text(case.input)


def _free_name(cases: Sequence[Case]) -> str:
    """A variable's name for the input that no case uses for another."""
    taken = {key for case in cases for key in case.vars}
    name = INPUT
    while name in taken:
        name = f"bridge_{name}"
    return name
