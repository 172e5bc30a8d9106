"""Values of ``defaultTest`` that every test overrides: in effect nowhere, and not lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.files.yaml import dump_yaml, parse_yaml
from bridge.model import Bundle, ConversionReport
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.testing.accounted import assert_accounted
from bridge_promptfoo.config.format import CONFIG

DEFAULT: dict[str, Any] = {
    "vars": {"lang": "en", "tone": "calm", "many": ["a", "b"]},
    "options": {"prefix": "P", "suffix": "S", "mine": {"k": 1}},
    "metadata": {"owner": "nobody", "team": "t"},
    "threshold": 0.25,
}
TESTS: list[dict[str, Any]] = [
    {
        "description": name,
        "vars": {"q": name, "lang": name},
        "options": {"prefix": name},
        "metadata": {"owner": name},
        "threshold": 0.5,
        "assert": [{"type": "contains", "value": name}],
    }
    for name in ("x", "y")
]
OVERRIDDEN = {
    "vars": {"lang": "en"},
    "options": {"prefix": "P"},
    "metadata": {"owner": "nobody"},
    "threshold": 0.25,
}


def read(folder: Path, config: dict[str, Any]) -> tuple[Bundle, ConversionReport]:
    path = folder / "promptfooconfig.yaml"
    path.write_text(dump_yaml(config), "utf-8")
    return CONFIG.read(path, ReadOptions())


def config(tests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"prompts": ["{{q}}"], "providers": ["echo"], "defaultTest": DEFAULT, "tests": tests}


def test_they_are_kept_and_said_so(tmp_path: Path) -> None:
    document = config(TESTS)
    bundle, report = read(tmp_path, document)
    assert bundle.suite is not None
    assert bundle.suite.extras["promptfoo"]["defaultTest"] == OVERRIDDEN
    fates = {each.field: each.fate for each in report.lines if "every test" in each.reason}
    assert fates == {
        "defaultTest.vars.lang": "carried",
        "defaultTest.options.prefix": "carried",
        "defaultTest.metadata.owner": "carried",
        "defaultTest.threshold": "carried",
    }
    assert_accounted(document, bundle, report)


def test_what_one_test_inherits_is_in_effect(tmp_path: Path) -> None:
    bundle, report = read(tmp_path, config([*TESTS, {"vars": {"q": "z"}}]))
    assert bundle.suite is not None
    assert "defaultTest" not in bundle.suite.extras["promptfoo"]
    assert not any("every test" in each.reason for each in report.lines)


def test_they_stand_there_again(tmp_path: Path) -> None:
    bundle, _ = read(tmp_path, config(TESTS))
    (tmp_path / "out").mkdir()
    dest = tmp_path / "out" / "promptfooconfig.yaml"
    CONFIG.write(bundle, dest, WriteOptions())
    written, _ = parse_yaml(dest.read_bytes(), dest)
    assert isinstance(written, Mapping)
    merged = ("vars", "options", "metadata")
    assert written["defaultTest"] == {key: OVERRIDDEN[key] for key in merged}
    again, report = CONFIG.read(dest, ReadOptions())
    assert again == bundle
    assert {each.fate for each in report.lines if "every test" in each.reason} == {"carried"}


@pytest.mark.parametrize("value", ["text", 1, None, ["x"]])
def test_a_suite_that_keeps_something_else_there_is_written(tmp_path: Path, value: Any) -> None:
    bundle, _ = read(tmp_path, config(TESTS))
    assert bundle.suite is not None
    extras = {**bundle.suite.extras["promptfoo"], "defaultTest": value}
    suite = bundle.suite.model_copy(update={"extras": {"promptfoo": extras}})
    (tmp_path / "out").mkdir()
    dest = tmp_path / "out" / "promptfooconfig.yaml"
    CONFIG.write(bundle.model_copy(update={"suite": suite}), dest, WriteOptions())
    assert "defaultTest" not in parse_yaml(dest.read_bytes(), dest)[0]
