"""Input counts of a dividing mapping by the rules of Timeloop for what a buffer still holds.

Timeloop 3.0.3 gives credit for the tile of the step before alone (src/loop-analysis/
nest-analysis.cpp), in three ways that differ from a buffer that keeps what it holds:

- `EXTRAPOLATES`: of a loop it walks the first two iterations, and counts the second for all that
  follow (ComputeTemporalWorkingSet). After the loop wraps, a tile is so compared with that of the
  second iteration, not of the last, and may find elements there that the buffer no longer holds.
  Under TIMELOOP_DISABLE_TEMPORAL_EXTRAPOLATION=1 every iteration is walked.
- `DROPS`: where a tile moves by another vector than the step before, what is held is forgotten
  (SaveAndSubtractIfSameStride).
- `WHOLE`: a tile that has moved along two axes is fetched whole
  (AxisAlignedHyperRectangle::Subtract).

Where none of them applies its counts are those of :func:`slid`: what is fetched anew (the exact
model's ``halo_time=none``) less the rows that a window leaves in place where it alone moves on.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from benchmarks.dividing_mapping import Bypass, DividingMapping
from layers import footprint

EXTRAPOLATES = (
    "tool takes a loop's later iterations as its second: a wrap finds what left the buffer"
)
DROPS = "tool forgets what is held where a tile moves otherwise than in the step before"
WHOLE = "tool fetches a tile whole that has moved along two axes"
Vector = tuple[int, int, int]
"""Channels, rows and columns of the input."""
Steps = list[tuple[int, Vector]]
"""Temporal loops, outermost first: how many iterations, and how far one moves the tile."""


class Rules(NamedTuple):
    """Which of Timeloop's rules apply."""

    extrapolates: bool = True
    drops: bool = True


ALL = Rules()


def fetched(steps: Steps, tile: Vector, rules: Rules) -> int:
    """Elements that one buffer gets, all steps together."""
    whole, total = prod(tile), 0
    held: Vector | None = None
    moves: Vector | None = None
    for at in product(*(range(min(n, 2) if rules.extrapolates else n) for n, _ in steps)):
        c, y, x = (
            sum(i * by[axis] for i, (_, by) in zip(at, steps, strict=True)) for axis in range(3)
        )
        move = None if held is None else (c - held[0], y - held[1], x - held[2])
        if rules.drops and moves is not None and move != moves:
            lacks, moves = whole, None
        else:
            lacks = whole if move is None else _lacks(tile, move)
            moves = moves or move
        alike = (n - 1 for i, (n, _) in zip(at, steps, strict=True) if i)
        total += lacks * (prod(alike) if rules.extrapolates else 1)
        held = c, y, x
    return total


def _lacks(tile: Vector, move: Vector) -> int:
    """Elements of a tile that lie outside the one before, from which it moved."""
    moved = [(abs(by), n) for by, n in zip(move, tile, strict=True) if by]
    if len(moved) == 1:
        by, n = moved[0]
        return prod(tile) // n * min(by, n)
    return prod(tile) if moved else 0


def input_count(case: DividingMapping, bypass: Bypass, metric: str, rules: Rules = ALL) -> int:
    """One of `dram_in`, `l2r_in` and `l1w_in`, as Timeloop counts it.

    Args:
        case: The mapping.
        bypass: Tensors that pass L2, and that pass L1.
        metric: The count's name.
        rules: The rules that apply.
    """
    if metric == "dram_in" and "input" not in bypass[0]:
        clusters = {case.parallel[0]: case.units[0]}
        tile = {d: n * clusters.get(d, 1) for d, n in case.tiles[0].items()}
        return fetched(_steps(case, (0,)), _input(case, tile), rules)
    readers = prod(case.units) if metric == "l1w_in" else _distinct_pes(case)
    if "input" in bypass[1]:  # every MAC reads its own (ComputeTemporalWorkingSet, level 0)
        return prod(case.extents.values()) // prod(case.units) * readers
    return fetched(_steps(case, (0, 1)), _input(case, case.tiles[1]), rules) * readers


