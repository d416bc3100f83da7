"""The truth by execution: every step, every unit and every element of a nest of any depth.

It walks the loops from DRAM inwards. At each step of a level it first brings every instance the
elements of its tile that it lacks (:meth:`Execution._fetch`), closes the output tiles that end and
opens those that begin (:meth:`Execution._drain`, :meth:`Execution._open_outputs`), then steps
through the level inside; below the innermost level it serves the MACs (:meth:`Execution._serve`).
Every transfer is noted at each port that it passes (:meth:`Execution._pass`). On the way back a
step takes as long as the slowest of what is inside it and of its ports: :meth:`Execution._slowest`.

It is written from ``docs/levels.md`` and shares no code with the kernel, so that each can be
checked against the other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from itertools import accumulate, compress, pairwise, product

from cost_models.exact.instances import Elements, Instances, Tile, Touched, Unit, tile_size
from cost_models.exact.nest import ONE, OUTPUT, Nest, Port

Counters = tuple[tuple[int, ...], ...]
"""Counters of all loops around a step, by level and dimension."""
Counts = dict[str, int]
Traffic = Counter[str]
"""Bits through the port of each level's first instance, during a step: ``in/q`` and ``out/q``."""
Shares = Counter[str]
"""Cycles by what binds them; together, how long a step takes."""

UNLIMITED = 1 << 33
"""Bits a cycle of a port without a limit: a first tile still takes a cycle."""


def simulate(nest: Nest) -> Counts:
    """Execute a nest element by element.

    Args:
        nest: The nest; some thousand MACs take a second.

    Returns:
        Counts by name. ``T`` is a tensor (0 input, 1 filter, 2 output); ``m`` and ``q`` are levels:
        0 is DRAM, 1 the outermost level, and the MACs come after the last.

        - ``fill/T/m``: elements written into all instances of ``m``; ``read/T/m/q``: those that the
          instances of ``q`` gave for it.
        - ``write/m/q``, ``refill/m/q``: outputs that ``m`` gave to ``q``, partial sums that it got
          back; ``drain/m``: outputs that all instances of ``m`` gave up; ``add/m``: reads of their
          keeper, beside refills, to add sums that units give by themselves.
        - ``tiles/T/m``: reads (outputs: writes) of the keeper if every distinct tile counts whole.
        - ``in/q``, ``out/q``: bits through the port of the first instance of ``q``; ``busy/q/in``,
          ``busy/q/out``: its cycles, rounded up once a step.
        - ``steps/m``, ``active/m``: steps of ``m``, and instances with work summed over them.
        - ``peak/T/m``: elements of the first tile of an instance.
        - ``macs``, ``compute``; ``stepwise`` or ``bound`` [cycles], and its cycles by what binds:
          ``bind/compute``, ``bind/q/in``, ``bind/q/out``.
    """
    *_, final, partial = nest.widths
    counts = Execution(nest, final).run()
    returned = any(counts.get(f"refill/{level}/0") for level in range(1, len(nest.levels) + 2))
    return Execution(nest, partial).run() if returned and partial != final else counts


