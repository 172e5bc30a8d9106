"""The tests of a config as promptfoo runs them: files read, defaults and scenarios merged.

The rules are those of promptfoo 0.123.1: a scenario is every ``config`` with every test; what all
tests have in common (``defaultTest``) is overridden key by key; a variable that is a list of texts
is one test for each of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bridge.plugin.accounts.accounting import NATIVE, carried, dropped, executable
from bridge_promptfoo.config.files import FILE, Document, Folder, Node, is_code, is_elsewhere
from bridge_promptfoo.config.merging import Test, finished, metadata_of, over
from bridge_promptfoo.config.table import read_row

MOST_TIMES = 100
"""How often the tests of one file may be asked for."""
MERGED = ("vars", "options", "metadata")
"""Fields that are merged key by key."""
FIELDS = (
    "description",
    "threshold",
    "provider",
    "providers",
    "prompts",
    "providerOutput",
    "assertScoringFunction",
)
"""Fields that a test takes whole, from the nearest place that has them."""
KNOWN = frozenset({*MERGED, *FIELDS, "assert"})
_CONTENT = KNOWN - {"description", "providers", "prompts", "assertScoringFunction"}
"""What a test must have one of: promptfoo refuses any other."""
IGNORED = dropped("promptfoo ignores this key")
_CODE_OPTIONS = ("transform", "transformVars", "postprocess")
_BINARY = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp3", ".wav", ".m4a", ".mp4")


class TestReader:
    """Reads all tests of a config.

    Args:
        folder: The config's folder.
        expand: Whether variables that are lists become a test for each item.
    """

    __test__ = False

    def __init__(self, folder: Folder, *, expand: bool) -> None:
        self._folder = folder
        self._expand = expand
        self.ignored: dict[str, int] = {}
        self.empty = 0
        self.twice: dict[str, int] = {}
        self.shared: Node | None = None  # where what all tests have in common stands

    def default(self, node: Node | None) -> Test:
        """What all tests have in common."""
        if node is None:
            return Test("")
        if isinstance(node.value, str):
            node = self._file(node)
        self.shared = node
        return self._test(node, "defaultTest")

    def read(self, tests: Node | None, scenarios: Node | None, default: Test) -> Iterator[Test]:
        """Every test, in promptfoo's order."""
        main = self._folder.main
        if tests is not None:
            for test in self._listed(tests, "tests"):
                yield from finished(test, default, main, expand=self._expand)
        number = 0
        for node in scenarios.items() if scenarios is not None else ():
            scenario = self._file(node) if isinstance(node.value, str) else node
            for test in self._scenario(scenario, number):
                yield from finished(test, default, main, expand=self._expand)
            config = scenario.get("config")
            number += len(config.items()) if config is not None else 0

    # --- where tests stand -------------------------------------------------------------------

    def _listed(self, node: Node, where: str) -> Iterator[Test]:
        if not node.path:  # a file of tests alone
            yield from self._of_file(node.document, rows=False)
        elif isinstance(node.value, str):
            yield from self._named(node, rows=node.path == ("tests",))
        elif isinstance(node.value, list):
            for index, item in enumerate(node.items()):
                yield from self._listed(item, f"{where}[{index}]")
        elif isinstance(node.value, dict) and isinstance(node.value.get("path"), str):
            node.claim(executable("a generator of tests is a script, which is not run"))
        else:
            yield from self._own(node, where)

    def _own(self, node: Node, at: str) -> Iterator[Test]:
        if not isinstance(node.value, dict):
            raise node.refuse("no test: a test is an object", "mend it")
        if _CONTENT.isdisjoint(node.value):
            self.empty += 1
            self._ignore(node)
            return
        yield self._test(node, at)

    def _named(self, node: Node, *, rows: bool = False) -> Iterator[Test]:
        """The tests of a file, or of each file that a glob matches.

        Args:
            node: Its name.
            rows: Whether promptfoo numbers the tests of a JSON file.
        """
        name: str = node.value
        if is_code(name):
            node.claim(executable("a script that makes tests, which is not run"))
        elif is_elsewhere(name):
            node.claim(dropped("an address is never fetched: download it beside the config"))
        elif name.partition("#")[0].endswith((".xlsx", ".xls")):
            node.claim(dropped("a workbook: save its sheet as CSV"))
        else:
            node.claim(NATIVE)
            for found in self._folder.matches(name, node):
                yield from self._of_file(self._folder.read(found, node), rows)

    def _of_file(self, document: Document, rows: bool) -> Iterator[Test]:
        self.twice[document.name] = self.twice.get(document.name, 0) + 1
        if self.twice[document.name] > MOST_TIMES:
            what = f"is named more than {MOST_TIMES} times"
            raise document.refuse(what, (), "does it name itself?")
        root = Node(document.value, document).referred()
        for index, node in enumerate(root.items()):
            at = f"{document.name or document.path.name}:{document.lines.get(node.path, index + 1)}"
            if document.path.suffix.lower() == ".csv":
                yield self._row(node, index + 1, at)
            elif isinstance(node.value, str):
                yield from self._named(node)
            else:
                numbered = rows and document.path.suffix.lower() in (".json", ".jsonl")
                about = {"description": f"Row #{index + 1}"} if numbered else {}
                for test in self._own(node, at):
                    yield replace(test, fields={**about, **test.fields})

    def _row(self, node: Node, number: int, at: str) -> Test:
        try:
            made = read_row(node.value, number)
        except ValueError as error:
            raise node.refuse(str(error), "mend the column") from None
        node.claim(NATIVE)
        for name in made.ignored:
            self._count(name)
            node.claim(IGNORED, name)
        for name in made.scripts:
            node.claim(executable("code is never run on import"), name)
        document = Document(node.document.path, "", made.test, {})  # claimed above, by column
        return self._test(Node(made.test, document), at)

    def _scenario(self, node: Node, number: int) -> Iterator[Test]:
        if (about := node.get("description")) is not None:
            about.claim(dropped("promptfoo does not hand a scenario's description to its tests"))
        configs, tests = node.get("config"), node.get("tests")
        given = [Node({}, node.document, node.path)] if tests is None else tests.items()
        for index, data in enumerate(configs.items() if configs is not None else ()):
            first = self._test(data, "")
            conversation = {"conversationId": f"__scenario_{number + index}__"}
            base = replace(
                first, fields={**first.fields, "metadata": {**conversation, **metadata_of(first)}}
            )
            for place, item in enumerate(given):
                at = f"scenarios: config {number + index}, test {place}"
                own = self._test(item, at)
                asserts = (*base.asserts, *own.asserts)
                yield replace(over(base, own), asserts=asserts, origin=at)

    def _file(self, node: Node) -> Node:
        document = self._folder.read(node.value, node)
        node.claim(NATIVE)
        return Node(document.value, document).referred()

    # --- one test -------------------------------------------------------------------------------

    def _test(self, node: Node, origin: str) -> Test:
        if not isinstance(node.value, dict):
            raise node.refuse("no test: a test is an object", "mend it")
        self._ignore(node)
        asserts = node.get("assert")
        fields = {key: self._field(key, node) for key in (*FIELDS, "options", "metadata")}
        present = {key: value for key, value in fields.items() if value is not None}
        options = present.get("options")
        return Test(
            origin,
            self._variables(node),
            present,
            tuple(asserts.items()) if asserts is not None else (),
            not (isinstance(options, dict) and options.get("disableDefaultAsserts") is True),
        )

    def _field(self, key: str, node: Node) -> Any:
        found = node.get(key)
        if found is None:
            return None
        if key in ("options", "metadata") and not isinstance(found.value, dict):
            raise found.refuse(f"{key} is no object", "write name: value")
        found.claim(_FATES.get(key, NATIVE))
        if key == "options":
            for name in set(found.value) & {*_CODE_OPTIONS}:
                found.claim(executable("a transform is code, which is not run"), name)
        return found.plain()

    def _variables(self, node: Node) -> dict[str, Any]:
        given = node.get("vars")
        if given is None:
            return {}
        if not isinstance(given.value, dict):
            return self._variables_of_files(given)
        made = {}
        for name, item in given.fields():
            item.claim(NATIVE)
            made[name] = self._variable(item)
        return made

    def _variables_of_files(self, given: Node) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for item in given.items():
            if not isinstance(item.value, str):
                raise item.refuse("vars are no object and no path", "write name: value")
            for name in self._folder.matches(item.value, item):
                document = self._folder.read(name, item)
                document.claims.put(NATIVE)
                if isinstance(document.value, dict):
                    made.update(Node(document.value, document).plain())
            item.claim(NATIVE)
        return made

    def _variable(self, node: Node) -> Any:
        """A variable; a data file's text in place of its name, one for each that a glob matches."""
        value = node.value
        if not isinstance(value, str) or not value.startswith(FILE):
            return node.plain()
        if is_code(value):
            node.claim(executable("a script that makes a variable, which is not run"))
            return value
        if value.lower().endswith(_BINARY):
            node.claim(carried("the file is no text: promptfoo reads it"))
            return value
        names = self._folder.matches(value, node)
        texts = [_as_variable(self._folder.read(name, node, as_text=True)) for name in names]
        return texts[0] if names == [value.removeprefix(FILE)] else texts

    def _ignore(self, node: Node) -> None:
        for key, item in node.fields():
            if key in KNOWN:
                if item.value in (None, [], {}):
                    item.claim(NATIVE)  # says as much as a key that is not there
            elif not key.startswith("$"):
                self._count(key)
                item.claim(IGNORED)

    def _count(self, key: str) -> None:
        self.ignored[key] = self.ignored.get(key, 0) + 1


def _as_variable(document: Document) -> str:
    """A data file as promptfoo makes a variable of it: YAML as JSON, anything else as text."""
    document.claims.put(NATIVE)
    if isinstance(document.value, str):
        return document.value.strip()
    value = Node(document.value, document).plain()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_FATES = {
    "provider": carried("asks another system: kept for promptfoo"),
    "providers": carried("picks systems: kept for promptfoo"),
    "prompts": carried("picks prompts: kept for promptfoo"),
    "assertScoringFunction": executable("a scoring function is code, which is not run"),
    "options": carried("kept for promptfoo"),
}
