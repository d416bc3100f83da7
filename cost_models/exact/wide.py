"""What the kernel takes besides for chips and mappings that the six plain fields do not say.

Kernel functions that know more have a last argument `wide`: a :class:`Wide`, or None, for which
they are compiled apart, without the branches that would look at it.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from common import allocating_function, inner_function
from cost_models.exact.layout import (
    BOX,
    COPIES,
    FREE,
    HW_EXTENT,
    LEVEL_FIELDS,
    OWN,
    PAD_END,
    PAD_LOW,
    PASSES,
    ROW_KEYS,
    SECOND,
    SHARED,
    TRUE_STEP,
    TRUE_STRIDE,
    UNITS,
    WIDTH,
    IntTable,
    MoveTable,
    R,
    RowTable,
    Y,
)

if TYPE_CHECKING:
    from cost_models.exact.tables import Tables

# --- tables `outer_runs[d, run, field]` and `inner_runs`: see `padding_runs` ------------------
RUN_START: Final = 0  # counter of the first step
RUN_KEY: Final = 1  # class of outer steps, or segment of inner ones
LENGTH: Final = 2  # steps
FIRST: Final = 3  # of an outer run: its first inner run
RUN_FIELDS: Final = 4


class Wide(NamedTuple):
    """Numbers of chip and mapping, and work tables.

    Args:
        n: ``(WIDE_FIELDS,)``; see `layout`.
        moments: ``(2, 2, ROW_KEYS, ROW_KEYS)``: input rows that the MACs of a step touch, once a
            moment, and once a PE; by segment of the axis and of the taps.
        moment_sums: ``(2, 2)``: the same summed over all steps.
        outer_runs: ``(4, runs, RUN_FIELDS)``: outer steps of Y, X, R and S that are alike where
            padding is free.
        inner_runs: ``(4, runs, RUN_FIELDS)``: inner ones.
        run_counts: ``(4,)``: how many outer runs there are.
        tables: The work tables of all mappings.
    """

    n: IntTable
    moments: RowTable
    moment_sums: RowTable
    outer_runs: MoveTable
    inner_runs: MoveTable
    run_counts: IntTable
    tables: Tables


@inner_function
def most_runs(hw: IntTable, numbers: IntTable) -> int:
    """No dimension has more runs of steps than this.

    A step that touches padding starts (or ends) at a place of its own that does, and stands alone.
    The others are in runs before, between and after those, of up to four segments in each of which
    there is a step more; so are the inner steps of each outer one that touches padding.
    """
    most = 0
    for pair in range(2):
        stride, step = numbers[TRUE_STRIDE + pair], numbers[TRUE_STEP + pair]
        outputs, taps = hw[HW_EXTENT + Y + pair], hw[HW_EXTENT + R + pair]
        end = stride * (outputs - 1) + step * (taps - 1) + 1 - numbers[PAD_END + pair]
        for unit in (stride, step):
            low, high = numbers[PAD_LOW + pair], max(end, 0)
            most = max(most, (low + unit - 1) // unit + (high + unit - 1) // unit)
    return 12 * most + 16


@allocating_function
def new_wide(hw: IntTable, numbers: IntTable, tables: Tables) -> Wide:
    """A table for mappings of a layer on a chip, with a copy of its numbers."""
    runs = most_runs(hw, numbers) if numbers[FREE] else 1
    return Wide(
        numbers.copy(),
        np.zeros((2, 2, ROW_KEYS, ROW_KEYS), np.int64),
        np.zeros((2, 2), np.int64),
        np.zeros((4, runs, RUN_FIELDS), np.int64),
        np.zeros((4, runs, RUN_FIELDS), np.int64),
        np.zeros(4, np.int64),
        tables,
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
def is_box(wide: Wide) -> bool:
    """Whether input tiles are counted as the box around what they touch."""
    return wide.n[BOX] != 0
