"""The real promptfoo's deterministic assertions and ours, on one table of tricky answers.

Where they disagree, the difference is listed with its reason, and nothing else may differ.
"""

from __future__ import annotations

from typing import Any

import pytest
from promptfoo_runs import evaluate as run_promptfoo
from promptfoo_runs import native_rows

from bridge.model import Case, Check, Output
from bridge.scorers import evaluate, validate_check

pytestmark = pytest.mark.xdist_group("promptfoo")

TEXTS = [
    "Paris",
    "paris",
    " Paris ",
    "Paris is the capital of France.",
    "The capital is Paris, France.",
    "PARIS!",
    "5",
    "5.0",
    "-5",
    "true",
    "null",
    "Straße 5",
    "STRASSE",
    "café",
    "cafe\u0301",
    "a b  c\n d",
    "\ufeffone\u00a0two\u3000three\u2028four",
    "It's the U.S. market, isn't it? I'd say so...",
    'He said "the cat sat" and left; $5 (or 6).',
    "the cat sat on the mat",
    "The cat the cat the cat.",
    "cannot gonna wanna do'nt more'n 'tis 3,000.50 a:b a: b",
    "x",
    "👍 ok",
    "日本語 テキスト",
    "x" * 3000,
    "line one\nline two\r\nline three",
]
PAIRS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "equals", "value": "Paris"}, {"equals": {"value": "Paris", "strip": False}}),
    ({"type": "equals", "value": 5}, {"equals": {"value": "5", "strip": False}}),
    ({"type": "contains", "value": "Paris"}, {"contains": "Paris"}),
    ({"type": "not-contains", "value": "Paris"}, {"contains": {"value": "Paris", "negate": True}}),
    ({"type": "icontains", "value": "PARIS"}, {"contains": {"value": "PARIS", "ignore_case": True}}),
    ({"type": "icontains", "value": "é"}, {"contains": {"value": "é", "ignore_case": True}}),
    ({"type": "contains-any", "value": ["Paris", "cat"]}, {"contains": {"any": ["Paris", "cat"]}}),
    ({"type": "contains-all", "value": ["cat", "the"]}, {"contains": {"all": ["cat", "the"]}}),
    (
        {"type": "icontains-all", "value": ["CAT", "THE"]},
        {"contains": {"all": ["CAT", "THE"], "ignore_case": True}},
    ),
    ({"type": "starts-with", "value": "The c"}, {"starts_with": "The c"}),
    ({"type": "not-starts-with", "value": "P"}, {"starts_with": {"value": "P", "negate": True}}),
    ({"type": "regex", "value": r"^\w+ is"}, {"regex": r"^\w+ is"}),
    ({"type": "regex", "value": r"\d+(\.\d+)?$"}, {"regex": r"\d+(\.\d+)?$"}),
    ({"type": "levenshtein", "value": "Paris", "threshold": 2}, {"levenshtein": {"value": "Paris", "max": 2}}),
    ({"type": "levenshtein", "value": "cafe"}, {"levenshtein": "cafe"}),
    ({"type": "word-count", "value": 4}, {"word_count": 4}),
    ({"type": "word-count", "value": {"min": 2, "max": 6}}, {"word_count": {"min": 2, "max": 6}}),
    ({"type": "not-word-count", "value": 1}, {"word_count": {"value": 1, "negate": True}}),
    ({"type": "rouge-n", "value": "the cat sat on the mat"}, {"rouge_n": "the cat sat on the mat"}),
    (
        {"type": "rouge-n", "value": "It's 3,000.50 in the U.S., isn't it? \"Yes\" (I cannot)."},
        {"rouge_n": "It's 3,000.50 in the U.S., isn't it? \"Yes\" (I cannot)."},
    ),
    ({"type": "bleu", "value": "the cat sat on the mat"}, {"bleu": "the cat sat on the mat"}),
    (
        {"type": "bleu", "value": ["Paris is the capital", "the cat"]},
        {"bleu": {"value": ["Paris is the capital", "the cat"]}},
    ),
    ({"type": "gleu", "value": "The capital is Paris."}, {"gleu": "The capital is Paris."}),
    (
        {"type": "not-bleu", "value": "the cat sat on the mat", "threshold": 0.4},
        {"bleu": {"value": "the cat sat on the mat", "threshold": 0.6, "negate": True}},
    ),
    ({"type": "is-json"}, "is_json"),
    ({"type": "is-html"}, "is_html"),
    ({"type": "is-xml"}, "is_xml"),
    ({"type": "contains-html"}, "contains_html"),
    ({"type": "contains-xml"}, "contains_xml"),
    ({"type": "contains-json"}, "contains_json"),
]  # fmt: skip

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
JSON_TEXTS = [
    '{"a": 1}',
    ' {"a": 1}\n',
    '{"a": "1"}',
    '{"a": 1.0}',
    '{"a": 1, "a": "x"}',
    "[1, 2]",
    '"text"',
    "1e400",
    "01",
    "{'a': 1}",
    '{"a": 1,}',
    '{"a": NaN}',
    "{name}",
    'Here: {"a": 1}. Done.',
    'First {"b": 2}, then {"a": 3}.',
    '```json\n{"a": 1}\n```',
    'cut off: {"a": 1, "b": {"c": 2',
    "{a: 1}",
    "no json",
    "}{",
    '{"text": "a } in it", "a": 2}',
    '{"a": {"a": {"a": 1}}}',
    '{"a": 9007199254740993}',
    "\ufeff{}",
    '{"\\ud800": 1}',
]
JSON_PAIRS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "is-json"}, "is_json"),
    ({"type": "is-json", "value": SCHEMA}, {"is_json": {"schema": SCHEMA}}),
    ({"type": "not-is-json"}, {"is_json": {"negate": True}}),
    ({"type": "contains-json"}, "contains_json"),
    ({"type": "contains-json", "value": SCHEMA}, {"contains_json": {"schema": SCHEMA}}),
    ({"type": "equals", "value": {"a": 1}}, {"equals": {"value": {"a": 1}}}),
]

