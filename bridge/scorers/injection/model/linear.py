"""The weights: a file of integers, and the score they give.

Weights are fixed-point integers and their sums are exact, so that a text has the same score on
every machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.files.jsonl import read_bytes
from bridge.model.errors import InputError
from bridge.scorers.injection.model.features import BITS, FEW, SIGNALS, VERSION, Buckets

UNIT = 1 << 10
"""Fixed point: a weight of 1.0 is stored as this many."""

SHIPPED = "weights.npz"

_LARGEST = 1 << 30
_MAKE_AGAIN = "train it again with python -m bridge.scorers.injection.model.train FOLDER -o FILE"


@dataclass(frozen=True, eq=False)
class Weights:
    """A trained second stage.

    Attributes:
        table: int16, one weight a bucket, in units of 1 / ``UNIT``.
        rules: weights of the rules' signals (:func:`features.signals`).
        bias: of the log-odds.
        calibration: slope and offset from log-odds to the log-odds of the score.
        about: how it was trained: sources with their counts, digests, settings.
        digest: SHA-256 of the file, hexadecimal; empty for weights that are in no file.
    """

    table: NDArray[np.int16]
    rules: tuple[float, ...]
    bias: float
    calibration: tuple[float, float] = (1.0, 0.0)
    about: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def wording(self, buckets: Buckets) -> float:
        """The log-odds that the wording adds: the sum of weights by the root of their number."""
        total = int(self.table[buckets].sum(dtype=np.int64))
        return total / (UNIT * math.sqrt(len(buckets) + FEW))

    def log_odds(self, wording: float, signals: Sequence[float]) -> float:
        """Wording and rules together, before calibration."""
        return wording + sum(map(float.__mul__, self.rules, signals)) + self.bias

    def score(self, log_odds: float) -> float:
        """Calibrated suspicion in [0, 1]; see ``train`` for what its values mean."""
        slope, offset = self.calibration
        return round(_logistic(slope * log_odds + offset), 6)


def _logistic(value: float) -> float:
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-value))
    grown = math.exp(max(value, -700.0))
    return grown / (1.0 + grown)


def save_weights(weights: Weights, path: Path) -> None:
    """Write weights to a ``.npz`` file, byte for byte the same for the same weights."""
    about = json.dumps(dict(weights.about), ensure_ascii=True, sort_keys=True)
    numbers = np.array([*weights.rules, weights.bias, *weights.calibration])
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        version=np.array(VERSION),
        table=weights.table,
        numbers=numbers,
        about=np.array(about),
    )
    path.write_bytes(buffer.getvalue())


def load_weights(path: Path) -> Weights:
    """Read a file that :func:`save_weights` wrote; nothing in it is executed.

    Raises:
        InputError: if it is no such file, or made for other features than this version reads.
    """
    data = read_bytes(path, _LARGEST, "weights are smaller")
    try:
        return _read(data)
    except Exception as error:  # noqa: BLE001  # zipfile and numpy raise many kinds on bad bytes
        what = f"no weights of the second stage ({type(error).__name__}: {error})"
        raise InputError(what, where=path, fix=_MAKE_AGAIN) from None


@cache
def shipped_weights() -> Weights:
    """The weights in the package."""
    return _read((resources.files("bridge.scorers.injection.model") / SHIPPED).read_bytes())


def _read(data: bytes) -> Weights:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        if str(file["version"]) != VERSION:
            raise ValueError(f"features of version {file['version']}, not {VERSION}")
        table, numbers, about = file["table"], file["numbers"], str(file["about"])
    if table.dtype != np.int16 or table.shape != (1 << BITS,):
        raise ValueError(f"a table of {table.dtype} {table.shape}")
    if numbers.shape != (SIGNALS + 3,) or not np.isfinite(numbers).all():
        raise ValueError("its numbers are not finite, or not as many as they should be")
    *rules, bias, slope, offset = map(float, numbers)
    table.setflags(write=False)
    digest = hashlib.sha256(data).hexdigest()
    return Weights(table, tuple(rules), bias, (slope, offset), json.loads(about), digest)
