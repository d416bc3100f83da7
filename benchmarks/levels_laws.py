"""Count answers of the kernel that break a physical law, on random chains of one to five memories.

Half of the chains are of small layers, half of layers of the zoo as they are, with up to 1,024
units. Work is done seed by seed, 1,000 answers each; ``--out`` and ``--share`` as in
``levels_agreement``. Fails if a law is broken:

    python -m benchmarks levels_laws --seeds 1000 --out laws.csv
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.nest_energy import Accesses, accesses, keepers, memories
from benchmarks.nest_features import Counts
from benchmarks.seed_lines import seed_table
from cost_models import CostModelError
from cost_models.exact.nest import INPUT, OUTPUT, Nest, P, Q, R, S, Window
from cost_models.exact.nest_counts import count
from tests.cost_models.layer_nests import whole_layer_nest
from tests.cost_models.nests import random_nest

PER_SEED = 1000
SHOWN = 3
"""Answers of a seed that are printed where they break a law."""


def latency(nest: Nest, c: Counts) -> int:
    """The latency that was counted [cycles]."""
    return c["stepwise" if nest.rules.stepwise else "bound"]


def in_time(nest: Nest, c: Counts) -> bool:
    """For each port of one instance: latency x bits a cycle >= bits.

    The ports that the latency knows are those of each memory, at its last entry, but the innermost.
    """
    for q, port in enumerate([nest.dram, *(level.port for level in nest.levels)][:-1]):
        if port is None or nest.levels[q].joined:
            continue
        into, out = c.get(f"in/{q}", 0), c.get(f"out/{q}", 0)
        loads = [(into + out, port.read)] if port.shared else [(into, port.read), (out, port.write)]
        if any(rate is not None and latency(nest, c) * rate < bits for bits, rate in loads):
            return False
    return True


def read(tensor: int, m: int, q: int) -> str:
    """The count of what `q` gives for `m`; of outputs what `m` gives to `q`."""
    return f"write/{m}/{q}" if tensor == OUTPUT else f"read/{tensor}/{m}/{q}"


@cache
def rows(window: Window, outputs: int, taps: int, padding: bool) -> int:
    """Input rows that outputs and taps touch, with padding or without."""
    low, high = (-math.inf, math.inf) if padding or window.real is None else window.real
    touched = {window.stride * i + window.dilation * j for i in range(outputs) for j in range(taps)}
    if window.box:
        touched = set(range(min(touched), max(touched) + 1))
    return sum(low <= row < high for row in touched)


def elements(nest: Nest, tensor: int, tile: tuple[int, ...], padding: bool) -> int:
    """Distinct elements that the first tile of so many indices touches."""
    window = (P, Q, R, S) if tensor == INPUT else ()
    plain = math.prod(tile[d] for d in nest.coupled[tensor] if d not in window)
    if tensor != INPUT:
        return plain
    vertical, horizontal = nest.windows
    down = rows(vertical, tile[P], tile[R], padding)
    return plain * down * rows(horizontal, tile[Q], tile[S], padding)


def all_move(nest: Nest, c: Counts) -> bool:
    """Without boxes: distinct elements <= reads at every boundary."""
    return boxed(nest) or all(
        elements(nest, t, nest.extents, padding=False) <= c.get(read(t, m, q), 0)
        for t in range(3)
        for keeper, m in pairwise(keepers(nest, t))
        for q in range(keeper, m)
    )


def more_inside(nest: Nest, c: Counts) -> bool:
    """Without boxes: reads of a tensor <= fills of those who keep it <= reads from these."""
    for t in range(3):
        chain = keepers(nest, t)
        moved = []
        for q, m in pairwise(chain):
            given = f"drain/{m}" if t == OUTPUT else f"fill/{t}/{m}"
            moved += [c.get(read(t, m, q), 0), c.get(given, 0)]
        if not boxed(nest) and moved != sorted(moved):
            return False
    return True


def sums_come_back_inside(nest: Nest, c: Counts) -> bool:
    """Partial sums that a level reads back <= those that it gives back to the levels inside."""
    chain = keepers(nest, OUTPUT)
    back = [c.get(f"refill/{m}/{q}", 0) for q, m in pairwise(chain)]
    return back == sorted(back)


def boxed(nest: Nest) -> bool:
    """Whether tiles hold what lies between their rows."""
    return any(window.box for window in nest.windows)


def units_are_enough(nest: Nest, c: Counts) -> bool:
    """Busy instances <= units."""
    units = 1
    for m, level in enumerate(nest.levels, 1):
        units *= math.prod(level.units)
        if c[f"active/{m}"] > c[f"steps/{m}"] * units:
            return False
    return True


def fits(nest: Nest) -> bool:
    """Whether the first tiles of all entries of each memory fit its capacities."""
    of, needs = memories(nest), Counter[tuple[int, int | None]]()
    for m, level in enumerate(nest.levels, 1):
        memory = nest.levels[of[m] - 1]
        for t in range(3):
            if level.keeps[t]:
                held = elements(nest, t, level.tile, padding=True) * level.copies[t]
                own = None if memory.own_bits[t] is None else t
                needs[of[m], own] += held * nest.widths[3 if t == OUTPUT else t]
    for (m, own), bits in needs.items():
        memory = nest.levels[m - 1]
        room = memory.shared_bits if own is None else memory.own_bits[own]
        if room is not None and bits > room:
            return False
    return True


def floors_hold(nest: Nest, c: Counts) -> bool:
    """Without boxes: each memory reads and writes at least all elements, whatever their prices."""
    found = accesses(nest, c)
    for t in range(3):
        width = nest.widths[3 if t == OUTPUT else t]
        least = width * elements(nest, t, nest.extents, padding=False)
        kept = {memories(nest)[m] for m in keepers(nest, t)[:-1]}
        for m in kept:
            floor = Accesses(least, least)
            if m == 0:
                floor = Accesses(0, least) if t == OUTPUT else Accesses(least, 0)
            if found[m, t].read < floor.read or found[m, t].write < floor.write:
                return boxed(nest)
    return True


def adds_up(nest: Nest, c: Counts) -> bool:
    """MACs are the layer's; what binds adds up to the latency, which is no less than compute."""
    bound_by = sum(n for name, n in c.items() if name.startswith("bind/"))
    whole = c["macs"] == math.prod(nest.extents)
    return whole and bound_by == latency(nest, c) >= c["compute"] and min(c.values()) >= 0


