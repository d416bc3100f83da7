"""Costs of many mappings of a chain: figures are those of one mapping, with arrays for counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.chain.batch import ChainBatch, check_batch
from cost_models.chain.chip import Chain
from cost_models.chain.counted import Columns, Filler, count_rows, place_of
from cost_models.chain.evaluation import check_prices
from cost_models.chain.level_costs import cost_of
from cost_models.columns import LazyColumns
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch, FloatArray
from cost_models.exact.limits import too_large
from cost_models.exact.nest import Nest
from cost_models.exact.nest_record import record_of
from cost_models.exact.records import COUNTED, TOO_LARGE_TILES
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.threads import run_rows
from layers import Layer
from marl_common import IntArray

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

_INF = float("inf")


class _Kept(NamedTuple):
    """What mappings share that keep the same tensors in the same entries."""

    nest: Nest
    places: IntArray
    names: tuple[str, ...]
    example: Cost


class ChainCounter:
    """Counts and prices mappings of one layer on one chain that have the same entries.

    Args:
        options: How they are counted and priced.
        layer: The layer.
        chip: The chip.
        example: Any batch of them.

    Raises:
        CostModelError: An option prices levels by the names L2 and L1.
    """

    def __init__(
        self, options: ExactOptions, layer: Layer, chip: Chain, example: ChainBatch
    ) -> None:
        check_prices(options)
        self.options, self.layer, self.chip = options, layer, chip
        self.levels, self.slots = example.levels, example.slots
        self.infeasible = too_large(layer, plain=False)
        self._kept: dict[bytes, _Kept] = {}
        # what passes an entry that does not keep it is counted for networks alone
        every = any(any(level.network) for level in chip.levels)
        nest = options.nest(layer, chip, example[0])
        record = record_of(nest, every, units=chip.peak_macs_per_cycle)
        self.filler = Filler(chip, layer.extents, example, record)

    def serves(self, layer: Layer, chip: Chain, batch: ChainBatch) -> bool:
        """Whether it is for mappings such as these."""
        mine = (self.levels, self.slots) == (batch.levels, batch.slots)
        return (
            mine
            and (self.layer is layer or self.layer == layer)
            and (self.chip is chip or self.chip == chip)
        )

    def evaluate(self, batch: ChainBatch, threads: int, single: Callable[[Any], Cost]) -> CostBatch:
        """Costs of `B` mappings; figures are worked out when they are looked at.

        Args:
            batch: The mappings.
            threads: Threads to count them on.
            single: Gives the cost of one mapping, with all that a report needs.

        Raises:
            MappingError: A row is no mapping of the chip.
        """
        check_batch(batch, self.chip)
        size = len(batch)
        groups = list(self._groups(batch))
        places = np.unique(np.concatenate([kept.places for kept, _ in groups]))
        values = np.zeros((len(places), size), np.int64)
        status = np.zeros(size, np.int64)
        if self.infeasible is None:

            def work(low: int, high: int) -> None:
                some = slice(low, high)
                values[:, some], status[some] = count_rows(self.filler, batch.take(some), places)

            run_rows(work, size, threads)
        reasons = np.zeros(size, np.int8)
        reasons[status != COUNTED] = ReasonCode.TOO_LARGE
        reasons[status == TOO_LARGE_TILES] = ReasonCode.CAPACITY
        if self.infeasible is not None:
            reasons[:] = self.infeasible.code
        counted = _Counted(self.chip, Columns(places.tolist(), values), groups, reasons)

        def why(row: int) -> Infeasible:
            code = ReasonCode(int(reasons[row]))
            return Infeasible.when_asked(code, lambda: _reason(single(batch[row])))

        return counted.costs(why, lambda row: single(batch[row]))

    def _groups(self, batch: ChainBatch) -> Iterator[tuple[_Kept, IntArray | slice]]:
        """Rows that keep the same tensors in the same entries."""
        if batch.keeps is None:
            yield self._of(b"", batch, 0), slice(None)
            return
        flat = batch.keeps.reshape(len(batch), -1)
        codes = flat @ (np.int64(1) << np.arange(flat.shape[1]))
        distinct, first, which = np.unique(codes, return_index=True, return_inverse=True)
        for number, row in enumerate(first):
            kept = self._of(distinct[number].tobytes(), batch, int(row))
            rows = slice(None) if len(first) == 1 else np.flatnonzero(which == number)
            yield kept, rows

    def _of(self, key: bytes, batch: ChainBatch, row: int) -> _Kept:
        if key not in self._kept:
            nest = self.options.nest(self.layer, self.chip, batch[row])
            asked: dict[int, None] = {}

            def at(*names: Any) -> int:
                asked[place_of(*names)] = None
                return 1

            example = cost_of(self.chip, nest, batch.levels, at)
            self._kept[key] = _Kept(nest, np.array(sorted(asked)), batch.levels, example)
        return self._kept[key]


def _reason(cost: Cost) -> Infeasible:
    assert cost.infeasible is not None
    return cost.infeasible


def stacked(costs: list[Cost]) -> CostBatch:
    """Costs that were found one by one, as a batch."""
    reasons = [0 if cost.infeasible is None else int(cost.infeasible.code) for cost in costs]
    return CostBatch(
        reason=np.array(reasons, np.int8),
        figures=LazyColumns(
            FIGURES, lambda name: np.array([getattr(cost, name) for cost in costs])
        ),
        explain=lambda row: _reason(costs[row]),
        one=costs.__getitem__,
        held=LazyColumns(
            tuple(next((c.by_level for c in costs if c.by_level), {})),
            lambda name: np.array([c.by_level[name].bytes if c.by_level else _INF for c in costs]),
        ),
    )


class _Counted:
    """Counts of a batch, and the costs that follow from them."""

    def __init__(
        self,
        chip: Chain,
        at: Columns,
        groups: list[tuple[_Kept, IntArray | slice]],
        reasons: NDArray[np.int8],
    ) -> None:
        self._chip, self._at, self._groups, self._reasons = chip, at, groups, reasons
        self._failed = reasons != 0

    @cached_property
    def _costs(self) -> list[Cost]:
        """The cost of each group, whose figures are arrays."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if len(self._reasons) == 1:  # plain numbers are several times faster
                kept, _ = self._groups[0]
                at = (lambda *_: 1) if self._failed[0] else self._at.row(0)
                return [cost_of(self._chip, kept.nest, kept.names, at)]
            return [
                cost_of(self._chip, kept.nest, kept.names, self._at.take(rows))
                for kept, rows in self._groups
            ]

    def _column(self, of: Callable[[Cost], Any]) -> FloatArray:
        found = np.empty(len(self._reasons))
        for cost, (_, rows) in zip(self._costs, self._groups, strict=True):
            found[rows] = of(cost)
        found[self._failed] = _INF
        return found

    def costs(self, why: Callable[[int], Infeasible], one: Callable[[int], Cost]) -> CostBatch:
        """The batch of costs."""

        def accesses(tensor: str) -> LazyColumns[FloatArray]:
            kinds = tuple(named.accesses[tensor])
            return LazyColumns(kinds, lambda kind: self._column(lambda c: c.accesses[tensor][kind]))

        named = self._groups[0][0].example
        return CostBatch(
            reason=self._reasons,
            figures=LazyColumns(FIGURES, lambda name: self._column(lambda c: getattr(c, name))),
            accesses=LazyColumns(TENSORS, accesses),
            detail=LazyColumns(
                tuple(named.detail), lambda name: self._column(lambda c: c.detail[name])
            ),
            priced=named.priced,
            counts={},
            explain=why,
            one=one,
            held=LazyColumns(
                tuple(named.by_level), lambda name: self._column(lambda c: c.by_level[name].bytes)
            ),
        )
