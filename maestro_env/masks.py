"""Which choices of a parameter can only lead to infeasible mappings."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from cost_models import ReasonCode
from maestro_env.problem import Problem

Masks = tuple[NDArray[np.int8], ...]
"""One array of 0 and 1 a parameter, as :meth:`gymnasium.spaces.MultiDiscrete.sample` takes it."""

CAPACITY = (ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY, ReasonCode.PE_COUNT)


def action_masks(problem: Problem) -> Masks:
    """Find the choices that do not fit the buffers whatever the other parameters are.

    A choice is tried with every other tile at its smallest, with every pair of parallel
    dimensions, and with the smallest and the largest cluster (and PE count): that is as little as
    a mapping with it can need. Only outer tiles can fail this: an inner tile is clamped to the
    outer one, and a cluster to the PEs. No sample is counted.

    Returns:
        One int8 array a parameter; 0 where a choice can only be infeasible. A parameter whose
        choices all are keeps them all.
    """
    masks = tuple(np.ones(n, dtype=np.int8) for n in problem.space.nvec)
    for column, parameter in enumerate(problem.space.parameters):
        if parameter.kind != "tile" or parameter.level != 0 or len(parameter) == 1:
            continue
        last = len(parameter) - 1
        if _fits(problem, column, np.array([last]))[0]:
            continue
        fits = _fits(problem, column, np.arange(last + 1))
        if fits.any():
            masks[column][~fits] = 0
    return masks


def flat(masks: Masks) -> NDArray[np.bool_]:
    """The masks one after another, as sb3-contrib's MaskablePPO takes them."""
    return np.concatenate(masks).astype(np.bool_)


def _fits(problem: Problem, column: int, choices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether some mapping with each of a parameter's choices stays within the capacities."""
    space = problem.space
    kinds = ("parallel", "cluster_size", "num_pes")
    free = [i for i, p in enumerate(space.parameters) if p.kind in kinds]
    ends = [
        range(len(p)) if p.kind == "parallel" else sorted({0, len(p) - 1})
        for p in (space.parameters[i] for i in free)
    ]
    settings = np.array(list(product(*ends)), dtype=np.int64)
    actions = np.zeros((len(choices), len(settings), len(space.nvec)), dtype=np.int64)
    actions[:, :, free] = settings
    actions[:, :, column] = choices[:, None]
    reason = problem.look(actions.reshape(-1, len(space.nvec))).costs.reason
    over = np.isin(reason, CAPACITY).reshape(len(choices), -1)
    return np.asarray(~over.all(axis=1))
