"""Elements, steps and buffer fill of a mapping that is being chosen (compiled)."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any, Final

import numpy as np

from common import inner_function
from mapper.pretrained.state import State
from mapper.pretrained.tables import D, ProblemTables, R, S, X, Y
from mapper.pretrained.turns import INNER, OUTER

INPUT: Final = 0


@inner_function
def log(value: float) -> float:
    """The scale of all sizes."""
    return np.log2(max(value, 1e-9)) / 8


@inner_function
def up(number: int, size: int) -> int:
    """How many parts of `size` cover `number`."""
    return -(-number // size)


@inner_function
def covered(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Input rows that `outputs` positions of a filter with `taps` rows touch.

    Exact without dilation; with it, rows between the taps are counted as well.
    """
    if dilation == 1:
        return outputs * min(stride, taps) + max(taps - stride, 0)
    return min(outputs * taps, (outputs - 1) * stride + (taps - 1) * dilation + 1)


@inner_function
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


@inner_function
def fill_of(level: int, box: Any, problem: int, tables: ProblemTables) -> float:
    """Share of a buffer that a box takes; above 1 it does not fit, 0 where nothing limits it."""
    used = 0.0
    worst = 0.0
    for tensor in range(3):
        need = tensor_elements(tensor, box, tables.coupling[problem], tables.window[problem])
        need *= tables.bits[problem, level, tensor]
        used += need * tables.shares[problem, level, tensor]
        worst = max(worst, need / tables.own[problem, level, tensor])
    return max(worst, used / tables.capacity[problem, level])


@inner_function
def l2_box(box: Any, tiles: Any, outer: int, clusters: int, extents: Any) -> None:
    """The part of the nest that all clusters hold together, into `box`."""
    for d in range(D):
        box[d] = min(extents[d], tiles[d] * (clusters if d == outer else 1))


@inner_function
def utilisation(tiles: int, units: int) -> float:
    """Share of the units at work when so many tiles are spread over them."""
    return tiles / (up(tiles, units) * units)


@inner_function
def clusters_of(row: int, problem: int, tables: ProblemTables, state: State) -> int:
    """Clusters that the PEs make; 1 while their size is not chosen."""
    cluster = state.cluster[row]
    return max(tables.pes[problem] // cluster, 1) if cluster else 1


@inner_function
def steps_of(
    d: int, row: int, problem: int, tables: ProblemTables, state: State, clusters: int
) -> tuple[int, int]:
    """Steps of a dimension in the outer and in the inner loops."""
    outer, inner = state.spread[row]
    wide = state.tiles[row, OUTER, d]
    within = max(state.cluster[row], 1) if d == inner else 1
    outer_steps = up(tables.extents[problem, d], wide * (clusters if d == outer else 1))
    return outer_steps, up(wide, state.tiles[row, INNER, d] * within)


@inner_function
def held_elements(
    sizes: Any, row: int, problem: int, tables: ProblemTables, state: State, box: Any
) -> None:
    """Elements of each tensor in L2 and L1, into ``sizes (2, 3)``; `box` becomes L2's."""
    clusters = clusters_of(row, problem, tables, state)
    l2_box(
        box, state.tiles[row, OUTER], state.spread[row, OUTER], clusters, tables.extents[problem]
    )
    coupling, window = tables.coupling[problem], tables.window[problem]
    for tensor in range(3):
        sizes[OUTER, tensor] = tensor_elements(tensor, box, coupling, window)
        sizes[INNER, tensor] = tensor_elements(tensor, state.tiles[row, INNER], coupling, window)
