"""Secrets of other people's files never reach what we write."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge

from bridge.conversion.convert import convert
from bridge.model import Bundle, Case, ConversionReport, Output, Score
from bridge.model.redaction import NAMES, REDACTED, is_written, without_secrets
from bridge.plugin.accounts.secrets import redacted
from bridge.plugin.registry import get_format

KEY = "sk-live-0123456789abcdef"
CONFIG = f"""
prompts: ['{{{{q}}}}']
env: {{OPENAI_API_KEY: plain-looking-key, REGION: eu}}
providers:
  - id: openai:gpt-4o
    config: {{apiKey: hunter2hunter2, temperature: 0, max_tokens: 9, apiKeyEnvar: MY_KEY}}
  - id: https://user:hunter3@example.test/v1?token=abcdef123456&model=x
    config:
      headers: {{Authorization: 'Bearer {{{{env.TOKEN}}}}', X-Api-Key: hunter4, Content-Type: text/plain}}
      body: {{note: 'use {KEY} here', stop_token: '<|endoftext|>', access_token: '${{ACCESS}}'}}
defaultTest: {{options: {{provider: {{id: x, config: {{apiKey: '{{{{env.GRADER}}}}'}}}}}}}}
tests:
  - vars: {{q: 'my password is hunter9', token: 'a test value'}}
    assert:
      - {{type: contains, value: '{KEY}'}}
      - {{type: llm-rubric, value: good, provider: {{id: y, config: {{secretAccessKey: hunter5x}}}}}}
"""
SECRETS = ("plain-looking-key", "hunter2", "hunter3", "hunter4", "hunter5x", "abcdef123456")
KEPT = ("{{env.TOKEN}}", "{{env.GRADER}}", "${ACCESS}", "MY_KEY", "<|endoftext|>", "text/plain",
        "my password is hunter9", "a test value")  # fmt: skip


@pytest.mark.parametrize("target", ["suite", "promptfoo_config"])
def test_keys_of_a_config_are_taken_out_and_counted(tmp_path: Path, target: str) -> None:
    source = tmp_path / "promptfooconfig.yaml"
    source.write_text(CONFIG)
    writer = get_format(target)
    done = convert(source, tmp_path / "out" / writer.info.patterns[0], writer=writer)
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert not [each for each in SECRETS if each in written]
    assert REDACTED in written
    assert not [each for each in KEPT if each not in written]
    assert written.count(KEY) >= 1  # what the assertion looks for is the case's own
    assert f"use {KEY} here" not in written
    (note,) = [each for each in done.read.notes if "secrets" in each]
    assert note.startswith("7 secrets were taken out (suite.extras.promptfoo.")


def test_the_command_says_so(tmp_path: Path, bridge: Bridge) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(CONFIG)
    done = bridge("convert", "promptfooconfig.yaml", "out/bridge.yaml")
    assert done.returncode == 0, done.stderr
    assert "7 secrets were taken out" in done.stdout
    assert not [each for each in SECRETS if each in done.stdout]


def test_a_system_is_named_without_its_key() -> None:
    name = "https://h.test/?api_key=0123456789&v=1"
    output = Output(case_id="a", system=name, text=f"{KEY} is what it said")
    score = Score(framework="f", metric="m", case_id="a", system=name, status="scored", value=1)
    bundle, report = redacted(Bundle(outputs=(output,), scores=(score,)), ConversionReport())
    assert bundle.outputs[0].system == bundle.scores[0].system
    assert bundle.outputs[0].system == f"https://h.test/?api_key={REDACTED}&v=1"
    assert bundle.outputs[0].text == output.text
    assert report.notes[0].startswith(
        "2 secrets were taken out (outputs[].system, scores[].system)"
    )


def test_cases_are_data(tmp_path: Path) -> None:
    case = Case.model_validate(
        {
            "id": "a", "input": f"leak {KEY}", "expected": KEY, "vars": {"password": "x" * 9},
            "metadata": {"api_key": "y" * 9},
            "expected_calls": {"calls": [{"name": "login", "arguments": {"password": "hunter2"}}]},
        }
    )  # fmt: skip
    bundle = Bundle(cases=(case,))
    assert redacted(bundle, ConversionReport()) == (bundle, ConversionReport())


@pytest.mark.parametrize(
    "name",
    ["apiKey", "api_key", "X-API-Key", "Authorization", "proxy-authorization", "accessToken",
     "token", "client_secret", "secretAccessKey", "password", "Set-Cookie", "OPENAI_API_KEY"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert NAMES.search(name)


@pytest.mark.parametrize(
    "name", ["max_tokens", "tokenUsage", "apiKeyEnvar", "stop_token", "eosToken", "key", "keys",
             "passwordless", "secretary", "tokens", "input_token_count"],
)  # fmt: skip
def test_names_of_no_secrets(name: str) -> None:
    assert not NAMES.search(name)


@pytest.mark.parametrize(
    ("value", "written"),
    [("{{env.KEY}}", False), ("Bearer {{env.KEY}}", False), ("$KEY", False), ("${KEY}", False),
     ("process.env.KEY", False), ("", False), ("***", False), ("<your key>", False), ("xxxx", False),
     (REDACTED, False),
     ("hunter2", True), ("Bearer hunter2", True), ("{{env.KEY}}-hunter2", True)],
)  # fmt: skip
def test_a_secret_that_is_only_named_stays(value: str, written: bool) -> None:
    assert is_written(value) is written


SHAPES: list[Any] = [
    KEY, "ghp_0123456789abcdefghij", "AKIA0123456789ABCDEF", "xoxb-0123456789-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl", "Bearer 0123456789abcdef",
]  # fmt: skip


@pytest.mark.parametrize("secret", SHAPES)
def test_shapes(secret: str) -> None:
    kept, count = without_secrets(f"before {secret} after")
    assert (kept, count) == (f"before {REDACTED} after", 1)
    assert json.loads(json.dumps(kept)) == kept


@pytest.mark.parametrize("hostile", ["eyJ-", "{{", "${", "://a:", "bearer ", "?key=", "sk-", "<"])
def test_hostile_text_takes_no_longer(hostile: str) -> None:
    start = time.process_time()
    without_secrets(hostile * 50_000)
    is_written(hostile * 50_000)
    assert time.process_time() - start < 5


def test_a_plain_text_is_left_alone() -> None:
    text = "ask https://a.test/x?page=2&key=ab for sk-1, tokens: 5 and a risk-free bearer"
    assert without_secrets(text) == (text, 0)
