"""Loop nests as numbers in about [0, 1], for a model to learn from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.chain_features import chain_features
from cost_models import ChainBatch, MappingBatch
from layers import DIMS, NEST_DIMS
from maestro_env import Problem
from marl_common import FloatArray

TENSORS: FloatArray = np.array(
    [[dim in tensor for tensor in ("KCRSG", "CYXNG", "KYXNG")] for dim in DIMS], dtype=np.float64
)
"""``(8, 3)``: which dimensions span the weights, the inputs (but for their halo), the outputs."""


def nest_features(problem: Problem, mappings: MappingBatch | ChainBatch) -> FloatArray:
    """What a cost can depend on smoothly; parameters that make the same nest look the same.

    The cluster size (and the PEs, where they are searched); then for each level, with sizes as
    logs: the tiles, the elements of each tensor in them, each loop's place among those that
    iterate, the parallel dimension (a column each), the PEs or clusters that work, and the share
    of the time in which all of them do.

    Args:
        problem: Layer and accelerator; of a chain, see :func:`chain_features`.
        mappings: `B` mappings.

    Returns:
        ``(B, F)``.
    """
    if isinstance(mappings, ChainBatch):
        return chain_features(problem, mappings)
    extents = np.array(problem.layer.extents, dtype=np.float64)
    dims = np.array([DIMS.index(dim) for dim in problem.space.moving], dtype=np.intp)
    most = problem.accelerator.num_pes
    pes: NDArray[np.int64] = mappings.pes(most)[:, None].astype(np.int64)
    cluster: NDArray[np.int64] = mappings.cluster_size[:, None].astype(np.int64)
    wholes = [extents, mappings.tiles[:, 0].astype(np.float64)]
    widths = [np.maximum(1, pes // cluster), cluster]
    unit = math.log(max(2, most))
    columns: list[FloatArray] = [np.log(cluster) / unit]
    if mappings.num_pes is not None:
        columns.append(np.log(pes) / unit)
    for level, (whole, width) in enumerate(zip(wholes, widths, strict=True)):
        tiles, parallel = mappings.tiles[:, level], mappings.parallel[:, level, None]
        steps: FloatArray = np.ceil(whole / tiles)
        abreast = np.take_along_axis(steps, parallel.astype(np.intp), axis=1)
        np.put_along_axis(steps, parallel.astype(np.intp), np.ceil(abreast / width), axis=1)
        columns.append(np.log(tiles[:, dims]) / np.log(extents[dims]))
        columns.append(elements_in(tiles) / np.maximum(elements_in(extents), 1.0))
        columns.append(places_of(mappings.orders[:, level], steps, dims))
        columns.append((parallel == dims).astype(np.float64))
        columns.append(np.log(np.minimum(abreast, width)) / unit)
        columns.append(np.log(abreast / (np.ceil(abreast / width) * width)) / unit)
    return np.concatenate(columns, axis=1)


def elements_in(sizes: NDArray[Any]) -> FloatArray:
    """Logs of the elements of each tensor in a tile: ``(..., 3)``."""
    nest = len(NEST_DIMS)  # apart from batch and groups, so that layers without them sum as ever
    logs = np.log(sizes[..., :nest]) @ TENSORS[:nest] + np.log(sizes[..., nest:]) @ TENSORS[nest:]
    return np.asarray(logs)


def places_of(orders: NDArray[np.int8], steps: FloatArray, dims: NDArray[np.intp]) -> FloatArray:
    """``(B, D)``: 0 for the innermost loop that iterates, 1 for the outermost; 1/2 for the idle."""
    place = np.argsort(orders, axis=1)[:, dims]
    iterates = steps[:, dims] > 1
    inside = ((place[:, None] > place[:, :, None]) & iterates[:, None]).sum(axis=2)
    others = np.maximum(1, iterates.sum(axis=1) - 1)[:, None]
    return np.where(iterates, inside / others, 0.5)
