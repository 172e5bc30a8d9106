"""``consistency``: stated numbers, dates and names agree with what was said and found before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.scorers.conversation import names, records, statements
from bridge.scorers.conversation.contradiction import Contradiction
from bridge.scorers.conversation.dialogue import exchanges
from bridge.scorers.conversation.memory import Memory, remember
from bridge.scorers.registry import NoParams, Scorer, binary, skip

MOST = 20
"""Most contradictions listed."""

FINDERS: Sequence[Callable[[Memory], Iterator[Contradiction]]] = (
    records.wrong_identifiers,
    records.wrong_facts,
    records.swapped_words,
    statements.changed_statements,
    statements.misquoted_user,
    statements.missed_corrections,
    statements.wrong_weekdays,
    names.wrong_names,
)


def consistency(case: Case, output: Output, _: NoParams) -> list[Measurement]:
    """1.0 if the answer contradicts nothing that was said or found before, else 0.0.

    Compared are numbers with their units, dates, identifiers, names, and the states and other
    words that tool results hold, each in every usual spelling (``1,299.00`` and ``1299``, ``24
    months`` and ``2 years``, ``18 June`` and ``2026-06-18``), with: tool results (the newest of a
    record), the system's own earlier answers, what users said of themselves, and their
    corrections. No contradictions are: a value that a newer tool result or the user's own message
    supports, one that is a sum, difference, product or quotient of known numbers, and clauses that
    deny, condition or bound what they say. Skipped where there is nothing to compare.
    """
    memory = remember(exchanges(case, output))
    found = _distinct([each for finder in FINDERS for each in finder(memory)])
    if not found:
        if not (memory.has_values and memory.has_past) and not names.names_someone(memory):
            return [skip("states nothing that could contradict what was said or found before")]
        return [binary(True, "contradicts nothing that was said or found before")]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    details = {"contradictions": [asdict(each) for each in found[:MOST]]}
    return [binary(False, f"{found[0].reason}{more}", details=details)]


def _distinct(found: list[Contradiction]) -> list[Contradiction]:
    """One for each value that is said."""
    return list({each.said: each for each in reversed(found)}.values())[::-1]


CONSISTENCY = Scorer(
    "consistency",
    "1",
    consistency,
    with_history=True,
    summary="Stated numbers, dates and names agree with earlier turns and tool results.",
)
