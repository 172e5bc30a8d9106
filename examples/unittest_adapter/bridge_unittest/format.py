"""Quizzes as a format: ``{"quiz": NAME, "questions": [{"id", "ask", "answer", "given"}]}``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bridge import (
    Bundle,
    Case,
    ConversionReport,
    FormatInfo,
    InputError,
    Output,
    ReadOptions,
    WriteOptions,
)
from bridge.files.jsonl import read_object, write_atomically
from bridge.plugin.accounts.accounting import (
    KEPT,
    NATIVE,
    Claims,
    Tally,
    account_bundle,
    dropped,
    untouched,
)

FIELDS = ("id", "ask", "answer", "given")
READ = {"questions[].*": KEPT} | {f"questions[].{name}": NATIVE for name in FIELDS}
WRITTEN = {
    "cases[].id": NATIVE,
    "cases[].input": NATIVE,
    "cases[].expected": NATIVE,
    "cases[].extras.quiz": NATIVE,
    "outputs[].case_id": NATIVE,
    "outputs[].text": NATIVE,
}
ELSE = dropped("a quiz has questions and answers, and nothing else")


class QuizFormat:
    """Reads and writes quizzes; executes nothing and imports no framework."""

    info = FormatInfo(
        name="quiz",
        title="Quiz",
        patterns=("*.quiz.json",),
        reads=frozenset({"cases", "outputs"}),
        writes=frozenset({"cases", "outputs"}),
        framework="unittest",
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """Sure of an object that begins with its name."""
        del path
        return 0.9 if head.lstrip().startswith(b'{"quiz":') else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Questions as cases, what was given as outputs."""
        del options
        quiz = read_object(source)
        if not isinstance(quiz.get("questions"), list) or not quiz["questions"]:
            raise InputError("not a quiz (no questions)", where=source, fix="see bridge_unittest")
        try:
            cases = tuple(map(case_of, quiz["questions"]))
            outputs = tuple(map(output_of, quiz["questions"]))
        except (ValueError, TypeError, KeyError) as error:
            fault = " ".join(str(error).split())[:200]
            raise InputError(f"not a quiz ({fault})", where=source, fix="mend it") from None
        tally = Tally()
        tally.document(quiz, Claims(READ))
        return Bundle(cases=cases, outputs=outputs), tally.report(source, self.info.name)

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Cases with the answers of the first system and epoch."""
        del options
        given = {output.case_id: output.text for output in reversed(bundle.outputs)}
        questions = [
            {
                "id": case.id,
                "ask": case.input,
                "answer": case.expected,
                "given": given.get(case.id, ""),
                **case.extras.get("quiz", {}),
            }
            for case in bundle.cases
        ]
        write_atomically(dest, [json.dumps({"quiz": dest.stem, "questions": questions})])
        return account_bundle(bundle, Claims(WRITTEN), dest, self.info.name, otherwise=ELSE)


def case_of(question: dict[str, Any]) -> Case:
    """A question; what a case has no field for is kept."""
    other = untouched(question, FIELDS)
    return Case(
        id=question["id"],
        input=question["ask"],
        expected=question["answer"],
        extras={"quiz": other} if other else {},
    )


def output_of(question: dict[str, Any]) -> Output:
    """What was answered to a question."""
    return Output(case_id=question["id"], text=question["given"])


FORMAT = QuizFormat()
