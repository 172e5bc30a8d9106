"""``bridge calibrate``: a judge held against people's labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bridge.model.calibration import (
        Bias,
        BiasName,
        Calibration,
        CalibrationEntry,
        CorrectedRate,
        Rate,
    )


def calibrate(
    run: Path = typer.Argument(..., metavar="RUN", help="Run directory with judged metrics."),
    labels: Path = typer.Option(
        ..., metavar="FILE", help="JSON Lines: {case_id, label, metric}, one a row."
    ),
    output: Path = typer.Option(
        None,
        "-o",
        "--output",
        metavar="FILE",
        help="Calibration file; the one that the suite's gate reads.",
    ),
    metric: str = typer.Option(None, metavar="NAME", help="Only this metric, or framework/metric."),
    framework: str = typer.Option(
        None,
        metavar="NAME",
        help="Whose rows; if left out core's first, or every framework's own.",
    ),
    system: str = typer.Option(None, metavar="NAME", help="The system, where there are several."),
    weights: str = typer.Option(
        "quadratic", metavar="NAME", help="Of kappa over levels: linear or quadratic."
    ),
    probe: bool = typer.Option(
        False, "--probe", help="Also ask the judges again, to find what sways them."
    ),
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
) -> int:
    """Hold a judge's scores against people's labels; exit 1 unless every judge is trusted.

    The file is what the gate believes a judge by: entries of other metrics in it are kept.
    """
    from bridge.gate.calibration.calibrate import Request
    from bridge.gate.calibration.calibrate import calibrate as hold
    from bridge.model.errors import InputError

    if weights not in ("linear", "quadratic"):
        raise InputError(f"--weights {weights!r}", fix="use linear or quadratic")
    request = Request(
        run,
        labels,
        system=system,
        metric=metric,
        framework=framework,
        weights="linear" if weights == "linear" else "quadratic",
        probe=probe,
    )
    with _judges(run) if probe else nullcontext():
        entries = hold(request)
    path = output or _own_path(run)
    made = _write(entries, path)
    print(made.model_dump_json(indent=2) if as_json else _shown(entries, path))
    return 0 if all(entry.verdict == "trusted" for entry in entries) else 1


@contextmanager
def _judges(run: Path) -> Iterator[None]:
    """The judges of a run's suite in force, with the run's own cache."""
    from bridge.files.store import RunStore
    from bridge.judge.opening import open_clients
    from bridge.judge.session import judges_in_force

    store = RunStore(run)
    judges = store.read_record().suite.judges
    with (
        open_clients(judges, store.judge_cache_path, store.judge_ledger_path) as clients,
        judges_in_force(clients),
    ):
        yield


def _own_path(run: Path) -> Path:
    from bridge.files.store import RunStore

    record = RunStore(run).read_record()
    return Path(record.suite_path).parent / record.suite.gate.calibration.path


def _write(entries: list[CalibrationEntry], path: Path) -> Calibration:
    from datetime import UTC, datetime
    from importlib import metadata

    from bridge.files.labels import merged, read_calibration, write_calibration
    from bridge.model.calibration import Calibration

    known = read_calibration(path).entries if path.is_file() else ()
    made = Calibration(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        bridge_version=metadata.version("bridge-evals"),
        entries=merged(known, entries),
    )
    write_calibration(made, path)
    return made


def _shown(entries: list[CalibrationEntry], path: Path) -> str:
    from bridge.report.columns import table
    from bridge.report.inert import one_line

    head = ("metric", "verdict", "cases", "agreement", "kappa", "false passes", "TPR", "FPR")
    rows = [
        (
            each.metric,
            each.verdict,
            str(each.cases),
            _rate(each.agreement),
            _rate(each.kappa),
            _rate(each.false_pass_rate),
            _rate(each.true_positive_rate),
            _rate(each.false_positive_rate),
        )
        for each in entries
    ]
    lines = [*table(head, rows), *(line for each in entries for line in _notes(each))]
    return "\n".join([*(one_line(line, 400) for line in lines), f"calibration: {path}"])


def _notes(entry: CalibrationEntry) -> list[str]:
    lines = [f"{entry.metric}: {reason}" for reason in entry.reasons]
    if entry.labels_needed is not None:
        lines.append(f"{entry.metric}: about {entry.labels_needed} labelled cases would settle it")
    if entry.other_systems:
        lines.append(f"{entry.metric}: {entry.other_systems} labels are of other systems")
    if entry.unscored:
        lines.append(f"{entry.metric}: {entry.unscored} labelled rows were not scored")
    lines += [
        f"{entry.metric}: people said {each.human}, the judge {each.judge}: {each.n}"
        for each in entry.confusion
        if each.human != each.judge
    ]
    lines += [
        f"{entry.metric}: {each.false_passes} false passes of {each.n} in {each.by} {each.name}"
        for each in entry.slices
        if each.false_passes
    ]
    lines += [f"{entry.metric}: {_bias(each)}" for each in entry.biases if each.found]
    if entry.n and entry.not_measured:
        names = ", ".join(each.name for each in entry.not_measured)
        lines.append(f"{entry.metric}: not measured, and the file says why: {names}")
    lines += [f"{entry.metric}: {_corrected(each)}" for each in entry.corrected]
    if entry.label_next:
        lines.append(f"{entry.metric}: label next: {', '.join(entry.label_next)}")
    return lines


WORDS: dict[BiasName, tuple[str, str]] = {
    "inflation": ("it is kinder than people", "it is harsher than people"),
    "clustering": ("it uses one level more than people do", ""),
    "length": ("it favours long answers", "it favours short answers"),
    "reference_wording": ("it favours the reference's words", "it holds them against an answer"),
    "rationale_length": ("its kind scores come with long rationales", "with short ones"),
    "self_preference": ("it favours its own family of models", "it is harsh on its own family"),
    "criteria_order": ("it favours criteria that come first", "it favours those that come last"),
    "contexts_order": (
        "it favours contexts in the order given",
        "it favours contexts in reverse",
    ),
    "position": ("it favours the first of two answers", "it favours the second of two answers"),
    "shown_reference": (
        "without the reference it is kinder",
        "without it it is harsher",
    ),
}
"""What a bias means, above 0 and below."""


def _bias(bias: Bias) -> str:
    said = WORDS[bias.name][0 if bias.value > 0 else 1]
    kind = "rank correlation" if bias.measure == "spearman" else "difference"
    return f"{said} ({kind} {bias.value:+.2f} [{bias.low:+.2f}, {bias.high:+.2f}], n {bias.n})"


def _corrected(rate: CorrectedRate) -> str:
    name = "Rogan-Gladen" if rate.method == "rogan_gladen" else "prediction-powered"
    interval = f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    return f"it passes {rate.judge:.2f} of {rate.n} rows, people would pass {interval} ({name})"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    if rate.low is None or rate.high is None:
        return f"{rate.value:.2f}"
    return f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
