"""What moves at levels of a chain cost that are no layer's: of passes, filters and sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cost_models.chain.chip import Chain
from cost_models.chain.level_prices import prices_of
from cost_models.chain.moves import EntryMoves
from cost_models.chain.wires import deliveries
from cost_models.exact.nest import OUTPUT
from cost_models.prices import UW_PER_MW, clock_of


class LevelMoves(NamedTuple):
    """Elements that are read from a level, and written to it."""

    reads: EntryMoves = EntryMoves()
    writes: EntryMoves = EntryMoves()


def energy_of_moves(chip: Chain, latency: float, moves: Mapping[int, LevelMoves]) -> float:
    """Energy of moves, during which all memories leak [nJ].

    Args:
        chip: The chip.
        latency: How long they take [cycles].
        moves: By the place of a level, DRAM being 0.
    """
    energy = 0.0
    for place, found in moves.items():
        prices = prices_of(chip, chip.levels[place], 0.0)
        for elements, each in ((found.reads, prices.read), (found.writes, prices.write)):
            energy += sum(n * price for n, price in zip(elements, each, strict=True))
    return float(energy + leakage_nj(chip) * latency)


def leakage_nj(chip: Chain) -> float:
    """What all memories leak in a cycle [nJ]."""
    return leakage_mw(chip) / clock_of(chip)


def leakage_mw(chip: Chain) -> float:
    """What all memories leak [mW]; one without a capacity, as the smallest."""
    leakage = sum(
        count * prices_of(chip, level, 0.0).leakage_uw
        for level, count in chip.instances()
        if level.is_memory
    )
    return float(leakage / UW_PER_MW)


def energy_of_sums(chip: Chain, latency: float, sums: int, scaled: int) -> float:
    """Energy of sums in the first level inside DRAM that a layer begins with, not with zeros [nJ].

    They pass all memories that hold outputs on their way to the MACs. What goes back is no finished
    output then, but a sum.

    Args:
        chip: The chip.
        latency: How long it takes [cycles].
        sums: Elements that are read.
        scaled: Elements that are read and written besides, and do not leave the level.
    """
    memories = [place for place, level in enumerate(chip.levels) if level.is_memory and place]
    holders = [place for place in memories if chip.levels[place].holds[OUTPUT]]
    moves: dict[int, LevelMoves] = {}
    for place in holders:
        home = place == 1
        again = 0 if home else sums
        reads = EntryMoves(output=-again, psum=sums + again)
        writes = EntryMoves(output=-sums, psum=sums + again)
        if place == memories[-1]:  # next to the MACs all are sums
            reads, writes = (EntryMoves(psum=one.output + one.psum) for one in (reads, writes))
        if home:
            reads, writes = (one._replace(psum=one.psum + scaled) for one in (reads, writes))
        moves[place] = LevelMoves(reads, writes)
    areas = {chip.levels[n].name: prices_of(chip, chip.levels[n], 0.0).area_um2 for n in memories}
    wires = sum(price for place, price in deliveries(chip, areas) if place)
    return energy_of_moves(chip, latency, moves) + wires * sums * chip.widths.psum
