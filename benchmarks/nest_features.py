"""What counts a nest, and what a random nest has that a count can go wrong by, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from cost_models.exact.nest import FILTER, INPUT, ONE, OUTPUT, Lanes, Nest, NestLevel, P, Q, R, S
from cost_models.exact.nest_counts import count
from cost_models.exact.simulator import simulate
from layers import DIMS
from tests.cost_models.set_execution import execute

Counts = Mapping[str, int]


COUNTERS: dict[str, Callable[[Nest], Counts]] = {
    "kernel": count,
    "simulator": simulate,
    "sets": execute,
}


def differing(left: Counts, right: Counts) -> dict[str, tuple[int, int]]:
    """Counts that are not the same, by name; one that is not given is 0."""
    pairs = {name: (left.get(name, 0), right.get(name, 0)) for name in (*left, *right)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


CAUSES = ("compute", "DRAM.read", "DRAM.write", "level.read", "level.write")
N, G = DIMS.index("N"), DIMS.index("G")


def features(nest: Nest, counts: Mapping[str, int]) -> set[str]:
    """Names of what a nest has and of what binds its latency.

    Args:
        nest: The nest.
        counts: Its counts, by the names of `simulate`.
    """
    depth = sum(not level.joined and level.port is not None for level in nest.levels)
    found = {f"depth {depth}", *(name for name, has in _of_nest(nest).items() if has)}
    for name, cycles in counts.items():
        kind, _, cause = name.partition("/")
        if kind == "bind" and cycles:
            found.add(f"bound by {_cause(cause)}")
    return found


def _cause(name: str) -> str:
    if name == "compute":
        return name
    level, way = name.split("/")
    return ("DRAM" if level == "0" else "level") + (".read" if way == "in" else ".write")


def _of_nest(nest: Nest) -> dict[str, bool]:
    levels, rules = nest.levels, nest.rules
    ports = [nest.dram, *(level.port for level in levels if level.port is not None)]
    entries = _entries(levels)
    axes = list(zip(nest.windows, (P, Q), (R, S), strict=True))
    fans: list[NestLevel | Lanes] = [*levels, nest.lanes]
    return {
        "at least 200 MACs": math.prod(nest.extents) >= 200,
        "ragged tiles at every level": all(_ragged(nest)),
        "two axes at two levels": sum(sum(n > 1 for n in lv.units) > 1 for lv in levels) > 1,
        "a tensor kept nowhere": any(not any(lv.keeps[t] for lv in levels) for t in range(3)),
        "unequal widths": len(set(nest.widths)) > 1,
        "unequal directions": any(port.read != port.write for port in ports),
        "directions that share a port": any(port.shared for port in ports),
        "double buffering by tensor": any(
            len({n for n, kept in zip(level.copies, level.keeps, strict=True) if kept}) > 1
            for level in levels
        ),
        "stride and dilation above 1": any(
            w.stride > 1 and w.dilation > 1 and nest.extents[p] > 1 and nest.extents[r] > 1
            for w, p, r in axes
        ),
        "groups": nest.extents[G] > 1,
        "batch": nest.extents[N] > 1,
        "free padding": any(_padded(nest, axis) for axis in range(2)),
        "box": any(w.box and max(w.stride, w.dilation) > 1 for w in nest.windows),
        "multicast off": any(_off(nest, level.units, level.multicast) for level in fans),
        "reduction off": any(
            n > 1 and not add and d not in nest.coupled[OUTPUT]
            for level in fans
            for d, (n, add) in enumerate(zip(level.units, level.reduce, strict=True))
        ),
        "lanes along dimensions": nest.lanes.units != ONE,
        "lanes that take any MAC": nest.lanes.any > 1,
        "a memory as two entries": 2 in entries,
        "a memory as three entries": 3 in entries,
        "a fan-out alone": any(level.port is None for level in levels),
        "what moved is fetched anew": not rules.retain,
        "whole tiles": rules.whole_tiles,
        "bound": not rules.stepwise,
    }


def _ragged(nest: Nest) -> list[bool]:
    """By level, whether its tiles do not divide what they are cut from along some dimension."""
    around = (nest.extents, *(level.tile for level in nest.levels))
    return [
        any(n % t for n, t in zip(whole, level.tile, strict=True))
        for whole, level in zip(around, nest.levels, strict=False)
    ]


def _entries(levels: tuple[NestLevel, ...]) -> list[int]:
    """How many entries each memory stands as."""
    entries: list[int] = []
    for level in levels:
        if level.joined:
            entries[-1] += 1
        else:
            entries.append(1)
    return entries


def _padded(nest: Nest, axis: int) -> bool:
    """Whether some rows (columns) of the input are padding that is free."""
    window, outputs, taps = nest.windows[axis], nest.extents[P + axis], nest.extents[R + axis]
    rows = window.stride * (outputs - 1) + window.dilation * (taps - 1) + 1
    return window.real is not None and window.real != (0, rows)


def _off(nest: Nest, units: tuple[int, ...], multicast: tuple[bool, ...]) -> bool:
    """Whether units that want the same input (filter) are read for apart."""
    return any(
        n > 1 and not shares and any(d not in nest.coupled[t] for t in (INPUT, FILTER))
        for d, (n, shares) in enumerate(zip(units, multicast, strict=True))
    )


FEATURES = (
    *(f"depth {depth}" for depth in range(1, 6)),
    *_of_nest(Nest(ONE, (NestLevel(ONE),), ((), (), ()))),
    *(f"bound by {cause}" for cause in CAUSES),
)
"""All there are; where not said otherwise, a nest that has one has it somewhere."""
