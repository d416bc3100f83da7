"""What an execution keeps of every step, and the latency that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from cost_models.exact.two_level_nest import ceil_div

Tensors = frozenset[str]


@dataclass(frozen=True)
class Rules:
    """How the figures are counted; see :class:`cost_models.exact.ExactModel`.

    Args:
        halo_time: The option.
        tile: Whether ``halo_space`` is "tile".
        bound: Whether ``latency`` is "bound".
        simd: MACs of a PE in a cycle.
        noc_bw: Bandwidth from L2 to the PEs, in bits where `widths` are.
        offchip_bw: Bandwidth from DRAM, likewise.
        noc_out_bw: Bandwidth from the PEs to L2; None for `noc_bw`.
        offchip_out_bw: Bandwidth to DRAM; None for `offchip_bw`.
        widths: Bits of input, filter, output and partial sum.
        copies: Copies of a tile of each tensor that L2, and L1, hold.
        passes: Tensors that pass L2, and those that pass L1.
        padding_free: Whether padding is no traffic, and takes no time (but room in buffers).
    """

    halo_time: str = "retain"
    tile: bool = False
    bound: bool = False
    simd: int = 1
    noc_bw: int = 1 << 30
    offchip_bw: int = 1 << 30
    noc_out_bw: int | None = None
    offchip_out_bw: int | None = None
    widths: tuple[int, int, int, int] = (1, 1, 1, 1)
    copies: tuple[tuple[int, int, int], tuple[int, int, int]] = ((1, 1, 1), (1, 1, 1))
    passes: tuple[Tensors, Tensors] = (frozenset(), frozenset())
    padding_free: bool = False

    @property
    def bandwidths(self) -> tuple[int, int, int, int]:
        """The NoC's to the PEs and from them, DRAM's from it and to it."""
        noc_out = self.noc_bw if self.noc_out_bw is None else self.noc_out_bw
        dram_out = self.offchip_bw if self.offchip_out_bw is None else self.offchip_out_bw
        return self.noc_bw, noc_out, self.offchip_bw, dram_out


@dataclass
class SimulatedStep:
    """One inner step: PE (0, 0)'s MACs, and bits over the NoC and past L2.

    Args:
        macs: MACs.
        noc_fill: Tiles for the PEs, which in the very first step come before all work.
        noc_in: What else the PEs get.
        noc_out: What they give.
        dram_fill: As `noc_fill`, of tensors that pass L2, over the DRAM boundary.
        dram_in: As `noc_in`, of partial sums that pass L2.
        out: Output elements that pass L2 on their way to DRAM.
    """

    macs: int
    noc_fill: int = 0
    noc_in: int = 0
    noc_out: int = 0
    dram_fill: int = 0
    dram_in: int = 0
    out: int = 0


@dataclass
class OuterStep:
    """One outer step: bits to L2, output elements from it over the DRAM boundary, and its steps."""

    bits_in: int = 0
    out: int = 0
    steps: list[SimulatedStep] = field(default_factory=list)


COUNTED = (
    *("macs", "steps", "active_pe_steps", "compute_cycles", "l1_peak", "l2_peak"),
    *("l1_bits", "l1_bits_in", "l1_bits_fil", "l1_bits_out"),
    *("l2_bits", "l2_bits_in", "l2_bits_fil", "l2_bits_out"),
    *("dram_in", "dram_fil", "dram_out_w", "dram_out_r"),
    *("dram_in_direct", "dram_fil_direct", "dram_out_w_direct", "dram_out_r_direct"),
    *("l1_skipped_in", "l1_skipped_fil", "l1_skipped_out"),
    *("l2r_in", "l2r_in_tile", "l1w_in", "l2r_fil", "l2r_fil_tile", "l1w_fil"),
    *("l2w_out", "l2w_out_tile", "l1drain_out", "l2r_psum"),
)
"""Names of what an execution adds up."""
Parts = tuple[int, int, int, int]
"""Cycles of compute, of the NoC in and out, and of DRAM."""
_PARTS = ("noc_in_cycles", "noc_out_cycles", "dram_in_cycles", "dram_out_cycles")
_BINDS = ("bound_compute", "bound_noc_in", "bound_noc_out", "bound_dram")


def figures(counts: dict[str, int], outer: list[OuterStep], rules: Rules) -> dict[str, int]:
    """The counts of an execution with the latency, its parts, and what binds it."""
    counts = counts | {"outer_steps": len(outer)}
    # one width a mapping: that of outputs where no partial sum crosses the boundary
    width = rules.widths[3 if counts["dram_out_r"] else 2]
    return counts | (_bound if rules.bound else _stepwise)(counts, outer, rules, width)


def _bound(
    counts: dict[str, int], outer: list[OuterStep], rules: Rules, width: int
) -> dict[str, int]:
    steps = [step for each in outer for step in each.steps]
    totals = (
        sum(s.noc_fill + s.noc_in for s in steps),
        sum(s.noc_out for s in steps),
        sum(o.bits_in for o in outer) + sum(s.dram_fill + s.dram_in for s in steps),
        width * (sum(o.out for o in outer) + sum(s.out for s in steps)),
    )
    cycles = [ceil_div(bits, bw) for bits, bw in zip(totals, rules.bandwidths, strict=True)]
    noc_in, noc_out, dram_in, dram_out = cycles
    binding = _shares([(counts["compute_cycles"], noc_in, noc_out, max(dram_in, dram_out))])
    return binding | dict(zip(_PARTS, cycles, strict=True))


def _stepwise(
    counts: dict[str, int], outer: list[OuterStep], rules: Rules, width: int
) -> dict[str, int]:
    noc_bw, noc_out_bw, dram_bw, dram_out_bw = rules.bandwidths
    start, first = outer[0], outer[0].steps[0]
    dram_fill = ceil_div(start.bits_in + first.dram_fill, dram_bw)
    noc_fill = ceil_div(first.noc_fill, noc_bw)
    parts: list[Parts] = [(0, 0, 0, dram_fill), (0, noc_fill, 0, 0)]
    sums = [noc_fill, 0, dram_fill, 0]
    for each in outer:
        inner: list[Parts] = []
        past_in, past_out = (0 if each is start else each.bits_in), each.out
        for step in each.steps:
            fills = step is not first
            noc_in = ceil_div(step.noc_in + fills * step.noc_fill, noc_bw)
            noc_out = ceil_div(step.noc_out, noc_out_bw)
            direct = step.dram_in + fills * step.dram_fill
            past_in, past_out = past_in + direct, past_out + step.out
            passing = max(ceil_div(direct, dram_bw), ceil_div(step.out * width, dram_out_bw))
            inner.append((ceil_div(step.macs, rules.simd), noc_in, noc_out, passing))
            sums[0] += noc_in
            sums[1] += noc_out
        dram_in, dram_out = ceil_div(past_in, dram_bw), ceil_div(past_out * width, dram_out_bw)
        sums[2] += dram_in
        sums[3] += dram_out
        dram = max(dram_in, dram_out)
        if dram > sum(max(step) for step in inner):
            parts.append((0, 0, 0, dram))
        else:
            parts.extend(inner)
    return _shares(parts) | dict(zip(_PARTS, sums, strict=True))


def _shares(parts: list[Parts]) -> dict[str, int]:
    """The latency, and its cycles by what binds each part; the first of equals binds."""
    shares = dict.fromkeys(_BINDS, 0)
    for cycles in parts:
        longest = max(cycles)
        shares[_BINDS[cycles.index(longest)]] += longest
    return {"latency": sum(shares.values())} | shares
