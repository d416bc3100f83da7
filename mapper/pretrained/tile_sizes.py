"""Elements, steps and buffer fill of a mapping that is being chosen (compiled)."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final

import numpy as np

from common import inner_function
from mapper.pretrained.tables import D, R, S, X, Y
from mapper.pretrained.turns import INNER, OUTER

INPUT: Final = 0


@inner_function(error_model="numpy")
def log(value: float) -> float:
    """The scale of all sizes."""
    return np.log2(max(value, 1e-9)) / 8


KNOWN_LOGS: Final = np.log2(np.maximum(np.arange(4096), 1e-9)) / 8
"""`log` of the first integers."""


@inner_function(error_model="numpy")
def log_of(number: int) -> float:
    """`log` of an integer, which are looked up as far as they are small."""
    return KNOWN_LOGS[number] if number < len(KNOWN_LOGS) else np.log2(number) / 8


@inner_function(error_model="numpy")
def up(number: int, size: int) -> int:
    """How many parts of `size` cover `number`."""
    return int(np.ceil(number / size))


@inner_function(error_model="numpy")
def covered(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Input rows that `outputs` positions of a filter with `taps` rows touch.

    Exact without dilation; with it, rows between the taps are counted as well.
    """
    if dilation == 1:
        return outputs * min(stride, taps) + max(taps - stride, 0)
    return min(outputs * taps, (outputs - 1) * stride + (taps - 1) * dilation + 1)


@inner_function(error_model="numpy")
def tensor_elements(tensor: int, box: Any, coupling: Any, window: Any) -> float:
    """Elements of a tensor that a box of the loop nest touches."""
    size = 1.0
    for d in range(D):
        if coupling[tensor, d] and not (tensor == INPUT and d in (Y, X, R, S)):
            size *= box[d]
    if tensor == INPUT:
        size *= covered(box[Y], box[R], window[0], window[2])
        size *= covered(box[X], box[S], window[1], window[3])
    return size


@inner_function(error_model="numpy")
def fill_of(level: int, sizes: Any, bits: Any, shares: Any, own: Any, capacity: Any) -> float:
    """Share of a buffer that tensors take; above 1 they do not fit, 0 where nothing limits it.

    Args:
        level: Place of the buffer in what follows: 0 L2, 1 L1.
        sizes: ``(3,)`` elements of each tensor.
        bits: ``(2, 3)``, as the others of :class:`ProblemTables`.
        shares: ``(2, 3)``.
        own: ``(2, 3)``.
        capacity: ``(2,)``.
    """
    used = 0.0
    worst = 0.0
    for tensor in range(3):
        need = sizes[tensor] * bits[level, tensor]
        used += need * shares[level, tensor]
        if own[level, tensor] < np.inf:
            worst = max(worst, need / own[level, tensor])
    return max(worst, used / capacity[level])


@inner_function(error_model="numpy")
def l2_box(box: Any, tiles: Any, outer: int, clusters: int, extents: Any) -> None:
    """The part of the nest that all clusters hold together, into `box`."""
    for d in range(D):
        box[d] = min(extents[d], tiles[d] * (clusters if d == outer else 1))


@inner_function(error_model="numpy")
def utilisation(tiles: int, units: int) -> float:
    """Share of the units at work when so many tiles are spread over them."""
    if units == 1:
        return 1.0
    return tiles / (up(tiles, units) * units)


@inner_function(error_model="numpy")
def clusters_of(pes: int, cluster: int) -> int:
    """Clusters that the PEs make; 1 while their size is not chosen."""
    return max(pes // cluster, 1) if cluster else 1


@inner_function(error_model="numpy")
def fill_steps(
    steps: Any, extents: Any, tiles: Any, spread: Any, clusters: int, cluster: int
) -> None:
    """Steps of every dimension in the outer and in the inner loops, into ``steps (2, D)``."""
    for d in range(D):
        if extents[d] == 1:
            steps[:, d] = 1
            continue
        across = clusters if d == spread[OUTER] else 1
        within = max(cluster, 1) if d == spread[INNER] else 1
        steps[OUTER, d] = up(extents[d], tiles[OUTER, d] * across)
        steps[INNER, d] = up(tiles[OUTER, d], tiles[INNER, d] * within)


@inner_function(error_model="numpy")
def held_elements(
    sizes: Any,
    box: Any,
    extents: Any,
    coupling: Any,
    window: Any,
    tiles: Any,
    outer: int,
    clusters: int,
) -> None:
    """Elements of each tensor in L2 and L1, into ``sizes (2, 3)``; `box` becomes L2's."""
    l2_box(box, tiles[OUTER], outer, clusters, extents)
    for tensor in range(3):
        sizes[OUTER, tensor] = tensor_elements(tensor, box, coupling, window)
        sizes[INNER, tensor] = tensor_elements(tensor, tiles[INNER], coupling, window)


@inner_function(error_model="numpy")
def elements_but_one(rest: Any, d: int, box: Any, coupling: Any, window: Any) -> None:
    """Elements of each tensor in a box but for the factor of a dimension, into ``rest (3,)``."""
    for tensor in range(3):
        size = 1.0
        for e in range(D):
            if e != d and coupling[tensor, e] and not (tensor == INPUT and e in (Y, X, R, S)):
                size *= box[e]
        rest[tensor] = size
    if d not in (Y, R):
        rest[INPUT] *= covered(box[Y], box[R], window[0], window[2])
    if d not in (X, S):
        rest[INPUT] *= covered(box[X], box[S], window[1], window[3])


@inner_function(error_model="numpy")
def factor_of(tensor: int, d: int, size: int, box: Any, coupling: Any, window: Any) -> int:
    """The factor that :func:`elements_but_one` left out, where the box is `size` long."""
    if tensor == INPUT and d in (Y, X, R, S):
        axis = 0 if d in (Y, R) else 1
        outputs, taps = (size, box[R + axis]) if d == Y + axis else (box[Y + axis], size)
        return covered(outputs, taps, window[axis], window[2 + axis])
    return size if coupling[tensor, d] else 1
