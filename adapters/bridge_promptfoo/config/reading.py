"""A config being read: its tests as cases, its assertions as checks, the rest into extras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output
from bridge.model.suite import Suite
from bridge.plugin.accounts.accounting import KEPT, NATIVE, Tally, carried, executable
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.assertions import (
    AssertionReader,
    Graded,
    ReadAsserts,
    differ_by_test,
    group_of_test,
)
from bridge_promptfoo.config.checks import thawed
from bridge_promptfoo.config.columns import Columns
from bridge_promptfoo.config.files import Folder, Node, is_code
from bridge_promptfoo.config.graders import Graders, told_of
from bridge_promptfoo.config.inputs import expected_of, input_of
from bridge_promptfoo.config.merging import Test
from bridge_promptfoo.config.names import Names
from bridge_promptfoo.config.overridden import claim_overridden, overridden
from bridge_promptfoo.config.own import OwnConfig, own_config
from bridge_promptfoo.config.root import TESTS, fragment, whole
from bridge_promptfoo.config.templates import is_template
from bridge_promptfoo.config.tests import TestReader
from bridge_promptfoo.rows import NAME

FORMAT_NAME = "promptfoo_config"
_CODE = {
    "derivedMetrics": "a formula over metrics, which is not computed",
    "extensions": "hooks are code, which is not run",
    "nunjucksFilters": "filters are code, which is not run",
}
_SYSTEMS = carried("says what is asked: kept for promptfoo")
_NEUTRAL = frozenset({"metadata", "threshold", "providerOutput"})
"""Fields of a test that are fields of a case or output."""


class ConfigReading:
    """One config.

    Args:
        folder: The config's folder.
        expand: Whether variables that are lists become a case for each item.
        judge: The judge where no grader is named that can be one.
    """

    def __init__(self, folder: Folder, *, expand: bool, judge: JudgeConfig | None = None) -> None:
        self._folder = folder
        self._source = folder.main.path
        self._root = whole(folder)
        self._tests = TestReader(folder, expand=expand)
        self._judge = judge
        self._graders = Graders(judge, {})
        self._asserts = AssertionReader(self._read_file)
        self._names = Names()
        self._notes: list[str] = []
        self._shared = ReadAsserts()
        self._apart: Sequence[Node] = ()
        self._default = Test("")

    def read(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report.

        Raises:
            InputError: If a test cannot be read, or there is none.
        """
        kept = self._outermost()
        own = own_config(self._root)
        columns = Columns(self._root, self._folder)
        kept.update(columns.kept())
        default, tests = self._all_tests()
        self._graders = Graders(self._judge, own.judges(), default.fields.get("provider"))
        self._asserts = AssertionReader(self._read_file, self._graders)
        self._shared, self._apart = self._defaults(default, tests, own)
        self._default = default
        cases: dict[str, Case] = {}
        outputs: list[Output] = []
        for test in tests:
            case = self._case(test, columns.prompts, own)
            cases.setdefault(case.id, case)
            outputs.extend(self._outputs(test, case, columns.systems, own))
        checks = [*self._shared.checks, *(each for case in cases.values() for each in case.checks)]
        judges = self._graders.named_in(checks)
        unused = overridden(default, tests)
        if not own.is_ours:
            suite: Suite | None = self._suite(kept, columns.systems, judges, unused)
        else:
            suite = own.suite(self._shared.checks, self._description(), judges)
        self._claim_overridden(unused, suite)
        self._notes.extend(told_of(judges, checks))
        outputs = [*own.outputs(), *outputs]
        self._notes.extend(columns.notes)
        bundle = Bundle(suite=suite, cases=tuple(cases.values()), outputs=tuple(outputs))
        return bundle, self._report(tests)

    def _all_tests(self) -> tuple[Test, list[Test]]:
        """What all tests have in common, and the tests."""
        root, main = self._root, self._folder.main
        if root.value is main.value:
            default = self._tests.default(root.get("defaultTest"))
            tests, scenarios = root.get("tests"), root.get("scenarios")
        else:
            default, scenarios = fragment(main)
            tests = None if default.asserts else Node(main.value, main)
        found = list(self._tests.read(tests, scenarios, default))
        self._refuse_none(found, default)
        return default, found

    # --- around the tests ---------------------------------------------------------------------

    def _outermost(self) -> Fields:
        """The keys of the config that are no tests, for extras."""
        kept: Fields = {}
        for key, node in self._root.fields():
            if key in TESTS or key == "$schema":
                if node.value in (None, [], {}) or key == "$schema":
                    node.claim(NATIVE)
                continue
            if key in _CODE:
                node.claim(executable(_CODE[key]))
            elif key == "description":
                node.claim(NATIVE)
            else:
                node.claim(_SYSTEMS if key in ("prompts", "providers", "targets") else KEPT)
            kept[key] = node.plain()
        self._claim_code("providers", "targets", "prompts")
        return kept

    def _claim_code(self, *keys: str) -> None:
        """Providers and prompts that are scripts."""
        for key in keys:
            found = self._root.get(key)
            for node in found.items() if found is not None else ():
                name = node.value.get("id") if isinstance(node.value, dict) else node.value
                if isinstance(name, str) and (is_code(name) or name.startswith("exec:")):
                    node.claim(executable("a script, which is not run"))

    def _read_file(self, name: str, node: Node) -> Any:
        """A data file that an assertion names, as the value of the assertion."""
        document = self._folder.read(name, node)
        document.claims.put(NATIVE)
        value = Node(document.value, document).plain()
        return value.strip() if isinstance(value, str) else value

    def _refuse_none(self, tests: Sequence[Test], default: Test) -> None:
        if tests or (default.asserts and self._root.value is not self._folder.main.value):
            return
        keys = ", ".join(self._tests.ignored) or "none"
        what = "0 cases: there is no test in it"
        if self._tests.empty:
            what = f"0 cases: no test has vars or assert (its keys: {keys})"
        fix = "name the file that has the tests, or the format it is in with --from"
        if self._root.get("redteam") is not None:
            what = "0 cases: the tests of a red team are made when it runs"
            fix = "name the file that `promptfoo redteam generate` wrote"
        raise InputError(what, where=self._source, fix=fix)

    def _description(self) -> str | None:
        found = self._root.get("description")
        return found.value if found is not None and isinstance(found.value, str) else None

    # --- assertions that all tests have ---------------------------------------------------------

    def _defaults(
        self, default: Test, tests: Sequence[Test], own: OwnConfig
    ) -> tuple[ReadAsserts, Sequence[Node]]:
        """The assertions of all tests as the suite's, or for each case where they differ."""
        shared = ReadAsserts()
        differ = (
            any("threshold" in test.fields or not test.with_defaults for test in tests)
            or any(is_template(node.plain()) for node in default.asserts)
            or differ_by_test(default, tests)
        )
        if differ and not own.is_ours:
            return shared, default.asserts
        options = default.fields.get("options") or {}
        self._asserts.read(default.asserts, Graded(options=options), shared)
        return shared, ()

    def _claim_overridden(self, unused: Fields, suite: Suite | None) -> None:
        kept = suite.extras.get(NAME) if suite is not None else None
        default = kept.get("defaultTest") if isinstance(kept, Mapping) else None
        claim_overridden(self._tests.shared, unused, thawed(default))

    def _suite(
        self,
        kept: Fields,
        systems: Sequence[str],
        judges: Mapping[str, JudgeConfig],
        unused: Fields,
    ) -> Suite:
        stem, shared = self._source.stem, self._shared
        foreign = {"assert": shared.foreign} if shared.foreign else {}
        if default := {**unused, **foreign}:
            kept = {**kept, "defaultTest": default}
        name = self._description()
        options = kept.get("evaluateOptions")
        epochs = options.get("repeat") if isinstance(options, dict) else None
        fields = {
            "name": name if name and name.strip() else stem,
            "golden_set": f"{stem}.cases.jsonl",
            "system": {"recorded": f"{stem}.outputs.jsonl", "name": systems[0]},
            "epochs": epochs if type(epochs) is int and epochs > 0 else 1,
            "checks": shared.checks,
            "judges": judges,
            "extras": {NAME: kept},
        }
        suite: Suite = _made(Suite, fields, self._source, "the config")
        return suite

    # --- cases ------------------------------------------------------------------------------------

    def _case(self, test: Test, prompts: Sequence[str], own: OwnConfig) -> Case:
        read = ReadAsserts()
        nodes = [*(self._apart if test.with_defaults else ()), *test.asserts]
        if not self._apart and test.with_defaults:
            read.names.update(self._shared.names)
        expected = expected_of(test.variables, self._plain(test))
        graded = Graded(test.variables, test.fields.get("options") or {}, expected)
        self._asserts.read(nodes, graded, read)
        is_own = own.is_own(test)
        checks, kept = self._checks(test, read, nodes)
        kept.update((key, value) for key, value in test.fields.items() if key not in _NEUTRAL)
        fields = {
            "id": test.origin if is_own else self._names.of(test),
            "input": input_of(prompts, test.fields, test.variables),
            "expected": expected,
            "vars": test.variables,
            "checks": checks,
            "metadata": test.fields.get("metadata"),
            "extras": {NAME: {"origin": test.origin, **kept}},
        }
        case: Case = _made(Case, fields, self._source, test.origin)
        return own.case(test, case, checks) if is_own else case

    def _plain(self, test: Test) -> list[Mapping[str, Any]]:
        """The assertions of a test, without those that are none."""
        plain = [node.plain() for node in (*self._default.asserts, *test.asserts)]
        return [each for each in plain if isinstance(each, dict)]

    def _checks(
        self, test: Test, read: ReadAsserts, nodes: Sequence[Node]
    ) -> tuple[list[Check], Fields]:
        """The checks of a case, and what of its assertions goes into extras."""
        threshold = test.fields.get("threshold")
        if threshold is None:
            return read.checks, {"assert": read.foreign} if read.foreign else {}
        group = group_of_test(read, threshold)
        if group is not None:
            return [group], {}
        _claim_kept_whole(nodes)
        kept = {str(index): node.plain() for index, node in enumerate(nodes)}
        return [], {"threshold": threshold, "assert": kept}

    def _outputs(
        self, test: Test, case: Case, systems: Sequence[str], own: OwnConfig
    ) -> Iterator[Output]:
        """What a test has recorded: ``providerOutput``, which answers for every system."""
        recorded = test.fields.get("providerOutput")
        if recorded is None or own.is_own(test):
            return
        contexts = test.variables.get("context") or ()
        texts = [contexts] if isinstance(contexts, str) else contexts
        are_texts = isinstance(texts, list) and all(isinstance(each, str) for each in texts)
        for system in systems:
            fields = {
                "system": system,
                "case_id": case.id,
                "text": recorded,
                "retrieved_contexts": texts if are_texts else (),
            }
            yield _made(Output, fields, self._source, test.origin)

    # --- the report -----------------------------------------------------------------------------

    def _report(self, tests: Sequence[Test]) -> ConversionReport:
        tally = Tally()
        for document in self._folder.documents:
            tally.document(document.value, document.claims, document.name)
        return tally.report(self._source, FORMAT_NAME, self._told(tests))

    def _told(self, tests: Sequence[Test]) -> Iterator[str]:
        yield from self._notes
        yield from dict.fromkeys(self._folder.moved)
        for key, count in self._tests.ignored.items():
            yield f"{count} tests have content under {key!r}, which promptfoo ignores"
        if self._tests.empty:
            yield f"{self._tests.empty} tests have nothing that promptfoo reads"
        for name, count in self._tests.twice.items():
            if count > 1:
                yield f"{name} is named {count} times: promptfoo runs its tests as often"
        transformed = sum(_has_transform(test) for test in tests)
        if transformed:
            yield f"{transformed} tests transform the output before it is checked"


def _claim_kept_whole(nodes: Sequence[Node]) -> None:
    """Assertions of a test with a threshold that no group of checks can say."""
    why = carried("under a test threshold beside an assertion that no check stands for: kept whole")
    for node in nodes:
        node.claim(why)
        for key, _ in node.fields():
            node.claim(why, key)


def _made(kind: Any, fields: Fields, source: Path, origin: str) -> Any:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        what = f"{origin}: {explain(error)}"
        raise InputError(what, where=source, fix="mend the test") from None


def _has_transform(test: Test) -> bool:
    options = test.fields.get("options")
    return isinstance(options, Mapping) and ("transform" in options or "postprocess" in options)
