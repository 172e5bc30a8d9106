"""Configs that mean harm: one line, exit 2, in bounded time, and nothing outside is opened."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON

from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge_promptfoo.config import CONFIG

HEAD = "prompts: [x]\nproviders: [e]\n"
BOMB = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
REFS = "r0: [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"r{i}: [{','.join(['{$ref: #/r{i - 1}}}'] * 10)}]\n".replace("''", '"') for i in range(1, 9)
)  # fmt: skip

FILES = {
    "bomb": f"{HEAD}{BOMB}tests: [{{vars: {{q: *a8}}}}]\n",
    "reference bomb": f'{HEAD}{REFS}tests: [{{vars: {{q: {{$ref: "#/r8"}}}}}}]\n',
    "tag": f"{HEAD}tests: [!!python/object/apply:os.system ['touch pwned']]\n",
    "own tag": f"{HEAD}tests: !include x.yaml\n",
    "twice": f"{HEAD}tests: [{{vars: {{a: 1}}}}]\ntests: [{{vars: {{a: 2}}}}]\n",
    "deep": HEAD + "tests: " + "[" * 5000,
    "deep references": HEAD
    + "a0: x\n"
    + "".join(f'a{i}: {{k: {{$ref: "#/a{i - 1}"}}}}\n' for i in range(1, 2000))
    + 'tests: [{vars: {q: {$ref: "#/a1999"}}}]\n',
    "references round each other": f'{HEAD}a: {{k: {{$ref: "#/b"}}}}\nb: {{k: {{$ref: "#/a"}}}}\n'
    'tests: [{vars: {q: {$ref: "#/a"}}}]\n',
    "nul": "prompts: [x]\x00\n",
    "binary": "prompts: \ud800",
    "passwd": f"{HEAD}tests: [file://../../../../../../etc/passwd]\n",
    "absolute": f"{HEAD}tests: [file:///etc/passwd]\n",
    "variable": f"{HEAD}tests: [{{vars: {{q: file://../secret.txt}}}}]\n",
    "variables": f"{HEAD}tests: [{{vars: ../secret.yaml}}]\n",
    "value": f"{HEAD}tests: [{{assert: [{{type: is-json, value: file://../s.json}}]}}]\n",
    "prompt": "prompts: [file://../secret.txt]\nproviders: [e]\ntests: [{vars: {q: x}}]\n",
    "default": f"{HEAD}defaultTest: file://../secret.yaml\ntests: [{{vars: {{q: x}}}}]\n",
    "glob": f"{HEAD}tests: ['../*.yaml']\n",
    "absolute glob": f"{HEAD}tests: ['/etc/*']\n",
    "link": f"{HEAD}tests: [link.yaml]\n",
    "link to a folder": f"{HEAD}tests: [out/secret.yaml]\n",
    "device": f"{HEAD}tests: [file:///dev/zero]\n",
    "folder": f"{HEAD}tests: [sub]\n",
    "name": f'{HEAD}tests: ["a\\0b.yaml"]\n',
    "long name": f"{HEAD}tests: [{'x' * 5000}.yaml]\n",
    "itself": f"{HEAD}tests: [itself.yaml]\n",
    "another tool": "name: ci\non: [push]\njobs: {}\n",
    "a text": "just text\n",
    "a list": "- 1\n- 2\n",
    "empty": "",
    "null": "null\n",
    "lists": f"{HEAD}tests: [{{vars: {{{', '.join(f'v{i}: [a, b]' for i in range(40))}}}}}]\n",
    "tests are numbers": f"{HEAD}tests: [1, 2]\n",
    "a number that JSON has not": f"{HEAD}tests: [{{assert: [{{type: equals, value: [.inf]}}]}}]\n",
    "vars are numbers": f"{HEAD}tests: [{{vars: 3}}]\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with secrets beside it, and links out of it."""
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "secret.yaml").write_text("- vars: {q: SECRET}\n")
    inside = tmp_path / "in"
    (inside / "sub").mkdir(parents=True)
    (inside / "itself.yaml").write_text("- file://itself.yaml\n- vars: {q: x}\n")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inside / "out").symlink_to(tmp_path)
    return inside


@pytest.mark.parametrize("name", FILES)
def test_one_line_and_nothing_else(folder: Path, name: str) -> None:
    path = folder / "promptfooconfig.yaml"
    path.write_bytes(FILES[name].encode("utf-8", "surrogatepass"))
    began = time.process_time()
    with pytest.raises(InputError) as caught:
        CONFIG.read(path, ReadOptions())
    assert time.process_time() - began < 10
    told = str(caught.value)
    assert "\n" not in told
    assert "SECRET" not in told
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_deep_json_is_refused(folder: Path, depth: int) -> None:
    for name in ("promptfooconfig.json", "t.jsonl"):
        path = folder / name
        deep = f"{'[' * depth}1{']' * depth}"
        path.write_text(
            f'{{"prompts": ["x"], "tests": [{{"vars": {{"q": {deep}}}}}], "vars": {{}}}}'
        )
        with pytest.raises(InputError, match="nested"):
            CONFIG.read(path, ReadOptions())


