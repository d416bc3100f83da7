"""The ways of spreading the units of a chip's fan-outs that differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from baselines.optimal.proof import ProveError
from layers import DIMS
from maestro_env import ChainSpace, SpreadPlan

Vector = tuple[int, ...]
ONE = (1,) * len(DIMS)
NONE = -1
MOST_WAYS = 1 << 18
"""Ways of a level at most, where dimensions share axes."""


class FanWay(NamedTuple):
    """A way of spreading the units of one fan-out.

    Args:
        units: Units along each dimension.
        flags: Dimensions that do not share reads or sums, with what they share.
        columns: Choices of an action, by column.
    """

    units: Vector
    flags: tuple[Any, ...]
    columns: dict[int, int]


class _Partial(NamedTuple):
    """What some spreads of a fan-out make of it.

    Args:
        units: Units along each dimension, none beyond its extent.
        shares: Dimensions that have units, with whether these share reads and sums.
        left: Units of the last axis that none of its dimensions has taken.
    """

    units: Vector
    shares: frozenset[tuple[int, bool, bool]]
    left: int


@lru_cache(maxsize=4)
def fans_of(space: ChainSpace) -> list[list[FanWay]]:
    """By level of a space's chip, DRAM first, its ways; the first choices stand for each.

    Raises:
        ProveError: Dimensions share axes, and there are too many ways.
    """
    return [_fans(space, level.name) for level in space.accelerator.levels]


def units_below(space: ChainSpace, level: int, way: int) -> Vector:
    """By dimension, the most units below those of a level's way that a way has, else the same.

    0 where there is none.
    """
    own, listed = fans_of(space)[level][way], _listed(space)[level]
    found = []
    for d, units in enumerate(own.units):
        fewer = ((n, (*own.units[:d], n, *own.units[d + 1 :])) for n in range(units - 1, 0, -1))
        found.append(next((n for n, some in fewer if (some, own.flags) in listed), 0))
    return tuple(found)


@lru_cache(maxsize=4)
def _listed(space: ChainSpace) -> list[set[Any]]:
    return [{fan[:2] for fan in fans} for fans in fans_of(space)]


def _fans(space: ChainSpace, name: str) -> list[FanWay]:
    plan = space.plan
    found: dict[_Partial, dict[int, int]] = {_Partial(ONE, frozenset(), 1): {}}
    for spread in plan.spreads:
        if plan.entries[spread.slot.entry].level.name != name:
            continue
        longer: dict[_Partial, dict[int, int]] = {}
        taken: dict[int, dict[int, int]] = {}
        for partial, columns in found.items():
            for after, picks in _spread(space, spread, partial, taken):
                longer.setdefault(after, columns | picks)
            if space.axis_dims > 1 and len(longer) > MOST_WAYS:
                raise ProveError(
                    f"{name} spreads units in more than {MOST_WAYS:,} ways; use a smaller "
                    "axis_dims, or fix some of them (only)"
                )
        found = longer
    ways: dict[Any, FanWay] = {}
    for partial, columns in found.items():
        flags = tuple(sorted(share for share in partial.shares if not (share[1] and share[2])))
        ways.setdefault((partial.units, flags), FanWay(partial.units, flags, columns))
    return list(ways.values())


def _spread(
    space: ChainSpace, spread: SpreadPlan, before: _Partial, taken: dict[int, dict[int, int]]
) -> Iterator[tuple[_Partial, dict[int, int]]]:
    """What each choice of a spread makes of those before it, as mappings read an action.

    A spread takes no more units than are left on its axis, and none along a dimension that another
    axis has on other terms.

    Args:
        space: The space.
        spread: The spread.
        before: What those before it make.
        taken: By what is left, units that it may take, and the first choice of each; filled in.
    """
    axis, extents = spread.axis, space.layer.extents
    left = before.left if spread.rank else axis.units
    if left not in taken:
        taken[left] = {}
        for place, units in enumerate(map(int, space.parameters[spread.units].choices)):
            taken[left].setdefault(min(units, left), place)
    for number, dim in enumerate(space.parameters[spread.dim].choices):
        d = DIMS.index(str(dim)) if str(dim) in DIMS else NONE
        share = d, axis.multicast, axis.reduce
        rivals = any(other[0] == d and other != share for other in before.shares)
        for count, place in taken[left].items():
            picks = {spread.dim: number, spread.units: place}
            if d == NONE or rivals or count == 1:
                yield before._replace(left=left), picks
                continue
            along = min(before.units[d] * count, extents[d])
            after = (*before.units[:d], along, *before.units[d + 1 :])
            yield _Partial(after, before.shares | {share}, left // count), picks
