"""What is hostile or broken ends in one clear line, in bounded time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fuzz.readers import at_random, read_all, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.files.json_items import index_json
from bridge.files.json_marks import count_leaves_of
from bridge.model import InputError
from bridge.plugin.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format, get_format

READERS = ["inspect", "deepeval", "ragas", "promptfoo", "lm_eval", "every_eval_ever", "junit"]
SEEDS = list(seeds())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000))
def test_mutated_files_leave_no_exception_but_ours(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    import random

    from fuzz.readers import mutated

    chance = random.Random(seed)
    name, suffix, content = SEEDS[seed % len(SEEDS)]
    read_all(name, tmp_path_factory.getbasetemp() / f"x{suffix}", mutated(content, chance))


def test_the_fuzzer_runs_for_as_long_as_it_is_told() -> None:
    assert at_random(0.02) > 3


HOSTILE = {
    "nothing": b"",
    "zero bytes": b"\x00" * 4096,
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 7\n",
    "a page of HTML": b"<html><body>429 Too Many Requests</body></html>",
    "UTF-16": '{"results": []}'.encode("utf-16"),
    "deep": b"[" * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "an archive cut off": b"PK\x03\x04" + b"\x00" * 64,
    "another tool's file": b'{"name": "x", "scripts": {}}',
    "a number": b"7",
    "NaN": b"NaN",
}


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".eval", ".xml", ".txt"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_every_reader_refuses_it_in_one_line(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError):
        detect_format(path).read(path, ReadOptions())
    for name in READERS:
        with pytest.raises(InputError) as caught:
            get_format(name).read(path, ReadOptions())
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


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
        file.write(b'{"a": "')
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
    import bridge.files.json_items as module

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
