"""How a level's sub-clusters share a tile: multipliers of the spatial maps.

A volume of the whole array is that of one PE's temporal maps times a multiplier that adds up the
PEs (`CA_reuse-analysis.hpp`: GetSpatialIngressTraffic, GetSpatialEgressTraffic and their kin). The
multiplier depends only on the pattern the spatial maps are in, so it is filled once for each.
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    COUPLED,
    EDGE_UNITS,
    FIRST,
    IN_FILTER,
    IN_INPUT,
    IN_OUTPUT,
    LAST,
    LAST_NEW,
    MADE,
    MADE_LAST,
    NEW,
    NO,
    O_LAST_NEW,
    O_NEW,
    S_CRITICAL,
    S_EGRESS,
    S_FILTER,
    S_INPUT,
    S_MACS,
    SECOND,
    SHARE,
    SHARE_ROWS,
    STAMP,
    STAMPS,
    TILE,
    UNITS,
    VAR,
    YES,
    IntArray,
    N,
    part,
)

PLAIN, SHORT, TAIL, RAGGED_TAIL = range(4)
"""Patterns of one spatial map: every PE full; one step that is not; a last step of full PEs only;
and one whose last PE is ragged."""


@part
def fill_share(gemm: bool, at: int, first: int, second: int, work: IntArray) -> None:
    """Fill the multipliers of one combination of patterns, if this mapping has not yet.

    Args:
        gemm: Whether the layer is a GEMM; decides the order of a tensor's variables.
        at: Start of the level's block.
        first: Pattern of the first spatial map.
        second: Pattern of the second, 0 if there is none.
        work: ``(WORK_SIZE,)``, see `layout`.
    """
    pattern = 4 * first + second
    if work[at + STAMPS + pattern] == work[STAMP]:
        return
    work[at + STAMPS + pattern] = work[STAMP]
    share = at + SHARE + pattern * SHARE_ROWS
    d1, d2 = work[at + FIRST], work[at + SECOND]
    later = d2 >= 0 and _rank(work[at + VAR + d2], gemm) > _rank(work[at + VAR + d1], gemm)
    _fill_outputs(at, d1, d2, first, second, later, share, work)
    for tensor in range(2):
        row = share + (S_INPUT if tensor == 0 else S_FILTER)
        coupled = IN_INPUT if tensor == 0 else IN_FILTER
        in1 = work[at + COUPLED + d1] & coupled != 0
        in2 = d2 >= 0 and work[at + COUPLED + d2] & coupled != 0
        for variant in range(5):
            if d2 < 0 and (variant == 2 or variant == 4):
                continue
            one = (variant + 1) // 2
            two = (variant + 1) % 2 + 1 if variant > 0 else 0
            work[row + variant] = _ingress(
                at, d1, d2, first, second, in1, in2, later, one, two, work
            )


@part
def _rank(var: int, gemm: bool) -> int:
    """Place of a variable in MAESTRO's tensor lists: N G K C R S Y X, or M K N of a GEMM."""
    if var == N and gemm:
        return 9
    return (3, 1, 2, -1, 0, 4, 5, 7, 6)[var]


@part
def _add_up(
    first: int, rest: int, partial: int, edge: bool, ragged: bool, units: int, edge_units: int
) -> int:
    """Volume of all PEs from that of the first, of a further full and of a ragged one."""
    if not edge:
        return first + (units - 1) * rest
    if edge_units <= 1:
        return first
    lone = 1 if ragged else 0
    return first + max(edge_units - 1 - lone, 0) * rest + lone * partial


@part
def _ingress(
    at: int,
    d1: int,
    d2: int,
    pattern1: int,
    pattern2: int,
    in1: bool,
    in2: bool,
    later: bool,
    variant1: int,
    variant2: int,
    work: IntArray,
) -> int:
    """Elements of an input that all PEs receive; a tensor that is on no spatial map goes to all."""
    if not in1 and not in2:
        return 1
    edge = (in1 and pattern1 > 0) or (in2 and pattern2 > 0)
    named = pattern2 if in2 and (not in1 or later) else pattern1
    ragged = edge and named & 1 != 0
    edge_units = work[at + EDGE_UNITS]
    alone = ragged and edge_units == 1
    first = rest = partial = 1
    if in1:
        first = _received(at, d1, pattern1, variant1, alone, YES, edge_units, work)
        rest = _received(at, d1, pattern1, variant1, NO, NO, edge_units, work)
        partial = _received(at, d1, pattern1, variant1, YES, NO, edge_units, work)
    if in2:
        first *= _received(at, d2, pattern2, variant2, alone, YES, edge_units, work)
        rest *= _received(at, d2, pattern2, variant2, NO, NO, edge_units, work)
        partial *= _received(at, d2, pattern2, variant2, YES, NO, edge_units, work)
    return _add_up(first, rest, partial, edge, ragged, work[at + UNITS], edge_units)


