"""Physical laws that every answer of a cost model keeps, as one list.

The guard of `maestro` refuses by it (or mends a figure that is sound but for its value), tests and
`benchmarks/impossible.py` check answers by it. A law compares a claim with a bound, both worked out
from an array of figures and one of facts by plain arithmetic: so it holds for one answer,
``(figures,)`` and ``(facts,)``, and for many, ``(figures, B)`` and ``(facts, B)``. The places in
these arrays are in `figure_places`; MAESTRO's compiled guard has the laws in `maestro.judging`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import FloatArray
from cost_models.accelerator import Accelerator
from cost_models.buffers import Buffer
from cost_models.cost import FIGURES, TENSORS, CostBatch
from cost_models.figure_places import (
    AREA_UM2,
    ENERGY_NJ,
    ENERGY_TOTAL_NJ,
    FILTER,
    FILTER_SIZE,
    FIRST_ACCESS,
    INPUT,
    INPUT_SIZE,
    L1_BYTES,
    L1_LIMIT,
    L2_BYTES,
    L2_LIMIT,
    L2_READ,
    L2_WRITE,
    LARGEST,
    LATENCY_CYCLES,
    LEAST_AREA,
    LEAST_ENERGY,
    LEAST_LATENCY,
    LEAST_POWER,
    LEAST_TOTAL,
    MACS_OF_LAYER,
    NOC,
    NUM_FACTS,
    NUM_FIGURES,
    NUM_MACS,
    OFFCHIP,
    OUTPUT,
    OUTPUT_SIZE,
    PEAK,
    PES,
    POWER_MW,
    ROUNDING,
    THROUGHPUT,
    UTILIZED_PES,
)
from cost_models.infeasible import ReasonCode
from layers import Layer

Term = Callable[[Any, Any], Any]

ACCESS_KINDS = ("l1_read", "l1_write", "l2_read", "l2_write")
LEAST = {
    "latency_cycles": LEAST_LATENCY,
    "energy_nj": LEAST_ENERGY,
    "energy_total_nj": LEAST_TOTAL,
    "area_um2": LEAST_AREA,
    "power_mw": LEAST_POWER,
}
"""Places of the lower bounds, by figure."""
assert len(FIGURES) == FIRST_ACCESS
assert FIRST_ACCESS + len(TENSORS) * len(ACCESS_KINDS) == NUM_FIGURES


@dataclass(frozen=True)
class Law:
    """A comparison that every answer keeps: the claim is at least (or `most`: at most) the bound.

    Args:
        code: The reason of an answer that breaks it.
        what: What is claimed.
        unit: Unit of both sides.
        claim: Works out the claim from figures and facts.
        bound: Works out the bound.
        most: Whether the bound is one from above.
        mended: Whether a guard mends the figure instead of refusing the answer: it overstates what
            the mapping costs, or leaves out a part that can be added.
    """

    code: ReasonCode
    what: str
    unit: str
    claim: Term
    bound: Term
    most: bool = False
    mended: bool = False

    def broken(self, figures: Any, facts: Any) -> Any:
        """Whether answers break the law; a figure that is not a number breaks it."""
        claim, bound = self.claim(figures, facts), self.bound(figures, facts)
        return np.logical_not(claim <= bound if self.most else claim >= bound)


def _lowest(figures: Any, facts: Any) -> Any:
    low = figures[0]
    for place in range(1, NUM_FIGURES):
        low = np.minimum(low, figures[place])
    return low


def _highest(figures: Any, facts: Any) -> Any:
    high = figures[0]
    for place in range(1, NUM_FIGURES):
        high = np.maximum(high, figures[place])
    return high


def _latency(figures: Any, facts: Any) -> Any:
    return figures[LATENCY_CYCLES]


LAWS: tuple[Law, ...] = (
    Law(ReasonCode.NO_WORK, "latency", "cycles", _latency, lambda f, x: 1.0),
    Law(
        ReasonCode.FEWER_MACS,
        "MACs",
        "MACs",
        lambda f, x: f[NUM_MACS],
        lambda f, x: x[MACS_OF_LAYER],
    ),
    Law(
        ReasonCode.FASTER_THAN_PEAK,
        "latency at the array's peak",
        "cycles",
        _latency,
        lambda f, x: np.ceil(x[MACS_OF_LAYER] / x[PEAK]),
    ),
    Law(
        ReasonCode.FASTER_THAN_NOC,
        "latency at the NoC's bandwidth",
        "cycles",
        _latency,
        lambda f, x: np.ceil((f[INPUT + L2_READ] + f[FILTER + L2_READ]) / x[NOC]),
    ),
    Law(
        ReasonCode.TRAFFIC_BELOW_INPUT,
        "input reads from L2",
        "elements",
        lambda f, x: f[INPUT + L2_READ],
        lambda f, x: x[INPUT_SIZE],
    ),
    Law(
        ReasonCode.TRAFFIC_BELOW_FILTER,
        "filter reads from L2",
        "elements",
        lambda f, x: f[FILTER + L2_READ],
        lambda f, x: x[FILTER_SIZE],
    ),
    Law(
        ReasonCode.TRAFFIC_BELOW_OUTPUT,
        "output writes to L2",
        "elements",
        lambda f, x: f[OUTPUT + L2_WRITE],
        lambda f, x: x[OUTPUT_SIZE],
    ),
    Law(
        ReasonCode.L1_CAPACITY, "L1", "B", lambda f, x: f[L1_BYTES], lambda f, x: x[L1_LIMIT], True
    ),
    Law(
        ReasonCode.L2_CAPACITY, "L2", "B", lambda f, x: f[L2_BYTES], lambda f, x: x[L2_LIMIT], True
    ),
    Law(
        ReasonCode.BELOW_BOUND,
        "energy_nj",
        "nJ",
        lambda f, x: f[ENERGY_NJ],
        lambda f, x: x[LEAST_ENERGY] * ROUNDING,
    ),
    Law(
        ReasonCode.BELOW_BOUND,
        "energy_total_nj",
        "nJ",
        lambda f, x: f[ENERGY_TOTAL_NJ],
        lambda f, x: x[LEAST_TOTAL] * ROUNDING,
    ),
    Law(
        ReasonCode.BELOW_BOUND,
        "area_um2",
        "um^2",
        lambda f, x: f[AREA_UM2],
        lambda f, x: x[LEAST_AREA] * ROUNDING,
    ),
    Law(
        ReasonCode.BELOW_BOUND,
        "power_mw",
        "mW",
        lambda f, x: f[POWER_MW],
        lambda f, x: x[LEAST_POWER] * ROUNDING,
    ),
    Law(ReasonCode.NEGATIVE, "the lowest figure", "", _lowest, lambda f, x: 0.0),
    Law(ReasonCode.NOT_FINITE, "the highest figure", "", _highest, lambda f, x: LARGEST, True),
    Law(
        ReasonCode.OVER_UTILISED,
        "PEs at work",
        "PEs",
        lambda f, x: f[UTILIZED_PES],
        lambda f, x: x[PES] / ROUNDING,
        True,
    ),
    Law(
        ReasonCode.MORE_MACS,
        "MACs",
        "MACs",
        lambda f, x: f[NUM_MACS],
        lambda f, x: x[MACS_OF_LAYER],
        most=True,
        mended=True,
    ),
    Law(
        ReasonCode.FASTER_THAN_PEAK,
        "throughput",
        "MACs/cycle",
        lambda f, x: f[THROUGHPUT],
        lambda f, x: x[PEAK] / ROUNDING,
        most=True,
        mended=True,
    ),
    Law(
        ReasonCode.FASTER_THAN_NOC,
        "latency of outputs on the NoC",
        "cycles",
        _latency,
        lambda f, x: np.ceil(x[OUTPUT_SIZE] / x[NOC]),
        mended=True,
    ),
    Law(
        ReasonCode.FASTER_THAN_OFFCHIP,
        "latency of inputs and filters off chip",
        "cycles",
        _latency,
        lambda f, x: np.ceil((x[INPUT_SIZE] + x[FILTER_SIZE]) / x[OFFCHIP]),
        mended=True,
    ),
    Law(
        ReasonCode.FASTER_THAN_OFFCHIP,
        "latency of outputs off chip",
        "cycles",
        _latency,
        lambda f, x: np.ceil(x[OUTPUT_SIZE] / x[OFFCHIP]),
        mended=True,
    ),
    Law(
        ReasonCode.BELOW_BOUND,
        "latency_cycles",
        "cycles",
        _latency,
        lambda f, x: x[LEAST_LATENCY],
        mended=True,
    ),
)
"""The laws; where several are broken, the first is the reason."""


def facts_of(layer: Layer, accelerator: Accelerator, least: Mapping[str, float]) -> FloatArray:
    """What the laws compare figures with.

    Args:
        layer: The layer.
        accelerator: The accelerator; a mapping's own PEs go into `PES` and `PEAK` afterwards.
        least: Lower bounds by figure; a figure without one is bounded by 0.

    Returns:
        ``(NUM_FACTS,)`` float64.
    """
    facts = np.zeros(NUM_FACTS)
    facts[PES], facts[PEAK] = accelerator.num_pes, accelerator.peak_macs_per_cycle
    l2, l1 = accelerator.buffers()
    facts[NOC], facts[OFFCHIP] = _elements(l1, accelerator), _elements(l2, accelerator)
    facts[L1_LIMIT], facts[L2_LIMIT] = _bytes(l1.total_bits), _bytes(l2.total_bits)
    facts[MACS_OF_LAYER] = layer.macs
    facts[INPUT_SIZE], facts[FILTER_SIZE] = layer.input_size, layer.filter_size
    facts[OUTPUT_SIZE] = layer.output_size
    for figure, place in LEAST.items():
        facts[place] = least.get(figure, 0.0)
    return facts


def figures_of(costs: CostBatch) -> FloatArray:
    """``(NUM_FIGURES, n)`` figures of the feasible answers of a batch, as the laws take them.

    What goes between DRAM and the PEs without being held in L2 is taken as if L2 gave or got it.
    """
    rows = costs.feasible
    columns = [costs.figures[name][rows] for name in FIGURES]
    for tensor in TENSORS:
        for kind in ACCESS_KINDS:
            values = costs.accesses[tensor][kind][rows]
            past = costs.counts.get(_PAST_L2.get((tensor, kind), ""))
            columns.append(values if past is None else values + past[rows])
    return np.stack(columns)


_PAST_L2 = {
    ("input", "l2_read"): "dram_in_direct",
    ("filter", "l2_read"): "dram_fil_direct",
    ("output", "l2_write"): "dram_out_w_direct",
}
"""The exact model's count of what passes L2, by tensor and kind of access."""


