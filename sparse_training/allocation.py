"""How many units each layer keeps: Erdos-Renyi or uniform, of exactly the asked sum."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from marl_common import FloatArray, IntArray
from sparse_training.errors import SparseTrainingError, check_name, check_sparsity
from sparse_training.structure import BLOCK, UNITS, Shape, Unit, unit_grid

RULES = ("er", "uniform")
MOST_MISSED = 0.1
"""Share of the kept weights that whole blocks may miss the budget by."""


def allocate(
    shapes: Sequence[Shape], sparsity: float, rule: str = "er", unit: Unit = "free"
) -> tuple[int, ...]:
    """Share a budget of kept units out to layers.

    Counts are whole by largest remainder, at least 1 in each layer. With ``free`` they add up to
    ``round((1 - sparsity) * weights)``; with ``block4`` to the whole number of blocks that is
    nearest to the layers' densities.

    Args:
        shapes: Outputs and inputs of each layer.
        sparsity: Share of all weights that is left out.
        rule: ``"er"`` (density ``min(1, e (O + I) / (O I))``, Mocanu et al. 2018; layers that
            reach 1 are fixed and ``e`` is solved again) or ``"uniform"``.
        unit: ``"free"`` or ``"block4"``.

    Returns:
        Kept units of each layer.

    Raises:
        SparseTrainingError: No layers, an unknown name, a sparsity outside of [0, 1), a layer that
            would be left empty, or blocks that cannot meet the budget.
    """
    check_name("rule", rule, RULES)
    check_name("unit", unit, UNITS)
    check_sparsity(sparsity)
    if not shapes or min(min(shape) for shape in shapes) < 1:
        raise SparseTrainingError(
            f"layers {list(shapes)}: expected at least one, each of at least one output and input."
        )
    weights, most = _sizes(tuple(shapes), unit)
    densities = er_densities(shapes, sparsity) if rule == "er" else np.full(len(most), 1 - sparsity)
    aims = densities * most
    budget = (1 - sparsity) * float(weights.sum())
    total = round(budget if unit == "free" else float(aims.sum()))
    if total < len(most):
        raise SparseTrainingError(
            f"sparsity={sparsity} keeps {total} of {most.sum()} units ({unit}), which leaves one "
            f"of {len(most)} layers empty; expected at most {1 - len(most) / most.sum():.4g}."
        )
    counts = whole_counts(aims, most, total)
    if unit == "block4":
        _check_blocks(weights / most, counts, budget, sparsity)
    return tuple(int(count) for count in counts)


@lru_cache(maxsize=64)
def _sizes(shapes: tuple[Shape, ...], unit: Unit) -> tuple[IntArray, IntArray]:
    """``(layers,)`` weights and units of layers, not to be written to."""
    weights = np.array([rows * columns for rows, columns in shapes], dtype=np.int64)
    units = np.array([np.prod(unit_grid(shape, unit)) for shape in shapes], dtype=np.int64)
    return weights, units


def er_densities(shapes: Sequence[Shape], sparsity: float) -> FloatArray:
    """``(layers,)`` densities of the Erdos-Renyi rule; their weights add up to the budget."""
    sizes = _sizes(tuple(shapes), "free")[0].astype(np.float64)
    ends = np.array([rows + columns for rows, columns in shapes], dtype=np.float64)
    budget = (1 - sparsity) * sizes.sum()
    dense = np.zeros(len(sizes), dtype=np.bool_)
    while not dense.all():
        factor = (budget - sizes[dense].sum()) / ends[~dense].sum()
        above = ~dense & (factor * ends >= sizes)
        if not above.any():
            return np.where(dense, 1.0, factor * ends / sizes)
        dense |= above
    return np.ones(len(sizes))


def whole_counts(aims: FloatArray, most: IntArray, total: int) -> IntArray:
    """Whole numbers near ``aims``, from 1 to ``most`` each, that add up to ``total``.

    What is left goes to the largest remainders, the first of equals before the others.
    """
    counts = np.clip(np.floor(aims + 1e-9).astype(np.int64), 1, most)
    while (left := total - int(counts.sum())) != 0:
        step = 1 if left > 0 else -1
        able = counts < most if left > 0 else counts > 1
        order = np.argsort(-step * (aims - counts), kind="stable")
        chosen = order[able[order]][: abs(left)]
        counts[chosen] += step
    return counts


def _check_blocks(each: FloatArray, counts: IntArray, budget: float, sparsity: float) -> None:
    """Refuse blocks whose weights miss the budget by more than a tenth.

    Args:
        each: Mean weights of a block of each layer.
        counts: Blocks of each layer.
        budget: Weights to keep.
        sparsity: As asked, for the message.
    """
    kept, size = float(each @ counts), budget / (1 - sparsity)
    if abs(kept - budget) > MOST_MISSED * budget:
        raise SparseTrainingError(
            f"sparsity={sparsity} with unit 'block4' keeps {budget:.0f} weights, which blocks of "
            f"{BLOCK * BLOCK} cannot meet at these widths; the nearest sparsity is "
            f"{1 - kept / size:.4g}. Use it, wider layers, or unit 'free'."
        )
