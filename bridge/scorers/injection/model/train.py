"""Train the second stage: ``python -m bridge.scorers.injection.model.train FOLDER -o weights.npz``.

Logistic regression with an L2 penalty on the mean loss. Three things are there for texts of other
families than those in the folder: each source counts nearly the same, however large it is; attacks
are also seen without what the rules found, for rules know the texts they were written on too well;
and a grammar of benign texts (``phrases.yaml``) uses the words of attacks.

Scores are calibrated on sources held out: trained without a source, tested on it, for each in turn.
0.4 is the score that ``FLAG_RATE`` of benign texts exceed (mean over sources), 0.8 the one that
``BLOCK_RATE`` exceed. A probability would need to know how many attacks there are where the scanner
is used, which nobody does; these rates do not.

The same folder and package give the same bytes on the same machine.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bridge.model.errors import InputError
from bridge.scorers.injection.model import dataset, features, stage
from bridge.scorers.injection.model.dataset import Prepared
from bridge.scorers.injection.model.linear import UNIT, Weights, save_weights
from bridge.scorers.injection.model.optimise import Vector, lbfgs
from bridge.scorers.injection.model.phrases import Example
from bridge.scorers.injection.rules import rules_digest
from bridge.scorers.injection.scanner import seen

FLAG_AT, BLOCK_AT = 0.4, 0.8
FLAG_RATE, BLOCK_RATE = 0.0035, 0.001
_LEAST_GAP = 0.25
_NO_RULES = (0.0,) * features.SIGNALS


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train.

    Attributes:
        penalty: L2, on the weights of buckets.
        rules_penalty: L2, on the weights of the rules' signals.
        unseen: share of an attack's weight that goes to a copy without the rules' signals.
        size_power: a source of n texts counts n to this power; 0 makes all sources equal.
        windows: most windows of one text.
        iterations: most steps of the optimiser.
        own: also train on the grammar's and the rules' examples.
    """

    penalty: float = 5e-5
    rules_penalty: float = 1e-5
    unseen: float = 0.3
    size_power: float = 0.3
    windows: int = 3
    iterations: int = 60
    own: bool = True


@dataclass(frozen=True, eq=False)
class _Matrix:
    """Rows to fit: sparse buckets, dense signals, labels as -1 or 1, and weights that sum to 1."""

    columns: NDArray[np.int64]
    used: NDArray[np.int64]
    starts: NDArray[np.int64]
    value: Vector
    signals: Vector
    sign: Vector
    weight: Vector


def fit(prepared: Sequence[Prepared], settings: Settings) -> Weights:
    """Weights without calibration."""
    matrix = _matrix(prepared, settings)
    count = len(matrix.used)
    lengths = np.diff(matrix.starts, append=len(matrix.columns))
    penalty = np.zeros(count + features.SIGNALS + 1)
    penalty[:count] = settings.penalty
    penalty[count:-1] = settings.rules_penalty

    def objective(point: Vector) -> tuple[float, Vector]:
        wording = np.add.reduceat(point[matrix.columns], matrix.starts) * matrix.value
        margin = matrix.sign * (wording + (matrix.signals * point[count:-1]).sum(1) + point[-1])
        loss = float((matrix.weight * np.logaddexp(0.0, -margin)).sum())
        slope = -matrix.weight * matrix.sign / (1.0 + np.exp(np.clip(margin, -50.0, 50.0)))
        spread = np.repeat(slope * matrix.value, lengths)
        by_bucket = np.bincount(matrix.columns, weights=spread, minlength=count)
        by_signal = (matrix.signals * slope[:, None]).sum(0)
        gradient = np.concatenate([by_bucket, by_signal, [slope.sum()]]) + penalty * point
        return loss + float((penalty * point * point).sum()) / 2.0, gradient

    found = lbfgs(objective, np.zeros(len(penalty)), settings.iterations)
    table = np.zeros(1 << features.BITS, np.int16)
    table[matrix.used] = np.clip(np.rint(found[:count] * UNIT), -32_767, 32_767)
    rules = tuple(round(float(value), 6) for value in found[count:-1])
    return Weights(table, rules, round(float(found[-1]), 6))


def _matrix(prepared: Sequence[Prepared], settings: Settings) -> _Matrix:
    rows = [
        (window, signals, one.example.label, weight * share / len(one.windows))
        for one, weight in zip(prepared, _weights(prepared, settings), strict=True)
        for signals, share in _as_seen(one, settings)
        for window in one.windows
    ]
    lengths = np.array([len(row[0]) for row in rows])
    used, columns = np.unique(np.concatenate([row[0] for row in rows]), return_inverse=True)
    return _Matrix(
        columns=columns,
        used=used,
        starts=np.cumsum(lengths) - lengths,
        value=1.0 / np.sqrt(lengths + features.FEW),
        signals=np.array([row[1] for row in rows]),
        sign=np.where([row[2] for row in rows], 1.0, -1.0),
        weight=np.array([row[3] for row in rows]),
    )


