"""The physical laws that every cost of the exact model obeys, and mappings to try them on."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Accelerator, CostBatch, CostModel, MappingBatch
from cost_models.laws import unique_elements
from layers import Layer

Int = NDArray[np.int64]
Holds = Callable[[Mapping[str, Int], Layer, Accelerator], Any]


def _reads(c: Mapping[str, Int]) -> Int:
    return c["l2r_in"] + c["l2r_fil"] + c["l2r_psum"]


def _dram_reads(c: Mapping[str, Int]) -> Int:
    return c["dram_in"] + c["dram_fil"] + c["dram_out_r"]


def _in_time(c: Mapping[str, Int], elements: Int, bandwidth: int | None) -> Any:
    return True if bandwidth is None else c["latency"] * bandwidth >= elements


LAWS: dict[str, Holds] = {
    "MACs are the layer's": lambda c, lay, a: c["macs"] == lay.macs,
    "latency >= MACs / peak": lambda c, lay, a: c["latency"] * a.peak_macs_per_cycle >= c["macs"],
    "latency >= compute": lambda c, lay, a: c["latency"] >= c["compute_cycles"],
    "latency >= L2 reads / NoC": lambda c, lay, a: _in_time(c, _reads(c), a.noc_bw),
    "latency >= L2 writes / NoC": lambda c, lay, a: _in_time(c, c["l2w_out"], a.noc_bw),
    "latency >= DRAM reads / off-chip": lambda c, lay, a: _in_time(c, _dram_reads(c), a.offchip_bw),
    "latency >= DRAM writes / off-chip": lambda c, lay, a: _in_time(
        c, c["dram_out_w"], a.offchip_bw
    ),
    "DRAM >= unique input": lambda c, lay, a: c["dram_in"] >= unique_elements(lay)["input"],
    "DRAM >= unique filter": lambda c, lay, a: c["dram_fil"] >= unique_elements(lay)["filter"],
    "DRAM >= unique output": lambda c, lay, a: c["dram_out_w"] >= unique_elements(lay)["output"],
    "L2 >= DRAM, input": lambda c, lay, a: c["l2r_in"] >= c["dram_in"],
    "L2 >= DRAM, filter": lambda c, lay, a: c["l2r_fil"] >= c["dram_fil"],
    "L2 >= DRAM, output": lambda c, lay, a: c["l2w_out"] >= c["dram_out_w"],
    "L1 fills >= L2 reads, input": lambda c, lay, a: c["l1w_in"] >= c["l2r_in"],
    "L1 fills >= L2 reads, filter": lambda c, lay, a: c["l1w_fil"] >= c["l2r_fil"],
    "tile >= union": lambda c, lay, a: (
        (c["l2r_in_tile"] >= c["l2r_in"])
        & (c["l2r_fil_tile"] >= c["l2r_fil"])
        & (c["l2w_out_tile"] >= c["l2w_out"])
    ),
    "L1 fills <= MACs": lambda c, lay, a: (c["l1w_in"] <= c["macs"]) & (c["l1w_fil"] <= c["macs"]),
    "active PE-steps <= steps * PEs": lambda c, lay, a: (
        c["active_pe_steps"] <= c["steps"] * a.num_pes
    ),
    "compute * peak >= MACs": lambda c, lay, a: (
        c["compute_cycles"] * a.peak_macs_per_cycle >= c["macs"]
    ),
    "nothing is negative": lambda c, lay, a: np.all([c[name] >= 0 for name in c], axis=0),
}
"""Laws on the counts of mappings of a layer on an accelerator."""


def broken(costs: CostBatch, layer: Layer, accelerator: Accelerator) -> dict[str, int]:
    """How many feasible mappings break each law (all zero, one hopes)."""
    rows = costs.feasible
    counts = {name: values[rows] for name, values in costs.counts.items()}
    return {
        law: int(np.sum(~np.broadcast_to(holds(counts, layer, accelerator), rows.sum())))
        for law, holds in LAWS.items()
    }


def faster(accelerator: Accelerator) -> dict[str, Accelerator]:
    """The accelerator with more bandwidth, or more lanes."""
    more = {"more lanes, never slower": replace(accelerator, simd_lanes=accelerator.simd_lanes * 3)}
    for field in ("noc_bw", "offchip_bw"):
        value = getattr(accelerator, field)
        if value is not None:
            more[f"more {field}, never slower"] = replace(accelerator, **{field: value * 2 + 1})
            more[f"unlimited {field}, never slower"] = replace(accelerator, **{field: None})
    return more


def slower_when_faster(
    model: CostModel, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
) -> dict[str, int]:
    """How many mappings get slower on an accelerator with more bandwidth or lanes."""
    before = model.evaluate_batch(layer, accelerator, mappings).latency_cycles
    return {
        law: int(np.sum(model.evaluate_batch(layer, other, mappings).latency_cycles > before))
        for law, other in faster(accelerator).items()
    }


def unlimited_buffers(accelerator: Accelerator) -> Accelerator:
    """The accelerator without L1 and L2 limits, so that every mapping has figures."""
    return accelerator.in_elements().unlimited_buffers()


def random_batch(
    layer: Layer, accelerator: Accelerator, size: int, rng: np.random.Generator
) -> MappingBatch:
    """Mappings with any tiles (small ones as often as large ones), orders and spatial dims."""
    extents = np.array(layer.extents[:6])
    outer = np.ceil(extents ** rng.random((size, 6))).astype(np.int64)
    # half of the tiles are balanced, as a map space has them: ceil(n / ceil(n / t))
    balanced = -(-extents // -(-extents // outer))
    outer = np.where(rng.random((size, 6)) < 0.5, balanced, outer)
    inner = np.ceil(outer ** rng.random((size, 6))).astype(np.int64)
    sizes = np.floor((accelerator.num_pes + 0.999) ** rng.random(size)).astype(np.int64)
    return MappingBatch(
        orders=rng.permuted(np.tile(np.arange(6), (size, 2, 1)), axis=2),
        parallel=rng.integers(0, 6, (size, 2)),
        tiles=np.stack([outer, inner], axis=1),
        cluster_size=sizes,
    )