LAWS: dict[str, Callable[[Nest, Counts], bool]] = {
    "latency x bits a cycle >= bits": in_time,
    "distinct elements <= reads": all_move,
    "reads <= reads inside": more_inside,
    "read back <= read back inside": sums_come_back_inside,
    "busy <= units": units_are_enough,
    "energy >= its floor by level": floors_hold,
    "capacity >= elements of a tile": lambda nest, c: fits(nest),
    "counts add up": adds_up,
}


def with_room(rng: np.random.Generator, nest: Nest) -> Nest:
    """The nest with capacities about as large as what its memories hold, most of them larger."""
    of, rooms = memories(nest), {}
    levels = []
    for m, level in enumerate(nest.levels, 1):
        if level.port is None:
            levels.append(level)
            continue
        if of[m] not in rooms:
            held = [
                elements(nest, t, level.tile, padding=True) * level.copies[t] * max(nest.widths)
                for t in range(3)
            ]
            factors = 2.0 ** rng.uniform(-1, 5, 4)
            own = [int(factors[t] * held[t]) if rng.random() < 0.2 else None for t in range(3)]
            shared = int(factors[3] * sum(held)) if rng.random() < 0.8 else None
            rooms[of[m]] = shared, (own[0], own[1], own[2])
        shared, owned = rooms[of[m]]
        levels.append(replace(level, shared_bits=shared, own_bits=owned))
    return replace(nest, levels=tuple(levels))


def run(given: Any, seed: int) -> Counter[str]:
    """Try all laws on so many answers drawn from a seed; how many break each, and are refused."""
    found: Counter[str] = Counter()
    number = 0
    while found["answers"] < given.answers:
        rng = np.random.default_rng((seed, number))
        draw = random_nest if number % 2 else whole_layer_nest
        nest = with_room(rng, draw(rng, 1 + number // 2 % 5))
        number += 1
        try:
            counts = count(nest)
        except CostModelError as error:
            found["refused"] += 1
            if "capacity" not in str(error):
                found["refused for its many steps"] += 1
            elif fits(nest):
                found["refused though tiles fit"] += 1
            continue
        found["answers"] += 1
        broken = [law for law, holds in LAWS.items() if not holds(nest, counts)]
        found.update(broken)
        if broken and sum(found[law] for law in LAWS) <= SHOWN:
            print(f"seed {seed}, nest {number - 1}: {broken} {nest}", flush=True)
    return found


FIELDS = (*("answers", "refused", "refused for its many steps", "refused though tiles fit"), *LAWS)


TABLE = seed_table(
    __doc__,
    FIELDS,
    run,
    ("refused though tiles fit", *LAWS),
    options={"answers": (PER_SEED, "a seed")},
    quick={"answers": 100},
)
