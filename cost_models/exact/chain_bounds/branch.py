"""Tiles of one memory after another: what each choice costs at least, given those outside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from common import FloatArray, IntArray
from cost_models.exact.chain_bounds.facts import shared_out
from cost_models.exact.chain_bounds.pieces import (
    Pieces,
    number,
    of_all,
    of_first,
    of_lead,
    steps,
)
from cost_models.exact.chain_bounds.spread import TENSORS_IN, WINDOWS, Spread
from cost_models.exact.chain_bounds.togo import ToGo
from cost_models.exact.nest import INPUT, OUTPUT

Class = tuple[int, int]
"""The innermost loop that iterates, by its place among tiled dimensions, and the first loop inside
it over outputs' rows or columns, whose neighbours may share inputs; -1 for none."""
STILL: Class = (-1, -1)
"""No loop of the memory iterates."""


class Options(NamedTuple):
    """Tiles of a memory along one dimension, given what is around it.

    Args:
        at: Their places among all tiles.
        tile: The tiles.
        count: Pieces of all instances.
        steps: Steps of the first instance.
        iterates: Whether a loop runs over them.
        share: The share of the dimension in pieces around that a loop runs over.
        runs: How many such pieces there are.
        apart: Outputs between the first tile of such a run and the last.
        turns: MAC steps at least.
        each: MAC steps of all instances at least.
        pieces: All pieces.
        lead: Those of the first instance.
    """

    at: IntArray
    tile: IntArray
    count: FloatArray
    steps: FloatArray
    iterates: Any
    share: FloatArray
    runs: FloatArray
    apart: FloatArray
    turns: FloatArray
    each: FloatArray
    pieces: list[Pieces]
    lead: list[Pieces]

    def one(self, index: int) -> Options:
        """One of them."""
        return Options(*(column[index : index + 1] for column in self))  # type: ignore[arg-type]


class Held(NamedTuple):
    """How a tensor moved when loops of its own last iterated.

    Args:
        reads: How often its keeper gives it, over all loops that do not move it.
        share: The share of it that certainly moves as often.
        fills: Pieces, by tiled dimension that it does not depend on, of those who get it.
        rows: Rows, and columns, that are read of inputs.
    """

    reads: float
    share: float
    fills: tuple[Pieces, ...]
    rows: tuple[float, float]


@dataclass(frozen=True)
class Node:
    """Tiles of the outermost memories, and what they cost.

    Args:
        tiles: By memory, places of its tiles.
        classes: By memory, the order of its loops.
        around: The last tiles.
        pieces: Their pieces along each dimension.
        lead: Those of the first instance.
        energy: What is known to be spent [nJ].
        sums: Memory that keeps outputs, and at most how many elements leave it.
        held: How each tensor moved last.
        ports: Bits in and out of each memory's port, and of first tiles.
    """

    tiles: tuple[tuple[int, ...], ...]
    classes: tuple[Class, ...]
    around: tuple[int, ...]
    pieces: tuple[Pieces, ...]
    lead: tuple[Pieces, ...]
    energy: float
    sums: tuple[int, float]
    held: tuple[Held, Held, Held]
    ports: tuple[tuple[float, float, float], ...]

    @property
    def depth(self) -> int:
        """Memories whose tiles are chosen."""
        return len(self.tiles)


class Children(NamedTuple):
    """Choices for the next memory: their class, places of tiles, and bounds."""

    classes: IntArray
    tiles: IntArray
    bounds: FloatArray


