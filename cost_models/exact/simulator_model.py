"""The brute-force simulator as a cost model, for tiny layers."""

from __future__ import annotations

import math

from cost_models.chain.clusters import as_chain
from cost_models.cost_model import CostModelError
from cost_models.exact.figures import Rows
from cost_models.exact.limits import kept_wrong, rooms_of, tile_bits
from cost_models.exact.model import NestModel, Prepared
from cost_models.exact.nest import Nest
from cost_models.exact.nest_counts import two_level_row
from cost_models.exact.records import L1, L2
from cost_models.exact.simulator import simulate
from cost_models.infeasible import ReasonCode
from cost_models.mapping import Mapping, MappingBatch
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
            rows.reasons[i] = self._execute(known, mapping, rows, i)

    def _execute(self, known: Prepared, mapping: Mapping, rows: Rows, i: int) -> ReasonCode:
        """Fill in the counts of a mapping that is feasible."""
        chip, num_pes = known.accelerator, int(rows.pes[i])
        units = num_pes // mapping.cluster_size, mapping.cluster_size
        if any((few or 1) > many for few, many in zip(mapping.units, units, strict=True)):
            return ReasonCode.PE_COUNT
        if kept_wrong(chip, mapping, self.residents) is not None:
            return ReasonCode.REFUSED
        nest = self.nest(known.layer, *as_chain(chip, mapping, known.layer))
        _check_size(f"layer {known.layer.name!r}", nest, num_pes)
        counts = simulate(nest)
        l2, l1 = chip.buffers(self.double_buffer)
        for buffer, place, code in (
            (l1, L1, ReasonCode.L1_CAPACITY),
            (l2, L2, ReasonCode.L2_CAPACITY),
        ):
            held = [counts.get(f"peak/{tensor}/{place}", 0) for tensor in range(len(TENSORS))]
            bits = tile_bits(held, chip.widths, buffer.copies)
            counts[f"bits/{place}"] = sum(bits)
            if any(room.taken(bits) > room.bits for room in rooms_of(buffer, map(bool, held))):
                return code
        counts["latency"] = counts.pop("stepwise" if nest.rules.stepwise else "bound")
        rows.counts[i : i + 1] = two_level_row(nest, counts)
        return ReasonCode.FEASIBLE


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