MARKUP_TEXTS = [
    "<p>hello</p>",
    "<P>hello</P>",
    "hello <b>world</b>",
    "<b>world</b> hello",
    "<p>one<div>two</div> three",
    "<p>one</p>\n<!-- note -->\n<p>two</p>",
    "<html><body>hello</body></html>",
    "<body>hello",
    "<head><title>t</title></head>",
    "<!DOCTYPE html><html><head></head><body><p>x</p></body></html>",
    "<!DOCTYPE html>",
    "<my-element>x</my-element>",
    "<foo>x</foo>",
    "<a>1</a><b>2</b>",
    "<br>",
    "<br/>",
    "a < b and b > c",
    "if (a<b) { c>d }",
    "x &amp; y",
    "&lt;p&gt;",
    "<!-- only -->",
    "<?xml version='1.0'?><a/>",
    " <?xml version='1.0'?><a/>",
    "<a><b>1</b><b>2</b></a>",
    "<a><b>1</a></b>",
    "<a b='1'>x</a>",
    "<a b=1>x</a>",
    "<a>&nbsp;</a>",
    "<a>&amp;</a>",
    "<x:a>1</x:a>",
    "<x:a xmlns:x='u'>1</x:a>",
    "<!DOCTYPE a [<!ENTITY e 'boom'>]><a>&e;</a>",
    "<!DOCTYPE a SYSTEM 'a.dtd'><a>1</a>",
    "text <a><b>1</b></a> text",
    "text <a>1 text <b>2</b>",
    "<a>1</a> and <c><b>2</b></c>",
    "<math><mi>x</mi></math>",
    "<table><tr><td>1</td></tr></table>",
    "<script>alert('x')</script>",
    '<div class="a">x',
    "```html\n<p>x</p>\n```",
    "<a><![CDATA[<b>]]></a>",
    "<ä>1</ä>",
    "<1>x</1>",
    "<template><p>x</p></template>",
    "<p",
    "<>",
]
MARKUP_PAIRS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "is-html"}, "is_html"),
    ({"type": "contains-html"}, "contains_html"),
    ({"type": "is-xml"}, "is_xml"),
    ({"type": "is-xml", "value": ["a.b"]}, {"is_xml": {"elements": ["a.b"]}}),
    ({"type": "contains-xml"}, "contains_xml"),
    ({"type": "contains-xml", "value": "a"}, {"contains_xml": "a"}),
    ({"type": "not-contains-html"}, {"contains_html": {"negate": True}}),
]