def slid(case: DividingMapping, bypass: Bypass, none: dict[str, int], box: bool) -> dict[str, int]:
    """Counts of ``halo_time=none`` less what a window that moves on leaves in place.

    Rows are left where the input's tile moved along Y (or X) alone: from DRAM to L2 always, to
    PEs where neither the axis nor its taps are in parallel.

    Args:
        case: The mapping.
        bypass: Tensors that pass L2, and that pass L1.
        none: The exact model's counts where every tile that moved is fetched in full.
        box: Whether a strided tile is the box around its rows and columns.
    """
    found = dict(none)
    clusters = {case.parallel[0]: case.units[0]}
    span = {d: n * clusters.get(d, 1) for d, n in case.tiles[0].items()}
    distinct = prod(n for d, n in zip(case.parallel, case.units, strict=True) if d in INPUT_DIMS)
    inside = _left(case, (0, 1), case.tiles[1], box, set(case.parallel))
    past_l2, past_l1 = ("input" in part for part in bypass)
    found["dram_in"] -= inside * distinct if past_l2 else _left(case, (0,), span, box, set())
    if not past_l1:
        found["l1w_in"] -= inside * prod(case.units)
    if not past_l1 and not past_l2:
        found["l2r_in_tile"] -= inside * distinct
    return found


INPUT_DIMS = "CYXRS"


def _left(
    case: DividingMapping, levels: tuple[int, ...], tile: dict[str, int], box: bool, fixed: set[str]
) -> int:
    """Elements that a tile finds in place, over all steps in which its window alone moves on."""
    loops = [loop for level in levels for loop in reversed(case.loops(level))]
    total = 0
    for axis, taps, across, along in (("Y", "R", "X", "S"), ("X", "S", "Y", "R")):
        if fixed & {axis, taps}:
            continue
        steps, outside = 0, 1
        for at, (d, n) in enumerate(loops):
            inner = {e for e, _ in loops[at + 1 :]}
            if d == axis and not inner & (set(INPUT_DIMS) - {axis}):
                steps += outside * (n - 1)
            outside *= n
        count = hull if box else footprint
        rows = 2 * count(tile[axis], tile[taps], case.stride, 1)
        rows -= count(2 * tile[axis], tile[taps], case.stride, 1)
        columns = count(tile[across], tile[along], case.stride, 1)
        total += steps * tile["C"] * max(rows, 0) * columns
    return total


def hull(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Rows from the first to the last that outputs and taps touch."""
    return stride * (outputs - 1) + dilation * (taps - 1) + 1


def _input(case: DividingMapping, tile: dict[str, int]) -> Vector:
    """The box of input elements that a tile's MACs touch."""
    rows, columns = ((tile[d] - 1) * case.stride + tile[taps] for d, taps in ("YR", "XS"))
    return tile["C"], rows, columns


def _move(case: DividingMapping, dim: str, by: int) -> Vector:
    """How far the input tile moves along with a dimension."""
    stride = case.stride if dim in "YX" else 1
    return by * (dim == "C"), by * stride * (dim in "YR"), by * stride * (dim in "XS")


def _steps(case: DividingMapping, levels: tuple[int, ...]) -> Steps:
    found: Steps = []
    for level in levels:
        for d, n in reversed(case.loops(level)):
            units = case.units[level] if d == case.parallel[level] else 1
            found.append((n, _move(case, d, case.tiles[level][d] * units)))
    return found


def _distinct_pes(case: DividingMapping) -> int:
    """PEs whose input tiles differ; where they are the same one read serves them."""
    places = set()
    for at in product(*map(range, case.units)):
        moves = [
            _move(case, d, i * case.tiles[level][d])
            for level, (d, i) in enumerate(zip(case.parallel, at, strict=True))
        ]
        places.add(tuple(map(sum, zip(*moves, strict=True))))
    return len(places)
