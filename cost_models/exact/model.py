"""The exact cost model: counts that equal an execution of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from cost_models.accelerator import Accelerator
from cost_models.chain.batch import ChainBatch
from cost_models.chain.batch_costs import ChainCounter
from cost_models.chain.chip import Chain
from cost_models.chain.clusters import as_chain
from cost_models.chain.cost_columns import stacked
from cost_models.chain.entries import ChainMapping
from cost_models.chain.evaluation import evaluate as evaluate_chain
from cost_models.cost import Cost, CostBatch, FloatArray
from cost_models.cost_model import CostModelError, LowerBounds, Structures
from cost_models.dataflow import Dataflow
from cost_models.exact.figures import Rows, cost_batch, energy_nj, refused
from cost_models.exact.limits import too_large
from cost_models.exact.nest import Nest
from cost_models.exact.nest_counts import WORK, count, record_of
from cost_models.exact.options import ExactOptions
from cost_models.exact.records import CountRow, MappingRow
from cost_models.infeasible import Infeasible, InfeasibleError, MappingError, ReasonCode
from cost_models.mapping import NO_DIM, Mapping, MappingBatch
from cost_models.threads import default_threads, run_rows
from layers import Layer

_KEPT = 1024
_ANY = Mapping(("KCYXRS", "KCYXRS"), ("K", "C"), ({}, {}), 1)
"""A mapping of any layer: what it says is replaced, mapping by mapping."""


class Prepared:
    """What all mappings of a layer on an accelerator share.

    Args:
        model: The model with its options.
        layer: The layer.
        accelerator: The accelerator.

    Attributes:
        plain: Whether elements of one size are all there is to count.
        too_large: Why nothing is counted, where mappings are plain and where they are not.
        nest: The kernel's record of the layer on the chip; mappings fill in tiles and loops.
        setting: What the figures need besides the counts.
    """

    def __init__(self, model: NestModel, layer: Layer, accelerator: Accelerator) -> None:
        self.layer, self.accelerator = layer, accelerator
        self.plain = model.is_plain(layer, accelerator)
        self.too_large = too_large(layer), too_large(layer, False)
        self.nest = record_of(model.nest(layer, *as_chain(accelerator, _ANY, layer)))
        self.setting = model.setting(accelerator)


_prepared = lru_cache(_KEPT)(Prepared)


class NestModel(ExactOptions):
    """A model of the counts of a loop nest; :meth:`_count` says how they are found."""

    threads: int | None = 1

    def _count(self, known: Prepared, mappings: MappingBatch, rows: Rows) -> None:
        """Fill in counts and reasons of some mappings."""
        raise NotImplementedError

    def _count_nest(self, nest: Nest) -> dict[str, int]:
        """Count a nest of any depth, by name."""
        raise NotImplementedError

    def evaluate(
        self,
        layer: Layer,
        accelerator: Accelerator | Chain,
        mapping: Mapping | Dataflow | ChainMapping,
    ) -> Cost:
        """Cost of one mapping.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mapping: A mapping, or a dataflow that :meth:`Mapping.from_dataflow` can read; one that
                it cannot is infeasible with its reason.
        """
        if not isinstance(accelerator, Accelerator) or isinstance(mapping, ChainMapping):
            return evaluate_chain(self, layer, accelerator, mapping, self._count_nest)
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return refused(too_large(layer) or error.infeasible)
        one = MappingBatch.from_mappings([mapping], layer.extents)
        cost = self.evaluate_batch(layer, accelerator, one)[0]
        if cost.infeasible is None or cost.infeasible.code is ReasonCode.TOO_LARGE:
            return cost
        # arrays hold no number above the largest extent, and a report says what the mapping says
        return refused(self.why(layer, accelerator, mapping, cost.infeasible.code))

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator | Chain, mappings: MappingBatch | ChainBatch
    ) -> CostBatch:
        """Costs of `B` mappings of one layer; figures are worked out when they are looked at.

        Args:
            layer: The layer.
            accelerator: Limits that are None are not checked.
            mappings: `B` mappings; `num_pes`, where set, replaces the accelerator's.

        Raises:
            MappingError: A row is malformed, or the mappings are not of such a chip.
        """
        if isinstance(accelerator, Chain) or isinstance(mappings, ChainBatch):
            if not isinstance(accelerator, Chain) or not isinstance(mappings, ChainBatch):
                raise MappingError(
                    f"mappings: got a {type(mappings).__name__} on a {type(accelerator).__name__}, "
                    "expected a ChainBatch on a Chain, or a MappingBatch on an Accelerator"
                )
            return self._evaluate_chains(layer, accelerator, mappings)
        known = _prepared(self, layer, accelerator)
        size = len(mappings)
        rows = Rows(
            np.zeros(size, CountRow),
            np.zeros(size, np.int8),
            mappings.pes(accelerator.num_pes),
            mappings.beyond | (not known.plain),
        )
        infeasible = known.too_large[bool(rows.wide.any())]
        reasons = rows.reasons

        def work(low: int, high: int) -> None:
            some = slice(low, high)
            self._count(known, mappings.take(some), Rows._make(part[some] for part in rows))

        if infeasible is not None:
            reasons[:] = infeasible.code
        else:
            run_rows(work, size, self.threads or default_threads())
        if reasons.size and reasons.min() < 0:
            row = int(np.argmin(reasons))
            raise MappingError(
                f"MappingBatch row {row}: orders {mappings.orders[row].tolist()}, parallel "
                f"{mappings.parallel[row].tolist()}, tiles {mappings.tiles[row].tolist()}, "
                f"cluster_size {mappings.cluster_size[row]}; expected two permutations of 0 to 7, "
                "dimensions 0 to 7, and numbers of at least 1"
            )

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            try:  # the arrays can say what no mapping can
                mapping = mappings[row]
            except MappingError as error:
                return Infeasible(ReasonCode.REFUSED, f"layer {layer.name!r}: {error}")
            return self.why(layer, accelerator, mapping, ReasonCode(int(reasons[row])))

        return cost_batch(rows, known.setting, why)

    def _evaluate_chains(self, layer: Layer, chip: Chain, mappings: ChainBatch) -> CostBatch:
        """Costs of `B` mappings of a chip of any depth, one after the other."""
        return stacked([self.evaluate(layer, chip, mapping) for mapping in mappings])


class ExactModel(NestModel):
    """A model whose counts equal a brute-force execution of the loop nest, in closed form.

    Args:
        threads: Threads for a batch; None for NUMBA_NUM_THREADS, or the number of cores.
        options: The options of :class:`ExactOptions`.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    name = "exact"

    def __init__(self, *, threads: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        whole = isinstance(threads, int) and not isinstance(threads, bool) and threads > 0
        if threads is not None and not whole:
            raise CostModelError(f"threads: got {threads!r}, expected a whole number of at least 1")
        self.threads = threads
        self._counters: dict[Any, ChainCounter] = {}

    def lower_bounds_of(
        self,
        layer: Layer,
        accelerator: Accelerator,
        figures: Sequence[str],
        limits: MappingABC[str, float],
        structures: Structures,
    ) -> LowerBounds | None:
        """Bounds for proofs; see :func:`cost_models.lower_bounds_of`."""
        from cost_models.exact.bounds import Asked, ExactBounds, bounded

        plain = self.is_plain(layer, accelerator) and not structures.bypasses.any()
        if too_large(layer, plain) is not None or not bounded(figures):
            return None
        asked = Asked(self, layer, accelerator, figures, limits, structures)
        return ExactBounds(asked, self.threads)

    def reprice(
        self, layer: Layer, accelerator: Accelerator, costs: CostBatch
    ) -> FloatArray | None:
        """Energies of mappings that were counted on a chip which differs in capacities alone.

        What a mapping moves, and how long it takes, depends on PEs and bandwidths; capacities say
        whether it fits, and what an access costs.

        Args:
            layer: The layer.
            accelerator: The chip.
            costs: Costs of mappings without `num_pes` of their own on the other chip, such as
                :meth:`Accelerator.unlimited_buffers` gives; latency and accesses hold here too.

        Returns:
            ``(B,)`` [nJ], inf where a mapping does not fit; None where more than counts of elements
            is needed (tensors of unequal widths, padding that is free).
        """
        if not self.is_plain(layer, accelerator):
            return None
        counts: dict[str, Any] = {**costs.counts, "num_pes": accelerator.num_pes}
        bits = accelerator.widths.input * (1 + self.double_buffer)
        fits = costs.feasible.copy()
        buffers = accelerator.buffers(self.double_buffer)
        for name, buffer in zip(("l2_peak", "l1_peak"), buffers, strict=True):
            if buffer.capacity_bits is not None:
                fits &= counts[name] * bits <= buffer.capacity_bits
        with np.errstate(divide="ignore", invalid="ignore"):
            energy = np.array(energy_nj(counts, self.setting(accelerator)), dtype=np.float64)
        energy[~fits] = np.inf
        return energy

    def _count(self, known: Prepared, mappings: MappingBatch, rows: Rows) -> None:
        # compiled code is loaded where it is needed, so that importing the package stays quick
        from cost_models.exact.kernel import evaluate_rows

        mapped = np.zeros(len(mappings), MappingRow)
        mapped["num_pes"], mapped["parallel2"] = rows.pes, NO_DIM
        for field in fields(mappings):
            given = getattr(mappings, field.name)
            if given is not None:
                mapped[field.name] = given
        evaluate_rows(WORK.records, known.nest, mapped, rows.counts, rows.reasons, len(mapped))

    def _count_nest(self, nest: Nest) -> dict[str, int]:
        return count(nest)

    def _evaluate_chains(self, layer: Layer, chip: Chain, mappings: ChainBatch) -> CostBatch:
        key = (layer, chip, mappings.levels, mappings.slots)
        if key not in self._counters:
            if len(self._counters) >= _KEPT:
                self._counters.clear()
            self._counters[key] = ChainCounter(self, layer, chip, mappings)
        return self._counters[key].evaluate(
            mappings,
            self.threads or default_threads(),
            lambda mapping: self.evaluate(layer, chip, mapping),
        )
