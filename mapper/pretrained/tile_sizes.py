"""Elements, steps and buffer fill of one mapping that is being chosen; see `seen_records.Seen`."""

from __future__ import annotations

import math

from mapper.pretrained.decisions import INNER, OUTER
from mapper.pretrained.seen_records import INPUT, LOGS, TENSORS, D, R, S, Seen, Y
from marl_common import address, part


@part
def size_log(value: float) -> float:
    """The scale of all sizes: eighths of a power of two."""
    return math.log2(max(value, 1e-9)) / 8


@part
def log_of(seen: Seen, number: int) -> float:
    """`size_log` of a whole number, looked up as far as it is small."""
    return float(seen.logs[number]) if number < LOGS else size_log(number)


@part
def up(number: int, size: int) -> int:
    """How many parts of `size` cover `number`."""
    return (number + size - 1) // size


@part
def covered(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Input rows that `outputs` positions of a filter with `taps` rows touch.

    Exact without dilation; with it, rows between the taps are counted as well.
    """
    if dilation == 1:
        return outputs * min(stride, taps) + max(taps - stride, 0)
    return min(outputs * taps, (outputs - 1) * stride + (taps - 1) * dilation + 1)


@part
def in_window(tensor: int, d: int) -> bool:
    """Whether a tensor depends on a dimension through a sliding window."""
    return tensor == INPUT and Y <= d <= S


@part
def elements_but_one(seen: Seen, level: int, tensor: int, d: int) -> float:
    """Elements of a tensor that a level holds but for the factor of `d` (-1: none)."""
    problem = address(seen.problem)
    size = 1.0
    for e in range(D):
        if e != d and problem.coupling[tensor][e] and not in_window(tensor, e):
            size *= seen.held[level][e]
    if tensor == INPUT:
        for axis in range(2):
            if d != Y + axis and d != R + axis:
                outputs, taps = seen.held[level][Y + axis], seen.held[level][R + axis]
                size *= covered(outputs, taps, problem.window[axis], problem.window[2 + axis])
    return size


@part
def factor_of(seen: Seen, level: int, tensor: int, d: int, size: int) -> int:
    """The factor that :func:`elements_but_one` left out, where the tile is `size` long."""
    problem = address(seen.problem)
    if in_window(tensor, d):
        axis = 0 if d in (Y, R) else 1
        outputs, taps = seen.held[level][Y + axis], seen.held[level][R + axis]
        if d == Y + axis:
            outputs = size
        else:
            taps = size
        return covered(outputs, taps, problem.window[axis], problem.window[2 + axis])
    return size if problem.coupling[tensor][d] else 1


@part
def fill_of(seen: Seen, level: int) -> float:
    """Share of a buffer that tensors take; above 1 they do not fit, 0 where nothing limits it."""
    problem = address(seen.problem)
    used, worst = 0.0, 0.0
    for tensor in range(TENSORS):
        need = seen.sizes[level][tensor] * problem.bits[level][tensor]
        used += need * problem.shares[level][tensor]
        if problem.own[level][tensor] < math.inf:
            worst = max(worst, need / problem.own[level][tensor])
    return float(max(worst, used / problem.capacity[level]))


@part
def utilisation(tiles: int, units: int) -> float:
    """Share of the units at work when so many tiles are spread over them."""
    if units == 1:
        return 1.0
    return tiles / float(up(tiles, units) * units)


@part
def clusters_of(seen: Seen) -> int:
    """Clusters that the PEs make; 1 while their size is not chosen."""
    return max(seen.problem.pes // seen.state.cluster, 1) if seen.state.cluster else 1


@part
def across(seen: Seen, d: int) -> int:
    """Clusters that share a dimension."""
    return clusters_of(seen) if d == seen.state.parallel[OUTER] else 1


@part
def within(seen: Seen, d: int) -> int:
    """PEs of a cluster that share a dimension."""
    return max(seen.state.cluster, 1) if d == seen.state.parallel[INNER] else 1


@part
def fill_steps(seen: Seen) -> None:
    """Steps of every dimension in the outer and in the inner loops."""
    state = address(seen.state)
    for d in range(D):
        n, outer = seen.problem.extents[d], state.tiles[OUTER][d]
        seen.steps[OUTER][d], seen.steps[INNER][d] = 1, 1
        if n > 1:
            seen.steps[OUTER][d] = up(n, outer * across(seen, d))
            seen.steps[INNER][d] = up(outer, state.tiles[INNER][d] * within(seen, d))


@part
def hold(seen: Seen, level: int) -> None:
    """Let L2 hold all clusters' tiles of a level, and L1 its own tiles."""
    for d in range(D):
        tile = seen.state.tiles[level][d] * across(seen, d)
        seen.held[OUTER][d] = min(seen.problem.extents[d], tile)
        seen.held[INNER][d] = seen.state.tiles[INNER][d]