def broken_laws(
    costs: CostBatch, facts: FloatArray, pes: NDArray[Any] | None = None, lanes: int = 1
) -> dict[str, int]:
    """How many feasible answers of a batch break each law; none, one hopes.

    Args:
        costs: The answers.
        facts: See :func:`facts_of`.
        pes: ``(B,)`` PEs that each mapping uses; None for the accelerator's.
        lanes: MACs a PE does in a cycle; used with `pes`.
    """
    figures = figures_of(costs)
    table = np.repeat(facts[:, None], figures.shape[1], axis=1)
    if pes is not None:
        table[PES] = pes[costs.feasible]
        table[PEAK] = table[PES] * lanes
    found = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for law in LAWS:
            name = f"{law.code.name}: {law.what}"
            found[name] = int(np.broadcast_to(law.broken(figures, table), figures[0].shape).sum())
    return found


def _bytes(bits: int | None) -> float:
    return float("inf") if bits is None else bits / 8


def _elements(buffer: Buffer, accelerator: Accelerator) -> float:
    """Most elements of any tensor that can cross a buffer's outer boundary in a cycle."""
    widths = accelerator.widths
    read, write = (
        float("inf") if bits is None else bits / least
        for bits, least in (
            (buffer.read_bw, min(widths.input, widths.filter)),
            (buffer.write_bw, min(widths.output, widths.psum)),
        )
    )
    return max(read, write)
