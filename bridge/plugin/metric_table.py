"""``docs/metrics-by-framework.md``, from the adapters: ``python -m bridge.plugin.metric_table``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import NEEDED, NativeMetric
from bridge.plugin.registry import framework_names, get_framework
from bridge.scorers.catalogue import parameters_of
from bridge.scorers.native import nearest_shared
from bridge.scorers.registry import NATIVE, Scorer, get_scorer

HEAD = """\
# Metrics of the frameworks' own

Generated from the adapters by `python -m bridge.plugin.metric_table`. A check may name a metric
that frameworks have of their own, under one neutral name: each carries out its own class on the
same recorded answers, with the suite's judge. Values are in [0, 1], higher is better, those of bad
things included. They are not the same in every framework: that is what there is to see. The gate
keys them as `framework/metric`.

Where a framework has no such metric, its rows are `unsupported`, with the reason; a case that lacks
what is needed is `skipped`; a failure of the judge, or a reply that the framework would take
without a word (no verdicts, fewer than there is to judge, a number out of bounds), is an `error`.
Where no case has what a check needs, the run ends before any judge is asked.

Calls are requests to the judge for one output, as `bridge run --dry-run` counts them. Equal ones
are made once; at a temperature of 0 that is every repetition. *n* stands for contexts or turns.
"""


def metric_table() -> str:
    """The whole page."""
    infos = [get_framework(name).info for name in framework_names()]
    having = [info for info in infos if info.native_metrics]
    lines = [HEAD, *_overview(having)]
    for name in NATIVE:
        lines += _entry(get_scorer(name), having)
    return "\n".join(lines).rstrip() + "\n"


def _overview(infos: Sequence[FrameworkInfo]) -> Iterator[str]:
    yield f"| metric | {' | '.join(info.title for info in infos)} |"
    yield "|---|" + "---|" * len(infos)
    for name in NATIVE:
        cells = [_own(metric_of(info, name)) for info in infos]
        yield f"| [`{name}`](#{name}) | {' | '.join(cells)} |"
    yield ""


def metric_of(info: FrameworkInfo, name: str) -> NativeMetric:
    """A framework's metric of a neutral name, or why it has none."""
    return next(each for each in info.native_metrics if each.name == name)


def _own(metric: NativeMetric) -> str:
    return f"`{metric.own}`" if metric.own else "-"


def _entry(scorer: Scorer, infos: Sequence[FrameworkInfo]) -> Iterator[str]:
    yield f"## `{scorer.name}`"
    yield ""
    yield f"{scorer.summary} Nearest shared scorer: `{nearest_shared(scorer.name)}`."
    yield ""
    yield from parameters_of(scorer.params)
    yield "| framework | its own | needs | calls |"
    yield "|---|---|---|---|"
    for info in infos:
        metric = metric_of(info, scorer.name)
        if metric.own:
            needs = ", ".join(NEEDED[need] for need in metric.needs)
            yield f"| {info.title} | `{metric.own}` | {needs} | {_calls(metric)} |"
        else:
            yield f"| {info.title} | none: {metric.why_not} | | |"
    yield ""


def _calls(metric: NativeMetric) -> str:
    parts = [str(metric.calls)] if metric.calls else []
    if metric.more:
        times = "n" if metric.more == 1 else f"{metric.more}n"
        parts.append(f"{times} ({metric.per}s)")
    if metric.embeds:
        parts.append(f"{metric.embeds} for embeddings")
    return " + ".join(parts) or "none"


if __name__ == "__main__":
    print(metric_table(), end="")  # noqa: T201  # the module's one purpose as a script
