"""From counts to :class:`Cost` and :class:`CostBatch`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.columns import LazyColumns
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch, FloatArray
from cost_models.exact.accesses import ACCESS_KINDS, ACCESSES, value_of
from cost_models.exact.figures import ENERGIES, FIGURE_OF, PRICED, Setting, detail, details
from cost_models.exact.names import BOUND_NAMES, COUNT_NAMES, WIDE_NAMES
from cost_models.infeasible import Infeasible

ROW_NAMES = (*COUNT_NAMES, *BOUND_NAMES)
"""Names of the counts of a plain mapping."""
_INF = float("inf")
FEW = 2
"""Figures that are worked out one by one; whoever looks at another one wants them all, but for
those whose prices may take longer than all else."""
_UNPRICED = tuple(name for name in FIGURES if name not in PRICED)


def cost_of(counts: dict[str, int], setting: Setting) -> Cost:
    """The cost of one mapping; what nobody looks at is not worked out.

    Args:
        counts: The counts of `ROW_NAMES`, ``num_pes``, and those of `WIDE_NAMES` where the mapping
            or the chip needs them.
        setting: What the figures need besides.
    """
    looked_at = 0

    def find(name: str) -> dict[str, Any]:
        nonlocal looked_at
        if name not in FIGURE_OF:
            return {name: _TABLES[name](counts, setting)}
        looked_at += 1
        together = (name,) if name in PRICED or looked_at <= FEW else _UNPRICED
        found = {name: FIGURE_OF[name](counts, setting) for name in together}
        return dict.fromkeys(ENERGIES, found[name]) if name in ENERGIES else found

    return Cost.later(find, infeasible=None, priced=setting.priced)


_TABLES: dict[str, Callable[[dict[str, int], Setting], dict[str, Any]]] = {
    "accesses": lambda counts, setting: {
        tensor: {
            kind: float(value_of(ACCESSES[setting.tile][tensor, kind], counts))
            for kind in ACCESS_KINDS
        }
        for tensor in TENSORS
    },
    "detail": lambda counts, setting: {
        name: detail(name, counts, setting) for name in details(setting)
    },
    "counts": lambda counts, _: {
        name: counts[name] for name in (*COUNT_NAMES, *WIDE_NAMES) if name in counts
    },
}
"""The fields of a cost that hold values by name."""
_NO_FIGURES: dict[str, Any] = dict.fromkeys(FIGURES, _INF)


def refused(infeasible: Infeasible) -> Cost:
    """The cost of a mapping that has none."""
    return Cost(infeasible, **_NO_FIGURES)


def counts_of(row: Any, pes: int, wide: bool) -> dict[str, int]:
    """The counts of a record of the kernel, and `num_pes`; those of `WIDE_NAMES` where asked."""
    names = (*ROW_NAMES, *WIDE_NAMES) if wide else ROW_NAMES
    return dict(zip(names, row.tolist(), strict=False)) | {"num_pes": pes}


class Rows(NamedTuple):
    """What the kernel gives for `B` mappings.

    Args:
        counts: ``(B,)`` of :data:`cost_models.exact.row_records.CountRow`.
        reasons: ``(B,)`` reason codes, 0 = feasible.
        pes: ``(B,)`` PEs of each mapping.
        wide: ``(B,)``: rows that show the counts of `WIDE_NAMES`.
    """

    counts: NDArray[Any]
    reasons: NDArray[np.int8]
    pes: NDArray[np.int32]
    wide: NDArray[np.bool_]

    def row(self, index: int) -> dict[str, int]:
        """One row's counts as plain integers."""
        return counts_of(self.counts[index], int(self.pes[index]), bool(self.wide[index]))

    def column(self, name: str) -> NDArray[np.int64]:
        """A count, or `num_pes`, of all rows."""
        found: NDArray[np.int64] = (
            self.pes.astype(np.int64) if name == "num_pes" else self.counts[name]
        )
        return found


def cost_batch(rows: Rows, setting: Setting, why: Callable[[int], Infeasible]) -> CostBatch:
    """The costs of many mappings; a figure is worked out when it is looked at.

    Args:
        rows: What the kernel gives.
        setting: What the figures need besides.
        why: Builds the report of an infeasible row.
    """
    reasons = rows.reasons
    shown = (*COUNT_NAMES, *WIDE_NAMES) if rows.wide.any() else COUNT_NAMES
    counts = LazyColumns((*shown, *BOUND_NAMES, "num_pes"), rows.column)
    failed = reasons != 0
    alone = rows.row(0) if len(reasons) == 1 else None

    def masked(value: Any) -> FloatArray:
        column = np.array(np.broadcast_to(value, failed.shape), dtype=np.float64)
        column[failed] = _INF
        return column

    def figure(name: str) -> FloatArray:
        if alone is not None:  # plain numbers are several times faster than arrays of one
            value = _INF if failed[0] else FIGURE_OF[name](alone, setting)
            return np.array([value], dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return masked(FIGURE_OF[name](counts, setting))

    def part(name: str) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return masked(detail(name, counts, setting))

    def accesses(tensor: str) -> Mapping[str, FloatArray]:
        return LazyColumns(
            ACCESS_KINDS,
            lambda kind: masked(value_of(ACCESSES[setting.tile][tensor, kind], counts)),
        )

    def one(row: int) -> Cost:
        if reasons[row] != 0:
            return refused(why(row))
        return cost_of(rows.row(row), setting)

    return CostBatch(
        reason=reasons,
        figures=LazyColumns(FIGURES, figure),
        accesses=LazyColumns(TENSORS, accesses),
        detail=LazyColumns(details(setting), part),
        priced=setting.priced,
        counts=LazyColumns(shown, rows.column),
        explain=why,
        one=one,
    )
