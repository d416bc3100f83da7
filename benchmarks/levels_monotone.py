"""Small spaces, enumerated: whether a better chip, or a larger space, ever has a worse optimum.

A space has a layer with two or three dimensions above 1 and a chain of one or two memories, each
below a fan-out along one of some dimensions. All tiles, orders and dimensions of fan-outs are
tried, for latency, energy (at the prices below) and their product. Then the same where

- every memory has more capacity,
- every port more bandwidth,
- the chain one more entry that keeps nothing and has a fan-out of 1,
- a fan-out one more dimension that it may lie along.

    python -m benchmarks levels_monotone --seeds 300 --out monotone.csv

does a space a seed, and fails if an optimum is higher than that of the space before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

import numpy as np

from benchmarks.nest_energy import Price, energies
from benchmarks.seed_lines import seed_table
from cost_models import CostModelError
from cost_models.exact.nest import ONE, Lanes, Nest, NestLevel, Port, Window
from cost_models.exact.nest_counts import count
from layers import COUPLED_DIMS, DIMS, LayerKind

PRICES = (Price(4.0, 4.5, 0.0), Price(0.5, 0.6, 0.02), Price(0.06, 0.05, 0.001))
"""Of DRAM and of the memories inside it; a MAC costs the same in all mappings."""
FIGURES = ("latency", "energy", "EDP")
CHANGES = ("more capacity", "more bandwidth", "one more entry", "one more dimension")
HIGHER = tuple(f"{change}: higher {figure}" for change in CHANGES for figure in FIGURES)
FIELDS = (
    *("spaces", "mappings", "feasible spaces", *HIGHER),
    *(f"{change}: lower {figure}" for change in CHANGES for figure in FIGURES),
)
Dims = tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """An entry of a space's chain: what is fixed of it, and how its fan-out may lie."""

    level: NestLevel
    units: int
    along: Dims


@dataclass(frozen=True)
class Space:
    """All mappings of a layer to a chain."""

    nest: Nest
    entries: tuple[Entry, ...]

    @property
    def active(self) -> Dims:
        """Dimensions above 1."""
        return tuple(d for d, n in enumerate(self.nest.extents) if n > 1)

    def nests(self) -> Iterator[Nest]:
        """Every mapping."""
        still = tuple(d for d in range(len(DIMS)) if d not in self.active)
        orders = [(*order, *still) for order in permutations(self.active)]
        for tiles in self._tiles(self.nest.extents, len(self.entries)):
            for choice in product(*(product(orders, entry.along) for entry in self.entries)):
                levels = tuple(
                    replace(entry.level, tile=tile, order=order, units=_units(entry.units, d))
                    for entry, tile, (order, d) in zip(self.entries, tiles, choice, strict=True)
                )
                yield replace(self.nest, levels=levels)

    def _tiles(self, around: Dims, entries: int) -> Iterator[tuple[Dims, ...]]:
        if not entries:
            yield ()
            return
        for tile in product(*(range(1, n + 1) for n in around)):
            for inner in self._tiles(tile, entries - 1):
                yield (tile, *inner)


def _units(count: int, d: int) -> Dims:
    return tuple(count if dim == d else 1 for dim in range(len(DIMS)))


def optimum(space: Space) -> tuple[list[float], int]:
    """The least latency [cycles], energy [pJ] and product of both; how many mappings there are."""
    best, mappings = [math.inf] * len(FIGURES), 0
    for nest in space.nests():
        mappings += 1
        try:
            counts = count(nest)
        except CostModelError:
            continue
        latency, energy = float(counts["stepwise"]), sum(energies(nest, counts, PRICES))
        best = list(map(min, best, (latency, energy, latency * energy)))
    return best, mappings


def random_space(rng: np.random.Generator) -> Space:
    """A space of some hundred to some thousand mappings."""
    memories = int(rng.integers(1, 3))
    few = 2 if memories == 2 else int(rng.integers(2, 4))
    active = [int(d) for d in rng.choice(len(DIMS) - 2, few, replace=False)]
    extents = tuple(int(rng.integers(2, 7 - few)) if d in active else 1 for d in range(len(DIMS)))
    entries = tuple(
        Entry(
            NestLevel(
                ONE,
                keeps=(True, True, True),
                port=Port(int(rng.choice([8, 13, 24])), int(rng.choice([8, 16]))),
                shared_bits=int(rng.integers(40, 300)),
            ),
            int(rng.integers(1, 5)),
            (active[rng.integers(few)],),
        )
        for _ in range(memories)
    )
    stride, dilation = (int(n) for n in rng.integers(1, 3, 2))
    nest = Nest(
        extents=extents,
        levels=(),
        coupled=COUPLED_DIMS[LayerKind.CONV],
        windows=(Window(stride, dilation), Window(stride, dilation)),
        widths=(8, 8, 8, 16),
        dram=Port(int(rng.choice([8, 16])), 8),
        lanes=Lanes(any=int(rng.integers(1, 3))),
    )
    return Space(nest, entries)


def changed(rng: np.random.Generator, space: Space, change: str) -> Space:
    """The space after one of `CHANGES`."""
    entries = list(space.entries)
    at = int(rng.integers(len(entries)))
    if change == "more capacity":
        entries = [_with(e, shared_bits=int(1.5 * (e.level.shared_bits or 0))) for e in entries]
    elif change == "more bandwidth":
        entries = [_with(e, port=_faster(e.level.port)) for e in entries]
        space = replace(space, nest=replace(space.nest, dram=_faster(space.nest.dram)))
    elif change == "one more entry":
        nothing = NestLevel(ONE, keeps=(False, False, False), port=None)
        entries.insert(at, Entry(nothing, 1, entries[at].along))
    else:
        others = [d for d in space.active if d not in entries[at].along]
        more = (*entries[at].along, others[rng.integers(len(others))])
        entries[at] = replace(entries[at], along=more)
    return replace(space, entries=tuple(entries))


def _with(entry: Entry, **fields: object) -> Entry:
    return replace(entry, level=replace(entry.level, **fields))


def _faster(port: Port | None) -> Port:
    assert port is not None
    assert port.read is not None
    assert port.write is not None
    return Port(2 * port.read - 1, 2 * port.write - 1)


def run(_: Any, seed: int) -> Counter[str]:
    """Enumerate a space before and after each change; what is higher, and what lower."""
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    before, mappings = optimum(space)
    found = Counter({"spaces": 1, "mappings": mappings, "feasible spaces": before[0] < math.inf})
    for change in CHANGES:
        after, mappings = optimum(changed(rng, space, change))
        found["mappings"] += mappings
        for figure, old, new in zip(FIGURES, before, after, strict=True):
            found[f"{change}: lower {figure}"] += new < old
            if new > old * (1 + 1e-12):
                found[f"{change}: higher {figure}"] += 1
                print(f"seed {seed}: {change}: {figure} {old} -> {new}: {space}", flush=True)
    return found


TABLE = seed_table(__doc__, FIELDS, run, HIGHER)
