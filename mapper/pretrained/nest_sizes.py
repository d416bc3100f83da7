"""Boxes, steps and buffer fill of one mapping that is being chosen; see `seen_records.Seen`."""

from __future__ import annotations

import math

from mapper.pretrained.decisions import CLUSTER_SIZE, SPREADS, TURNED, UNITS
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
def place_of(d: int, turned: int) -> int:
    """When a dimension's tile of a memory is chosen; also the dimension that is then."""
    return int(TURNED[d]) if turned else d


@part
def fill_nest(seen: Seen, chosen: int) -> None:
    """Units, boxes and steps of all memories, of whose tiles the first so many are chosen.

    A tile that is not chosen yet counts as the least that gives all units below it work.
    """
    problem, state = address(seen.problem), address(seen.state)
    if problem.pool > 0 and (seen.step.kind > UNITS or problem.counts[CLUSTER_SIZE] == 1):
        state.units[0] = problem.pool // state.units[1]  # as many clusters as their size allows
    for d in range(D):
        seen.scale[d] = 1
        for i in range(problem.memories + 1):
            seen.units[i][d] = seen.box[i][d] = seen.outside[i][d] = seen.steps[i][d] = 1
        seen.box[problem.memories][d] = problem.extents[d]
    for s in range(SPREADS):
        if state.parallel[s] >= 0:
            seen.units[problem.below[s]][state.parallel[s]] *= state.units[s]
    if problem.pool > 0 and state.parallel[0] >= 0:
        seen.scale[state.parallel[0]] = state.units[0]
    for d in range(D):
        set_boxes(seen, d, 0, chosen)
        for i in range(problem.memories - 1, -1, -1):
            units = seen.units[i + 1][d]
            seen.outside[i][d] = seen.outside[i + 1][d] * units
            if state.tile[i][d] > 0:
                seen.box[i][d] = min(seen.box[i][d], seen.box[i + 1][d])
            else:
                seen.box[i][d] = up(seen.box[i + 1][d], units)
            seen.steps[i][d] = up(seen.box[i + 1][d], seen.box[i][d] * units)


@part
def set_boxes(seen: Seen, d: int, first: int, chosen: int) -> None:
    """The boxes of memories from a first one on by their tiles, of which so many are chosen.

    One that is not chosen at least gives its units work.
    """
    state = address(seen.state)
    for i in range(first, seen.problem.memories):
        if state.tile[i][d] > 0:
            box = state.tile[i][d] * seen.scale[d] if i == 1 else state.tile[i][d]
            if i * D + place_of(d, state.turned) >= chosen:
                box = max(box, (seen.box[i - 1][d] if i > 0 else 1) * seen.units[i][d])
            seen.box[i][d] = min(box, seen.problem.extents[d])


@part
def covered(seen: Seen, level: int, axis: int) -> int:
    """Input rows (axis 0) or columns that the outputs and taps in a memory touch.

    Exact without dilation; with it, rows between the taps are counted as well.
    """
    window, box = seen.problem.window, seen.box[level]
    outputs, taps, stride, dilation = box[Y + axis], box[R + axis], window[axis], window[2 + axis]
    return int(min(outputs * taps, (outputs - 1) * stride + (taps - 1) * dilation + 1))


@part
def elements(seen: Seen, level: int, tensor: int) -> float:
    """Elements of a tensor that a memory holds."""
    size = 1.0
    for d in range(D):
        if seen.problem.coupling[tensor][d] and not (tensor == INPUT and Y <= d <= S):
            size *= seen.box[level][d]
    return size * covered(seen, level, 0) * covered(seen, level, 1) if tensor == INPUT else size


@part
def fill_sizes(seen: Seen, first: int) -> None:
    """Elements of each tensor in memories from a first one on, and the share that these take.

    Above 1 they do not fit; it is 0 where nothing limits it.
    """
    problem = address(seen.problem)
    for i in range(first, problem.memories + 1):
        used, worst = 0.0, 0.0
        for tensor in range(TENSORS):
            seen.sizes[i][tensor] = elements(seen, i, tensor)
            need = seen.sizes[i][tensor] * problem.bits[i][tensor]
            used += need * problem.shares[i][tensor]
            worst = max(worst, need / problem.own[i][tensor])
        seen.fills[i] = max(worst, used / problem.capacity[i])


@part
def worst_fill(seen: Seen, first: int) -> float:
    """The largest share that is taken of memories from a first one on."""
    worst = 0.0
    for i in range(first, seen.problem.memories):
        worst = max(worst, seen.fills[i])
    return worst


@part
def fill_log(fill: float) -> float:
    """A share that is taken of a memory on the scale of sizes, cut below; 0 of nothing."""
    return max(size_log(fill), -3.0) if fill > 0 else 0.0


@part
def utilisation(tiles: int, units: int) -> float:
    """Share of the units at work when so many tiles are spread over them."""
    return tiles / float(up(tiles, units) * units)
