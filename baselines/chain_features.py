"""Loop nests on a chain as numbers in about [0, 1], for a model to learn from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain, ChainBatch
from layers import DIMS
from maestro_env import Problem
from marl_common import FloatArray

Dims = NDArray[np.intp]


def chain_features(problem: Problem, mappings: ChainBatch) -> FloatArray:
    """What a cost can depend on smoothly; see :func:`baselines.features.nest_features`.

    For each entry of a memory, with sizes as logs: the tiles, the elements of each tensor in them,
    and each loop's place among those that iterate. For each entry: the units that have work along
    each dimension, and the share of the time in which all of them do. For the MACs likewise. Then
    the tensors that each entry keeps, where mappings choose.

    Args:
        problem: Layer and chip.
        mappings: `B` mappings.

    Returns:
        ``(B, F)``.
    """
    from baselines.features import elements_in, places_of

    chip: Chain = problem.accelerator
    extents = np.array(problem.layer.extents, dtype=np.float64)
    dims: Dims = np.flatnonzero(extents > 1)
    unit = math.log(max(2, chip.peak_macs_per_cycle))
    tiles = mappings.whole_tiles(problem.layer.extents).astype(np.float64)
    around: FloatArray = np.broadcast_to(extents, (len(mappings), len(DIMS)))
    columns: list[FloatArray] = []
    for e, name in enumerate(mappings.levels):
        tile, units = tiles[:, e], mappings.units_along(e - 1)
        if any(slot.entry == e - 1 for slot in mappings.slots):
            columns += _spread(around / tile, units, dims, unit)
        if chip.levels[chip.position(name)].is_memory:
            steps = np.ceil(around / (tile * units))
            columns.append(np.log(tile[:, dims]) / np.log(extents[dims]))
            columns.append(elements_in(tile) / np.maximum(elements_in(extents), 1.0))
            columns.append(places_of(mappings.orders[:, e], steps, dims))
        around = tile
    last = len(mappings.levels) - 1
    if any(slot.entry == last for slot in mappings.slots):
        columns += _spread(around, mappings.units_along(last), dims, unit)
    if mappings.keeps is not None:
        columns.append(mappings.keeps.reshape(len(mappings), -1).astype(np.float64))
    return np.concatenate(columns, axis=1)


def _spread(
    parts: FloatArray, units: NDArray[np.int32], dims: Dims, unit: float
) -> list[FloatArray]:
    """Units at work along each dimension, and their use."""
    abreast = np.ceil(parts)
    use = abreast / (np.ceil(abreast / units) * units)
    return [
        np.log(np.minimum(abreast, units)[:, dims]) / unit,
        np.log(use[:, dims]).sum(axis=1, keepdims=True) / unit,
    ]