def _as_seen(one: Prepared, settings: Settings) -> list[tuple[tuple[float, ...], float]]:
    if not one.example.label or one.signals == _NO_RULES:
        return [(one.signals, 1.0)]
    return [(one.signals, 1.0 - settings.unseen), (_NO_RULES, settings.unseen)]


def _weights(prepared: Sequence[Prepared], settings: Settings) -> list[float]:
    """Half for attacks and half for benign texts, by source as ``size_power`` says."""
    cells = Counter((one.example.source, one.example.label) for one in prepared)
    power = settings.size_power
    total = {
        label: 2.0 * math.fsum(n**power for (_, of), n in cells.items() if of == label)
        for label in (0, 1)
    }
    return [
        cells[one.example.source, one.example.label] ** (power - 1.0) / total[one.example.label]
        for one in prepared
    ]


def held_out(
    prepared: Sequence[Prepared], own: Sequence[Prepared], settings: Settings
) -> dict[str, Weights]:
    """For each source, weights trained without it, calibrated on all that was held out.

    Args:
        prepared: the texts of a folder, of two sources or more that hold both labels elsewhere.
        own: texts that are always trained on.
        settings: as for :func:`fit`.

    Raises:
        InputError: if without one of the sources there is nothing to train on.
    """
    fitted: dict[str, Weights] = {}
    for name in sorted({one.example.source for one in prepared}):
        rest = [*(one for one in prepared if one.example.source != name), *own]
        if {one.example.label for one in rest} != {0, 1}:
            what = f"without source {name!r} there are not both attacks and benign texts"
            raise InputError(what, fix="add another source")
        fitted[name] = fit(rest, settings)
    benign: dict[str, list[float]] = {}
    for example, signals, _ in prepared:
        if not example.label:
            odds = stage.log_odds(seen(example.text)[0], signals, fitted[example.source])
            benign.setdefault(example.source, []).append(odds)
    calibration = calibrate(list(benign.values()))
    return {name: replace(one, calibration=calibration) for name, one in fitted.items()}


def calibrate(benign: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Slope and offset that put the two rates where the scanner flags and blocks.

    Args:
        benign: log-odds of benign texts held out, by source; none gives (1, 0).
    """
    if not benign:
        return 1.0, 0.0
    flag = threshold(benign, FLAG_RATE)
    block = max(threshold(benign, BLOCK_RATE), flag + _LEAST_GAP)
    slope = (_logit(BLOCK_AT) - _logit(FLAG_AT)) / (block - flag)
    return round(slope, 6), round(_logit(FLAG_AT) - slope * flag, 6)


def threshold(groups: Sequence[Sequence[float]], rate: float) -> float:
    """The least score that at most ``rate`` exceed, as the mean over groups of their shares."""
    candidates = np.unique(np.concatenate([np.asarray(group, float) for group in groups]))
    above = [
        1.0 - np.searchsorted(np.sort(np.asarray(group, float)), candidates, "right") / len(group)
        for group in groups
    ]
    return float(candidates[np.argmax(np.mean(above, axis=0) <= rate)])


def _logit(share: float) -> float:
    return math.log(share / (1.0 - share))


def train(examples: Sequence[Example], settings: Settings | None = None) -> Weights:
    """Weights for all examples, calibrated on their sources held out.

    Raises:
        InputError: if there are fewer than two sources, or one label alone.
    """
    settings = settings or Settings()
    prepared = dataset.prepare(examples, settings.windows)
    own_examples = list(dataset.own_examples()) if settings.own else []
    own = dataset.prepare(own_examples, settings.windows)
    calibration = next(iter(held_out(prepared, own, settings).values())).calibration
    about = {
        "sources": dataset.counts([*examples, *own_examples]),
        "texts_sha256": dataset.digest([*examples, *own_examples]),
        "rules_sha256": rules_digest(),
        "settings": asdict(settings),
        "calibration": {"0.4": FLAG_RATE, "0.8": BLOCK_RATE},
    }
    return replace(fit([*prepared, *own], settings), calibration=calibration, about=about)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, train, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="*.jsonl files of {text, label, source}")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    options = parser.parse_args(arguments)
    try:
        weights = train(dataset.read_folder(options.folder))
        save_weights(weights, options.output)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    counted = ", ".join(f"{name} {a}+{b}" for name, (a, b) in weights.about["sources"].items())
    sys.stderr.write(f"wrote {options.output} (attacks+benign: {counted})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
