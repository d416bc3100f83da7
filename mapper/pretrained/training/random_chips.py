"""Random chips to train on: of L2 and L1, and lists of one to four memories; none is known."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cost_models import CHAINS, Accelerator, Axis, Chain, ChainLevel, Fanout, Widths, load_chip

MOST_MACS = 1 << 16
WIDTHS = (Widths(), Widths(8, 8, 8, 24), Widths(8, 8, 8, 32), Widths(16, 16, 16, 16))
AXES = ("KCYX", "KCYXRSNG", "K", "C", "KC", "YX", "KYXN", "RYCK", "YCK")
"""Dimensions that an axis may take."""
DEEP = 0.5
"""Share of chips that are lists of levels."""
ACCUMULATED = 0.5
"""Share of those whose sums have a small memory of their own."""
ALIKE = 2
"""Chips with as many levels whose capacities are all within this factor count as the same."""


def draw_chip(rng: np.random.Generator) -> Accelerator | Chain:
    """One random chip."""
    if rng.random() >= DEEP:
        return _draw_two_levels(rng)
    while True:
        chip = _draw_chain(rng)
        if chip.peak_macs_per_cycle <= MOST_MACS and not any(alike(chip, c) for c in library()):
            return chip


@lru_cache(maxsize=1)
def library() -> tuple[Chain, ...]:
    """The chips of the library that are lists of levels: the agents' tests."""
    found = [load_chip(name) for name in CHAINS]
    return tuple(chip for chip in found if isinstance(chip, Chain))


def alike(one: Chain, other: Chain) -> bool:
    """Whether two chips have as many levels, and all capacities within a factor of `ALIKE`."""
    mine, yours = ([level.buffer.total_bits for level in c.memories] for c in (one, other))
    if len(one.inner) != len(other.inner) or len(mine) != len(yours):
        return False
    return all(
        a is b or (a and b and max(a, b) <= ALIKE * min(a, b))
        for a, b in zip(mine, yours, strict=True)
    )


def log_uniform(rng: np.random.Generator, low: float, high: float) -> int:
    """A whole number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def _draw_two_levels(rng: np.random.Generator) -> Accelerator:
    pes = log_uniform(rng, 8, 8192)
    kind = rng.random()
    if kind < 0.4:
        pes = int(1 << round(np.log2(pes)))
    elif kind < 0.7:
        side = max(2, round(np.sqrt(pes)))
        pes = min(8192, side * max(2, round(side * float(rng.uniform(0.6, 1.6)))))
    bare = rng.random() < 0.08  # nothing is limited
    return Accelerator(
        pes,
        _limited(rng, 32, 16 << 10, 0.15, bare),
        _limited(rng, 2 << 10, 16 << 20, 0.15, bare),
        _limited(rng, 4, 1024, 0.15, bare),
        _limited(rng, 2, 256, 0.15, bare),
    )


def _limited(
    rng: np.random.Generator, low: int, high: int, unlimited: float, bare: bool = False
) -> int | None:
    value = log_uniform(rng, low, high)
    if rng.random() < 0.5:
        value = int(1 << round(np.log2(value)))
    return None if bare or rng.random() < unlimited else value


def _draw_chain(rng: np.random.Generator) -> Chain:
    """A chip of one to four memories, the last of which feeds MACs."""
    if rng.random() < ACCUMULATED:
        return _draw_accumulated(rng)
    held = _draw_holds(rng)
    size = log_uniform(rng, 16 << 10, 24 << 20)
    fans = {len(held) - 1, int(rng.integers(0, len(held)))}
    levels = [ChainLevel(name="DRAM", read_bw=_limited(rng, 16, 2048, 0.4))]
    if rng.random() < 0.05:
        levels.append(ChainLevel(name="Fan", holds=(False,) * 3, fanout=_draw_fanout(rng)))
    for place, holds in enumerate(held):
        fanout = Fanout()
        if place in fans and rng.random() < 0.85:
            fanout = _draw_fanout(rng)
        levels.append(_draw_memory(rng, f"M{place}", holds, size, fanout))
        smaller = size / log_uniform(rng, 2, 512) if fanout.axes else size / rng.uniform(1, 8)
        size = max(4 * sum(holds), round(smaller))
    return Chain(tuple(levels), widths=WIDTHS[int(rng.integers(len(WIDTHS)))])


def _draw_accumulated(rng: np.random.Generator) -> Chain:
    """A chip whose sums stay in a small memory of their own, above or below those of operands."""
    outer = (True, bool(rng.random() < 0.7), bool(rng.random() < 0.4))
    held = [((True, True, False), (16, 1024))]
    if rng.random() < 0.3:
        held = [((False, True, False), (64, 64 << 10)), ((True, False, False), (16, 16 << 10))]
    held.insert(int(rng.integers(len(held) + 1)), ((False, False, True), (64, 32 << 10)))
    held.insert(0, (outer, (16 << 10, 4 << 20)))
    fans = {len(held) - 1, int(rng.integers(0, len(held)))}
    levels = [ChainLevel(name="DRAM", read_bw=_limited(rng, 16, 2048, 0.4))]
    for place, (holds, sizes) in enumerate(held):
        fanout = _draw_fanout(rng) if place in fans else Fanout()
        levels.append(_draw_memory(rng, f"M{place}", holds, log_uniform(rng, *sizes), fanout))
    return Chain(tuple(levels), widths=WIDTHS[int(rng.integers(len(WIDTHS)))])


def _draw_holds(rng: np.random.Generator) -> list[tuple[bool, bool, bool]]:
    """What each memory holds, outermost first; every tensor lies somewhere."""
    count = int(rng.choice([1, 2, 3, 4], p=[0.08, 0.27, 0.35, 0.3]))
    while True:
        kind = rng.random(count)
        held = [
            (True, True, True) if all_of < 0.45 else tuple((rng.random(3) < 0.45).tolist())
            for all_of in kind
        ]
        if all(any(h) for h in held) and all(any(h[t] for h in held) for t in range(3)):
            return held


def _draw_memory(
    rng: np.random.Generator,
    name: str,
    holds: tuple[bool, bool, bool],
    size: int,
    fanout: Fanout,
) -> ChainLevel:
    size = int(1 << max(2, round(np.log2(size)))) if rng.random() < 0.5 else size
    own: tuple[int | None, int | None, int | None] = (None, None, None)
    shared: int | None = size
    if sum(holds) > 1 and rng.random() < 0.25:  # each tensor has a part of its own
        parts = rng.dirichlet((2.0, 2.0, 2.0))
        a, b, c = (
            max(4, round(size * p)) if h else None for p, h in zip(parts, holds, strict=True)
        )
        own, shared = (a, b, c), None
    elif rng.random() < 0.05:
        shared = None
    twice = (bool(rng.random() < 0.5),) * 3
    return ChainLevel(
        name=name,
        holds=holds,
        tensor_bytes=own,
        shared_bytes=shared,
        double_buffer=twice,
        read_bw=_limited(rng, 32, 8192, 0.45),
        fanout=fanout,
    )


def _draw_fanout(rng: np.random.Generator) -> Fanout:
    axes = []
    for _ in range(int(rng.choice([1, 2, 3], p=[0.45, 0.45, 0.1]))):
        units = log_uniform(rng, 2, 256)
        units = int(1 << round(np.log2(units))) if rng.random() < 0.6 else units
        dims = AXES[int(rng.integers(len(AXES)))]
        axes.append(Axis(units, dims, bool(rng.random() < 0.95), bool(rng.random() < 0.93)))
    return Fanout(tuple(axes))
