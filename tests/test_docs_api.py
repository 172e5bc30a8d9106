"""docs/api.md: it names what is public and nothing else, and its examples run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, Bridge, write_suite

import bridge

PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_names_what_is_public_and_nothing_else() -> None:
    _, names = PAGE.split("## Names")
    named = re.findall(r"`(\w+)`", names)
    assert sorted(named) == sorted(bridge.__all__)


def test_what_people_see_of_the_package_is_what_is_public() -> None:
    assert {name for name in dir(bridge) if not name.startswith("__")} == set(bridge.__all__)


def test_the_examples_run_beside_a_suite(tmp_path: Path) -> None:
    write_suite(tmp_path, {"gate": {"metrics": {"equals": {"min": 0.5}}}})
    printed = ""
    for example in EXAMPLES[:2]:
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    assert printed == "passed\n"
    assert (tmp_path / "baseline.json").is_file()


def test_the_scorer_of_the_example_scores_in_a_suite(bridge: Bridge, tmp_path: Path) -> None:
    suite = {"checks": ["brief:SCORER"]}
    write_suite(tmp_path, suite, brief=EXAMPLES[2])
    done = bridge("run", tmp_path / "bridge.yaml", "--run-dir", tmp_path / "R")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = (tmp_path / "R" / "scores" / "core.jsonl").read_text("utf-8")
    assert rows.count('"reason":"1 words"') + rows.count('"reason": "1 words"') == 4
