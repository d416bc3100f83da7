"""What a node without MACs costs: elements that pass once from where they are to where they go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from cost_models.accelerator import Accelerator
from cost_models.chain.chip import Chain
from cost_models.chain.level_prices import prices_of
from cost_models.cost_model import CostModel, CostModelError
from cost_models.exact.figures import energy_nj
from cost_models.exact.options import ExactOptions
from cost_models.prices import UW_PER_MW, clock_of


class Moved(NamedTuple):
    """Elements that a pass moves.

    Args:
        dram_read: Read from DRAM.
        dram_written: Written to DRAM.
        l2_read: Read from L2, or the first level inside DRAM of a list.
        l2_written: Written to it.
    """

    dram_read: int = 0
    dram_written: int = 0
    l2_read: int = 0
    l2_written: int = 0


def pass_cost(model: CostModel, chip: Accelerator | Chain, moved: Moved) -> tuple[int, float]:
    """Latency [cycles] and energy [nJ] of a pass between DRAM, L2 and a unit beside the PEs.

    What is read has the width of inputs, what is written that of outputs. The slowest of the four
    ways is the latency; PEs leak meanwhile.

    Args:
        model: The model with its options.
        chip: The chip.
        moved: What moves.

    Raises:
        CostModelError: The model prices no passes.
    """
    _exact(model)
    read, _, written, _ = chip.widths
    outer, inner, *_ = chip.levels if isinstance(chip, Chain) else chip.buffers()
    rates = (outer.read_bw, outer.write_bw, inner.read_bw, inner.write_bw)
    ways = zip(moved, (read, written, read, written), rates, strict=True)
    latency = max(_cycles(elements, bits, rate) for elements, bits, rate in ways)
    if isinstance(chip, Chain):
        return latency, _on_chain(chip, moved, latency)
    pairs = zip(moved, _COUNTS, strict=True)
    counts = {name: elements for elements, names in pairs for name in names}
    return latency, energy_of_counts(model, chip, latency, counts) if latency else 0.0


_COUNTS = (
    ("dram_in", "dram_in_direct"),
    ("dram_out_w", "dram_out_w_direct"),
    ("l2r_in", "l2r_in_tile"),
    ("l2w_out", "l2w_out_tile"),
)
"""The counts of what :class:`Moved` says."""


def _cycles(elements: int, bits: int, rate: int | None) -> int:
    return int(elements > 0) if rate is None else -(-elements * bits // rate)


def filter_load_cost(
    model: CostModel, chip: Accelerator, loads: Mapping[int, int]
) -> tuple[float, float, float]:
    """Energy [nJ], latency [cycles] and bytes of DRAM to bring a filter that stays into L2.

    Args:
        model: The model with its options.
        chip: The chip.
        loads: Elements that are brought at a time, and how often.
    """
    width, rate = chip.widths.filter, chip.buffers()[0].read_bw
    latency = sum(times * _cycles(size, width, rate) for size, times in loads.items())
    elements = sum(size * times for size, times in loads.items())
    energy = energy_of_counts(model, chip, latency, {"dram_fil": elements})
    return energy, float(latency), elements * width / 8


def rescaling_cost(
    model: CostModel, chip: Accelerator, sums: int, stats: int
) -> tuple[float, float]:
    """Energy [nJ] and latency [cycles] of scaling sums in L2 and of reading them to add to them.

    All is read and written at the width of partial sums; sums are read once more, to the PEs.

    Args:
        model: The model with its options.
        chip: The chip.
        sums: Elements that are added up.
        stats: Elements that say how they are scaled.
    """
    both, port = sums + stats, chip.buffers()[1]
    ways = ((both + sums, port.read_bw), (both, port.write_bw))
    latency = max(_cycles(elements, chip.widths.psum, rate) for elements, rate in ways)
    # neither the PEs nor the wires to them see what is scaled
    scaled = {"l2r_psum": both + sums, "l2w_out": both, "l2w_out_tile": both}
    unseen = {"l1_skipped_out": both, "l1drain_out": -both}
    return energy_of_counts(model, chip, latency, {**scaled, **unseen}), float(latency)


def energy_of_counts(
    model: CostModel, chip: Accelerator, latency: int, counts: Mapping[str, int]
) -> float:
    """Energy of some counts of the exact model, in which all PEs leak meanwhile [nJ].

    Args:
        model: The model with its options.
        chip: The chip.
        latency: How long it takes [cycles].
        counts: Counts by name; others are 0.

    Raises:
        CostModelError: The model prices no counts.
    """
    exact = _exact(model)
    found: defaultdict[str, int] = defaultdict(int)
    found |= {"num_pes": chip.num_pes, "latency": latency, **counts}
    return float(energy_nj(found, exact.setting(chip)))


def _exact(model: CostModel) -> ExactOptions:
    if isinstance(model, ExactOptions):
        return model
    raise CostModelError(f"cost model {model.name!r}: prices no counts, expected exact")


def _on_chain(chip: Chain, moved: Moved, latency: int) -> float:
    """Energy of a pass on a list of levels [nJ]."""
    dram, home, *_ = (prices_of(chip, level, 0.0) for level in chip.levels)
    energy = dram.read.input * moved.dram_read + dram.write.output * moved.dram_written
    energy += home.read.input * moved.l2_read + home.write.output * moved.l2_written
    leakage = sum(
        count * prices_of(chip, level, 0.0).leakage_uw
        for level, count in chip.instances()
        if level.is_memory
    )
    return float(energy + leakage / UW_PER_MW * (latency / clock_of(chip)))
