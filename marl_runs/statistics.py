"""Statistics over few seeds, as Agarwal et al. propose them.

Source: Deep reinforcement learning at the edge of the statistical precipice, NeurIPS 2021.
A score is ``best known value / value`` of one run: 1 is as good as the best, 0 is no feasible
mapping. Scores come as one array a case, because cases may have different numbers of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student
from scipy.stats import trim_mean

from marl_common import FloatArray

Scores = Sequence[FloatArray]

LEVEL = 0.95
REPEATS = 2_000
SEED = 0


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap interval of `LEVEL`."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interquartile_mean(scores: Scores) -> Interval:
    """Mean of the middle half of all scores, with a stratified bootstrap interval.

    Args:
        scores: ``(runs,)`` scores of each case.
    """
    value = float(trim_mean(np.concatenate(scores), 0.25))
    rng = np.random.default_rng(SEED)
    drawn = np.concatenate([_resample(rng, case) for case in scores], axis=1)
    return _interval(value, trim_mean(drawn, 0.25, axis=1))


def probability_of_improvement(first: Scores, second: Scores) -> Interval:
    """How likely a run of `first` beats one of `second` on a case, averaged over cases.

    Ties count half (the Mann-Whitney statistic).

    Args:
        first: ``(runs,)`` scores of each case.
        second: Scores on the same cases, in the same order.
    """
    pairs = list(zip(first, second, strict=True))
    value = float(np.mean([_wins(a[None], b[None])[0] for a, b in pairs]))
    rng = np.random.default_rng(SEED)
    drawn = [_wins(_resample(rng, a), _resample(rng, b)) for a, b in pairs]
    return _interval(value, np.mean(drawn, axis=0))


@dataclass(frozen=True)
class Ratio(Interval):
    """How a method's values stand to another's.

    Args:
        value: Geometric mean over cases of the ratio of medians; below 1 the first is lower.
        low: Lower end of the interval of `LEVEL`.
        high: Upper end.
        p: How likely a ratio as far from 1 is, on either side, if none is there.
    """

    p: float


def two_level_ratio(first: Scores, second: Scores, repeats: int = REPEATS) -> Ratio:
    """The ratio of two methods' values, with a bootstrap of two levels: cases, and runs in them.

    Cases are drawn with replacement, and for each drawn case its runs: an interval over runs alone
    says nothing of other cases, one over cases alone takes the medians for certain.

    Args:
        first: ``(runs,)`` positive finite values of each case.
        second: Values on the same cases, in the same order.
        repeats: Draws of the bootstrap; p is never below 2 / (repeats + 1).

    Raises:
        ValueError: There is no case.
    """
    if not first:
        raise ValueError("two_level_ratio: got no case, expected at least one")
    rng = np.random.default_rng(SEED)
    logs = [
        [np.log(np.asarray(runs, np.float64)) for runs in pair]
        for pair in zip(first, second, strict=True)
    ]
    value = float(np.mean([np.median(a) - np.median(b) for a, b in logs]))
    drawn = rng.integers(0, len(logs), (repeats, len(logs)))
    ratios = np.empty(drawn.shape)
    for case, (a, b) in enumerate(logs):
        places = np.nonzero(drawn == case)
        ratios[places] = _medians(rng, a, len(places[0])) - _medians(rng, b, len(places[0]))
    means = ratios.mean(axis=1)
    found = _interval(value, means)
    sides = [(1 + np.count_nonzero(one)) / (repeats + 1) for one in (means <= 0, means >= 0)]
    p = min(1.0, 2 * min(sides))
    value, low, high = (float(np.exp(end)) for end in (value, found.low, found.high))
    return Ratio(value, low, high, p)


def _medians(rng: np.random.Generator, values: FloatArray, count: int) -> FloatArray:
    """``(count,)``: medians of the values, drawn anew with replacement each time."""
    drawn = rng.integers(0, len(values), (count, len(values)))
    found: FloatArray = np.median(values[drawn], axis=1)
    return found


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p values of several comparisons (Scandinavian Journal of Statistics, 1979).

    Args:
        p: One p value a comparison.

    Returns:
        Adjusted ones in the same order: below 0.05, a comparison holds beside all the others.
    """
    adjusted, highest = [0.0] * len(p), 0.0
    for place, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        highest = max(highest, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = highest
    return adjusted


def geometric_mean(values: Sequence[float]) -> float:
    """Geometric mean; inf if any value is."""
    if not values:
        return float("nan")
    return float(np.exp(np.mean(np.log(values))))


def mean_interval(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean over runs and half width of its interval of `LEVEL` (Student's t).

    Args:
        values: ``(S, ...)``, a row a run.

    Returns:
        Two arrays without the first axis; half widths are nan with one run.
    """
    count = len(values)
    mean: FloatArray = values.mean(axis=0)
    if count < 2:
        return mean, np.full_like(values[0], np.nan)
    factor = student.ppf((1 + LEVEL) / 2, count - 1) / np.sqrt(count)
    return mean, factor * values.std(axis=0, ddof=1)


def _resample(rng: np.random.Generator, scores: FloatArray) -> FloatArray:
    """``(REPEATS, runs)``: the runs of one case, drawn with replacement."""
    drawn: FloatArray = scores[rng.integers(0, len(scores), size=(REPEATS, len(scores)))]
    return drawn


def _wins(first: FloatArray, second: FloatArray) -> FloatArray:
    """``(B,)`` share of pairs that `first` ``(B, n)`` wins against `second` ``(B, m)``."""
    difference = np.sign(first[:, :, None] - second[:, None, :])
    wins: FloatArray = (1 + difference.mean(axis=(1, 2))) / 2
    return wins


def _interval(value: float, drawn: FloatArray) -> Interval:
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return Interval(value, float(low), float(high))
