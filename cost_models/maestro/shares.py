"""How a level's sub-clusters share a tile: multipliers of the spatial maps.

A volume of the whole array is that of one PE's temporal maps times a multiplier that adds up the
PEs (`CA_reuse-analysis.hpp`: `GetSpatialIngressTraffic`, `GetSpatialEgressTraffic` and their kin).
The multiplier depends only on the pattern the spatial maps are in, so it is filled once for each.
"""

from __future__ import annotations

from cost_models.maestro.layout import (
    COUPLED,
    EDGE_UNITS,
    FIRST,
    IN_FILTER,
    IN_INPUT,
    IN_OUTPUT,
    RANK_OF_GEMM_N,
    RANKS,
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
    UNITS,
    VAR,
    LevelSpread,
    N,
    StepShares,
)
from cost_models.maestro.one_pe import made, received
from marl_common import IntArray, part


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
    spread = LevelSpread(d1, d2, first, second, later, work[at + UNITS], work[at + EDGE_UNITS])
    _fill_outputs(at, spread, share, work)
    _fill_macs(at, spread, share, work)
    _fill_ingress(at, spread, IN_INPUT, share + S_INPUT, work)
    _fill_ingress(at, spread, IN_FILTER, share + S_FILTER, work)


@part
def _rank(var: int, gemm: bool) -> int:
    """Place of a variable in MAESTRO's tensor lists."""
    return RANK_OF_GEMM_N if gemm and var == N else RANKS[var]


@part
def _step(spread: LevelSpread, in1: bool, in2: bool, later: bool) -> StepShares:
    """The step of a tensor that the maps are coupled to; the later decides whether it is ragged."""
    edge = (in1 and spread.pattern1 > 0) or (in2 and spread.pattern2 > 0)
    named = spread.pattern2 if in2 and (not in1 or later) else spread.pattern1
    ragged = edge and named & 1 != 0
    return StepShares(edge, ragged, ragged and spread.edge_units == 1)


@part
def _add_up(first: int, rest: int, partial: int, step: StepShares, spread: LevelSpread) -> int:
    """Volume of all PEs from that of the first, of a further full and of a ragged one."""
    if not step.edge:
        return first + (spread.units - 1) * rest
    if spread.edge_units <= 1:
        return first
    lone = 1 if step.ragged else 0
    return first + max(spread.edge_units - 1 - lone, 0) * rest + lone * partial


@part
def _fill_ingress(at: int, spread: LevelSpread, tensor: int, row: int, work: IntArray) -> None:
    """The five variants of an input: mapped, then whole or new along each of the two maps."""
    for variant in range(5):
        if spread.d2 < 0 and (variant == 2 or variant == 4):
            continue
        one = (variant + 1) // 2
        two = (variant + 1) % 2 + 1 if variant > 0 else 0
        work[row + variant] = _ingress(at, spread, tensor, one, two, work)


@part
def _ingress(at: int, spread: LevelSpread, tensor: int, one: int, two: int, work: IntArray) -> int:
    """Elements of an input that all PEs receive; a tensor that is on no spatial map goes to all."""
    in1 = work[at + COUPLED + spread.d1] & tensor != 0
    in2 = spread.d2 >= 0 and work[at + COUPLED + spread.d2] & tensor != 0
    if not in1 and not in2:
        return 1
    step = _step(spread, in1, in2, spread.later)
    units = spread.edge_units
    first = rest = partial = 1
    if in1:
        d, pattern = spread.d1, spread.pattern1
        first = received(at, d, pattern, one, step.alone, True, units, work)
        rest = received(at, d, pattern, one, False, False, units, work)
        partial = received(at, d, pattern, one, True, False, units, work)
    if in2:
        d, pattern = spread.d2, spread.pattern2
        first *= received(at, d, pattern, two, step.alone, True, units, work)
        rest *= received(at, d, pattern, two, False, False, units, work)
        partial *= received(at, d, pattern, two, True, False, units, work)
    return _add_up(first, rest, partial, step, spread)


@part
def _fill_outputs(at: int, spread: LevelSpread, share: int, work: IntArray) -> None:
    """Multipliers of egress, and of the critical PE's MACs."""
    out1 = work[at + COUPLED + spread.d1] & IN_OUTPUT != 0
    out2 = spread.d2 >= 0 and work[at + COUPLED + spread.d2] & IN_OUTPUT != 0
    step = _step(spread, out1, out2, spread.later)
    egress = 1
    if out1 or out2:
        egress = _add_up(
            _made(at, spread, out1, out2, step.alone, True, True, work),
            _made(at, spread, out1, out2, False, False, True, work),
            _made(at, spread, out1, out2, True, False, True, work),
            step,
            spread,
        )
    work[share + S_EGRESS] = egress
    work[share + S_CRITICAL] = _made(at, spread, True, spread.d2 >= 0, step.alone, True, True, work)


@part
def _fill_macs(at: int, spread: LevelSpread, share: int, work: IntArray) -> None:
    """Multiplier of the array's MACs; every map counts, and further PEs count like the first."""
    two = spread.d2 >= 0
    step = _step(spread, True, two, True)
    work[share + S_MACS] = _add_up(
        _made(at, spread, True, two, step.alone, True, True, work),
        _made(at, spread, True, two, False, True, True, work),
        _made(at, spread, True, two, True, False, False, work),
        step,
        spread,
    )


@part
def _made(
    at: int,
    spread: LevelSpread,
    one: bool,
    two: bool,
    partial: bool,
    first: bool,
    reuse: bool,
    work: IntArray,
) -> int:
    """What a PE makes along the maps that count."""
    volume = 1
    if one:
        volume = made(
            at, spread.d1, spread.pattern1, partial, first, reuse, spread.edge_units, work
        )
    if two:
        volume *= made(
            at, spread.d2, spread.pattern2, partial, first, reuse, spread.edge_units, work
        )
    return volume
