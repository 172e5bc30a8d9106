"""JUnit XML: every test case is a case with one metric, ``passed``.

What is skipped stays skipped, and an error is an error, not a failure. The file is parsed piece by
piece; a document type, and with it every entity, is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from bridge.files.jsonl import unreadable
from bridge.files.no_data import LOOKED_AT, refuse_no_data
from bridge.files.scores import ScoreRow
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import NATIVE, Tally, dropped
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.options import refuse_others
from bridge.plugin.results.reading import Answer, Counts, Reading

NAME = "junit"
METRIC = "passed"
CHUNK = 1 << 16
MAX_TEXT = 1 << 20
"""Most characters of an answer or a reason that are kept."""
MAX_DEPTH = 200

_HEAD = re.compile(rb"<testsuites?[\s/>]")
_WEIGHT = {"skipped": 1, "failure": 2, "error": 3}
"""What a test case may hold beside its output; the weightiest counts."""


class JUnitFormat:
    """JUnit XML, which is only read; ``bridge gate`` writes its own."""

    info = FormatInfo(
        name=NAME,
        title="JUnit XML",
        patterns=("*.junit.xml", "*.xml"),
        reads=frozenset({"cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for a test suite's tag."""
        del path
        return 0.95 if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" and _HEAD.search(head) else 0

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the test cases of a file.

        Raises:
            InputError: If it is damaged, no JUnit XML, or declares a document type.
        """
        refuse_others(self.info, options.options, ())
        return Reading(lambda: JUnitFile(source))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a file whole; raises as :meth:`stream`."""
        return self.stream(source, options).bundle()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: it is a report of a verdict."""
        del bundle, options
        raise InputError("JUnit XML is only read", where=dest, fix="write another format")


class JUnitFile:
    """One file.

    Args:
        source: The file.
    """

    framework = NAME

    def __init__(self, source: Path) -> None:
        self.source = source
        self._names: Counter[int] = Counter()
        self._cases = 0
        self._declared: int | None = None

    def answers(self) -> Iterator[Answer]:
        """Every test case."""
        parser = _Parser()
        try:
            with self.source.open("rb") as file:
                refuse_no_data(file.read(LOOKED_AT), self.source, text="any")
                file.seek(0)
                while chunk := file.read(CHUNK):
                    parser.feed(chunk)
                    yield from map(self._answer, parser.take())
                parser.feed(b"", last=True)
                yield from map(self._answer, parser.take())
        except OSError as error:
            raise unreadable(self.source, error) from None
        except expat.ExpatError as error:
            what = f"no XML ({expat.errors.messages.get(error.code, error)})"
            raise self._refuse(what, error.lineno) from None
        except ValueError as error:
            raise self._refuse(str(error), parser.line) from None
        self._declared = parser.declared

    def _refuse(self, what: str, line: int) -> InputError:
        fix = "get a complete copy of the file"
        return InputError(what, where=self.source, line=line, fix=fix)

    def _answer(self, test: dict[str, Any]) -> Answer:
        self._cases += 1
        named = [each for each in (test.get("classname"), test.get("name")) if each]
        name = "::".join(named) or f"test {self._cases}"
        self._names[hash(name)] += 1
        again = self._names[hash(name)]
        key = {
            "framework": NAME,
            "framework_version": "",
            "system": "default",
            "case_id": name if again == 1 else f"{name} ({again})",
            "epoch": 1,
        }

        def content() -> tuple[Case, Output]:
            case = Case(id=key["case_id"], input=test.get("name") or name, expected="")
            text = test.get("system-out", "")
            return case, Output(case_id=case.id, text=text, latency_s=_seconds(test.get("time")))

        spent = {"latency_s": _seconds(test.get("time"))}
        place, rows = f"test case {name!r}", [_row(test, key)]
        return Answer(key, rows, content, spent=spent, place=place, twin=again > 1)

    def metrics(self) -> list[str]:
        """The one metric there is."""
        return [METRIC]

    def account(self, tally: Tally) -> None:
        """Count test cases and what they hold."""
        parser_fields: Counter[str] = Counter()
        for answer in JUnitFile(self.source).answers():
            parser_fields["testcase"] += 1
            parser_fields["testcase.result"] += answer.rows[0].status != "passed"
        for name, count in parser_fields.items():
            tally.add(name, NATIVE, count)
        tally.add("testsuite", dropped("an aggregate: the rows decide"), self._declared is not None)

    def notes(self, counts: Counts) -> Iterator[str]:
        """Totals that are not those of the rows."""
        del counts
        if self._declared is not None and self._declared != self._cases:
            yield f"the suites speak of {self._declared} tests, the file holds {self._cases}"


def _row(test: dict[str, Any], key: dict[str, Any]) -> ScoreRow:
    fields = {**key, "metric": METRIC, "scorer": METRIC}
    reason = test.get("reason", "")
    ended = test.get("ended")
    if ended == "skipped":
        return ScoreRow(**fields, status="skipped", reason=reason or "skipped")
    if ended == "error":
        reason = reason or "the test ended in an error"
        return ScoreRow(**fields, status="error", error=reason, reason=reason)
    if ended == "failure":
        return ScoreRow(**fields, status="failed", value=0.0, reason=reason)
    return ScoreRow(**fields, status="passed", value=1.0)


def _seconds(text: Any) -> float | None:
    try:
        value = float(str(text).replace(",", ""))
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


class _Parser:
    """Collects test cases while XML comes in."""

    def __init__(self) -> None:
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._text
        self._expat.StartDoctypeDeclHandler = self._doctype
        self._done: list[dict[str, Any]] = []
        self._test: dict[str, Any] | None = None
        self._into = ""
        self._depth = 0
        self.declared: int | None = None

    @property
    def line(self) -> int:
        return self._expat.CurrentLineNumber

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        self._expat.Parse(chunk, last)

    def take(self) -> list[dict[str, Any]]:
        done, self._done = self._done, []
        return done

    def _doctype(self, *_: object) -> None:
        raise ValueError("it declares a document type, which may hide what it holds")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        if self._depth == 1 and tag not in ("testsuites", "testsuite"):
            raise ValueError(f"no JUnit XML (it begins with {tag[:60]})")
        if tag == "testsuite" and attributes.get("tests", "").isdecimal():
            self.declared = (self.declared or 0) + int(attributes["tests"][:9])
        if tag == "testcase":
            self._test = dict(attributes)
        elif self._test is not None and tag in _WEIGHT:
            if _WEIGHT[tag] > _WEIGHT.get(self._test.get("ended", ""), 0):
                self._test["ended"] = tag
                self._test["reason"] = attributes.get("message", "")[:MAX_TEXT]
            self._into = "reason"
        elif self._test is not None and tag == "system-out":
            self._into = "system-out"

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase" and self._test is not None:
            self._test["reason"] = self._test.get("reason", "").strip()
            self._done.append(self._test)
            self._test = None
        if tag in (*_WEIGHT, "system-out"):
            self._into = ""

    def _text(self, text: str) -> None:
        if self._test is None or not self._into:
            return
        have = self._test.get(self._into, "")
        if len(have) < MAX_TEXT:
            gap = "\n" if have and self._into == "reason" and not have.endswith("\n") else ""
            self._test[self._into] = (have + gap + text)[:MAX_TEXT]


JUNIT = JUnitFormat()
