"""A nest executed with a set of elements for each instance, written from docs/levels.md.

It lists all steps of all levels first (:func:`all_steps`), then follows one tensor over one
boundary at a time (:meth:`Execution.bring`, :meth:`Execution.give`), and adds up the time last
(:meth:`Execution.wait`). The simulator walks the steps once, with all tensors together; this shares
no code with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import inf, prod

from cost_models.exact.nest import FILTER, INPUT, OUTPUT, Nest, NestLevel, P, Port, Q, R, S

Place = tuple[int, ...]
Instance = tuple[Place, ...]
"""Where an instance lies along each dimension, by level from the outermost on."""
Box = tuple[range, ...]
Sets = dict[Instance, frozenset[Place]]
Bits = Counter[tuple[int, str]]
"""Bits by port and direction."""
DIMS, IN, OUT = range(8), "in", "out"


@dataclass(eq=False)
class Step:
    """A step of a level; `path` are the steps that it is part of, itself the last."""

    at: Place
    boxes: dict[Instance, Box]
    path: tuple[Step, ...] = ()
    inside: list[Step] = field(default_factory=list)
    bits: Bits = field(default_factory=Counter)
    read_back: Sets = field(default_factory=dict)

    @property
    def lead(self) -> Box:
        """The box of the first instance."""
        return next(iter(self.boxes.values()))

    def moved(self, before: Step | None, dims: Place) -> bool:
        """Whether a counter of some dimensions moved, at this level or outside."""
        return before is None or any(
            a.at[d] != b.at[d] for a, b in zip(self.path, before.path, strict=True) for d in dims
        )


def execute(nest: Nest) -> dict[str, int]:
    """Count what `simulate` counts, by the same names."""
    execution = Execution(nest, nest.widths[2])
    return (Execution(nest, nest.widths[3]) if execution.returned else execution).counts


def inner_steps(step: Step, level: NestLevel) -> Iterator[Step]:
    """Steps of a level inside one step of the level outside it."""
    spans = [t * n for t, n in zip(level.tile, level.units, strict=True)]
    trips = [-(-len(r) // span) for r, span in zip(step.lead, spans, strict=True)]
    places = list(product(*map(range, level.units)))
    for turn in product(*(range(trips[d]) for d in level.order)):
        at = tuple(turn[level.order.index(d)] for d in DIMS)
        starts = {u: [at[d] * spans[d] + u[d] * level.tile[d] for d in DIMS] for u in places}
        boxes = {
            (*unit, u): tuple(
                r[a : a + t] for r, a, t in zip(box, starts[u], level.tile, strict=True)
            )
            for unit, box in step.boxes.items()
            for u in places
        }
        inner = Step(at, boxes)
        inner.path = (*step.path, inner)
        step.inside.append(inner)
        yield inner


class Execution:
    """One execution, `counts` its result; outputs pass DRAM's port with `dram_width` bits."""

    def __init__(self, nest: Nest, dram_width: int) -> None:
        lanes, self.nest, self.dram_width, self.returned = nest.lanes, nest, dram_width, False
        macs = NestLevel((1,) * 8, lanes.units, multicast=lanes.multicast, reduce=lanes.reduce)
        self.levels = [NestLevel(nest.extents, port=nest.dram), *nest.levels, macs]
        self.depth, self.macs = len(nest.levels), len(nest.levels) + 1
        self.counts, self.first, self.passed = Counter[str](), Bits(), Bits()
        self.elements = cache(self._elements)
        whole = Step((0,) * 8, {(): tuple(map(range, nest.extents))})
        whole.path = (whole,)
        self.steps = [[whole]]
        for level in self.levels[1:]:
            self.steps.append([s for around in self.steps[-1] for s in inner_steps(around, level)])
        for m, tensor in product(range(1, self.macs + 1), (INPUT, FILTER)):
            if self.levels[m].keeps[tensor]:
                self.bring(tensor, m)
        self.give(0)
        self.look_at_tiles()
        self.add_up(self.wait(0, whole))

    def look_at_tiles(self) -> None:
        """Count steps, instances that work, MACs, and elements of first tiles."""
        for m, level in enumerate(self.levels[1:-1], 1):
            tiles = [box for step in self.steps[m] for box in step.boxes.values() if all(box)]
            self.counts.update({f"steps/{m}": len(self.steps[m]), f"active/{m}": len(tiles)})
            for tensor in range(3):
                if level.keeps[tensor]:
                    first = self.touched(tensor, tiles[0], padding=True)
                    self.counts[f"peak/{tensor}/{m}"] = len(first)
        self.counts["macs"] = sum(prod(map(len, box)) for box in tiles)

    # ------------------------------------------------------------------ elements and groups

    def touched(self, tensor: int, box: Box, padding: bool = False) -> frozenset[Place]:
        """Elements that the MACs of a box touch; free padding only where asked for."""
        own = self.nest.coupled[tensor]
        return self.elements(tensor, tuple(box[d] if d in own else range(0) for d in DIMS), padding)

    def _elements(self, tensor: int, box: Box, padding: bool) -> frozenset[Place]:
        if tensor != INPUT:
            return frozenset(product(*(box[d] for d in self.nest.coupled[tensor])))
        axes = []
        for window, p, r in zip(self.nest.windows, (P, Q), (R, S), strict=True):
            rows = {window.stride * i + window.dilation * j for i in box[p] for j in box[r]}
            if window.box and rows:
                rows = set(range(min(rows), max(rows) + 1))
            low, high = window.real or (-inf, inf)
            axes.append([row for row in rows if padding or low <= row < high])
        others = [box[d] for d in self.nest.coupled[tensor] if d not in (P, Q, R, S)]
        return frozenset(product(*others, *axes))

    def keeper(self, tensor: int, m: int) -> int:
        """The nearest level outside `m` that keeps a tensor."""
        return max(q for q in range(m) if self.levels[q].keeps[tensor])

    def groups(self, tensor: int, q: int, sets: Sets, own: bool = False) -> Sets:
        """What each group of units inside an instance of `q` has together.

        With `own`, units along the tensor's dimensions are groups of their own, and along others
        the first stands for all.
        """
        found = no_sets()
        for unit, elements in sets.items():
            group = list(unit[:q])
            for level, place in zip(self.levels[q + 1 :], unit[q:], strict=False):
                together = level.reduce if tensor == OUTPUT else level.multicast
                if own:
                    together = tuple(
                        together[d] and d not in self.nest.coupled[tensor] for d in DIMS
                    )
                    if any(u for u, shared in zip(place, together, strict=True) if shared):
                        break
                group.append(tuple(0 if s else u for u, s in zip(place, together, strict=True)))
            else:
                found[tuple(group)] |= elements
        return found

    # ------------------------------------------------------------------ transfers

    def send(self, tensor: int, m: int, step: Step, sets: Sets, name: str) -> None:
        """Count what units of `m` take ("read", "refill") or give ("write") at a step of theirs."""
        way, whole = OUT if name == "write" else IN, self.nest.rules.whole_tiles
        for q in range(self.keeper(tensor, m), m):
            groups = sets if name == "refill" else self.groups(tensor, q, sets)
            self.counts[f"{name}/{m}/{q}"] += size(groups)
            if tensor != OUTPUT and whole:
                groups = self.groups(tensor, q, sets, own=True)
            width = self.nest.widths[3 if tensor == OUTPUT else tensor]
            if name == "write" and q == 0:
                width = self.dram_width
            bits = width * size({u: some for u, some in groups.items() if not any(map(any, u[:q]))})
            self.passed[q, way] += bits
            first = tensor != OUTPUT and m < self.macs and step is self.steps[m][0]
            (self.first if first else step.bits)[q, way] += bits
            self.returned |= name == "refill" and q == 0 and bits > 0

    def bring(self, tensor: int, m: int) -> None:
        """Bring the inputs (filters) that the instances of a level lack."""
        dims, held = self.nest.coupled[tensor], no_sets()
        memory = max(q for q in range(m) if self.levels[q].port)
        while self.levels[memory].joined:
            memory -= 1
        padding = m == self.macs and self.keeper(tensor, m) >= memory
        for before, step in zip([None, *self.steps[m]], self.steps[m], strict=False):
            moved, lacking = step.moved(before, dims), no_sets()
            for unit, box in step.boxes.items():
                if not all(box[d] for d in dims):
                    held[unit] = frozenset()
                elif all(box):
                    tile = self.touched(tensor, box, padding)
                    if m == self.macs or (moved and not self.nest.rules.retain):
                        lacking[unit] = tile
                    elif self.nest.rules.retain:
                        lacking[unit] = tile - held[unit]
                    held[unit] = tile
            self.counts[f"fill/{tensor}/{m}"] += size(lacking)
            whole = self.groups(tensor, self.keeper(tensor, m), lacking, own=True)
            self.counts[f"tiles/{tensor}/{m}"] += size(whole)
            self.send(tensor, m, step, lacking, f"read/{tensor}")

    def give(self, q: int) -> None:
        """Give the outputs of the next level that keeps them to `q`; then likewise inside it."""
        m = next(m for m in range(q + 1, self.macs + 1) if self.levels[m].keeps[OUTPUT])
        dims, had = self.nest.coupled[OUTPUT], no_sets()
        tiles: Sets = {}
        for before, step in zip([None, *self.steps[m]], self.steps[m], strict=False):
            if not (m == self.macs or step.moved(before, dims)):
                continue
            for unit, tile in tiles.items():
                had[unit[:q]] |= tile
            around = step.path[q]
            if before is None or around.moved(before.path[q], dims):
                had = no_sets() | around.read_back
            tiles = {u: self.touched(OUTPUT, box) for u, box in step.boxes.items() if all(box)}
            left, together = had.copy(), no_sets()
            for unit, tile in tiles.items():
                step.read_back[unit] = tile & left[unit[:q]]
                left[unit[:q]] -= tile
                together[unit[:q]] |= tile
            self.send(OUTPUT, m, step, tiles, "write")
            self.send(OUTPUT, m, step, step.read_back, "refill")
            self.counts[f"drain/{m}"] += size(tiles)
            self.counts[f"add/{m}"] += size(self.groups(OUTPUT, q, tiles)) - size(together)
            self.counts[f"tiles/2/{m}"] += size(self.groups(OUTPUT, q, tiles, own=True))
        if m < self.macs:
            self.give(m)

    # ------------------------------------------------------------------ time

    def port(self, q: int) -> Port | None:
        """The port of a memory, at the last of its entries."""
        return None if self.levels[q + 1].joined else self.levels[q].port

    def cycles(self, q: int, bits: Bits) -> dict[str, int]:
        """Cycles of a port, by direction; of one that both share, by the one with more bits."""
        port, into, out = self.port(q), bits[q, IN], bits[q, OUT]
        if port is None:
            return {}
        if port.shared:
            into, out = (into + out, 0) if into >= out else (0, into + out)
        rates = {IN: (into, port.read), OUT: (out, port.read if port.shared else port.write)}
        return {way: -(-n // rate) if rate else min(n, 1) for way, (n, rate) in rates.items()}

    def slowest(self, m: int, time: Counter[str], bits: Bits) -> Counter[str]:
        """The longest of some cycles and of those of the ports outside `m`; the first of equals."""
        for q in reversed(range(m)):
            for way, n in self.cycles(q, bits).items():
                if n > time.total():
                    time = Counter({f"{q}/{way}": n})
        return time

    def wait(self, m: int, step: Step) -> Counter[str]:
        """Cycles of a step of a level, by what binds them."""
        time, lanes = Counter[str](), self.nest.lanes
        for inner in step.inside:
            if m < self.depth:
                time += self.wait(m + 1, inner)
            step.bits += inner.bits
        if m == self.depth:
            turns = prod(-(-len(r) // n) for r, n in zip(step.lead, lanes.units, strict=True))
            time = Counter(compute=-(-turns // lanes.any))
            self.counts["compute"] += time["compute"]
        return self.slowest(m, time, step.bits)

    def add_up(self, time: Counter[str]) -> None:
        """Count the latency, what binds it and busy ports; `time` is that of DRAM's one step."""
        stepwise = self.nest.rules.stepwise
        for q in range(self.depth):
            m = next(m for m in range(q + 1, self.macs) if m == self.depth or self.port(m))
            parts = [*(step.bits for step in self.steps[m]), self.first]
            for bits in parts if stepwise else [self.passed]:
                for way, n in self.cycles(q, bits).items():
                    self.counts[f"busy/{q}/{way}"] += n
            time[f"{q}/in"] += self.cycles(q, self.first).get(IN, 0)
        if not stepwise:
            time = self.slowest(self.depth, Counter(compute=self.counts["compute"]), self.passed)
        self.counts["stepwise" if stepwise else "bound"] = time.total()
        self.counts.update({f"bind/{name}": n for name, n in time.items()})
        self.counts.update({f"{way}/{q}": n for (q, way), n in self.passed.items()})


def no_sets() -> defaultdict[Instance, frozenset[Place]]:
    """A set of elements for each instance, none so far."""
    return defaultdict(frozenset)


def size(sets: Sets) -> int:
    """Elements of all sets together."""
    return sum(map(len, sets.values()))
