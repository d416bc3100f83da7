"""The brute-force simulator as a cost model, for tiny layers."""

from __future__ import annotations

import math

import numpy as np

from cost_models.accelerator import Accelerator
from cost_models.cost import Cost, CostBatch
from cost_models.cost_model import CostModelError
from cost_models.dataflow import Dataflow
from cost_models.exact.costs import ROW_NAMES, RowCounts, cost_batch, cost_of, refused
from cost_models.exact.layout import WIDE_NAMES
from cost_models.exact.limits import Capacity, capacities, too_large
from cost_models.exact.machine import Machine
from cost_models.exact.nest import Nest, Rules
from cost_models.exact.options import ExactOptions
from cost_models.exact.simulator import simulate
from cost_models.exact.two_level import L1, L2, named_counts, nest_of, peaks
from cost_models.infeasible import Infeasible, InfeasibleError, ReasonCode
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from layers import TENSORS, Layer

MAX_MACS = 200_000
"""Most MACs that are executed: each marks an element of three tensors."""
MAX_VISITS = 500_000
"""Most (step, PE) pairs that are visited."""


class SimulatorModel(ExactOptions):
    """Executes every mapping step by step and marks every element: the exact model's truth.

    It takes the options of :class:`ExactOptions`, and layers of at most 200,000 MACs.
    """

    name = "simulator"

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Cost of one mapping, by execution.

        Raises:
            CostModelError: The layer or the mapping takes too many steps to walk.
        """
        infeasible = too_large(layer)
        if infeasible is not None:
            return refused(infeasible)
        if isinstance(mapping, Dataflow):
            try:
                mapping = Mapping.from_dataflow(mapping, layer)
            except InfeasibleError as error:
                return refused(error.infeasible)
        num_pes = accelerator.num_pes if mapping.num_pes is None else mapping.num_pes
        counts, code = self._execute(layer, self.machine(accelerator), mapping, num_pes)
        if code is not ReasonCode.FEASIBLE:
            return refused(self.why(layer, accelerator, mapping, code))
        if self.is_plain(layer, accelerator) and not _is_beyond(mapping):
            counts = {name: counts[name] for name in ROW_NAMES}
        return cost_of(counts | {"num_pes": num_pes}, self.setting(accelerator))

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Costs of `B` mappings, one after the other.

        Raises:
            CostModelError: The layer or a mapping takes too many steps to walk.
        """
        names = (*ROW_NAMES, *WIDE_NAMES)
        rows = np.zeros((len(mappings), len(names)), np.int64)
        wide = np.zeros(len(mappings), np.bool_)
        reasons = np.zeros(len(mappings), np.int8)
        infeasible = too_large(layer)
        pes, machine = mappings.num_pes, self.machine(accelerator)
        plain = self.is_plain(layer, accelerator)
        for i, mapping in enumerate(mappings):
            if infeasible is not None:
                reasons[i] = infeasible.code
                continue
            count = accelerator.num_pes if pes is None else int(pes[i])
            counts, code = self._execute(layer, machine, mapping, count)
            reasons[i] = code
            if counts:
                rows[i] = [counts.get(name, 0) for name in names]
                wide[i] = not plain or _is_beyond(mapping)

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            return self.why_row(layer, accelerator, mappings, row, ReasonCode(int(reasons[row])))

        if not wide.any():
            rows = rows[:, : len(ROW_NAMES)]
        counts_of = RowCounts(rows, pes, accelerator.num_pes, wide)
        return cost_batch(counts_of, reasons, self.setting(accelerator), why)

    def _execute(
        self, layer: Layer, machine: Machine, mapping: Mapping, num_pes: int
    ) -> tuple[dict[str, int], ReasonCode]:
        if not _fans_out(mapping, num_pes):
            return {}, ReasonCode.PE_COUNT
        passes = machine.passes(mapping.bypass)
        if passes[0] & passes[1] or any(len(part) == len(TENSORS) for part in passes):
            return {}, ReasonCode.REFUSED
        rules = Rules(
            self.halo_time == "retain", self.halo_space == "tile", self.latency == "stepwise"
        )
        box, padding_free = self.window == "box", self.padding == "free"
        nest = nest_of(layer, machine, mapping, rules, box=box, padding_free=padding_free)
        _check_size(layer, nest, num_pes)
        executed = simulate(nest)
        counts = named_counts(executed, nest)
        fits = ReasonCode.FEASIBLE
        for level, place, code in (
            (1, L1, ReasonCode.L1_CAPACITY),
            (0, L2, ReasonCode.L2_CAPACITY),
        ):
            held = peaks(executed, place)
            everything = Capacity(machine.buffers[level], (0, 1, 2), None, "")
            counts[f"l{2 - level}_bits"] = everything.needs(held, machine)
            for capacity in capacities(machine, level, passes[level]):
                if capacity.bits is not None and capacity.needs(held, machine) > capacity.bits:
                    fits = fits or code
        return (counts if fits is ReasonCode.FEASIBLE else {}), fits


def _is_beyond(mapping: Mapping) -> bool:
    """Whether a mapping has fields whose counts have names of their own."""
    return mapping.parallel2 != (None, None) or any(mapping.bypass)


def _fans_out(mapping: Mapping, num_pes: int) -> bool:
    """Whether there are as many clusters, and PEs in them, as the mapping takes."""
    units = num_pes // mapping.cluster_size, mapping.cluster_size
    taken = (mapping.units[0] or 1, mapping.units[1] or 1)
    return all(few <= many for few, many in zip(taken, units, strict=True))


def _check_size(layer: Layer, nest: Nest, num_pes: int) -> None:
    macs = math.prod(nest.extents)
    if macs > MAX_MACS:
        raise CostModelError(
            f"simulator: layer {layer.name!r} has {macs} MACs, which would take too long to "
            f"execute one by one; expected at most {MAX_MACS}. Use a smaller layer or load('exact')"
        )
    tiles = nest.levels[-1].tile
    visits = math.prod(-(-n // t) for n, t in zip(nest.extents, tiles, strict=True)) * num_pes
    if visits > MAX_VISITS:
        raise CostModelError(
            f"simulator: the mapping of layer {layer.name!r} visits up to {visits} PEs in all its "
            f"steps; expected at most {MAX_VISITS}. Use larger tiles or fewer PEs, or load('exact')"
        )
