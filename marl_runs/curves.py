"""Best so far against samples: one curve a run, and the middle half of a group of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marl_common import FloatArray

Curve = Sequence[tuple[int, float]]
"""Every improvement of a run: ``(n, best so far)``, n rising from 1, values falling."""

POINTS = 120


@dataclass(frozen=True)
class Band:
    """Best so far of several runs.

    Args:
        samples: ``(N,)`` samples, evenly spaced on a log axis.
        median: ``(N,)`` median over runs; inf before most have a value.
        low: ``(N,)`` first quartile.
        high: ``(N,)`` third quartile.
    """

    samples: FloatArray
    median: FloatArray
    low: FloatArray
    high: FloatArray


def best_so_far(curve: Curve, samples: FloatArray) -> FloatArray:
    """``(N,)`` best value after so many samples; inf before the first improvement."""
    if not curve:
        return np.full(len(samples), np.inf)
    counts = np.array([n for n, _ in curve])
    values = np.array([np.inf, *(value for _, value in curve)])
    return np.asarray(values[np.searchsorted(counts, samples, side="right")])


def first_below(curve: Curve, value: float) -> int | None:
    """The sample at which a curve first is at or below a value; None if it never is."""
    return next((n for n, best in curve if best <= value), None)


def band_of(curves: Sequence[Curve], last: int) -> Band:
    """The middle half of the runs, from their first sample to `last`.

    Args:
        curves: One curve a run, at least one.
        last: Samples of the longest run, at least 1.
    """
    samples = np.unique(np.round(np.geomspace(1, last, POINTS)))
    values = np.array([best_so_far(curve, samples) for curve in curves])
    # By whole runs, so that inf (no value yet) stays inf and no nan appears.
    return Band(
        samples,
        median=np.quantile(values, 0.5, axis=0, method="higher"),
        low=np.quantile(values, 0.25, axis=0, method="lower"),
        high=np.quantile(values, 0.75, axis=0, method="higher"),
    )
