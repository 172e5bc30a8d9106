"""The contracts of bridge-evals over this package's framework and format."""

from pathlib import Path

from bridge.testing import FormatContract, FrameworkContract


class TestUnittest(FrameworkContract):
    """A test an output."""

    framework = "unittest"


class TestQuiz(FormatContract):
    """Questions and answers."""

    format = "quiz"
    samples = (Path(__file__).with_name("capitals.quiz.json"),)
