"""promptfoo configs (YAML, JSON) and files of tests (YAML, JSON, JSON Lines, CSV) as a format.

Read options: ``expand`` (true), whether a variable that is a list becomes a case for each item;
``root``, the folder that data files may come from (the config's own); ``judge``, a model, or a
judge as in a suite, for assertions that ask one where the config names no grader that can be one.
Write options: ``tests`` (``beside``), or ``inline`` to have the tests in the config. promptfoo is
not started, nothing in a file is executed and nothing outside its folder is opened.
"""

from __future__ import annotations

import re
from pathlib import Path

from bridge.files.shape import leading_keys
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.options import flag, refuse_others, text
from bridge_promptfoo.config.files import Folder
from bridge_promptfoo.config.graders import fallback_of
from bridge_promptfoo.config.reading import FORMAT_NAME, ConfigReading
from bridge_promptfoo.config.writing import write_config
from bridge_promptfoo.rows import NAME

_KEYS = re.compile(rb"(?m)^(prompts|providers|targets|tests|scenarios|defaultTest)[ \t]*:")
_TEST_KEYS = re.compile(rb"(?m)^(?:- |  )(vars|assert)[ \t]*:")
_LINE_KEYS = frozenset({"vars", "assert", "providerOutput"})
_RESULT_KEYS = frozenset({"results", "evalId", "testCase", "testIdx", "gradingResult"})
_CONFIG_KEYS = frozenset({"prompts", "providers", "targets", "tests", "scenarios", "defaultTest"})


class PromptfooConfigFormat:
    """A promptfoo config with the tests it names."""

    info = FormatInfo(
        name=FORMAT_NAME,
        title="a promptfoo config",
        patterns=(
            "promptfooconfig.yaml",
            "promptfooconfig.yml",
            "promptfooconfig.json",
            "*.promptfoo.yaml",
            "*promptfoo*.yaml",
        ),
        reads=frozenset({"suite", "cases", "outputs"}),
        writes=frozenset({"suite", "cases", "outputs"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By the keys of a config, or of a test."""
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return 0.9 if b"__expected" in head.partition(b"\n")[0] else 0.0
        if suffix in (".json", ".jsonl"):
            return _likeness_of_json(head)
        found = len(set(_KEYS.findall(head)))
        if suffix in (".yaml", ".yml") and (found or path.name.startswith("promptfooconfig")):
            return min(0.95, 0.35 + 0.3 * found)
        tests = len(set(_TEST_KEYS.findall(head)))
        return 0.3 * tests if suffix in (".yaml", ".yml") else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a config, or a file of tests.

        Raises:
            InputError: If it or a file it names is damaged, or it holds no test.
        """
        refuse_others(self.info, options.options, {"expand", "judge", "root"})
        expand = flag(options.options, "expand", default=True)
        root = text(options.options, "root")
        judge = fallback_of(options.options.get("judge"))
        folder = Folder(source, Path(root) if root else None)
        return ConfigReading(folder, expand=expand, judge=judge).read()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a config, with its tests and the scripts that its checks need beside it.

        Raises:
            InputError: If there is no case.
        """
        refuse_others(self.info, options.options, {"tests"})
        place = options.options.get("tests", "beside")
        if place not in ("beside", "inline"):
            raise InputError(f"tests is {place!r}", fix="write beside or inline")
        return write_config(bundle, dest, inline=place == "inline")


CONFIG = PromptfooConfigFormat()


def _likeness_of_json(head: bytes) -> float:
    keys = set(leading_keys(head.lstrip(b"\xef\xbb\xbf[ \t\r\n")))
    if keys & _RESULT_KEYS:
        return 0.0
    found = len(keys & _CONFIG_KEYS)
    return min(0.9, 0.35 * found) if found else 0.4 * len(keys & _LINE_KEYS)
