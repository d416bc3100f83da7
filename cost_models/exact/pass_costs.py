"""What a node without MACs costs: elements that pass once from where they are to where they go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from cost_models.accelerator import Accelerator
from cost_models.chain.chip import Chain
from cost_models.chain.level_moves import LevelMoves, energy_of_moves, energy_of_sums
from cost_models.chain.moves import EntryMoves
from cost_models.cost_model import CostModel, CostModelError
from cost_models.exact.figures import energy_nj
from cost_models.exact.options import ExactOptions


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
    outer, home = _ports(chip)
    latency = max(
        outer.cycles(moved.dram_read * read, moved.dram_written * written),
        home.cycles(moved.l2_read * read, moved.l2_written * written),
    )
    if isinstance(chip, Chain):
        dram = LevelMoves(EntryMoves(input=moved.dram_read), EntryMoves(output=moved.dram_written))
        inside = LevelMoves(EntryMoves(input=moved.l2_read), EntryMoves(output=moved.l2_written))
        return latency, energy_of_moves(chip, latency, {0: dram, 1: inside})
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


class _Port(NamedTuple):
    """Bits a cycle in both directions; `shared`: of both together."""

    read: int | None
    write: int | None
    shared: bool = False

    def cycles(self, read: int, written: int) -> int:
        """Cycles of bits read from a level, and written to it."""
        if self.shared:
            read, written = read + written, 0
        return max(_cycles(read, self.read), _cycles(written, self.write))


def _cycles(bits: int, rate: int | None) -> int:
    return int(bits > 0) if rate is None else -(-bits // rate)


def _ports(chip: Accelerator | Chain) -> list[_Port]:
    """The ports of DRAM, and of L2 or the first level inside DRAM."""
    if isinstance(chip, Chain):
        dram, home, *_ = chip.levels
        return [_Port(one.read_bw, one.write_bw, one.shared_bw) for one in (dram, home)]
    return [_Port(one.read_bw, one.write_bw) for one in chip.buffers()]


def filter_load_cost(
    model: CostModel, chip: Accelerator | Chain, loads: Mapping[int, int]
) -> tuple[float, float, float]:
    """Energy [nJ], latency [cycles] and bytes of DRAM to bring a filter that stays into L2.

    Args:
        model: The model with its options.
        chip: The chip; of a list of levels, the first one inside DRAM is L2.
        loads: Elements that are brought at a time, and how often.
    """
    width, (port, _) = chip.widths.filter, _ports(chip)
    latency = sum(times * port.cycles(size * width, 0) for size, times in loads.items())
    elements = sum(size * times for size, times in loads.items())
    brought = EntryMoves(filter=elements)
    if isinstance(chip, Chain):
        moves = {0: LevelMoves(reads=brought), 1: LevelMoves(writes=brought)}
        energy = energy_of_moves(chip, latency, moves)
    else:
        energy = energy_of_counts(model, chip, latency, {"dram_fil": elements})
    return energy, float(latency), elements * width / 8


def rescaling_cost(
    model: CostModel, chip: Accelerator | Chain, sums: int, stats: int
) -> tuple[float, float]:
    """Energy [nJ] and latency [cycles] of scaling sums in L2 and of reading them to add to them.

    All is read and written at the width of partial sums; sums are read once more, to the PEs.

    Args:
        model: The model with its options.
        chip: The chip; of a list of levels, the first one inside DRAM is L2.
        sums: Elements that are added up.
        stats: Elements that say how they are scaled.
    """
    both = sums + stats
    _, home = _ports(chip)
    latency = home.cycles((both + sums) * chip.widths.psum, both * chip.widths.psum)
    if isinstance(chip, Chain):
        return energy_of_sums(chip, latency, sums, both), float(latency)
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