@part
def _received(
    at: int,
    d: int,
    pattern: int,
    variant: int,
    partial: bool,
    first: bool,
    edge_units: int,
    work: IntArray,
) -> int:
    """Elements along one map that one PE receives; variant 0 mapped, 1 whole, 2 new."""
    if variant == 0:
        if pattern == PLAIN:
            return work[at + TILE + d]
        if edge_units == 1:
            return work[at + LAST + d] if first or partial else 1
    if variant == 2 and not first:
        return work[at + (LAST_NEW if partial else NEW) + d]
    return work[at + (LAST if partial else TILE) + d]


@part
def _fill_outputs(
    at: int, d1: int, d2: int, pattern1: int, pattern2: int, later: bool, share: int, work: IntArray
) -> None:
    """Multipliers of egress, of the array's MACs and of the critical PE's."""
    out1 = work[at + COUPLED + d1] & IN_OUTPUT != 0
    out2 = d2 >= 0 and work[at + COUPLED + d2] & IN_OUTPUT != 0
    units, edge_units = work[at + UNITS], work[at + EDGE_UNITS]

    edge = (out1 and pattern1 > 0) or (out2 and pattern2 > 0)
    named = pattern2 if out2 and (not out1 or later) else pattern1
    ragged = edge and named & 1 != 0
    alone = ragged and edge_units == 1
    first = rest = partial = 1
    if out1:
        first = _made(at, d1, pattern1, alone, YES, YES, edge_units, work)
        rest = _made(at, d1, pattern1, NO, NO, YES, edge_units, work)
        partial = _made(at, d1, pattern1, YES, NO, YES, edge_units, work)
    if out2:
        first *= _made(at, d2, pattern2, alone, YES, YES, edge_units, work)
        rest *= _made(at, d2, pattern2, NO, NO, YES, edge_units, work)
        partial *= _made(at, d2, pattern2, YES, NO, YES, edge_units, work)
    egress = 1
    if out1 or out2:
        egress = _add_up(first, rest, partial, edge, ragged, units, edge_units)
    work[share + S_EGRESS] = egress

    critical = _made(at, d1, pattern1, alone, YES, YES, edge_units, work)
    if d2 >= 0:
        critical *= _made(at, d2, pattern2, alone, YES, YES, edge_units, work)
    work[share + S_CRITICAL] = critical

    edge = pattern1 > 0 or pattern2 > 0
    ragged = edge and (pattern2 if d2 >= 0 else pattern1) & 1 != 0
    alone = ragged and edge_units == 1
    first = _made(at, d1, pattern1, alone, YES, YES, edge_units, work)
    rest = _made(at, d1, pattern1, NO, YES, YES, edge_units, work)
    partial = _made(at, d1, pattern1, YES, NO, NO, edge_units, work)
    if d2 >= 0:
        first *= _made(at, d2, pattern2, alone, YES, YES, edge_units, work)
        rest *= _made(at, d2, pattern2, NO, YES, YES, edge_units, work)
        partial *= _made(at, d2, pattern2, YES, NO, NO, edge_units, work)
    work[share + S_MACS] = _add_up(first, rest, partial, edge, ragged, units, edge_units)


@part
def _made(
    at: int,
    d: int,
    pattern: int,
    partial: bool,
    first: bool,
    reuse: bool,
    edge_units: int,
    work: IntArray,
) -> int:
    """Outputs along one map that one PE makes (or MACs, where the output is not coupled to it).

    In the last step of a single PE, MAESTRO counts input rows instead of output rows.
    """
    output = work[at + COUPLED + d] & IN_OUTPUT != 0
    if pattern >= TAIL:
        if edge_units == 1:
            return work[at + LAST + d] if first or partial else 1
        if partial:
            return work[at + (O_LAST_NEW if output else LAST_NEW) + d]
    elif pattern == SHORT and partial:
        if edge_units == 1 or not output or not reuse:
            return work[at + MADE_LAST + d]
        return work[at + O_LAST_NEW + d]
    if first:
        return work[at + MADE + d]
    new = work[at + (O_NEW if output else NEW) + d]
    return new if new != 0 else 1
