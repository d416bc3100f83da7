"""From counts to :class:`Cost` and :class:`CostBatch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.columns import LazyColumns
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch, FloatArray
from cost_models.exact.accesses import ACCESS_KINDS, ACCESSES
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

    return Cost.later(find, infeasible=None, priced=setting.priced, by_level={})


def _accesses(counts: dict[str, int], setting: Setting) -> dict[str, dict[str, float]]:
    accesses: dict[str, dict[str, float]] = {tensor: {} for tensor in TENSORS}
    for (tensor, kind), count in ACCESSES[setting.tile].items():
        accesses[tensor][kind] = float(count(counts))
    return accesses


def _detail(counts: dict[str, int], setting: Setting) -> dict[str, float]:
    return {name: detail(name, counts, setting) for name in details(setting)}


def _shown_counts(counts: dict[str, int], _: Setting) -> dict[str, int]:
    return {name: counts[name] for name in (*COUNT_NAMES, *WIDE_NAMES) if name in counts}


_TABLES: dict[str, Callable[[dict[str, int], Setting], dict[str, Any]]] = {
    "accesses": _accesses,
    "detail": _detail,
    "counts": _shown_counts,
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


class RowCounts(Mapping[str, NDArray[np.int64]]):
    """The kernel's rows by count, and `num_pes`.

    Args:
        rows: ``(B,)`` of :data:`cost_models.exact.records.CountRow`.
        pes: ``(B,)`` PEs of each mapping.
        wide: ``(B,)``: rows that show the counts of `WIDE_NAMES`.
    """

    def __init__(self, rows: NDArray[Any], pes: NDArray[np.int32], wide: NDArray[np.bool_]) -> None:
        self._rows = rows
        self._pes = pes
        self._wide = wide
        self.names = (*COUNT_NAMES, *WIDE_NAMES) if wide.any() else COUNT_NAMES

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        if name == "num_pes":
            return self._pes.astype(np.int64)
        if name in WIDE_NAMES and len(self.names) == len(COUNT_NAMES):
            raise KeyError(name)
        column: NDArray[np.int64] = self._rows[name]
        return column

    def row(self, index: int) -> dict[str, int]:
        """One row's counts as plain integers."""
        return counts_of(self._rows[index], int(self._pes[index]), bool(self._wide[index]))

    def __iter__(self) -> Iterator[str]:
        return iter(ROW_NAMES)

    def __len__(self) -> int:
        return len(ROW_NAMES)


def cost_batch(
    counts: RowCounts, reasons: NDArray[np.int8], setting: Setting, why: Callable[[int], Infeasible]
) -> CostBatch:
    """The costs of many mappings; a figure is worked out when it is looked at.

    Args:
        counts: ``(B,)`` columns.
        reasons: ``(B,)`` reason codes, 0 = feasible.
        setting: What the figures need besides.
        why: Builds the report of an infeasible row.
    """
    failed = reasons != 0
    alone = counts.row(0) if len(reasons) == 1 else None

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
            ACCESS_KINDS, lambda kind: masked(ACCESSES[setting.tile][tensor, kind](counts))
        )

    def one(row: int) -> Cost:
        if reasons[row] != 0:
            return refused(why(row))
        return cost_of(counts.row(row), setting)

    return CostBatch(
        reason=reasons,
        figures=LazyColumns(FIGURES, figure),
        accesses=LazyColumns(TENSORS, accesses),
        detail=LazyColumns(details(setting), part),
        priced=setting.priced,
        counts=LazyColumns(counts.names, counts.__getitem__),
        explain=why,
        one=one,
    )