def cycles(bits: int, rate: int | None) -> int:
    """Cycles that bits take at a rate [bits/cycle]."""
    return -(-bits // (UNLIMITED if rate is None else rate))


class Execution:
    """Executes one nest and counts; :meth:`run` gives the counts.

    Args:
        nest: The nest.
        dram_width: Bits of an output on its way to DRAM.
    """

    def __init__(self, nest: Nest, dram_width: int) -> None:
        self.nest, self.depth = nest, len(nest.levels)
        self.dram_width = dram_width
        *_, self.partial = nest.widths
        self.levels = nest.chain
        self.counts: Counter[str] = Counter()
        self.touched = Touched(nest)
        self.instances = Instances(self.levels, nest.coupled)
        self._cut = cache(self._cut_once)
        self._keepers = [
            [0, *accumulate((q * level.keeps[t] for q, level in enumerate(self.levels)), max)]
            for t in range(len(nest.coupled))
        ]
        size = len(self.levels)
        self.before: list[Counters | None] = [None] * size
        self.held: list[list[dict[Unit, Elements]]] = [[{}, {}] for _ in range(size)]
        self.opened: list[dict[Unit, Elements]] = [{} for _ in range(size)]
        # what each instance of a level has had of its output tile since that began
        self.had: list[defaultdict[Unit, Elements]] = [defaultdict(int) for _ in range(size)]
        self.first = Traffic()

    def keeper(self, tensor: int, level: int) -> int:
        """The nearest level outside that keeps a tensor."""
        return self._keepers[tensor][level]

    def run(self) -> Counts:
        """Walk every step."""
        whole = {0: tuple(map(range, self.nest.extents))}
        shares, _ = self._step(0, whole, ())
        for level in range(self.depth + 1, 0, -1):
            self._drain(level)
        latency = self._latency(shares)
        return dict(self.counts) | latency

    # ------------------------------------------------------------------ the walk

    def _step(self, level: int, units: dict[Unit, Tile], now: Counters) -> tuple[Shares, Traffic]:
        """One step of a level: its cycles by what binds them, and what passed each port."""
        traffic, shares = Traffic(), Shares()
        active = {unit: tile for unit, tile in units.items() if all(tile)}
        if level:
            self.counts[f"steps/{level}"] += 1
            self.counts[f"active/{level}"] += len(active)
            self._move(level, units, active, now, traffic)
            self.before[level] = now
        lead = next(iter(units.values()))
        if level == self.depth:
            self.counts["macs"] += sum(tile_size(tile) for tile in active.values())
            self._serve(active, traffic)
            lanes = self.nest.lanes
            turns = math.prod(-(-len(part) // n) for part, n in zip(lead, lanes.units, strict=True))
            shares["compute"] = cycles(turns, lanes.any)
            self.counts["compute"] += shares["compute"]
        else:
            for at in self._loops(level + 1, lead):
                inside = self._children(level + 1, units, at)
                below, passed = self._step(level + 1, inside, (*now, at))
                shares.update(below)
                traffic.update(passed)
        return self._slowest(level, shares, traffic), traffic

    def _moved(self, level: int, now: Counters) -> set[int]:
        """Dimensions of which a counter moved since a level's last step; at first all of them."""
        before = self.before[level]
        if before is None:
            return set(range(len(ONE)))
        pairs = zip(now, before, strict=True)
        return {d for a, b in pairs if a != b for d in range(len(ONE)) if a[d] != b[d]}

    def _loops(self, level: int, tile: Tile) -> Iterable[tuple[int, ...]]:
        """Counters of the loops of a level over the tile of the first instance around it."""
        spec = self.levels[level]
        step = [t * n for t, n in zip(spec.tile, spec.units, strict=True)]
        counts = [-(-len(part) // s) for part, s in zip(tile, step, strict=True)]
        places = [spec.order.index(d) for d in range(len(counts))]
        for values in product(*(range(counts[d]) for d in spec.order)):
            yield tuple(values[place] for place in places)

    def _children(
        self, level: int, units: dict[Unit, Tile], at: tuple[int, ...]
    ) -> dict[Unit, Tile]:
        """Tiles of all instances of a level; a range with nothing left is empty."""
        found: dict[Unit, Tile] = {}
        for unit, around in units.items():
            ranges = [self._cut(level, d, part, at[d]) for d, part in enumerate(around)]
            found.update(enumerate(product(*ranges), unit * self.instances.inside(level)))
        return found

    def _cut_once(self, level: int, d: int, around: range, i: int) -> list[range]:
        """What each unit of a level has of a range of the instance around it."""
        tile, units = self.levels[level].tile[d], self.levels[level].units[d]
        return [
            around[start : start + tile]
            for start in range(i * units * tile, (i + 1) * units * tile, tile)
        ]

    # ------------------------------------------------------------------ what a step moves

    def _move(
        self,
        level: int,
        units: dict[Unit, Tile],
        active: dict[Unit, Tile],
        now: Counters,
        traffic: Traffic,
    ) -> None:
        """Bring inputs and filters that instances lack; close and open output tiles.

        While no counter of a tensor's dimensions moves, no instance's tile changes, and none that
        idled before works again: its loops would have to start anew, and those of the tensor inside
        them too.
        """
        before, moved = self.before[level], self._moved(level, now)
        for tensor, dims in enumerate(self.nest.coupled):
            if not self.levels[level].keeps[tensor] or moved.isdisjoint(dims):
                continue
            tiles = {unit: self.touched.of(tensor, tile) for unit, tile in active.items()}
            if before is None and not (level == 1 and self.nest.resident[tensor]):
                first = next(iter(tiles.values()))
                self.counts[f"peak/{tensor}/{level}"] = first.bit_count()
            if tensor == OUTPUT:
                for inner in range(self.depth + 1, level - 1, -1):
                    self._drain(inner)
                self._open_outputs(level, tiles, traffic)
                continue
            held = self.held[level][tensor]
            if not self.nest.rules.retain:
                held.clear()
            for unit in [u for u in held if not all(units[u][d] for d in dims)]:
                del held[unit]
            lacking = {unit: tile & ~held.get(unit, 0) for unit, tile in tiles.items()}
            held.update(tiles)
            self._fetch(tensor, level, lacking, self.first if before is None else traffic)

    def _fetch(
        self, tensor: int, level: int, lacking: dict[Unit, Elements], traffic: Traffic
    ) -> None:
        """Fetch what instances lack from the nearest level outside that keeps the tensor."""
        keeper = self.keeper(tensor, level)
        if level <= self.depth or keeper < self._innermost_memory:
            lacking = {unit: self.touched.counted(tensor, some) for unit, some in lacking.items()}
        self.counts[f"fill/{tensor}/{level}"] += sum(x.bit_count() for x in lacking.values())
        self.counts[f"tiles/{tensor}/{level}"] += self.instances.shared(
            tensor, level, keeper, lacking, whole=True
        )[0]
        for q in range(keeper, level):
            total, lead = self.instances.shared(tensor, level, q, lacking)
            self.counts[f"read/{tensor}/{level}/{q}"] += total
            if self.nest.rules.whole_tiles:
                _, lead = self.instances.shared(tensor, level, q, lacking, whole=True)
            self._cross(tensor, q, lead * self.nest.widths[tensor], traffic, "in")

    def _open_outputs(self, level: int, tiles: dict[Unit, Elements], traffic: Traffic) -> None:
        """Begin output tiles; what the keeper has had of them comes back, to one unit each."""
        keeper = self.keeper(OUTPUT, level)
        self.opened[level], self.had[level] = tiles, defaultdict(int)
        left: dict[Unit, Elements] = {}
        back: dict[Unit, Elements] = {}
        for unit, tile in tiles.items():
            around = self.instances.around(unit, level, keeper)
            had = left.setdefault(around, self.had[keeper][around])
            back[unit] = self.had[level][unit] = had & tile
            left[around] &= ~tile
        for q in range(keeper, level):
            total, lead = self.instances.shared(OUTPUT, level, q, tiles)
            width = self.partial if q else self.dram_width
            self.counts[f"write/{level}/{q}"] += total
            self._cross(OUTPUT, q, lead * width, traffic, "out")
            total, lead = self.instances.shared(OUTPUT, level, q, back)
            self.counts[f"refill/{level}/{q}"] += total
            self._cross(OUTPUT, q, lead * self.partial, traffic, "in")

    def _drain(self, level: int) -> None:
        """Give the open output tiles of a level, if any, to its keeper."""
        tiles, self.opened[level] = self.opened[level], {}
        if not tiles:
            return
        keeper = self.keeper(OUTPUT, level)
        gone: defaultdict[Unit, Elements] = defaultdict(int)
        for unit, tile in tiles.items():
            around = self.instances.around(unit, level, keeper)
            gone[around] |= tile
            self.had[keeper][around] |= tile
        written, _ = self.instances.shared(OUTPUT, level, keeper, tiles)
        self.counts[f"drain/{level}"] += sum(tile.bit_count() for tile in tiles.values())
        self.counts[f"add/{level}"] += written - sum(tile.bit_count() for tile in gone.values())
        whole, _ = self.instances.shared(OUTPUT, level, keeper, tiles, whole=True)
        name = f"tiles/{OUTPUT}/{level}"
        self.counts[name] += whole

    # ------------------------------------------------------------------ MACs

    def _serve(self, units: dict[Unit, Tile], traffic: Traffic) -> None:
        """Serve every MAC of a step of the innermost level; MACs keep nothing between cycles."""
        level = self.depth + 1
        alone = self.nest.lanes.units == ONE
        kept = [alone and keeps for keeps in self.levels[self.depth].keeps]
        for tensor in compress(range(3), kept):
            self._serve_kept(tensor, units, traffic)
        for at in self._loops(level, next(iter(units.values()))) if not all(kept) else ():
            moment = {u: one for u, one in self._children(level, units, at).items() if all(one)}
            for tensor in compress(range(3), (not keeps for keeps in kept)):
                touched = {u: self.touched.of(tensor, one) for u, one in moment.items()}
                if tensor == OUTPUT:
                    self._drain(level)
                    self._open_outputs(level, touched, traffic)
                else:
                    self._fetch(tensor, level, touched, traffic)

    def _serve_kept(self, tensor: int, units: dict[Unit, Tile], traffic: Traffic) -> None:
        """The same for a tensor that the innermost level keeps: each MAC reads its own element."""
        level, q, width = self.depth + 1, self.depth, self.nest.widths[tensor]
        macs = [tile_size(tile) for tile in units.values()]
        if tensor != OUTPUT:
            for name in ("fill/{}/{}", "read/{}/{}/{}", "tiles/{}/{}"):
                self.counts[name.format(tensor, level, q)] += sum(macs)
            self._pass(q, macs[0] * width, traffic, "in")
            return
        again = []
        for (unit, tile), n in zip(units.items(), macs, strict=True):
            sums = self.touched.of(tensor, tile)
            again.append(n - (sums & ~self.had[q][unit]).bit_count())
            self.had[q][unit] |= sums
        for name in (f"drain/{level}", f"tiles/{tensor}/{level}", f"write/{level}/{q}"):
            self.counts[name] += sum(macs)
        self.counts[f"refill/{level}/{q}"] += sum(again)
        self._pass(q, macs[0] * self.partial, traffic, "out")
        self._pass(q, again[0] * self.partial, traffic, "in")

    @cached_property
    def _innermost_memory(self) -> int:
        """The first entry of the memory next to the MACs, from which they read padding, too."""
        first = max(q for q, level in enumerate(self.levels[:-1]) if level.port is not None)
        while self.levels[first].joined:
            first -= 1
        return first

    # ------------------------------------------------------------------ ports and time

    @cached_property
    def ports(self) -> list[Port | None]:
        """The port below each level; None where nothing is metered.

        Entries of one memory have one port, which the innermost of them stands for.
        """
        return [None if inner.joined else level.port for level, inner in pairwise(self.levels)]

    def _cross(self, tensor: int, q: int, bits: int, traffic: Traffic, way: str) -> None:
        """Let a tensor pass a port, but for DRAM's where it is in the outermost level anyway."""
        if q or not self.nest.resident[tensor]:
            self._pass(q, bits, traffic, way)

    def _pass(self, q: int, bits: int, traffic: Traffic, way: str) -> None:
        traffic[f"{way}/{q}"] += bits
        self.counts[f"{way}/{q}"] += bits

    def _port_cycles(self, q: int, traffic: Mapping[str, int]) -> dict[str, int]:
        """Cycles of a port in both directions; together where they share it."""
        port, into, out = self.ports[q], traffic.get(f"in/{q}", 0), traffic.get(f"out/{q}", 0)
        if port is None:
            return {}
        if port.shared:
            both, more = cycles(into + out, port.read), into >= out
            return {f"{q}/in": both * more, f"{q}/out": both * (not more)}
        return {f"{q}/in": cycles(into, port.read), f"{q}/out": cycles(out, port.write)}

    def _slowest(self, level: int, shares: Shares, traffic: Traffic) -> Shares:
        """The longest of what is inside a step and of the ports around it; the first of equals."""
        for q in reversed(range(level)):
            for name, part in self._port_cycles(q, traffic).items():
                if level == self._meter[q]:
                    self.counts[f"busy/{name}"] += part
                if part > shares.total():
                    shares = Shares({name: part})
        return shares

    @cached_property
    def _meter(self) -> list[int]:
        """The level whose steps a port's cycles are rounded up for: the next with a port."""
        metered = [m for m, port in enumerate(self.ports) if port is not None or m == self.depth]
        return [min((m for m in metered if m > q), default=0) for q in range(self.depth + 1)]

    def _latency(self, shares: Shares) -> Counts:
        """The latency, and its cycles by what binds them."""
        if not self.nest.rules.stepwise:
            parts = {"compute": self.counts["compute"]}
            for q in reversed(range(self.depth)):
                parts |= self._port_cycles(q, self.counts)
            slowest = max(parts, key=lambda name: parts[name])
            busy = {f"busy/{name}": part for name, part in parts.items() if name != "compute"}
            return {"bound": parts[slowest], f"bind/{slowest}": parts[slowest]} | busy
        for q in range(self.depth):
            first = self._port_cycles(q, self.first)
            shares.update(first)
            self.counts.update({f"busy/{name}": part for name, part in first.items()})
        binding = {f"bind/{name}": part for name, part in shares.items()}
        return {"stepwise": shares.total(), **binding}
