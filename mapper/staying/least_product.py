"""The least product of energy and latency, by sums of both.

The energy-delay product of two sums is least at a corner of their convex hull, because the product
is quasi-concave there; a corner is where energy + price * latency is least, for some price of a
cycle. Each price gives a line that no network is below; the next price is that of the corner of
these lines with the least product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mapper.staying.network_result import CLOSE, NetworkResult
from mapper.staying.shape_facts import ENERGY, LATENCY, CostLine, SumWeights

MOST_PRICES = 24


def least_product(
    least: Callable[[SumWeights], NetworkResult], floor: Callable[[SumWeights], float], gap: float
) -> NetworkResult:
    """The network of the least product of energy and latency [nJ cycles].

    Args:
        least: The network of the least sum, with its bound.
        floor: What no sum is below, by what is known already.
        gap: Stop where the product is proven to be at most this share above the optimum.
    """
    lines, best = [CostLine(math.inf, one, floor(one)) for one in (ENERGY, LATENCY)], None
    prices: list[float] = []
    price = _rounded(lines[0].value / lines[1].value)
    for _ in range(MOST_PRICES):
        prices.append(price)
        weights = SumWeights(1.0, price)
        one = least(weights)
        lines.append(CostLine(math.inf, weights, one.bound))
        if best is None or one.energy * one.latency < best.energy * best.latency:
            best = one
        bound, price = _least_corner(lines)
        value = best.energy * best.latency
        price = _rounded(price)
        if value <= bound * (1 + max(gap, CLOSE)) or price in prices:
            break
    assert best is not None
    return NetworkResult(best.steps, value, min(bound, value), tuple(prices))


def _rounded(price: float) -> float:
    return float(f"{price:.9g}")


def _least_corner(lines: Sequence[CostLine]) -> tuple[float, float]:
    """The least product of energy and latency above all lines, and the price of a cycle there."""
    ordered = sorted(lines, key=lambda line: line.weights.latency / (line.weights.energy or 1e-300))
    least, price = math.inf, 1.0
    for one in ordered:
        for other in ordered:
            (a, b), (c, d) = one.weights, other.weights
            determinant = a * d - b * c
            if determinant <= 0:
                continue
            energy = (one.value * d - other.value * b) / determinant
            latency = (a * other.value - c * one.value) / determinant
            holds = all(
                line.weights.of(energy, latency) >= line.value * (1 - 1e-12) for line in lines
            )
            if holds and energy * latency < least:
                least, price = energy * latency, energy / latency
    return least, price
