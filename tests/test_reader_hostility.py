"""What is hostile or broken ends in one clear line, in bounded time and memory."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fuzz.readers import Bench, at_random, read_all
from fuzz.seeds import Seed
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.files.foreign.json_items import index_json
from bridge.files.foreign.json_marks import count_leaves_of
from bridge.model import Bundle, InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format, format_names, get_format

READERS = format_names()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    made = Bench(tmp_path_factory.mktemp("seeds"))
    assert {seed.format for seed in made.seeds} == set(READERS)
    return made


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 100_000))
def test_mutated_files_leave_no_exception_but_ours(bench: Bench, seed: int) -> None:
    number = seed % len(bench.seeds)
    data = bench.mutated(number, bench.seeds[number].content, random.Random(seed))
    bench.read(number, data)


def test_the_fuzzer_runs_for_as_long_as_it_is_told() -> None:
    assert at_random(0.02, ["golden_set"]) > 3


def test_every_seed_is_read(bench: Bench) -> None:
    """A seed that is refused starts nowhere; a baseline holds nothing that could be read."""
    for number, seed in enumerate(bench.seeds):
        refused = bench.read(number, seed.content)
        assert (refused == "") is (seed.format != "baseline"), refused


HOSTILE = {
    "nothing": b"",
    "zero bytes": b"\x00" * 4096,
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 7\n",
    "a page of HTML": b"<html><body>429 Too Many Requests</body></html>",
    "a page of HTML with a title": (
        b"\xef\xbb\xbf<!-- x -->\n<!DOCTYPE html>\n<title>\nSign in</title>"
    ),
    "UTF-16": '{"results": []}'.encode("utf-16"),
    "UTF-32": '{"results": []}'.encode("utf-32"),
    "a page of HTML in UTF-16": "<html>".encode("utf-16"),
    "gzip": b"\x1f\x8b\x08\x00 and more",
    "a lock file of an office": b"\x05Maria" + b" " * 49 + b"\x05\x00M\x00a\x00",
    "deep": b"[" * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "an archive cut off": b"PK\x03\x04" + b"\x00" * 64,
    "another tool's file": b'{"name": "x", "scripts": {}}',
    "a number": b"7",
    "NaN": b"NaN",
}


SAID = {
    "zero bytes": "no text (a NUL at byte 0); name a text file",
    "a Git LFS pointer": "a Git LFS pointer, not the file; fetch it with git lfs pull",
    "a page of HTML": "a page of HTML; download the file itself",
    "a page of HTML with a title": "a page of HTML ('Sign in'); download the file itself",
    "gzip": "compressed with gzip, no text; unpack it",
    "a lock file of an office": "no text (a NUL at byte 56); name a text file",
}
"""What everyone says of a file that is no data, whatever it is called."""
EMPTY = {"outputs", "scores"}
"""Files of ours that may hold nothing yet."""


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".eval", ".xml", ".yaml", ".txt"])
@pytest.mark.parametrize("what", HOSTILE)
def test_every_reader_refuses_it_in_one_line(tmp_path: Path, what: str, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(HOSTILE[what])
    with pytest.raises(InputError):
        detect_format(path).read(path, ReadOptions())
    for name in READERS:
        if what == "nothing" and name in EMPTY:
            assert get_format(name).read(path, ReadOptions())[0] == Bundle()
            continue
        with pytest.raises(InputError) as caught:
            get_format(name).read(path, ReadOptions())
        told = str(caught.value)
        where = tmp_path / "run.json" if name == "run" else path
        assert "\n" not in told
        assert told.startswith(str(where))
        if what in SAID and name != "run":
            assert told == f"{path}: {SAID[what]}"


@pytest.mark.parametrize("what", SAID)
def test_the_command_says_what_a_file_is_that_is_no_data(tmp_path: Path, what: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(HOSTILE[what])
    with pytest.raises(InputError) as caught:
        detect_format(path)
    assert str(caught.value) == f"{path}: {SAID[what]}"


SURROGATE = "\\ud800"
FOUND = [
    ("lm_eval", "x.jsonl", '{"doc_id": 1, "doc": {}, "target": "a", "acc": 1' + "0" * 400 + "}"),
    ("inspect", "x.json", '{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": '
     '[{"id": 1, "input": "q", "scores": {"s": {"value": 1}}}], "results": {"scores": [{"name": "s", '
     '"metrics": {"mean": {"value": 1' + "0" * 400 + "}}}]}}"),
    ("ragas", "x.jsonl", json.dumps({"user_input": "q", "bridge": {
        "case": {}, "found": {}, "output": {"retrieved_contexts": [{"id": "1"}]}}})),
    ("promptfoo", "x.jsonl", '{"testIdx": 9223372036854775808, "gradingResult": {"pass": true}}'),
    ("promptfoo", "x.csv", 'q,p\na,"[PASS] (1.00, m: 0..5) x"\n'),
    ("deepeval_dataset", "g.json", '[{"input": "q", "expectedTools": [{"name": "f", "args": '
     + '{"a": ' * 900 + "1" + "}" * 900 + "}]}]"),
    ("ragas_dataset", "x.jsonl", '{"user_input": [["a"]], "reference": "r"}'),
    ("golden_set", "x.jsonl", '{"id": "a", "input": "q", "expected": "", "checks": [{"a": 1, "'
     + SURROGATE + '": 1}]}'),
    ("suite", "x.yaml", 'name: s\ngolden_set: c\nsystem: {recorded: o}\nframeworks: [{"'
     + SURROGATE + '": 1}]\n'),
    ("pydantic_evals", "d.yaml", "cases: [{inputs: q}]\nevaluators:\n- MaxDuration: .inf\n"),
    ("table", "x.jsonl", '{"input": "q", "k": 1e999}'),
    ("deepeval_dataset", "g.json", '[{"_comment": "c", "input": ' + '{"a": ' * 900 + "null" + "}" * 901 + "]"),
    ("golden_set", "x.jsonl", '{"id": "a", "input": "q", "expected": "", "expected_calls": {"calls": [{"name": "f",'
     ' "arguments": {"n": {"$approx": 1, "abs": 1' + "0" * 400 + "}}}]}}"),
    ("promptfoo_config", "c.yaml", 'prompts: [x]\nproviders: [echo]\ntests: [{vars: {q: a}, assert: [{type: equals, '
     'value: b, threshold: 1' + "0" * 400 + ", weight: 1" + "0" * 400 + "}]}]\n"),
    ("promptfoo", "x.jsonl", '{"testIdx": 0, "promptIdx": 0, "success": true, "gradingResult": {"pass": true, "score": 1, '
     '"componentResults": [{"pass": true, "score": 1, "assertion": {"type": "equals", "weight": 1' + "0" * 400 + "}}]}}"),
    ("inspect", "x.json", '{"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [{"id": "", "input": "q"}]}'),
]  # fmt: skip
"""What the fuzzer found."""


@pytest.mark.parametrize(("name", "file", "text"), FOUND, ids=[each[0] for each in FOUND])
def test_what_the_fuzzer_found(tmp_path: Path, name: str, file: str, text: str) -> None:
    told = read_all(Seed(name, file, b""), tmp_path, text.encode())
    assert told == "" or told.startswith(str(tmp_path / file))


UNICODE_TEXT = {
    "ragas": "user_input\tresponse\tfaithfulness\r\nwäs\tjä\t0.5\r\n",
    "ragas_dataset": "user_input\treference\r\nwäs\tjä\r\n",
    "deepeval_dataset": "input\texpected_output\tretrieval_context\r\nwäs\tjä\tx\r\n",
    "inspect_dataset": "input\ttarget\r\nwäs\tjä\r\n",
    "table": "question\tanswer\r\nwäs\tjä\r\n",
    "promptfoo": "q\t[e] p\tStatus\tScore\r\nwäs\tjä\tPASS\t1\r\n",
}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", UNICODE_TEXT)
def test_excels_unicode_text_is_read(tmp_path: Path, encoding: str, name: str) -> None:
    """Tabs and a byte order mark; it is detected and read as the same file in UTF-8."""
    text = UNICODE_TEXT[name]
    plain, marked = tmp_path / "plain.csv", tmp_path / "marked.csv"
    plain.write_text(text, "utf-8")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    marked.write_text(mark + text, encoding)
    format_ = get_format(name)
    head = marked.read_bytes()
    assert format_.sniff(head, marked) == format_.sniff(plain.read_bytes(), plain) > 0
    bundle, report = format_.read(marked, ReadOptions())
    assert (bundle, report.notes) == (format_.read(plain, ReadOptions())[0], report.notes)
    assert not any("encoding" in note for note in report.notes)


def test_a_folder_and_a_dangling_link_are_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "gone.json")
    for path in (tmp_path, link):
        for name in READERS:
            with pytest.raises(InputError):
                get_format(name).read(path, ReadOptions())


@pytest.mark.parametrize("name", ["inspect", "deepeval", "promptfoo", "ragas"])
def test_a_line_of_many_megabytes_takes_little_memory(tmp_path: Path, name: str) -> None:
    """A sparse file of 300 MB in one line, in a process that may not take 400 MB more."""
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.write(b'{"a": "' + b"x" * 8192)  # beyond where zero bytes are told from text
        file.seek(300 * 1024 * 1024)
        file.write(b'"}')
    code = (
        "import resource, sys\nfrom pathlib import Path\nimport numpy, pydantic\n"
        "from bridge.model import InputError\nfrom bridge.plugin.format import ReadOptions\n"
        "from bridge.plugin.registry import get_format\n"
        f"format_ = get_format({name!r})\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 400 * 2**20,) * 2)\n"
        "try:\n    format_.read(Path(sys.argv[1]), ReadOptions())\n"
        "except InputError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "64 MiB that are no rows" in done.stdout
    assert resource.RLIMIT_AS is not None


def test_an_archive_with_a_bomb_for_a_sample_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    head = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(head))
        file.writestr("samples/1_epoch_1.json", b" " * (300 * 1024 * 1024))
    with pytest.raises(InputError, match="would unpack to"):
        get_format("inspect").read(path, ReadOptions())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=5),
    rest=JSON,
    indent=st.sampled_from([None, 2]),
    chunk=st.sampled_from([1, 2, 3, 7, 1 << 20]),
)
def test_items_are_those_of_the_document(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, object]],
    rest: object,
    indent: int | None,
    chunk: int,
) -> None:
    """Split anywhere, the items and the rest are what the standard library sees."""
    import bridge.files.foreign.json_items as module

    path = tmp_path_factory.getbasetemp() / "items.json"
    document = {"before": rest, "inner": {"rows": rows, "beside": rest}, "after": rest}
    text = json.dumps(document, indent=indent)
    path.write_text(text, encoding="utf-8")
    whole = module.CHUNK
    try:
        module.CHUNK = chunk
        found = index_json(path, [("inner", "rows")])
    finally:
        module.CHUNK = whole
    assert [json.loads(item) for item in found.items(("inner", "rows"))] == rows
    document["inner"] = {"rows": [], "beside": rest}
    assert json.loads(found.head) == document
    assert count_leaves_of([text.encode()]) == count_leaves(json.loads(text))


def test_what_a_config_carries_may_lack_any_of_its_marks(bench: Bench) -> None:
    """Found by the fuzzer too: what was shown of a test when it was written is gone."""
    number, seed = next(
        (number, seed)
        for number, seed in enumerate(bench.seeds)
        if seed.name == "promptfooconfig.tests.jsonl"
    )
    mark = b'\\"metadata\\":\\"'
    assert mark in seed.content
    assert bench.read(number, seed.content.replace(mark, b'\\"gone\\":\\"')) == ""
