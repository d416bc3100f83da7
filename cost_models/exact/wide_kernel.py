"""The kernel's entry point for mappings and chips that need the table `wide`."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from common import entry_point, inner_function
from cost_models.exact.kernel import (
    MALFORMED,
    STAMP,
    evaluate_row,
    most_pes,
    pes_of,
    well_formed,
)
from cost_models.exact.layout import (
    ALL_DIMS,
    CHIP_PASSES,
    LEVEL_FIELDS,
    PASSES,
    SECOND,
    UNITS,
)
from cost_models.exact.tables import new_tables
from cost_models.exact.wide import Wide, new_wide

REFUSED = 10  # as in cost_models.ReasonCode
ALL_TENSORS = 7


@inner_function
def take_fields(wide: Wide, spatial: Any, second: Any, units: Any, bypass: Any) -> int:
    """Take over a mapping's optional fields; returns a reason code, 0 where they make sense."""
    for level in range(2):
        dim = int(second[level])
        if dim >= ALL_DIMS or (dim >= 0 and (dim == spatial[level] or units[level] < 1)):
            return MALFORMED
        wide.n[SECOND + level] = dim
        wide.n[UNITS + level] = units[level]
        mask = wide.n[CHIP_PASSES + LEVEL_FIELDS * level]
        for tensor in range(3):
            if bypass[level, tensor]:
                mask |= 1 << tensor
        wide.n[PASSES + level] = mask
    l2, l1 = wide.n[PASSES], wide.n[PASSES + 1]
    return REFUSED if l2 & l1 != 0 or l2 == ALL_TENSORS or l1 == ALL_TENSORS else 0


def _entry(stamp: int) -> Callable[..., None]:
    """The compiled entry point; `stamp` ties its cached machine code to all its sources."""

    @entry_point
    def evaluate_wide_rows(
        orders: Any,
        spatial: Any,
        tiles: Any,
        cluster_size: Any,
        num_pes: Any,
        second: Any,
        units: Any,
        bypass: Any,
        hw: Any,
        numbers: Any,
        out: Any,
        reasons: Any,
        low: int,
        high: int,
    ) -> int:
        tables = new_tables(hw, most_pes(hw, num_pes, low, high), 1)
        order = np.empty((2, ALL_DIMS), np.int64)
        wide = new_wide(hw, numbers, tables)
        for i in range(low, high):
            reasons[i] = take_fields(wide, spatial[i], second[i], units[i], bypass[i])
            # what is no mapping at all is that, whatever its optional fields are
            if reasons[i] == 0 or (
                reasons[i] == REFUSED
                and not well_formed(
                    orders[i], spatial[i], tiles[i], cluster_size[i], pes_of(i, hw, num_pes)
                )
            ):
                reasons[i] = evaluate_row(
                    i, orders, spatial, tiles, cluster_size, num_pes, hw, out, order, tables, wide
                )
        return stamp

    return evaluate_wide_rows


evaluate_wide_rows = _entry(STAMP)
"""As `kernel.evaluate_rows`, with what mappings and chips have besides.

``second (B, 2) int8, units (B, 2) int32, bypass (B, 2, 3) bool`` as in a `MappingBatch`, and
``numbers (WIDE_FIELDS,)``; rows of ``out`` have ``WIDE_ROW_FIELDS``.
"""
