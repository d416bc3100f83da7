"""The guard: refuses figures that no execution of the layer could have.

MAESTRO skips tiles that are larger than the output, counts edge tiles wrongly and forgets rows
under wide strides, so some mappings come out with fewer MACs than the layer has or faster than the
array can be; a search that minimises its raw figures finds exactly those.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import Accelerator
from cost_models.cost import Cost
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.maestro.layout import L1_LIMIT, L2_LIMIT, LANES, NOC_BW, IntArray, part
from layers import Layer

# Entries of a layer's laws: laws[entry].
LAW_MACS, LAW_INPUT, LAW_FILTER, LAW_OUTPUT = range(4)

_NO_WORK = int(ReasonCode.NO_WORK)
_FEWER_MACS = int(ReasonCode.FEWER_MACS)
_FASTER_THAN_PEAK = int(ReasonCode.FASTER_THAN_PEAK)
_FASTER_THAN_NOC = int(ReasonCode.FASTER_THAN_NOC)
_BELOW_INPUT = int(ReasonCode.TRAFFIC_BELOW_INPUT)
_BELOW_FILTER = int(ReasonCode.TRAFFIC_BELOW_FILTER)
_BELOW_OUTPUT = int(ReasonCode.TRAFFIC_BELOW_OUTPUT)
_L1_CAPACITY = int(ReasonCode.L1_CAPACITY)
_L2_CAPACITY = int(ReasonCode.L2_CAPACITY)

RETILE = "Choose tiles that divide the extents"
NARROW = "Choose an X or Y tile no larger than the output"


def laws_of(layer: Layer) -> NDArray[np.float64]:
    """MACs and unique elements of a layer, as the guard takes them."""
    return np.array(
        [layer.macs, layer.input_size, layer.filter_size, layer.output_size], np.float64
    )


@part
def judge(
    laws: NDArray[np.float64],
    hardware: IntArray,
    num_pes: int,
    latency: float,
    macs: float,
    input_reads: float,
    filter_reads: float,
    output_writes: float,
    l1_bytes: float,
    l2_bytes: float,
) -> int:
    """The first law or limit that the figures break, as a `ReasonCode`; 0 where they break none.

    Bandwidth lengthens the latency and is no limit of its own. Outputs and the off-chip boundary
    are left out of the bandwidth law: MAESTRO leaves the first tile's egress out of the latency,
    and charges the boundary by buffer size.
    """
    if latency <= 0:
        return _NO_WORK
    if macs < laws[LAW_MACS]:
        return _FEWER_MACS
    if latency * (num_pes * hardware[LANES]) < laws[LAW_MACS]:
        return _FASTER_THAN_PEAK
    if latency * hardware[NOC_BW] < input_reads + filter_reads:
        return _FASTER_THAN_NOC
    if input_reads < laws[LAW_INPUT]:
        return _BELOW_INPUT
    if filter_reads < laws[LAW_FILTER]:
        return _BELOW_FILTER
    if output_writes < laws[LAW_OUTPUT]:
        return _BELOW_OUTPUT
    if hardware[L1_LIMIT] >= 0 and l1_bytes > hardware[L1_LIMIT]:
        return _L1_CAPACITY
    if hardware[L2_LIMIT] >= 0 and l2_bytes > hardware[L2_LIMIT]:
        return _L2_CAPACITY
    return 0


def explain(
    code: ReasonCode,
    layer: Layer,
    accelerator: Accelerator,
    num_pes: int,
    raw: Cost,
) -> Infeasible:
    """The typed report of a law or limit that the raw figures break.

    Args:
        code: What `judge` answered.
        layer: The layer.
        accelerator: The accelerator.
        num_pes: PEs that are used.
        raw: The figures without the guard.
    """
    where = f"layer {layer.name!r}: "
    if code is ReasonCode.L1_CAPACITY:
        return _capacity(code, where + "L1", raw.l1_bytes, accelerator.l1_bytes or 0)
    if code is ReasonCode.L2_CAPACITY:
        return _capacity(code, where + "L2", raw.l2_bytes, accelerator.l2_bytes or 0)
    reads = {t: raw.accesses[t]["l2_read"] for t in ("input", "filter")}
    peak = num_pes * accelerator.simd_lanes
    bandwidth = accelerator.noc_bw or 1
    loads = reads["input"] + reads["filter"]
    reports = {
        ReasonCode.NO_WORK: ("MACs", raw.macs, layer.macs, "every step is skipped, MACs"),
        ReasonCode.FEWER_MACS: ("MACs", raw.macs, layer.macs, "MACs"),
        ReasonCode.FASTER_THAN_PEAK: (
            "cycles",
            raw.latency_cycles,
            -(-layer.macs // peak),
            f"latency on {peak} MACs/cycle",
        ),
        ReasonCode.FASTER_THAN_NOC: (
            "cycles",
            raw.latency_cycles,
            float(np.ceil(loads / bandwidth)),
            f"latency at {bandwidth} elements/cycle",
        ),
        ReasonCode.TRAFFIC_BELOW_INPUT: (
            "elements",
            reads["input"],
            layer.input_size,
            "input reads from L2",
        ),
        ReasonCode.TRAFFIC_BELOW_FILTER: (
            "elements",
            reads["filter"],
            layer.filter_size,
            "filter reads from L2",
        ),
        ReasonCode.TRAFFIC_BELOW_OUTPUT: (
            "elements",
            raw.accesses["output"]["l2_write"],
            layer.output_size,
            "output writes to L2",
        ),
    }
    unit, claim, least, what = reports[code]
    message = (
        f"{where}MAESTRO's figures are impossible: {what} {claim:.0f}, "
        f"at least {least:.0f} {unit} needed"
    )
    return Infeasible(code, message, claim, least, unit, (RETILE, NARROW))


def _capacity(code: ReasonCode, what: str, need: float, limit: int) -> Infeasible:
    return Infeasible(
        code,
        f"{what} needs {need:.0f} B, limit {limit} B (+{need - limit:.0f} B)",
        need,
        limit,
        "B",
        (f"raise --{what[-2:].lower()}-bytes to {need:.0f}",),
    )
