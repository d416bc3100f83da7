"""Physical laws that every answer of a cost model keeps, as one list.

The guard of `maestro` refuses by it (or mends a figure that is sound but for its value), tests and
`benchmarks/impossible.py` check answers by it. A law compares a claim with a bound, both worked out
from an array of figures and one of facts by plain arithmetic: so it holds for one answer,
``(figures,)`` and ``(facts,)``, and for many, ``(figures, B)`` and ``(facts, B)``. The places in
these arrays are in `figure_places`; MAESTRO's compiled guard has the laws in `maestro.judging`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import figure_places as at
from cost_models.accelerator import Accelerator
from cost_models.area_power import area_um2, power_mw
from cost_models.buffers import Buffer, Widths
from cost_models.cost import FIGURES, CostBatch
from cost_models.energy_tables import MAESTRO_L2_ONLY, MAESTRO_TOTAL, EnergyTable
from cost_models.infeasible import ReasonCode
from layers import TENSORS, Layer
from marl_common import FloatArray


@dataclass(frozen=True)
class Laws:
    """Which physical laws the figures of a cost model obey.

    Args:
        output_l2_reads: Outputs are read from L2 (to go off chip) in the energy.
        energy: Parts that `energy_nj` adds up.
        energy_total: Parts that `energy_total_nj` adds up.
    """

    output_l2_reads: bool
    energy: EnergyTable
    energy_total: EnergyTable


EXACT_LAWS = Laws(True, EnergyTable(), EnergyTable())
"""Counts that equal an execution of the loop nest."""
MAESTRO_LAWS = Laws(False, MAESTRO_L2_ONLY, MAESTRO_TOTAL)
"""MAESTRO behind its guard, which lifts the latency to what the traffic takes."""


def unique_elements(layer: Layer) -> dict[str, int]:
    """Elements of each tensor that must move at least once: input, filter and output.

    Input rows and columns that a wide stride skips are not counted.
    """
    return dict(zip(TENSORS, (layer.input_size, layer.filter_size, layer.output_size), strict=True))


def latency_bound(layer: Layer, accelerator: Accelerator, inputs: int) -> int:
    """Fewest cycles: all MACs at the array's peak, and all tensors at the bandwidths [cycles].

    Args:
        layer: The layer.
        accelerator: The accelerator.
        inputs: Input elements that must move.
    """
    widths = accelerator.widths
    loads = inputs * widths.input + layer.filter_size * widths.filter
    results = layer.output_size * widths.output
    cycles = [accelerator.compute_bound(layer.macs)]
    for buffer in accelerator.buffers():
        for bits, rate in ((loads, buffer.read_bw), (results, buffer.write_bw)):
            cycles.append(0 if rate is None else math.ceil(bits / rate))
    return max(cycles)


def energy_bound(layer: Layer, table: EnergyTable, output_l2_reads: bool = True) -> float:
    """Least energy: every MAC, and every tensor once over every boundary [nJ].

    Each MAC reads input, filter and partial sum and writes the partial sum in L1; inputs and
    filters are written once to L1, and written and read once in L2; outputs are written once to L2.
    """
    loads, outputs = layer.input_size + layer.filter_size, layer.output_size
    l1 = 4 * layer.macs + loads
    l2 = 2 * loads + outputs * (2 if output_l2_reads else 1)
    return float(table.energy_nj(layer.macs, l1, l2, loads + outputs))


def physical_bounds(
    layer: Layer, accelerator: Accelerator, laws: Laws = EXACT_LAWS
) -> dict[str, float]:
    """Lower bounds that no mapping goes below, by figure.

    Args:
        layer: The layer.
        accelerator: The accelerator with the PEs that are used; where a search chooses the number
            of PEs, give the largest for latency and the smallest for area and power.
        laws: The laws of the cost model, `EXACT_LAWS` or `MAESTRO_LAWS`.

    Returns:
        ``latency_cycles``, ``energy_nj``, ``energy_total_nj``, ``area_um2`` and ``power_mw``.
    """
    hardware = (accelerator.num_pes, accelerator.simd_lanes, 1, 1, accelerator.noc_bw or 0)
    return {
        "latency_cycles": float(latency_bound(layer, accelerator, layer.input_size)),
        "energy_nj": energy_bound(layer, laws.energy, laws.output_l2_reads),
        "energy_total_nj": energy_bound(layer, laws.energy_total, laws.output_l2_reads),
        "area_um2": float(area_um2(*hardware)),
        "power_mw": float(power_mw(*hardware)),
    }


Term = float | tuple[int, ...] | Callable[[Any, Any], Any]
"""A place (a whole number), a value (another one), places of elements and of the rate at which they
take how many cycles, or how a value follows from figures and facts."""

ACCESS_KINDS = ("l1_read", "l1_write", "l2_read", "l2_write")
LEAST = ("latency_cycles", "energy_nj", "energy_total_nj", "area_um2", "power_mw")
"""Figures with a lower bound, in the order of the facts from `LEAST_LATENCY` on."""
assert len(FIGURES) == at.FIRST_ACCESS
assert at.FIRST_ACCESS + len(TENSORS) * len(ACCESS_KINDS) == at.NUM_FIGURES


@dataclass(frozen=True)
class Law:
    """A comparison that every answer keeps: the claim is at least (or `most`: at most) the bound.

    Args:
        code: The reason of an answer that breaks it.
        what: What is claimed.
        unit: Unit of both sides.
        figure: The claim; places are those of figures.
        limit: The bound; places are those of facts.
        most: Whether the bound is one from above.
    """

    code: ReasonCode
    what: str
    unit: str
    figure: Term
    limit: Term
    most: bool = False

    def claim(self, figures: Any, facts: Any) -> Any:
        """What answers claim."""
        return _value(self.figure, figures, figures, facts)

    def bound(self, figures: Any, facts: Any) -> Any:
        """What the claim is held against."""
        return _value(self.limit, facts, figures, facts)

    def broken(self, figures: Any, facts: Any) -> Any:
        """Whether answers break the law; a figure that is not a number breaks it."""
        claim, bound = self.claim(figures, facts), self.bound(figures, facts)
        return np.logical_not(claim <= bound if self.most else claim >= bound)


def _value(term: Term, of: Any, figures: Any, facts: Any) -> Any:
    if isinstance(term, tuple):
        *elements, rate = term
        return np.ceil(sum(of[place] for place in elements) / of[rate])
    if isinstance(term, int | float):
        return of[term] if isinstance(term, int) else term
    return term(figures, facts)


def _latency(code: ReasonCode, what: str, *limit: int) -> Law:
    """The law that the latency covers what elements (or MACs) take at a rate."""
    return Law(code, what, "cycles", at.LATENCY_CYCLES, limit)


def _most(code: ReasonCode, what: str, unit: str, figure: int, fact: int) -> Law:
    """The law that a figure is at most a fact, to rounding."""
    return Law(code, what, unit, figure, lambda f, x: x[fact] / at.ROUNDING, most=True)


def _rounded(place: int) -> Term:
    return lambda f, x: x[place] * at.ROUNDING


_LOADS, _FILTERS, _ALL = at.INPUT + at.L2_READ, at.FILTER + at.L2_READ, slice(at.NUM_FIGURES)
LAWS: tuple[Law, ...] = (
    Law(ReasonCode.NO_WORK, "latency", "cycles", at.LATENCY_CYCLES, 1.0),
    Law(ReasonCode.FEWER_MACS, "MACs", "MACs", at.NUM_MACS, at.MACS_OF_LAYER),
    _latency(ReasonCode.FASTER_THAN_PEAK, "latency at the array's peak", at.MACS_OF_LAYER, at.PEAK),
    Law(
        ReasonCode.FASTER_THAN_NOC,
        "latency at the NoC's bandwidth",
        "cycles",
        at.LATENCY_CYCLES,
        lambda f, x: np.ceil((f[_LOADS] + f[_FILTERS]) / x[at.NOC]),
    ),
    *(
        Law(ReasonCode[f"TRAFFIC_BELOW_{name.upper()}"], f"{name} {way} L2", "elements", *terms)
        for name, way, terms in (
            ("input", "reads from", (_LOADS, at.INPUT_SIZE)),
            ("filter", "reads from", (_FILTERS, at.FILTER_SIZE)),
            ("output", "writes to", (at.OUTPUT + at.L2_WRITE, at.OUTPUT_SIZE)),
        )
    ),
    Law(ReasonCode.L1_CAPACITY, "L1", "B", at.L1_BYTES, at.L1_LIMIT, most=True),
    Law(ReasonCode.L2_CAPACITY, "L2", "B", at.L2_BYTES, at.L2_LIMIT, most=True),
    *(
        Law(ReasonCode.BELOW_BOUND, name, unit, FIGURES.index(name), _rounded(place))
        for place, (name, unit) in enumerate(
            zip(LEAST[1:], ("nJ", "nJ", "um^2", "mW"), strict=True), at.LEAST_ENERGY
        )
    ),
    Law(ReasonCode.NEGATIVE, "the lowest figure", "", lambda f, x: f[_ALL].min(axis=0), 0.0),
    Law(
        ReasonCode.NOT_FINITE,
        "the highest figure",
        "",
        lambda f, x: f[_ALL].max(axis=0),
        at.LARGEST,
        most=True,
    ),
    _most(ReasonCode.OVER_UTILISED, "PEs at work", "PEs", at.UTILIZED_PES, at.PES),
)
"""The laws; where several are broken, the first is the reason."""
MENDED: tuple[Law, ...] = (
    Law(ReasonCode.MORE_MACS, "MACs", "MACs", at.NUM_MACS, at.MACS_OF_LAYER, most=True),
    _most(ReasonCode.FASTER_THAN_PEAK, "throughput", "MACs/cycle", at.THROUGHPUT, at.PEAK),
    _latency(ReasonCode.FASTER_THAN_NOC, "latency of outputs on the NoC", at.OUTPUT_SIZE, at.NOC),
    _latency(
        ReasonCode.FASTER_THAN_OFFCHIP,
        "latency of inputs and filters off chip",
        at.INPUT_SIZE,
        at.FILTER_SIZE,
        at.OFFCHIP,
    ),
    _latency(
        ReasonCode.FASTER_THAN_OFFCHIP, "latency of outputs off chip", at.OUTPUT_SIZE, at.OFFCHIP
    ),
    Law(ReasonCode.BELOW_BOUND, "latency_cycles", "cycles", at.LATENCY_CYCLES, at.LEAST_LATENCY),
)
"""Laws of figures that a guard mends instead of refusing the answer: it overstates what the mapping
costs, or leaves out a part that can be added."""


def facts_of(layer: Layer, accelerator: Accelerator, least: Mapping[str, float]) -> FloatArray:
    """What the laws compare figures with.

    Args:
        layer: The layer.
        accelerator: The accelerator; a mapping's own PEs go into `PES` and `PEAK` afterwards.
        least: Lower bounds by figure; a figure without one is bounded by 0.

    Returns:
        ``(NUM_FACTS,)`` float64.
    """
    l2, l1 = accelerator.buffers()
    facts = np.zeros(at.NUM_FACTS)
    facts[at.PES], facts[at.PEAK] = accelerator.num_pes, accelerator.peak_macs_per_cycle
    facts[at.NOC], facts[at.OFFCHIP] = (_elements(one, accelerator.widths) for one in (l1, l2))
    facts[at.L1_LIMIT], facts[at.L2_LIMIT] = (
        math.inf if one.total_bits is None else one.total_bits / 8 for one in (l1, l2)
    )
    facts[at.MACS_OF_LAYER : at.OUTPUT_SIZE + 1] = (layer.macs, *unique_elements(layer).values())
    facts[at.LEAST_LATENCY :] = [least.get(figure, 0.0) for figure in LEAST]
    return facts


def figures_of(costs: CostBatch) -> FloatArray:
    """``(NUM_FIGURES, n)`` figures of the feasible answers of a batch, as the laws take them.

    What goes between DRAM and the PEs without being held in L2 is taken as if L2 gave or got it.
    """
    rows = costs.feasible
    columns = [costs.figures[name][rows] for name in FIGURES]
    for tensor in TENSORS:
        for kind in ACCESS_KINDS:
            past = costs.counts.get(_PAST_L2.get((tensor, kind), ""), 0)
            columns.append((costs.accesses[tensor][kind] + past)[rows])
    return np.stack(columns)


_PAST_L2 = {
    ("input", "l2_read"): "dram_in_direct",
    ("filter", "l2_read"): "dram_fil_direct",
    ("output", "l2_write"): "dram_out_w_direct",
}
"""The exact model's count of what bypasses L2, by tensor and kind of access."""


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
        table[at.PES] = pes[costs.feasible]
        table[at.PEAK] = table[at.PES] * lanes
    with np.errstate(divide="ignore", invalid="ignore"):
        broken = [(law, law.broken(figures, table)) for law in (*LAWS, *MENDED)]
    size = figures[0].shape
    return {f"{w.code.name}: {w.what}": int(np.broadcast_to(x, size).sum()) for w, x in broken}


def _elements(buffer: Buffer, widths: Widths) -> float:
    """Most elements of any tensor that can cross a buffer's outer boundary in a cycle."""
    read = (buffer.read_bw or math.inf) / min(widths.input, widths.filter)
    return max(read, (buffer.write_bw or math.inf) / min(widths.output, widths.psum))