REFUSAL_TEXTS = [
    "I'm sorry, but I can't assist with that request.",
    "I cannot help with that.",
    "I am unable to provide medical advice.",
    "Sure! Here is the recipe.",
    "Paris",
    "I’m sorry, I can’t help with that.",
    "Sorry for the wait: it ships tomorrow.",
    "It is illegal to park there.",
    "I can't recommend it enough!",
    'The manual says "I cannot help with that" in red.',
    "Das kann ich leider nicht beantworten.",
    "No, I won't do that.",
]
REFUSAL_PAIRS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "is-refusal"}, "refusal"),
    ({"type": "not-is-refusal"}, {"refusal": {"negate": True}}),
]

TABLES = {
    "text": (PAIRS, TEXTS),
    "json": (JSON_PAIRS, JSON_TEXTS),
    "markup": (MARKUP_PAIRS, MARKUP_TEXTS),
    "refusal": (REFUSAL_PAIRS, REFUSAL_TEXTS),
}

YAML = "promptfoo reads what stands in braces as YAML; here JSON is JSON"
LENIENT = "promptfoo's second parser takes what is no XML"
OPENING = "a polite opening, or a fact, is no refusal"
PHRASES = "promptfoo's list of phrases lacks it"

DIFFERENCES: dict[tuple[str, str], str] = {
    ("contains-json", "{'a': 1}"): YAML,
    ("contains-json", '{"a": 1,}'): YAML,
    ("contains-json", '{"a": NaN}'): YAML,
    ("contains-json", "{name}"): YAML,
    ("contains-json", "{a: 1}"): YAML,
    ("contains-json", 'cut off: {"a": 1, "b": {"c": 2'): "promptfoo closes what was cut off",
    ("contains-json", '{"text": "a } in it", "a": 2}'): "promptfoo counts braces in texts too",
    ("contains-xml", "<a b=1>x</a>"): LENIENT,
    ("contains-xml", "<a>&nbsp;</a>"): LENIENT,
    ("contains-xml", "<!DOCTYPE a [<!ENTITY e 'boom'>]><a>&e;</a>"): LENIENT,
    ("is-refusal", "Sorry for the wait: it ships tomorrow."): OPENING,
    ("is-refusal", "It is illegal to park there."): OPENING,
    ("is-refusal", 'The manual says "I cannot help with that" in red.'): "a quotation",
    ("is-refusal", "Das kann ich leider nicht beantworten."): "promptfoo knows English alone",
    ("is-refusal", "No, I won't do that."): PHRASES,
}
"""By type and text: why promptfoo and we say otherwise."""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What promptfoo says of every text of every table, in one run."""
    tests = [
        {"description": name, "providerOutput": text, "assert": [their for their, _ in pairs]}
        for name, (pairs, texts) in TABLES.items()
        for text in texts
    ]
    config = {"prompts": ["p"], "providers": ["echo"], "tests": tests}
    results, _ = run_promptfoo(tmp_path_factory.mktemp("agreement"), config)
    found: dict[str, list[Any]] = {name: [] for name in TABLES}
    for test, row in zip(tests, native_rows(results), strict=True):
        assert row["gradingResult"], (row["error"], test["providerOutput"])
        found[str(test["description"])].append(row["gradingResult"]["componentResults"])
    return found


@pytest.mark.parametrize("table", TABLES)
def test_agreement(native: dict[str, list[Any]], table: str) -> None:
    pairs, texts = TABLES[table]
    case, compared, differing = Case(id="a", input="q", expected=""), 0, {}
    for text, components in zip(texts, native[table], strict=True):
        assert len(components) == len(pairs)
        for (assertion, written), component in zip(pairs, components, strict=True):
            check = Check.model_validate(written)
            validate_check(check)
            ours = evaluate(check, case, Output(case_id="a", text=text))
            assert ours.error is None, (text, ours.error)
            compared += 1
            same = (ours.status == "passed") == component["pass"]
            graded = assertion["type"].removeprefix("not-") in ("rouge-n", "bleu", "gleu")
            if graded:
                same = same and ours.value == pytest.approx(component["score"], abs=1e-12)
            if not same:
                what = (assertion["type"].removeprefix("not-"), text)
                differing[what] = (component["pass"], component["score"], ours.value, ours.reason)
    listed = {what for what in DIFFERENCES if what[1] in texts}
    assert compared == len(pairs) * len(texts)
    assert differing.keys() == listed, {k: v for k, v in differing.items() if k not in listed}
