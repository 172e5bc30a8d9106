"""The record of a run: ``run.json`` and the expected rows in ``rows.jsonl``."""

from __future__ import annotations

from typing import Literal

from bridge.model.suite import Suite
from bridge.model.values import (
    EMPTY,
    FirstVersion,
    Flag,
    Json,
    Keyed,
    Model,
    Name,
    Number,
    Text,
    Whole,
)


class GoldenSetRecord(Model):
    """A golden set as it was read: path, number of cases and digest."""

    path: Text
    cases: Whole
    digest: Text


class MetricRecord(Model):
    """A metric as it was measured; ``judges`` are those of a group's members too, sorted."""

    scorer: Text
    version: Text
    threshold: Number | None = None
    gate: Flag = True
    judge: Text | None = None
    judges: tuple[Text, ...] = ()
    params_digest: Text = ""


class FrameworkRecord(Model):
    """What one framework did.

    Attributes:
        version: Installed version of the framework.
        rows: Rows expected.
        errors: Rows that are ``error``.
        jobs: Worker processes started.
        cpu_s: CPU seconds of the workers.
        wall_s: Seconds from the first job's start to the last one's end.
        peak_rss_mb: Largest worker, in MB.
        routes: The native route each job took, as its adapter recorded it.
        notes: What went wrong, in one line each.
    """

    name: Name
    version: Text = ""
    rows: Whole = 0
    errors: Whole = 0
    jobs: Whole = 0
    cpu_s: Number = 0.0
    wall_s: Number = 0.0
    peak_rss_mb: Number = 0.0
    routes: tuple[Json, ...] = ()
    notes: tuple[Text, ...] = ()


class JudgeRecord(Model):
    """What a judge took in one run.

    Attributes:
        model: The model's name.
        calls: Requests sent, repeated ones included.
        cached: Questions answered from the cache.
        errors: Questions without a usable answer.
        cost_usd: US dollars, 0 where the judge's price is not known.
    """

    model: Text
    calls: Whole = 0
    cached: Whole = 0
    errors: Whole = 0
    input_tokens: Whole = 0
    output_tokens: Whole = 0
    cost_usd: Number = 0.0


class RunRecord(Model):
    """``run.json``.

    Attributes:
        suite: The suite as it was run.
        suite_path: Where it was read.
        status: ``running`` while a run is under way (or was killed), ``interrupted`` after
            Ctrl-C, ``complete`` once every expected row is written.
        created: Start, ISO 8601 in UTC.
        golden_sets: The golden sets that were read.
        golden_digest: Digest over all their cases that were run.
        metrics: Every metric, with its scorer's version.
        systems: Systems whose outputs were scored.
        judges: What the judges took, by name.
        notes: What a reader should know.
    """

    version: FirstVersion = 1
    suite: Suite
    suite_path: Text
    status: Literal["running", "interrupted", "complete"] = "running"
    created: Text
    bridge_version: Text
    python_version: Text
    golden_sets: tuple[GoldenSetRecord, ...] = ()
    golden_digest: Text = ""
    metrics: Keyed[Text, MetricRecord] = EMPTY
    systems: tuple[Text, ...] = ()
    epochs: Whole = 1
    frameworks: tuple[FrameworkRecord, ...] = ()
    judges: Keyed[Text, JudgeRecord] = EMPTY
    notes: tuple[Text, ...] = ()


class ExpectedRows(Model):
    """One line of ``rows.jsonl``: the rows owed for one output, in every framework.

    Attributes:
        rows: (metric, turn) of each, in order.
        digest: Digest of the case.
        where: ``path:line`` of the case.
    """

    system: Name
    case_id: Name
    epoch: Whole = 1
    digest: Text
    tags: tuple[Text, ...] = ()
    failure_mode: Text | None = None
    where: Text | None = None
    rows: tuple[tuple[Text, Whole | None], ...]
