"""The brute-force simulator as a cost model, for tiny layers."""

from __future__ import annotations

import math

import numpy as np

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.cost import Cost, CostBatch
from cost_models.cost_model import CostModelError
from cost_models.dataflow import Dataflow
from cost_models.exact.costs import ROW_NAMES, RowCounts, cost_batch, cost_of, refused
from cost_models.exact.fields import not_understood, refused_field
from cost_models.exact.limits import too_large
from cost_models.exact.nest import Nest
from cost_models.exact.numbers import coupled_dims
from cost_models.exact.options import ExactOptions
from cost_models.exact.simulator import Rules, simulate
from cost_models.infeasible import Infeasible, InfeasibleError, ReasonCode
from cost_models.mapping import Mapping
from cost_models.mapping_batch import MappingBatch
from layers import DIMS, TENSORS, Layer

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
        counts, code = self._execute(layer, accelerator, mapping, num_pes)
        if code is not ReasonCode.FEASIBLE:
            return refused(self._why(layer, accelerator, mapping, num_pes, code))
        return cost_of(counts | {"num_pes": num_pes}, self.setting(accelerator))

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Costs of `B` mappings, one after the other.

        Raises:
            CostModelError: The layer or a mapping takes too many steps to walk.
        """
        rows = np.zeros((len(mappings), len(ROW_NAMES)), np.int64)
        reasons = np.zeros(len(mappings), np.int8)
        infeasible = too_large(layer)
        pes = mappings.num_pes
        for i, mapping in enumerate(mappings):
            if infeasible is not None:
                reasons[i] = infeasible.code
                continue
            count = accelerator.num_pes if pes is None else int(pes[i])
            counts, code = self._execute(layer, accelerator, mapping, count)
            reasons[i] = code
            if counts:
                rows[i] = [counts[name] for name in ROW_NAMES]

        def why(row: int) -> Infeasible:
            if infeasible is not None:
                return infeasible
            code = ReasonCode(int(reasons[row]))
            count = accelerator.num_pes if pes is None else int(pes[row])
            return self._why(layer, accelerator, mappings[row], count, code)

        counts_of = RowCounts(rows, pes, accelerator.num_pes)
        return cost_batch(counts_of, reasons, self.setting(accelerator), why)

    def _execute(
        self, layer: Layer, accelerator: Accelerator, mapping: Mapping, num_pes: int
    ) -> tuple[dict[str, int], ReasonCode]:
        if mapping.cluster_size > num_pes:
            return {}, ReasonCode.PE_COUNT
        one = MappingBatch.from_mappings([mapping], layer.extents)
        if not_understood(one)[0]:
            return {}, ReasonCode.REFUSED
        nest = nest_of(layer, mapping, num_pes)
        _check_size(layer, nest)
        chip = self.hardware(accelerator)
        rules = Rules(
            halo_time=self.halo_time,
            tile=self.halo_space == "tile",
            bound=self.latency == "bound",
            simd=chip.simd_lanes,
            noc_bw=chip.noc_bw or UNLIMITED_BW,
            offchip_bw=chip.offchip_bw or UNLIMITED_BW,
        )
        counts = simulate(nest, rules)
        for level, limit, code in (
            ("l1_peak", chip.l1_bytes, ReasonCode.L1_CAPACITY),
            ("l2_peak", chip.l2_bytes, ReasonCode.L2_CAPACITY),
        ):
            if limit is not None and counts[level] * self.buffers > limit:
                return {}, code
        return counts, ReasonCode.FEASIBLE

    def _why(
        self,
        layer: Layer,
        accelerator: Accelerator,
        mapping: Mapping,
        num_pes: int,
        code: ReasonCode,
    ) -> Infeasible:
        if code is ReasonCode.REFUSED:
            return refused_field(layer)
        extents = dict(zip(DIMS, layer.extents, strict=True))
        tiles = [[t.get(d, extents[d]) for d in DIMS] for t in mapping.tiles]
        outer = DIMS.index(mapping.parallel[0])
        return self.why(layer, accelerator, tiles, outer, mapping.cluster_size, num_pes, code)


def nest_of(layer: Layer, mapping: Mapping, num_pes: int) -> Nest:
    """The loop nest of a mapping: tiles clipped to the extents, inner ones to outer ones."""
    extents = layer.extents
    outer, inner = (
        [tiles.get(d, n) for d, n in zip(DIMS, extents, strict=True)] for tiles in mapping.tiles
    )
    outer = [min(t, n) for t, n in zip(outer, extents, strict=True)]
    inner = [min(t, n) for t, n in zip(inner, outer, strict=True)]
    orders = [tuple(DIMS.index(d) for d in order) for order in mapping.orders]
    return Nest(
        extents=extents,
        outer_tiles=tuple(outer),
        inner_tiles=tuple(inner),
        orders=(orders[0], orders[1]),
        spatial=(DIMS.index(mapping.parallel[0]), DIMS.index(mapping.parallel[1])),
        clusters=num_pes // mapping.cluster_size,
        cluster_size=mapping.cluster_size,
        strides=(layer.stride_y, layer.stride_x),
        dilations=(layer.dilation_y, layer.dilation_x),
        coupled=dict(zip(TENSORS, coupled_dims(layer), strict=True)),
    )


def _check_size(layer: Layer, nest: Nest) -> None:
    macs = math.prod(nest.extents)
    if macs > MAX_MACS:
        raise CostModelError(
            f"simulator: layer {layer.name!r} has {macs} MACs, which would take too long to "
            f"execute one by one; expected at most {MAX_MACS}. Use a smaller layer or load('exact')"
        )
    steps = 1
    for d, n in enumerate(nest.extents):
        steps *= -(-n // nest.inner_tiles[d])  # at least as many as there are
    visits = steps * nest.clusters * nest.cluster_size
    if visits > MAX_VISITS:
        raise CostModelError(
            f"simulator: the mapping of layer {layer.name!r} visits up to {visits} PEs in all its "
            f"steps; expected at most {MAX_VISITS}. Use larger tiles or fewer PEs, or load('exact')"
        )
