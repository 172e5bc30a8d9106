"""Judges: one client for every framework, and the scorers that ask it."""

from bridge.judge.client import JudgeClient
from bridge.judge.errors import JudgeError, kind_of
from bridge.judge.exchange import Judge, Reply, Request
from bridge.judge.serving import ServedJudges, judges_served
from bridge.judge.session import judge_in_force, judges_in_force

__all__ = [
    "Judge",
    "JudgeClient",
    "JudgeError",
    "Reply",
    "Request",
    "ServedJudges",
    "judge_in_force",
    "judges_in_force",
    "judges_served",
    "kind_of",
]
