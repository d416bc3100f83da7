"""Accesses and energy of a nest by memory, at given prices of a bit.

Every access costs at the memory that is read or written: a fill a read of the keeper and a write of
each instance, a drain and a read back the same the other way; what passes between entries of one
memory is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.nest_features import Counts
from cost_models.exact.nest import OUTPUT, Nest


@dataclass(frozen=True)
class Price:
    """Of a memory: a bit read and a bit written [pJ], and leakage of an instance [pJ/cycle]."""

    read: float
    write: float
    leakage: float


@dataclass
class Accesses:
    """Bits of a tensor that are read from a memory and written to it."""

    read: int = 0
    write: int = 0


def keepers(nest: Nest, tensor: int) -> list[int]:
    """The levels that keep a tensor, DRAM the first, and the MACs behind them."""
    kept = [m for m, level in enumerate(nest.levels, 1) if level.keeps[tensor]]
    return [0, *kept, len(nest.levels) + 1]


def memories(nest: Nest) -> list[int]:
    """By level, the first entry of its memory; the MACs are the last."""
    found = [0]
    for m, level in enumerate(nest.levels, 1):
        found.append(found[-1] if level.joined else m)
    return [*found, len(nest.levels) + 1]


def accesses(nest: Nest, counts: Counts) -> dict[tuple[int, int], Accesses]:
    """Accesses by memory and tensor; DRAM is 0."""
    of = memories(nest)
    places = [0, *(m for m, level in enumerate(nest.levels, 1) if level.port and of[m] == m)]
    found = {(m, t): Accesses() for m in places for t in range(3)}
    for t in range(3):
        width = nest.widths[3 if t == OUTPUT else t]
        chain = keepers(nest, t)
        for q, m in pairwise(chain):
            if of[q] == of[m]:
                continue
            outer, inner = found[of[q], t], found.get((of[m], t), Accesses())
            if t != OUTPUT:
                kind = f"tiles/{t}/{m}" if nest.rules.whole_tiles else f"read/{t}/{m}/{q}"
                outer.read += width * counts.get(kind, 0)
                inner.write += width * counts.get(f"fill/{t}/{m}", 0)
                continue
            back = width * counts.get(f"refill/{m}/{q}", 0)
            outer.write += width * counts.get(f"write/{m}/{q}", 0)
            outer.read += back + width * counts.get(f"add/{m}", 0)
            inner.read += width * counts.get(f"drain/{m}", 0)
            inner.write += back
    return found


def energies(nest: Nest, counts: Counts, prices: Sequence[Price]) -> Iterator[float]:
    """Energy of each memory [pJ].

    Args:
        nest: The nest.
        counts: Its counts.
        prices: Of each memory, DRAM the first; there may be more.
    """
    found = accesses(nest, counts)
    cycles = counts["stepwise" if nest.rules.stepwise else "bound"]
    for place, price in zip(sorted({m for m, _ in found}), prices, strict=False):
        instances = math.prod(n for level in nest.levels[:place] for n in level.units)
        moved = [found[place, t] for t in range(3)]
        bits = price.read * sum(x.read for x in moved) + price.write * sum(x.write for x in moved)
        yield bits + price.leakage * instances * cycles
