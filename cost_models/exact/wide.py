"""What the kernel takes besides for chips and mappings that the six plain fields do not say.

Kernel functions that know more have a last argument `wide`: a :class:`Wide`, or None, for which
they are compiled apart, without the branches that would look at it.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from common import allocating_function, inner_function
from cost_models.exact.layout import (
    BOX,
    COPIES,
    LEVEL_FIELDS,
    OWN,
    PASSES,
    ROW_KEYS,
    SECOND,
    SHARED,
    UNITS,
    WIDTH,
    IntTable,
    RowTable,
)
from cost_models.exact.moves import EVENTS


class Wide(NamedTuple):
    """Numbers of chip and mapping, and work tables.

    Args:
        n: ``(WIDE_FIELDS,)``; see `layout`.
        moments: ``(2, 2, ROW_KEYS, ROW_KEYS)``: input rows that the MACs of a step touch, once a
            moment, and once a PE; by segment of the axis and of the taps.
        moment_sums: ``(2, 2)``: the same summed over all steps.
        padded: ``(2, 2, EVENTS, EVENTS)``: padding in `kept_sums`.
        padded_spans: ``(2, 3, 3)``: padding in `span_sums`.
        padded_moments: ``(2, 2)``: padding in `moment_sums`.
    """

    n: IntTable
    moments: RowTable
    moment_sums: RowTable
    padded: RowTable
    padded_spans: RowTable
    padded_moments: RowTable


@allocating_function
def new_wide(numbers: IntTable) -> Wide:
    """A table for mappings on a chip, with a copy of its numbers."""
    return Wide(
        numbers.copy(),
        np.zeros((2, 2, ROW_KEYS, ROW_KEYS), np.int64),
        np.zeros((2, 2), np.int64),
        np.zeros((2, 2, EVENTS, EVENTS), np.int64),
        np.zeros((2, 3, 3), np.int64),
        np.zeros((2, 2), np.int64),
    )


@inner_function
def units_along(d: int, level: int, first: int, units: int, wide: Wide) -> int:
    """Units of a level that are spread over a dimension; 0 where it spreads another one.

    Args:
        d: The dimension.
        level: 0 for clusters, 1 for the PEs of a cluster.
        first: The level's first parallel dimension.
        units: Units of the level.
        wide: The mapping.
    """
    second = wide.n[SECOND + level]
    if second < 0:
        return units if d == first else 0
    if d == first:
        return wide.n[UNITS + level]
    return units // wide.n[UNITS + level] if d == second else 0


@inner_function
def fans_out(clusters: int, pes: int, wide: Wide) -> bool:
    """Whether each level has the units that its first parallel dimension takes."""
    for level in range(2):
        if wide.n[SECOND + level] >= 0 and wide.n[UNITS + level] > (pes if level else clusters):
            return False
    return True


@inner_function
def second_mask(wide: Wide) -> int:
    """Mask of the second parallel dimensions."""
    mask = 0
    for level in range(2):
        if wide.n[SECOND + level] >= 0:
            mask |= 1 << wide.n[SECOND + level]
    return mask


@inner_function
def passes(level: int, tensor: int, wide: Wide) -> bool:
    """Whether a tensor (a bit) passes L2 (level 0) or L1 (level 1)."""
    return wide.n[PASSES + level] & tensor != 0


@inner_function
def needed_bits(level: int, elements: tuple[int, int, int], wide: Wide) -> tuple[int, bool]:
    """What a buffer must hold, and whether all of it fits.

    Args:
        level: 0 for L2, 1 for L1.
        elements: Elements of input, filter and output in a step.
        wide: Chip and mapping.
    """
    total = 0
    shared = 0
    fits = True
    for tensor in range(3):
        if passes(level, 1 << tensor, wide):
            continue
        # an output is held as a partial sum
        width = wide.n[WIDTH + 3] if tensor == 2 else wide.n[WIDTH + tensor]
        bits = elements[tensor] * width * wide.n[COPIES + LEVEL_FIELDS * level + tensor]
        total += bits
        own = wide.n[OWN + LEVEL_FIELDS * level + tensor]
        if own < 0:
            shared += bits
        elif bits > own:
            fits = False
    capacity = wide.n[SHARED + LEVEL_FIELDS * level]
    if capacity >= 0 and shared > capacity:
        fits = False
    return total, fits


@inner_function
def kept_at(level: int, elements: tuple[int, int, int], wide: Wide) -> int:
    """Elements that a buffer holds of those of input, filter and output."""
    held = 0
    for tensor in range(3):
        if not passes(level, 1 << tensor, wide):
            held += elements[tensor]
    return held


@inner_function
def take_off_padding(kept_sums: RowTable, span_sums: RowTable, wide: Wide) -> None:
    """Leave padding out of all sums."""
    for pair in range(2):
        for space in range(2):
            wide.moment_sums[pair, space] -= wide.padded_moments[pair, space]
            for event in range(EVENTS):
                for other in range(EVENTS):
                    kept_sums[pair, space, event, other] -= wide.padded[pair, space, event, other]
        for event in range(3):
            for other in range(3):
                span_sums[pair, event, other] -= wide.padded_spans[pair, event, other]


@inner_function
def is_box(wide: Wide) -> bool:
    """Whether input tiles are counted as the box around what they touch."""
    return wide.n[BOX] != 0
