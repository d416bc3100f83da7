"""Elements, steps and buffer fill of one mapping that is being chosen (compiled).

A problem and a state are single rows here: see `problem_at` and `state_at`.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from common import inner_function
from mapper.pretrained.decisions import INNER, OUTER
from mapper.pretrained.problem_arrays import D, ProblemArrays, R, S, X, Y
from mapper.pretrained.state import State

INPUT: Final = 0
inner: Any = partial(inner_function, error_model="numpy")


@inner()
def log(value: float) -> float:
    """The scale of all sizes: eighths of a power of two."""
    return np.log2(max(value, 1e-9)) / 8


KNOWN_LOGS: Final = np.log2(np.maximum(np.arange(4096), 1e-9)) / 8
"""`log` of the first integers."""


@inner()
def log_of(number: int) -> float:
    """`log` of an integer, looked up as far as it is small."""
    return KNOWN_LOGS[number] if number < len(KNOWN_LOGS) else np.log2(number) / 8


@inner()
def up(number: int, size: int) -> int:
    """How many parts of `size` cover `number`."""
    return int(np.ceil(number / size))


@inner()
def covered(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Input rows that `outputs` positions of a filter with `taps` rows touch.

    Exact without dilation; with it, rows between the taps are counted as well.
    """
    if dilation == 1:
        return outputs * min(stride, taps) + max(taps - stride, 0)
    return min(outputs * taps, (outputs - 1) * stride + (taps - 1) * dilation + 1)


@inner()
def in_window(tensor: int, d: int) -> bool:
    """Whether a tensor depends on a dimension through a sliding window."""
    return tensor == INPUT and d in (Y, X, R, S)


@inner()
def elements_but_one(rest: Any, d: int, box: Any, problem: ProblemArrays) -> None:
    """Elements of each tensor in a box but for the factor of `d` (-1: none), ``rest (3,)``."""
    window = problem.window
    for tensor in range(3):
        size = 1.0
        for e in range(D):
            if e != d and problem.coupling[tensor, e] and not in_window(tensor, e):
                size *= box[e]
        rest[tensor] = size
    if d not in (Y, R):
        rest[INPUT] *= covered(box[Y], box[R], window[0], window[2])
    if d not in (X, S):
        rest[INPUT] *= covered(box[X], box[S], window[1], window[3])


@inner()
def factor_of(tensor: int, d: int, size: int, box: Any, problem: ProblemArrays) -> int:
    """The factor that :func:`elements_but_one` left out, where the box is `size` long."""
    if in_window(tensor, d):
        axis = 0 if d in (Y, R) else 1
        outputs, taps = (size, box[R + axis]) if d == Y + axis else (box[Y + axis], size)
        return covered(outputs, taps, problem.window[axis], problem.window[2 + axis])
    return size if problem.coupling[tensor, d] else 1


@inner()
def fill_of(level: int, sizes: Any, problem: ProblemArrays) -> float:
    """Share of a buffer that tensors take; above 1 they do not fit, 0 where nothing limits it.

    Args:
        level: 0 L2, 1 L1.
        sizes: ``(3,)`` elements of each tensor.
        problem: One problem.
    """
    used = 0.0
    worst = 0.0
    for tensor in range(3):
        need = sizes[tensor] * problem.bits[level, tensor]
        used += need * problem.shares[level, tensor]
        if problem.own[level, tensor] < np.inf:
            worst = max(worst, need / problem.own[level, tensor])
    return max(worst, used / problem.capacity[level])


@inner()
def utilisation(tiles: int, units: int) -> float:
    """Share of the units at work when so many tiles are spread over them."""
    if units == 1:
        return 1.0
    return tiles / (up(tiles, units) * units)


@inner()
def clusters_of(problem: ProblemArrays, state: State) -> int:
    """Clusters that the PEs make; 1 while their size is not chosen."""
    return max(int(problem.pes // state.cluster), 1) if state.cluster else 1


@inner()
def across(d: int, problem: ProblemArrays, state: State) -> int:
    """Clusters that share a dimension."""
    return clusters_of(problem, state) if d == state.parallel[OUTER] else 1


@inner()
def within(d: int, state: State) -> int:
    """PEs of a cluster that share a dimension."""
    return max(int(state.cluster), 1) if d == state.parallel[INNER] else 1


@inner()
def fill_steps(steps: Any, problem: ProblemArrays, state: State) -> None:
    """Steps of every dimension in the outer and in the inner loops, into ``steps (2, D)``."""
    extents, tiles = problem.extents, state.tiles
    for d in range(D):
        if extents[d] == 1:
            steps[:, d] = 1
            continue
        steps[OUTER, d] = up(extents[d], tiles[OUTER, d] * across(d, problem, state))
        steps[INNER, d] = up(tiles[OUTER, d], tiles[INNER, d] * within(d, state))


@inner()
def l2_box(box: Any, level: int, problem: ProblemArrays, state: State) -> None:
    """The part of the nest that all clusters hold of a level's tiles together, into `box`."""
    for d in range(D):
        box[d] = min(problem.extents[d], state.tiles[level, d] * across(d, problem, state))
