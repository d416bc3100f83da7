"""The brute-force simulator as a cost model, for tiny layers."""

from __future__ import annotations

import math
from itertools import compress

from cost_models.cost_model import CostModelError
from cost_models.exact.figures import Rows
from cost_models.exact.limits import Capacity, capacities
from cost_models.exact.model import NestModel, Prepared
from cost_models.exact.names import L1, L2
from cost_models.exact.nest import Nest
from cost_models.exact.simulator import simulate
from cost_models.exact.two_level import named_counts, peaks
from cost_models.infeasible import ReasonCode
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from layers import TENSORS

MAX_MACS = 200_000
"""Most MACs that are executed: each marks an element of three tensors."""
MAX_VISITS = 500_000
"""Most (step, PE) pairs that are visited."""


class SimulatorModel(NestModel):
    """Executes every mapping step by step and marks every element: the exact model's truth.

    It takes the options of :class:`ExactOptions`, and layers of at most 200,000 MACs; a mapping
    that takes too many steps to walk is a CostModelError.
    """

    name = "simulator"

    def _count_nest(self, nest: Nest) -> dict[str, int]:
        units = math.prod(math.prod(level.units) for level in nest.levels)
        _check_size("the layer", nest, units * math.prod(nest.lanes.units))
        return simulate(nest)

    def _count(self, known: Prepared, mappings: MappingBatch, rows: Rows) -> None:
        for i, mapping in enumerate(mappings):
            counts, rows.reasons[i] = self._execute(known, mapping, int(rows.pes[i]))
            for name in counts:
                rows.counts[name][i] = counts[name]

    def _execute(
        self, known: Prepared, mapping: Mapping, num_pes: int
    ) -> tuple[dict[str, int], ReasonCode]:
        machine = self.machine(known.accelerator)
        units = num_pes // mapping.cluster_size, mapping.cluster_size
        if any((few or 1) > many for few, many in zip(mapping.units, units, strict=True)):
            return {}, ReasonCode.PE_COUNT
        passes = machine.passes(mapping.bypass)
        if (
            passes[0] & passes[1]
            or any(len(part) == len(TENSORS) for part in passes)
            or passes[0].intersection(compress(TENSORS, self.residents))
        ):
            return {}, ReasonCode.REFUSED
        nest = self.nest(known.layer, known.accelerator, mapping)
        _check_size(f"layer {known.layer.name!r}", nest, num_pes)
        executed = simulate(nest)
        counts = named_counts(executed, nest)
        fits = ReasonCode.FEASIBLE
        for level, place, name, code in (
            (1, L1, "l1_bits", ReasonCode.L1_CAPACITY),
            (0, L2, "l2_bits", ReasonCode.L2_CAPACITY),
        ):
            held = peaks(executed, place)
            everything = Capacity(machine.buffers[level], (0, 1, 2), None, "")
            counts[name] = everything.needs(held, machine)
            for capacity in capacities(machine, level, passes[level]):
                if capacity.bits is not None and capacity.needs(held, machine) > capacity.bits:
                    fits = fits or code
        return (counts if fits is ReasonCode.FEASIBLE else {}), fits


def _check_size(layer: str, nest: Nest, num_pes: int) -> None:
    macs = math.prod(nest.extents)
    if macs > MAX_MACS:
        raise CostModelError(
            f"simulator: {layer} has {macs} MACs, which would take too long to "
            f"execute one by one; expected at most {MAX_MACS}. Use a smaller layer or load('exact')"
        )
    tiles = nest.levels[-1].tile
    visits = math.prod(-(-n // t) for n, t in zip(nest.extents, tiles, strict=True)) * num_pes
    if visits > MAX_VISITS:
        raise CostModelError(
            f"simulator: the mapping of {layer} visits up to {visits} PEs in all its "
            f"steps; expected at most {MAX_VISITS}. Use larger tiles or fewer PEs, or load('exact')"
        )
