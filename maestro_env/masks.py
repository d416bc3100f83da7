"""Which choices of a parameter can only lead to infeasible mappings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain, ReasonCode
from maestro_env.emptiness import ARRAY, smallest_tiles
from maestro_env.problem import Problem

Masks = tuple[NDArray[np.int8], ...]
"""One array of 0 and 1 a parameter, as :meth:`gymnasium.spaces.MultiDiscrete.sample` takes it."""

CAPACITY = (
    *(ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY, ReasonCode.PE_COUNT),
    ReasonCode.CAPACITY,
)


def action_masks(problem: Problem) -> Masks:
    """Find the choices that do not fit the buffers whatever the other parameters are.

    A choice is tried with every other tile at its smallest, with every pair of parallel
    dimensions, and with the smallest and the largest cluster and PE count: that is as little as a
    mapping with it can need. Loop orders need nothing. No sample is counted.

    Returns:
        One int8 array a parameter; 0 where a choice can only be infeasible. A parameter whose
        choices all are keeps them all; so do all of a space where a tensor may bypass a level, or a
        memory keep tensors of its own for each of several tiles.
    """
    parameters = problem.space.parameters
    masks = tuple(np.ones(len(parameter), dtype=np.int8) for parameter in parameters)
    if problem.space.full or any(p.kind == "keeps" for p in parameters):
        return masks
    on_chain = isinstance(problem.accelerator, Chain)  # there units decide nothing by themselves
    decisive = ("tile",) if on_chain else ("tile", *ARRAY)
    roomy = bool(_fitting(problem, _least(problem)).all())
    for column, parameter in enumerate(parameters):
        if len(parameter) == 1 or parameter.kind not in decisive:
            continue
        if parameter.kind in ARRAY and roomy:
            continue
        last = len(parameter) - 1
        if parameter.kind == "tile" and _fits(problem, column, np.array([last]))[0]:
            continue  # a smaller tile needs no more
        fits = _fits(problem, column, np.arange(last + 1))
        if fits.any():
            masks[column][~fits] = 0
    return masks


def flat(masks: Masks) -> NDArray[np.bool_]:
    """The masks one after another, as sb3-contrib's MaskablePPO takes them."""
    return np.concatenate(masks).astype(np.bool_)


def _fits(problem: Problem, column: int, choices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether some mapping with each of a parameter's choices stays within the capacities."""
    least = _least(problem)
    actions = np.repeat(least[np.newaxis], len(choices), axis=0)
    actions[:, :, column] = choices[:, None]
    fitting = _fitting(problem, actions.reshape(-1, least.shape[1]))
    return np.asarray(fitting.reshape(len(choices), -1).any(axis=1))


def _fitting(problem: Problem, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    return ~np.isin(problem.look(actions).costs.reason, CAPACITY)


def _least(problem: Problem) -> NDArray[np.int64]:
    """Actions ``(n, P)`` with the smallest tiles, and the ends of all settings of an array."""
    return smallest_tiles(problem.space, whole=("parallel",))
