"""Costs of many mappings of a chain: figures are those of one mapping, with arrays for counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cost_models.chain.batch import ChainBatch, check_batch
from cost_models.chain.chip import Chain
from cost_models.chain.cost_columns import CostGroups, in_columns, reason_of
from cost_models.chain.counted import Columns, Filler, count_rows, place_of
from cost_models.chain.evaluation import check_prices
from cost_models.chain.level_costs import cost_of
from cost_models.chain.moves import At
from cost_models.cost import Cost, CostBatch
from cost_models.exact.limits import too_large
from cost_models.exact.nest import Nest
from cost_models.exact.nest_counts import record_of
from cost_models.exact.records import COUNTED, TOO_LARGE_TILES
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.threads import run_rows
from layers import Layer
from marl_common import IntArray

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions


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
        self.infeasible = too_large(layer, plain=False)
        self._kept: dict[bytes, _Kept] = {}
        # what passes an entry that does not keep it is counted for networks alone
        every = any(any(level.network) for level in chip.levels)
        nest = options.nest(layer, chip, example[0])
        record = record_of(nest, every, units=chip.peak_macs_per_cycle)
        self.filler = Filler(chip, layer.extents, example, record)

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
        at = Columns(places.tolist(), values)

        def costs() -> list[Cost]:
            if size == 1:  # plain numbers are several times faster
                return [self._cost(groups[0][0], at.row(0))]
            return [self._cost(kept, at.take(rows)) for kept, rows in groups]

        def why(row: int) -> Infeasible:
            code = ReasonCode(int(reasons[row]))
            return Infeasible.when_asked(code, lambda: reason_of(single(batch[row])))

        named, rows = groups[0][0].example, [rows for _, rows in groups]
        found = CostGroups(costs, rows, named)
        return in_columns(found, reasons, why, lambda i: single(batch[i]), latency=at("latency"))

    def _cost(self, kept: _Kept, at: At) -> Cost:
        """The cost of mappings by their counts: numbers, or arrays of many."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return cost_of(self.chip, kept.nest, kept.names, at)

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