def test_lone_surrogates_are_replaced(folder: Path) -> None:
    path = folder / "promptfooconfig.json"
    path.write_text(
        r'{"prompts": ["{{q}}"], "tests": [{"vars": {"q": "a\ud800", "\udc00": 1}}], "\ud801": 2}'
    )
    bundle, report = CONFIG.read(path, ReadOptions())
    assert bundle.cases[0].input == "a\ufffd"
    assert report.total == 4
    CONFIG.write(bundle, folder / "out" / "promptfooconfig.json", WriteOptions())


def test_on_the_command_line_it_is_exit_2(folder: Path, bridge: Bridge) -> None:
    for name in ("tag", "passwd", "twice", "another tool"):
        (folder / "promptfooconfig.yaml").write_text(FILES[name])
        done = bridge(
            "convert", folder / "promptfooconfig.yaml", "out.jsonl", "--from", "promptfoo_config"
        )
        assert (done.returncode, done.stdout) == (2, ""), done
        assert len(done.stderr.splitlines()) == 1
        assert "promptfooconfig.yaml" in done.stderr


def test_repeated_keys_are_named_with_their_lines(folder: Path) -> None:
    path = folder / "promptfooconfig.yaml"
    path.write_text(FILES["twice"])
    with pytest.raises(InputError, match=r":4: key 'tests' stands twice \(first on line 3\)"):
        CONFIG.read(path, ReadOptions())
    path = folder / "t.json"
    path.write_text('{"prompts": ["a"], "tests": [], "tests": [{"vars": {"a": 1}}]}')
    with pytest.raises(InputError, match="key 'tests' stands twice"):
        CONFIG.read(path, ReadOptions())


def test_a_folder_that_is_named_may_be_read(folder: Path) -> None:
    path = folder / "promptfooconfig.yaml"
    path.write_text(f"{HEAD}tests: [../secret.yaml]\n")
    options = ReadOptions(options={"root": str(folder.parent)})
    bundle, _ = CONFIG.read(path, options)
    assert bundle.cases[0].vars["q"] == "SECRET"
    with pytest.raises(InputError, match="root is 1; write a text"):
        CONFIG.read(path, ReadOptions(options={"root": 1}))
    with pytest.raises(InputError, match="write true or false"):
        CONFIG.read(path, ReadOptions(options={"expand": "x"}))


def test_nothing_of_it_is_imported_or_run(folder: Path) -> None:
    """A module named by a check, a script, a template: none of them is touched on either way."""
    (folder / "evil.py").write_text("import pathlib; pathlib.Path('pwned').touch()\n")
    (folder / "promptfooconfig.yaml").write_text(
        f"{HEAD}tests:\n- vars: {{q: '{{{{ range(9) }}}}', p: file://evil.py}}\n"
        "  assert: [{type: python, value: file://evil.py}, {type: javascript, value: 1}]\n"
        "  options: {transform: file://evil.py}\nextensions: [file://evil.py:f]\n"
    )
    golden = {"id": "a", "input": "x", "expected": "", "checks": ["evil:X"], "turns": [{"user": "u", "checks": ["evil:Y"]}]}  # fmt: skip
    (folder / "cases.jsonl").write_text(json.dumps(golden))
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from bridge import convert; from pathlib import Path; from bridge_promptfoo.config import CONFIG\n"
        "for source in ('promptfooconfig.yaml', 'cases.jsonl'):\n"
        "    convert(Path(source), Path('out') / source / 'c.yaml', writer=CONFIG)\n"
        "    convert(Path('out') / source / 'c.yaml', Path('again') / source / 'c.yaml', writer=CONFIG)\n"
        "assert 'evil' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, env=dict(os.environ))
    assert not (folder / "pwned").exists()


CONFIGS = st.dictionaries(
    st.sampled_from(["prompts", "providers", "tests", "scenarios", "defaultTest", "metadata", "x"]),
    JSON
    | st.lists(
        st.dictionaries(
            st.sampled_from(
                ["vars", "assert", "options", "metadata", "threshold", "$ref", "path", "config"]
            ),
            JSON
            | st.lists(
                st.dictionaries(
                    st.sampled_from(["type", "value", "threshold", "weight", "assert", "metric"]),
                    JSON | st.sampled_from(["contains", "assert-set", "is-json", "#/tests/0"]),
                ),
                max_size=2,
            ),
        ),
        max_size=2,
    ),
)


@given(CONFIGS)
def test_any_document_is_read_to_the_last_leaf_or_refused(
    tmp_path_factory: pytest.TempPathFactory, config: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "promptfooconfig.json"
    path.write_text(json.dumps(config))
    try:
        bundle, report = CONFIG.read(path, ReadOptions())
    except InputError:
        return
    assert report.total == count_leaves(config)
    assert bundle.cases or bundle.suite


def test_thousands_of_tests_are_read_in_bounded_time_and_memory(tmp_path: Path) -> None:
    rows = (
        json.dumps(
            {"vars": {"q": f"q{i}" * 20}, "assert": [{"type": "contains", "value": "x"}] * 4}
        )
        for i in range(3_000)
    )
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    (tmp_path / "promptfooconfig.yaml").write_text(f"{HEAD}tests: [t.jsonl]\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    bundle, _ = CONFIG.read(tmp_path / "promptfooconfig.yaml", ReadOptions())
    assert len(bundle.cases) == 3_000
    assert time.process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024
