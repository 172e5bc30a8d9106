"""Configs that we wrote, read back: what they carry, and what people changed in them since.

Each test carries its whole case, sealed, with a digest of each part that promptfoo sees. A part
that is still what was written stands for what is carried; one that was changed is read like
anybody else's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output
from bridge.model.suite import Suite
from bridge.plugin.carry import KEY
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.files import Node
from bridge_promptfoo.config.merging import Test
from bridge_promptfoo.seal import unseal

SHOWN = "shown"
"""Key of the digests beside what is carried."""
DAMAGED = "take the file as it was written, or take the key bridge out of its metadata"


def digest(value: Any) -> str:
    """A short digest of JSON data; whole numbers are the same with and without a decimal point."""
    text = json.dumps(_even(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _even(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _even(item) for key, item in value.items()}
    return [_even(item) for item in value] if isinstance(value, list | tuple) else value


def shown_of(test: Mapping[str, Any]) -> Fields:
    """The digests of the parts of a test that promptfoo sees.

    Args:
        test: The test as it is written, without what it carries.
    """
    metadata = test.get("metadata") or {}
    return {
        "vars": digest(test.get("vars") or {}),
        "assert": digest([test.get("assert") or [], test.get("threshold")]),
        "metadata": digest({key: value for key, value in metadata.items() if key != KEY}),
    }


class OwnConfig:
    """What a config carries.

    Args:
        carried: What stands beside its tests; ``None`` in anybody else's config, which may still
            hold tests of ours.
        root: The config.
    """

    def __init__(self, carried: Mapping[str, Any] | None, root: Node) -> None:
        self.is_ours = carried is not None
        self._carried = carried or {"outputs": (), "order": ()}
        self._root = root
        self._tests: list[Fields] = []

    def is_own(self, test: Test) -> bool:
        """Whether a test carries a case."""
        return KEY in (test.fields.get("metadata") or {})

    def case(self, test: Test, foreign: Case, checks: Sequence[Check]) -> Case:
        """The case of a test.

        Args:
            test: The test.
            foreign: The case that anybody else's test would be.
            checks: The checks that its own assertions are.

        Raises:
            InputError: If what it carries is damaged.
        """
        parts = self._parts(test)
        written = _written(test)
        self._tests.append(parts)
        case = Case.model_validate(parts["case"])
        changed = {
            key for key, found in shown_of(written).items() if found != parts[SHOWN].get(key)
        }
        update: dict[str, Any] = {}
        if "vars" in changed:
            update |= {"vars": foreign.vars, "input": foreign.input}
        if "assert" in changed:
            update["checks"] = tuple(checks)
        if "metadata" in changed:
            rest = {
                key: value
                for key, value in foreign.metadata.items()
                if key not in ("case_id", "epoch", KEY)
            }
            name = str(foreign.metadata.get("case_id") or "")
            update |= {"metadata": rest, "id": name if name.strip() else case.id}
        return case if not update else _rebuilt(case, update)

    def _parts(self, test: Test) -> Fields:
        try:
            parts: Fields = unseal(test.fields["metadata"][KEY])
            Case.model_validate(parts["case"])
            return {**parts, SHOWN: dict(parts[SHOWN]), "outputs": dict(parts["outputs"])}
        except (ValueError, KeyError, TypeError):
            raise self._root.refuse(f"{test.origin}: what it carries is damaged", DAMAGED) from None

    def outputs(self) -> list[Output]:
        """The recorded outputs, in the order in which they were written."""
        found: dict[tuple[str, str, int], Output] = {}
        try:
            recorded = [each["carried"] for t in self._tests for each in t["outputs"].values()]
            for fields in (*recorded, *self._carried.get("outputs", ())):
                output = Output.model_validate(fields)
                found[output.key] = output
            order = [(system, case, epoch) for system, case, epoch in self._carried["order"]]
        except (ValueError, KeyError, TypeError):
            raise self._root.refuse("what it carries of outputs is damaged", DAMAGED) from None
        known = [found.pop(key) for key in order if key in found]
        return [*known, *found.values()]

    def judges(self) -> dict[str, JudgeConfig]:
        """The judges of its suite."""
        suite = self._carried.get("suite")
        return {} if suite is None else dict(self._suite(suite).judges)

    def suite(
        self,
        checks: Iterable[Check],
        description: str | None,
        judges: Mapping[str, JudgeConfig],
    ) -> Suite | None:
        """The suite, with the checks and the name that were changed since.

        Args:
            checks: Those that its assertions are.
            description: The config's.
            judges: Those that changed checks name.

        Raises:
            InputError: If what it carries is damaged.
        """
        if self._carried.get("suite") is None:
            return None
        try:
            suite = self._suite(self._carried["suite"])
            shown = self._carried[SHOWN]
            default = self._root.get("defaultTest")
            asserts = None if default is None else default.get("assert")
            now = digest([] if asserts is None else asserts.plain())
            update: dict[str, Any] = {}
            if now != shown["assert"]:
                update["checks"] = tuple(checks)
            if digest(description) != shown["description"] and description:
                update["name"] = description
            if judges.keys() - suite.judges.keys():
                update["judges"] = {**judges, **suite.judges}
            return suite if not update else _rebuilt(suite, update)
        except ValidationError as error:
            raise self._root.refuse(f"its suite: {explain(error)}", DAMAGED) from None
        except (KeyError, TypeError):
            raise self._root.refuse("what it carries of its suite is damaged", DAMAGED) from None

    def _suite(self, carried: Any) -> Suite:
        try:
            return Suite.model_validate(carried)
        except ValidationError as error:
            raise self._root.refuse(f"its suite: {explain(error)}", DAMAGED) from None


def _written(test: Test) -> Fields:
    return {
        "vars": test.variables,
        "assert": [node.plain() for node in test.asserts],
        "threshold": test.fields.get("threshold"),
        "metadata": test.fields.get("metadata"),
    }


def _rebuilt(value: Any, update: Mapping[str, Any]) -> Any:
    """A value with other fields, validated anew."""
    fields = {name: getattr(value, name) for name in value.model_fields_set}
    return type(value).model_validate({**fields, **update})


def own_config(root: Node) -> OwnConfig:
    """What a config carries.

    Raises:
        InputError: If that is damaged.
    """
    metadata = root.get("metadata")
    sealed = None if metadata is None else metadata.get(KEY)
    if sealed is None:
        return OwnConfig(None, root)
    try:
        carried = unseal(sealed.value)
        return OwnConfig({**carried}, root)
    except (ValueError, TypeError):
        raise InputError(
            "what it carries is damaged", where=root.document.path, fix=DAMAGED
        ) from None