class Brancher:
    """Bounds of one spread.

    Args:
        spread: The spread.
        togo: Its tables.
        powers: Exponents of latency and energy in the objective.
        most: Largest latency [cycles] and energy [nJ] allowed.
    """

    def __init__(
        self,
        spread: Spread,
        togo: ToGo,
        powers: tuple[int, int],
        most: tuple[float, float] = (math.inf, math.inf),
    ) -> None:
        self.spread, self.togo, self.facts = spread, togo, spread.facts
        self.dims, self.powers, self.most = spread.dims, powers, most
        self.classes = self._classes()
        self._rooms: dict[int, Any] = {}
        self._sizes: dict[int, Any] = {}
        self._options: dict[Any, Options] = {}
        self._first: dict[Any, Pieces] = {}
        self._ports = [
            (level.read_bw, level.write_bw, level.shared_bw) for level in self.facts.memories
        ]
        if self.facts.chip.levels[-1].is_memory:  # what it gives to its MACs takes no time
            self._ports[-1] = (None, None, False)
        self._instances = [
            math.prod(spread.units(0, m, d) for d in range(len(spread.extents)))
            for m in range(self.facts.depth + 1)
        ]
        self._begun = self._first_ports()
        self._turns: list[Any] = []
        self._tables: list[list[ToGo | None]] = [[None, None] for _ in self._ports]

    def _classes(self) -> list[Class]:
        halos = [self.dims.index(d) for d in self.togo.halos()]
        found: list[Class] = [STILL]
        for place, d in enumerate(self.dims):
            if place in halos:
                found.append((place, place))
            elif d not in self.facts.relevant[INPUT] and halos:
                found += [(place, h) for h in halos]
            else:
                found.append((place, -1))
        return found

    def _first_ports(self) -> list[bool]:
        """Ports that first tiles pass."""
        found = [False] * (self.facts.depth + 1)
        for m in range(1, self.facts.depth + 1):
            for t in TENSORS_IN:
                if self.facts.keeps[m][t]:
                    for q in range(self.facts.keeper(t, m), m):
                        found[q] = True
        return found

    # -------------------------------------------------------------- nodes

    def root(self) -> Node:
        """Nothing is chosen."""
        spread, facts = self.spread, self.facts
        outputs = float(spread.whole(OUTPUT))
        whole = [((spread.extents[d], 1),) for d in self.dims]
        rows = tuple(
            spread.rows(0, window, 1.0, spread.extents[d]) for window, (d, _) in enumerate(WINDOWS)
        )
        held = [
            Held(1.0, 1.0, tuple(whole[self.dims.index(d)] for d in spread.free[t]), rows)  # type: ignore[arg-type]
            for t in range(3)
        ]
        return Node(
            (),
            (),
            tuple(len(v) - 1 for v in self.togo.tiles.values),
            tuple(whole),
            tuple(whole),
            facts.mac_energy + facts.prices[0].write.output * outputs,
            (0, outputs),
            (held[0], held[1], held[2]),
            ((0.0, 0.0, 0.0),) * (facts.depth + 1),
        )

    def fill_turns(self) -> None:
        """Work out which MAC steps memories have room for."""
        self._turns = self.togo.turns()

    def quick_bound(self) -> float:
        """What no mapping goes below, with every tensor moved once, by no table but MAC steps'."""
        spread, facts = self.spread, self.facts
        node, energy = self.root(), self.root().energy
        turns = spread.lead_turns()
        for place, d in enumerate(self.dims):
            turns *= steps(node.lead[place], spread.inside(0, d))
        if self._turns:
            at = tuple(n - 1 for n in self.togo.shape)
            turns = max(turns, spread.lead_turns() * float(self._turns[0][at]))
        for t in range(3):
            m = facts.innermost[t]
            reads = spread.mac_reads(t, m, 1.0)
            for d in spread.free[t]:
                reads *= -(-spread.extents[d] // spread.inside(m, d))
            volume = self.togo.least_volume(t)
            held = [q for q in range(facts.depth + 1) if facts.keeps[q][t]]
            if t == OUTPUT:
                instances = self._instances[m]
                energy += spread.energy.add[m] * max(reads - volume * instances, 0.0)
                energy += sum(spread.energy.once[q] * volume for q in spread.sums[1:])
                continue
            energy += facts.prices[m].read[t] * reads
            energy += sum(facts.prices[q].read[t] for q in held[:-1]) * volume
            energy += sum(facts.prices[q].write[t] for q in held[1:]) * volume
        cycles = math.ceil(min(turns / facts.chip.lanes, 1e300)) + self._least_first()
        return float(self.value(np.array([energy]), np.array([cycles]))[0])

    def _least_first(self) -> int:
        ports = zip(self._begun, self._ports, strict=True)
        return sum(begun and port[0] is None for begun, port in ports) * self.facts.stepwise

    def value(self, energy: Any, cycles: Any) -> FloatArray:
        """The objective from energy but for leakage [nJ] and latency [cycles]."""
        energy = energy + self.facts.leakage * cycles
        late, spent = self.powers
        found: FloatArray = cycles**late * energy**spent
        over = (cycles > self.most[0] * (1 + 1e-9)) | (energy > self.most[1] * (1 + 1e-9))
        return np.where(over, np.inf, found) if np.any(over) else found

    # -------------------------------------------------------------- options

    def options(self, node: Node, place: int) -> Options:
        """Tiles of the next memory along a dimension."""
        m = node.depth + 1
        key = (m, place, node.around[place], node.pieces[place], node.lead[place])
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = self._make(m, place, node)
        return found

    def _make(self, m: int, place: int, node: Node) -> Options:
        d, values = self.dims[place], self.togo.tiles.values[place]
        around = int(values[node.around[place]])
        stages = self.spread.stages(m, d)
        shared = shared_out(self.spread.spatial, m - 1, d, around)
        high = int(self.togo.reach(m, place)[0][node.around[place]])
        offered = self.togo.tiles.offered[m][place]
        at = [i for i in range(high + 1) if offered[i] or values[i] == shared]
        rows = []
        total = self.spread.extents[d]
        inside = self.spread.inside(m, d)
        for i in at:
            tile = int(values[i])
            pieces = of_all(node.pieces[place], around, stages, tile)
            lead = of_lead(node.lead[place], around, stages, tile)
            step = stages[-1] * tile
            before = node.pieces[place]
            for units in stages[:-1]:
                before = of_all(before, around, (units,), shared)
            running = [(n, c) for n, c in before if n > step]
            gap = (-(-shared // step) - 1) * step - tile
            rows.append((
                i, tile, number(pieces), number(lead), step < shared,
                sum(n * c for n, c in running) / total, sum(c for _, c in running), gap,
                steps(lead, inside), steps(pieces, inside), pieces, lead,
            ))  # fmt: skip
        columns: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[]] * 12
        whole, real = np.int64, np.float64
        kinds = (whole, whole, real, real, np.bool_, real, real, real, real, real)
        arrays = [np.array(c, k) for c, k in zip(columns[:10], kinds, strict=True)]
        return Options(*arrays, columns[10], columns[11])

    def _first_count(self, m: int, place: int, source: Pieces, around: int, tile: int) -> Pieces:
        key = (m, place, source, around, tile)
        found = self._first.get(key)
        if found is None:
            stages = self.spread.stages(m, self.dims[place])
            found = self._first[key] = of_first(source, around, stages, tile)
        return found

    # -------------------------------------------------------------- one choice of loops

    def children(self, node: Node, below: float) -> Children:
        """All choices of the next memory whose bounds are below a value."""
        m = node.depth + 1
        options = [self.options(node, place) for place in range(len(self.dims))]
        fits = self._fits(m, node, options)
        found: list[tuple[int, IntArray, FloatArray]] = []
        for number_, kind in enumerate(self.classes):
            bound, _ = self._bound(node, options, kind)
            bound = np.broadcast_to(bound, fits.shape)
            rows = np.flatnonzero((fits & (bound < below)).ravel())
            if len(rows):
                found.append((number_, rows, bound.ravel()[rows]))
        if not found:
            return Children(np.empty(0, np.int64), np.empty((0, len(self.dims)), np.int64),
                            np.empty(0))  # fmt: skip
        classes = np.concatenate([np.full(len(rows), n) for n, rows, _ in found])
        flat = np.concatenate([rows for _, rows, _ in found])
        places = np.unravel_index(flat, fits.shape)
        tiles = np.stack([o.at[p] for o, p in zip(options, places, strict=True)], axis=1)
        bounds = np.concatenate([b for _, _, b in found])
        order = np.argsort(bounds, kind="stable")
        return Children(classes[order], tiles[order], bounds[order])

    def child(self, node: Node, kind: Class, tiles: Any) -> Node:
        """The node of one choice."""
        options = []
        for place in range(len(self.dims)):
            every = self.options(node, place)
            options.append(every.one(int(np.searchsorted(every.at, tiles[place]))))
        _, after = self._bound(node, options, kind)
        return Node(
            (*node.tiles, tuple(int(t) for t in tiles)),
            (*node.classes, kind),
            tuple(int(t) for t in tiles),
            tuple(o.pieces[0] for o in options),
            tuple(o.lead[0] for o in options),
            float(np.asarray(after["energy"]).ravel()[0]),
            (after["sums"][0], float(np.asarray(after["sums"][1]).ravel()[0])),
            tuple(self._frozen(node, options, kind, t, after) for t in range(3)),  # type: ignore[arg-type]
            tuple(tuple(float(np.asarray(x).ravel()[0]) for x in port) for port in after["ports"]),  # type: ignore[arg-type]
        )

    def _frozen(
        self, node: Node, options: list[Options], kind: Class, tensor: int, after: Any
    ) -> Held:
        reads, share, _, rows = (after["moves"][tensor])
        one = [float(np.asarray(x).ravel()[0]) for x in (reads, share, *rows)]
        fills = []
        for number_, place in enumerate(self._free(tensor)):
            counted, anchored = self._state(options, kind, tensor)
            anchored = bool(np.asarray(anchored).ravel()[0])
            tile = int(options[place].tile[0])
            around = int(self.togo.tiles.values[place][node.around[place]])
            if counted:
                fills.append(options[place].pieces[0])
            else:
                source = node.pieces[place] if anchored else node.held[tensor].fills[number_]
                fills.append(self._first_count(node.depth + 1, place, source, around, tile))
        return Held(one[0], one[1], tuple(fills), (one[2], one[3]))

    @staticmethod
    def _at(options: list[Options]) -> Any:
        """Where tiles stand in tables."""
        if all(len(o.at) == o.at[-1] + 1 for o in options):
            return tuple(slice(len(o.at)) for o in options)
        return np.ix_(*(o.at for o in options))

    def _axis(self, place: int, values: Any) -> Any:
        shape = [1] * len(self.dims)
        shape[place] = -1
        return np.asarray(values).reshape(shape)

    def _free(self, tensor: int) -> list[int]:
        return [self.dims.index(d) for d in self.spread.free[tensor]]

    def _own(self, tensor: int) -> list[int]:
        free = self._free(tensor)
        return [p for p in range(len(self.dims)) if p not in free]

    def _fits(self, m: int, node: Node, options: list[Options]) -> Any:
        """Whether tiles fit the memory."""
        at = self._at(options)
        return np.isfinite(self._room(m)[at])

    def _room(self, m: int) -> Any:
        if m not in self._rooms:
            plain = self.togo.fits(m)
            self._rooms[m] = np.where(np.isfinite(plain), 0.0, np.inf)
        return self._rooms[m]

    def _state(self, options: list[Options], kind: Class, tensor: int) -> tuple[bool, Any]:
        """Whether all loops of the memory count for a tensor, and whether any of its own run."""
        e = kind[0]
        if e < 0:
            return False, False
        if e in self._own(tensor):
            return True, True
        anchored: Any = False
        for place in self._own(tensor):
            anchored = anchored | self._axis(place, options[place].iterates)
        return False, anchored

    def _rounds(self, m: int, place: int, o: Options, keeper: int) -> FloatArray:
        units = self.spread.units(keeper, m, self.dims[place])
        return np.maximum(o.steps, np.ceil(o.count / units))

    def _around_rounds(self, m: int, place: int, node: Node, keeper: int) -> float:
        """Rounds of the memory around."""
        keeper = min(keeper, m - 1)
        units = self.spread.units(keeper, m - 1, self.dims[place])
        return max(number(node.lead[place]), -(-number(node.pieces[place]) // units))

    def _moves(self, node: Node, options: list[Options], kind: Class, tensor: int) -> Any:
        """Reads, share, fills and rows of a tensor whose taker is the next memory or one inside."""
        m = node.depth + 1
        keeper, free = self.facts.keeper(tensor, m), self._free(tensor)
        counted, anchored = self._state(options, kind, tensor)
        held = node.held[tensor]
        if counted:
            e = kind[0]
            reads: Any = 1.0
            fills: Any = 1.0
            for p in free:
                reads = reads * self._axis(p, self._rounds(m, p, options[p], keeper))
                fills = fills * self._axis(p, options[p].count)
            share: Any = self._axis(e, options[e].share)
            rows = self._rows(node, options, kind, keeper) if tensor == INPUT else ((1.0, 1.0), ())
            return reads, share, fills, rows
        tiles = [
            (p, int(self.togo.tiles.values[p][node.around[p]]), options[p].tile) for p in free
        ]
        passing: Any = 1.0
        staying: Any = 1.0
        before = 1.0
        for (p, around, tile), source in zip(tiles, held.fills, strict=True):
            passing = passing * self._axis(
                p, [number(self._first_count(m, p, source, around, int(t))) for t in tile]
            )
            staying = staying * self._axis(
                p,
                [number(self._first_count(m, p, node.pieces[p], around, int(t))) for t in tile],
            )
            before *= self._around_rounds(m, p, node, keeper)
        share = self._best_share(options, kind, tensor)
        rows = ((1.0, 1.0), ())
        if tensor == INPUT:
            (y, x), own = self._rows(node, options, kind, keeper)
            rows = (
                (np.where(anchored, y, held.rows[0]), np.where(anchored, x, held.rows[1])),
                own,
            )
        passed = held.reads
        if keeper == m - 1:
            passed = max(passed, math.prod(number(source) for source in held.fills))
        return (
            np.where(anchored, before, passed),
            np.where(anchored, share, held.share),
            np.where(anchored, staying, passing),
            rows,
        )

    def _best_share(self, options: list[Options], kind: Class, tensor: int) -> Any:
        """The share of a tensor that moves when the loops around do, at least."""
        halos = [h for _, h in self.classes if h >= 0]
        share: Any = 0.0
        for p in self._own(tensor):
            if tensor == INPUT and p in halos and p != kind[1]:
                continue
            share = np.maximum(
                share, self._axis(p, np.where(options[p].iterates, options[p].share, 0.0))
            )
        return share

    def _rows(self, node: Node, options: list[Options], kind: Class, keeper: int) -> Any:
        """Rows and columns of the input that are read, and that are written into all instances."""
        m = node.depth + 1
        read, fill = [], []
        for window, (d, taps) in enumerate(WINDOWS):
            n = self.spread.extents[d]
            if d not in self.dims:
                read.append(self.spread.rows(keeper, window, 1.0, n))
                fill.append(self.spread.rows(m, window, 1.0, n))
                continue
            place = self.dims.index(d)
            o = options[place]
            counts = self._rounds(m, place, o, keeper)
            apart = [self.spread.rows(keeper, window, float(c), n) for c in counts]
            own = [self.spread.rows(m, window, float(c), n) for c in o.count]
            if kind[1] == place:
                kept = self._kept(node, o, place, window, keeper)
                apart = np.where(o.iterates, np.minimum(kept, apart), apart)
                own = np.where(o.iterates, np.minimum(apart, own), own)
            read.append(self._axis(place, apart))
            fill.append(self._axis(place, own))
        return (read[0], read[1]), (fill[0], fill[1])

    def _kept(
        self, node: Node, o: Options, place: int, window: int, keeper: int
    ) -> FloatArray:
        """Rows that are read where neighbours keep what they share, at least."""
        d, taps = WINDOWS[window]
        outer = number(node.lead[place]) > 1
        total: Any = 0.0
        stride = self.facts.stride(d)
        for some, times in self.spread.pieces(keeper, taps):
            more, halo = self.facts.more(d, some), self.facts.halo(d, some)
            back = np.full(len(o.tile), float(halo))
            if not outer:
                back = np.maximum(0.0, halo - stride * np.maximum(o.apart, 0.0))
            length = o.share * self.spread.extents[d]
            total = total + times * np.maximum(
                more * length + (some - more - back) * o.runs, 0.0
            )
        found: FloatArray = total
        return found

    # -------------------------------------------------------------- what it costs

    def _bound(self, node: Node, options: list[Options], kind: Class) -> tuple[Any, Any]:
        """Bounds of all tiles with one order of loops, and what is known after them."""
        m = node.depth + 1
        spread, facts = self.spread, self.facts
        valid: Any = True
        if kind[0] >= 0:
            valid = self._axis(kind[0], options[kind[0]].iterates)
            if kind[1] not in (-1, kind[0]):
                valid = valid & self._first_window(options, kind[1])
        else:
            for p, o in enumerate(options):
                valid = valid & self._axis(p, ~o.iterates)
        energy: Any = node.energy
        ports = [list(port) for port in node.ports]
        sums = node.sums
        moves, amounts = [], []
        for t in range(3):
            reads, share, fills, rows = self._moves(node, options, kind, t)
            given, own = rows
            moves.append((reads, share, fills, given))
            volume = float(spread.whole(t)) * share
            amounts.append((volume * reads, volume * fills, given))
            if not facts.keeps[m][t]:
                continue
            keeper = facts.keeper(t, m)
            if t == OUTPUT:
                out = volume * reads * spread.still(t, keeper)
                energy, sums = self._written(energy, sums, m, out, fills, share)
                self._pass(ports, keeper, m, np.maximum(out - node.sums[1], 0.0), out)
                continue
            read = volume * reads * given[0] * given[1]
            fill = volume * fills
            if t == INPUT:
                fill = fill * (own[0] * own[1] if own else given[0] * given[1])
                if own:
                    _, anchored = self._state(options, kind, t)
                    fill = np.where(anchored, fill, volume * fills * given[0] * given[1])
            energy = energy + facts.prices[keeper].read[t] * read + facts.prices[m].write[t] * fill
            self._give(ports, keeper, m, read * facts.chip.widths[t], options, t)
        energy, extra = self._serve(m, options, energy, sums, ports)
        inside = [
            [0.0 if table is None else np.maximum(
                self._rest(table, m, options, amounts, sums), 0.0) for table in tables]
            for tables in self._tables
        ]  # fmt: skip
        cycles = self._cycles(m, options, ports, inside)
        rest = self._rest(self.togo, m, options, amounts, sums)
        bound = np.where(valid, self.value(energy + rest, cycles), np.inf)
        after = {"energy": energy, "sums": sums, "moves": moves, "ports": ports, "cycles": cycles, "inside": inside, "rest": rest}
        return bound, after

    def _first_window(self, options: list[Options], place: int) -> Any:
        """Where a loop over rows or columns may be the first of them: it iterates, or none does."""
        halos = sorted({h for _, h in self.classes if h >= 0})
        found = self._axis(place, options[place].iterates)
        if place != halos[0]:
            return found
        none: Any = True
        for h in halos:
            none = none & ~self._axis(h, options[h].iterates)
        return found | none

    def _written(
        self, energy: Any, sums: Any, m: int, out: Any, fills: Any, share: Any
    ) -> tuple[Any, Any]:
        """Outputs that leave a memory for the one around it that keeps them."""
        keeper, before = sums
        add, once = self.spread.energy.add[keeper], self.spread.energy.once[m]
        whole = float(self.spread.whole(OUTPUT)) * self.spread.still(OUTPUT, m)
        energy = energy + add * np.maximum(out - before, 0.0) + once * whole * fills * share
        return energy, (m, whole * fills)

    def _serve(
        self, m: int, options: list[Options], energy: Any, sums: Any, ports: Any
    ) -> tuple[Any, Any]:
        """What the MACs read and write in a memory that serves them."""
        for t in range(3):
            if self.facts.innermost[t] != m:
                continue
            turns: Any = self.spread.mac_reads(t, m, 1.0)
            for p in self._free(t):
                turns = turns * self._axis(p, options[p].each)
            if t == OUTPUT:
                add = self.spread.energy.add[m]
                more = np.maximum(turns - sums[1], 0.0)
                energy = energy + add * more
                self._pass(ports, m, self.facts.depth + 1, more, turns)
            else:
                energy = energy + self.facts.prices[m].read[t] * turns
                self._give(ports, m, self.facts.depth + 1, turns * self.facts.chip.widths[t])
        return energy, None

    def _give(
        self,
        ports: Any,
        keeper: int,
        m: int,
        bits: Any,
        options: list[Options] | None = None,
        tensor: int = 0,
    ) -> None:
        first: Any = 0.0
        if options is not None:
            first = self.facts.chip.widths[tensor] * self._elements(m, options, tensor)
        for q in range(keeper, min(m, self.facts.depth + 1)):
            ports[q][0] = ports[q][0] + bits / self._instances[q]
            ports[q][2] = ports[q][2] + first

    def _elements(self, m: int, options: list[Options], tensor: int) -> Any:
        at = self._at(options)
        if m not in self._sizes:
            self._sizes[m] = self.togo.elements(m)
        sizes = self._sizes[m]
        return np.broadcast_to(sizes[tensor], self.togo.shape)[at]

    def _pass(self, ports: Any, keeper: int, m: int, back: Any, out: Any) -> None:
        """Sums that cross ports, out and, where they come again, in."""
        widths = self.facts.chip.widths
        for q in range(keeper, min(m, self.facts.depth + 1)):
            ports[q][0] = ports[q][0] + back * widths.psum / self._instances[q]
            width = np.where(back > 0, widths.psum, widths.output) if q == 0 else widths.psum
            ports[q][1] = ports[q][1] + out * width / self._instances[q]

    def fill(self) -> None:
        """Work out tables of energy."""
        self.togo.fill()

    def fill_ports(self) -> None:
        """Work out tables of what ports take that have a limit."""
        spread = self.spread
        for q, (read, write, shared) in enumerate(self._ports):
            ways = [(read is not None, shared), (False, write is not None)]
            for way, (into, out) in enumerate(ways):
                if into or out:
                    costs = spread.port(q, into, out)
                    table = ToGo(spread, self.togo.tiles, self.togo.redundant, costs, self.togo)
                    if not table.is_empty():
                        table.fill()
                        self._tables[q][way] = table

    def _cycles(self, m: int, options: list[Options], ports: Any, inside: Any) -> Any:
        """Cycles at least."""
        turns: Any = 1.0
        for p, o in enumerate(options):
            turns = turns * self._axis(p, o.turns)
        if self._turns:
            turns = np.maximum(turns, self._turns[m][self._at(options)])
        slowest = np.ceil(turns * self.spread.lead_turns() / self.facts.chip.lanes - 1e-9)
        first: Any = 0.0
        stepwise = self.facts.stepwise
        for (read, write, shared), (into, out, begun), starts, more in zip(
            self._ports, ports, self._begun, inside, strict=True
        ):
            if stepwise and starts:
                cycles = 1.0 if read is None else np.ceil(begun / read)
                first = first + cycles
            off = begun if stepwise else 0.0
            if shared:
                slowest = np.maximum(slowest, np.ceil((into + out + more[0] - off) / read - 1e-9))
                continue
            if read is not None:
                slowest = np.maximum(slowest, np.ceil((into + more[0] - off) / read - 1e-9))
            if write is not None:
                slowest = np.maximum(slowest, np.ceil((out + more[1]) / write - 1e-9))
        return slowest + first

    def _rest(self, table: ToGo, m: int, options: list[Options], amounts: Any, sums: Any) -> Any:
        """What the memories inside cost, at least."""
        if m == self.facts.depth:
            return 0.0
        at = self._at(options)
        least: Any = np.inf
        for rest in table.rest[m]:
            cost = rest.cost[at]
            for t in range(3):
                if rest.reads[t] + rest.fills[t] == 0:
                    continue
                read, fill, rows = amounts[t]
                if t == INPUT:
                    read, fill = read * rows[0] * rows[1], fill * rows[0] * rows[1]
                if t == OUTPUT:
                    read = read * self.spread.still(t, self.facts.keeper(t, m + 1))
                cost = cost + rest.reads[t] * read + rest.fills[t] * fill
            least = np.minimum(least, cost)
        place = sums[0]
        return least - table.weights[place][0] * table.costs.add[place] * sums[1]


__all__ = ["STILL", "Brancher", "Children", "Class", "Node", "reduce", "mul"]
