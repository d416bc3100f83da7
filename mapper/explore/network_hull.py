"""A whole network's latency and energy: the best choice of mappings, and what no choice beats.

Latency and energy of a network are sums over its layers, and a mapping is chosen for each layer.
The product of two sums over independent choices is least at a corner of the convex hull of all
sums, because the product is quasi-concave: every corner is where latency + rate * energy is least,
for some rate, and that is a choice layer by layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marl_common import FloatArray, IntArray

RATES = 49
"""Rates between latency and energy at which corners are looked for."""
SUPPORTS = 600
"""Lines that bound the sums of a network from below."""
REACH = 1e4
"""Rates go from the middle one over this to this times it."""


@dataclass(frozen=True)
class LayerFloor:
    """What no mapping of one layer goes below.

    Args:
        latency: Latency [cycles].
        energy: Energy [nJ].
        product: Their product.
    """

    latency: float
    energy: float
    product: float

    def least(self, rates: FloatArray) -> FloatArray:
        """``(N,)`` lower bounds of latency + rate * energy."""
        latency = np.sqrt(rates * self.product)
        highest = self.product / self.energy if self.energy > 0 else np.inf
        latency = np.clip(latency, self.latency, max(self.latency, highest))
        energy = np.maximum(self.energy, self.product / latency)
        return np.asarray(latency + rates * energy)


def pareto_rows(first: FloatArray, second: FloatArray) -> IntArray:
    """Places of the points that no other is as good as in both, by rising `first`; none with inf.

    Of equal points the first one stays.
    """
    order = np.lexsort((second, first))
    order = order[np.isfinite(first[order]) & np.isfinite(second[order])]
    if len(order) == 0:
        return order
    values = second[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(values)[:-1]])
    return np.asarray(order[values < before])


def corners(
    latencies: Sequence[FloatArray], energies: Sequence[FloatArray], counts: Sequence[int]
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Sums of latency and energy over a network that are corners of what its layers offer.

    Args:
        latencies: Of each layer's mappings ``(n,)`` [cycles]; at least one mapping each.
        energies: Likewise [nJ].
        counts: How often each layer occurs.

    Returns:
        Total latency, total energy, and the mapping of each layer; by rising latency.
    """
    middle = sum(c * e.min() for c, e in zip(counts, energies, strict=True))
    rate = sum(c * x.min() for c, x in zip(counts, latencies, strict=True)) / max(middle, 1e-300)
    rates = np.concatenate(
        [[0.0], rate * np.geomspace(1 / REACH, REACH, RATES), [rate * REACH * 1e6]]
    )
    chosen = np.stack(
        [_choice(x, e, rates) for x, e in zip(latencies, energies, strict=True)], axis=1
    )
    found = {}
    for row in np.unique(chosen, axis=0):
        latency = sum(c * x[i] for c, x, i in zip(counts, latencies, row, strict=True))
        energy = sum(c * e[i] for c, e, i in zip(counts, energies, row, strict=True))
        found[float(latency), float(energy)] = tuple(int(i) for i in row)
    points = np.array(list(found)).reshape(-1, 2)
    choices = list(found.values())
    rows = pareto_rows(points[:, 0], points[:, 1])
    return [(float(points[i, 0]), float(points[i, 1]), choices[i]) for i in rows]


def _choice(latency: FloatArray, energy: FloatArray, rates: FloatArray) -> IntArray:
    """``(N,)`` the mapping of one layer where latency + rate * energy is least."""
    weighed = latency[None] + rates[:, None] * energy[None]
    weighed[0] += 1e-9 * energy / energy.max()  # of equal latencies, the one of less energy
    return np.asarray(np.argmin(weighed, axis=1))


def least_product(floors: Sequence[LayerFloor], counts: Sequence[int]) -> float:
    """What no choice of mappings brings total latency times total energy below [cycles nJ].

    Each layer's floor is a convex set, so the sums lie in one too; lines of many slopes below it
    make a polygon, and a quasi-concave function is least at a polygon's corner.
    """
    latency, energy = least_sums(floors, counts)
    if latency <= 0 or energy <= 0:
        return 0.0
    rates, lines = _supports(floors, counts)
    # corners between lines a + r b = h of neighbouring slopes; the ends have a, or b, at its least
    inner_b = np.diff(lines) / np.diff(rates)
    inner_a = lines[:-1] - rates[:-1] * inner_b
    a = np.concatenate([[latency], inner_a, [lines[-1] - rates[-1] * energy]])
    b = np.concatenate([[(lines[0] - latency) / rates[0]], inner_b, [energy]])
    a, b = np.maximum(a, latency), np.maximum(b, energy)
    return float((a * b).min())


def least_sums(floors: Sequence[LayerFloor], counts: Sequence[int]) -> tuple[float, float]:
    """What no choice of mappings brings total latency, and total energy, below."""
    latency = sum(c * f.latency for c, f in zip(counts, floors, strict=True))
    energy = sum(c * f.energy for c, f in zip(counts, floors, strict=True))
    return latency, energy


def share_above(
    latency: float, energy: float, floors: Sequence[LayerFloor], counts: Sequence[int]
) -> float:
    """By how much a choice of mappings could have both sums lower at once, at most, as a share."""
    if min(least_sums(floors, counts)) <= 0:
        return float("inf")
    rates, lines = _supports(floors, counts)
    return float(((latency + rates * energy) / lines).min()) - 1


def _supports(floors: Sequence[LayerFloor], counts: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Rates ``(N,)``, and what latency + rate * energy of the network is at least ``(N,)``."""
    latency, energy = least_sums(floors, counts)
    rates = latency / energy * np.geomspace(1 / REACH, REACH, SUPPORTS)
    lines = np.zeros(SUPPORTS)
    for count, floor in zip(counts, floors, strict=True):
        lines += count * floor.least(rates)
    return rates, lines
