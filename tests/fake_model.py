"""A cost model of a few lines, for tests of what does not depend on the cost model."""

import numpy as np

from cost_models import FIGURES, Accelerator, Cost, CostBatch, Infeasible, Mapping, MappingBatch
from cost_models.infeasible import ReasonCode
from layers import DIMS, Layer


class FakeModel:
    """Latency: steps times tile; energy: loops outside the inner-most one weigh more."""

    name = "fake"

    def __init__(self, l1_elements: int | None = None) -> None:
        self.l1_elements = l1_elements
        self.calls = 0

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping) -> Cost:
        batch = MappingBatch.from_mappings([mapping], layer.extents)
        return self.evaluate_batch(layer, accelerator, batch)[0]

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        self.calls += 1
        extents = np.array(layer.extents)
        pes = mappings.num_pes
        pes = np.full(len(mappings), accelerator.num_pes) if pes is None else pes
        outer, inner = mappings.tiles[:, 0].astype(float), mappings.tiles[:, 1].astype(float)
        spread = np.ones((2, len(mappings), len(DIMS)))
        rows = np.arange(len(mappings))
        spread[0, rows, mappings.parallel[:, 0]] = np.maximum(1, pes // mappings.cluster_size)
        spread[1, rows, mappings.parallel[:, 1]] = mappings.cluster_size
        outer_steps = np.ceil(extents / (outer * spread[0]))
        inner_steps = np.ceil(outer / (inner * spread[1]))
        steps = (outer_steps * inner_steps).prod(axis=1)
        place = np.argsort(mappings.orders, axis=2)
        energy = (place[:, 0] * outer_steps).sum(axis=1) + (place[:, 1] * inner_steps).sum(axis=1)
        figures = {name: np.ones(len(mappings)) for name in FIGURES}
        figures["latency_cycles"] = steps * inner.prod(axis=1)
        figures["energy_nj"] = energy
        figures["l1_bytes"] = inner.sum(axis=1)
        reason = np.zeros(len(mappings), dtype=np.int8)
        if self.l1_elements is not None:
            reason[inner.sum(axis=1) > self.l1_elements] = ReasonCode.L1_CAPACITY
        for values in figures.values():
            values[reason != 0] = np.inf
        return CostBatch(
            reason,
            figures,
            explain=lambda row: Infeasible(ReasonCode(int(reason[row])), "L1 is too small"),
        )
