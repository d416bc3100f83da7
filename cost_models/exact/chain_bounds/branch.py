"""Tiles of one memory after another: what each choice costs at least, given those outside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import (
    STILL,
    ChainChoices,
    ChainNode,
    Class,
    LastMove,
    TileOptions,
)
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.port_time import PortTime
from cost_models.exact.chain_bounds.facts import ChainFacts
from cost_models.exact.chain_bounds.spread import WINDOWS, ChainSpread
from cost_models.exact.chain_bounds.tensor_moves import TensorMoves
from cost_models.exact.chain_bounds.togo import CostsToGo
from cost_models.exact.nest import INPUT, OUTPUT
from marl_common import FloatArray, IntArray


def values_of(
    energy: Any, cycles: Any, powers: tuple[int, int], most: tuple[float, float], facts: ChainFacts
) -> FloatArray:
    """The objective from energy but for leakage [nJ] and latency [cycles]; inf beyond limits."""
    energy = energy + facts.leakage * cycles
    with np.errstate(over="ignore"):
        found: FloatArray = cycles ** powers[0] * energy ** powers[1]
    over = (cycles > most[0] * (1 + 1e-9)) | (energy > most[1] * (1 + 1e-9))
    return np.where(over, np.inf, found) if np.any(over) else found


class ChainBrancher:
    """Bounds of one spread.

    Args:
        spread: The spread.
        togo: Its tables.
        powers: Exponents of latency and energy in the objective.
        most: Largest latency [cycles] and energy [nJ] allowed.
    """

    def __init__(
        self,
        spread: ChainSpread,
        togo: CostsToGo,
        powers: tuple[int, int],
        most: tuple[float, float] = (math.inf, math.inf),
    ) -> None:
        self.spread, self.togo, self.facts = spread, togo, spread.facts
        self.dims, self.powers, self.most = spread.dims, powers, most
        self.classes = self._classes()
        self.tables = OptionTables(spread, togo)
        self.moves, self.time = TensorMoves(self.tables, self.classes), PortTime(self.tables)
        self.frontier: Any = None

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

    # -------------------------------------------------------------- nodes

    def root(self) -> ChainNode:
        """Nothing is chosen."""
        spread, facts = self.spread, self.facts
        outputs = float(spread.whole(OUTPUT))
        whole = [((spread.extents[d], 1),) for d in self.dims]
        rows = tuple(
            spread.rows(0, window, 1.0, spread.extents[d]) for window, (d, _) in enumerate(WINDOWS)
        )
        held = [
            LastMove(1.0, 1.0, tuple(whole[self.dims.index(d)] for d in spread.free[t]), rows)  # type: ignore[arg-type]
            for t in range(3)
        ]
        return ChainNode(
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
        self.time.turns = self.togo.turns()

    def least_turns(self) -> float:
        """MAC steps of the whole layer, at least, with tiles that all memories have room for."""
        return float(self.togo.least_turns() * self.spread.lead_turns() / self.facts.chip.lanes)

    def reaches(self, below: float) -> tuple[IntArray, FloatArray]:
        """Choices of the first memory that may be below a value.

        Returns:
            ``(N, dims)`` places of tiles; ``(3, N)`` energy but for leakage [nJ], cycles, and
            cycles of DRAM's loads, at least.
        """
        node = self.root()
        options = self._options(node, below)
        at = np.stack(self.tables.at(options), axis=1)
        tiles, figures = [], []
        for kind in self.classes:
            bound, after = self._bound(node, options, kind)
            off = len(after["ports"])
            each = after["energy"] + after["rest"], after["cycles"] - off, after["loads"] - off
            may = bound < below
            figures.append(np.array([np.broadcast_to(one, len(at))[may] for one in each]))
            tiles.append(at[may])
        self.tables.cells = None
        return np.concatenate(tiles), np.concatenate(figures, axis=1)

    def first_turns(self, tiles: IntArray) -> FloatArray:
        """Cycles of MACs in the first memory's first step, by ``(N, dims)`` places of tiles."""
        values = self.togo.tiles.values
        self.tables.cells = tuple(tiles.T)
        found: FloatArray = np.ceil(self.time.first_turns(values) - 1e-9)
        self.tables.cells = None
        return found

    def slower_than(self, cycles: float) -> None:
        """Leave out tiles whose MAC steps take longer."""
        self.togo.slowest = cycles * self.facts.chip.lanes / self.spread.lead_turns()

    def value(self, energy: Any, cycles: Any) -> FloatArray:
        """The objective from energy but for leakage [nJ] and latency [cycles]."""
        return values_of(energy, cycles, self.powers, self.most, self.facts)

    # -------------------------------------------------------------- one choice of loops

    def children(self, node: ChainNode, below: float) -> ChainChoices:
        """All choices of the next memory whose bounds are below a value."""
        options = self._options(node, below)
        cells = self.tables.cells
        assert cells is not None
        found: list[tuple[int, IntArray, FloatArray]] = []
        for number_, kind in enumerate(self.classes if len(cells[0]) else []):
            bound, _ = self._bound(node, options, kind)
            rows = np.flatnonzero(bound < below)
            if len(rows):
                found.append((number_, rows, bound[rows]))
        at = self.tables.at(options)
        self.tables.cells = None
        if not found:
            return ChainChoices(np.empty(0, np.int64), np.empty((0, len(self.dims)), np.int64),
                                np.empty(0))  # fmt: skip
        classes = np.concatenate([np.full(len(rows), n) for n, rows, _ in found])
        rows = np.concatenate([rows for _, rows, _ in found])
        bounds = np.concatenate([b for _, _, b in found])
        order = np.argsort(bounds, kind="stable")
        tiles = np.stack([each[rows[order]] for each in at], axis=1)
        return ChainChoices(classes[order], tiles, bounds[order])

    def _options(self, node: ChainNode, below: float) -> list[TileOptions]:
        """Tiles of the next memory; of their vectors those that may be below a value are chosen."""
        options = [self.tables.options(node, place) for place in range(len(self.dims))]
        if node.depth == 0 and self.frontier is not None:
            tiles = self.frontier.tiles(self, below)
            places = [np.searchsorted(o.at, at) for o, at in zip(options, tiles.T, strict=True)]
            offered = np.all([o.at[np.minimum(place, len(o.at) - 1)] == at for o, place, at in
                              zip(options, places, tiles.T, strict=True)], axis=0)  # fmt: skip
            self.tables.cells = tuple(place[offered] for place in places)
            fits = self.tables.fits(1, options)
            self.tables.cells = tuple(place[fits] for place in self.tables.cells)
            return options
        self.tables.cells = np.nonzero(self.tables.fits(node.depth + 1, options))
        return options

    def cells(self, node: ChainNode) -> int:
        """How many vectors of tiles :meth:`children` bounds."""
        return math.prod(len(self.tables.options(node, p).at) for p in range(len(self.dims)))

    @property
    def table_cells(self) -> int:
        """Vectors of tiles of all memories inside the outermost one."""
        return math.prod(self.togo.shape) * max(self.facts.depth - 1, 0)

    @property
    def halos(self) -> list[int]:
        """Places of dimensions along which neighbouring tiles may share inputs."""
        return [self.dims.index(d) for d in self.togo.halos()]

    def child(self, node: ChainNode, kind: Class, tiles: Any) -> ChainNode:
        """The node of one choice."""
        options = []
        for place in range(len(self.dims)):
            every = self.tables.options(node, place)
            options.append(every.one(int(np.searchsorted(every.at, tiles[place]))))
        _, after = self._bound(node, options, kind)
        held = [self.moves.frozen(node, options, kind, t, after) for t in range(3)]
        ports = [[np.asarray(x).ravel()[0] for x in port] for port in after["ports"]]
        return ChainNode(
            (*node.tiles, tuple(int(t) for t in tiles)),
            (*node.classes, kind),
            tuple(int(t) for t in tiles),
            tuple(o.pieces[0] for o in options),
            tuple(o.lead[0] for o in options),
            float(np.asarray(after["energy"]).ravel()[0]),
            (after["sums"][0], float(np.asarray(after["sums"][1]).ravel()[0])),
            (held[0], held[1], held[2]),
            tuple((float(a), float(b), float(c)) for a, b, c in ports),
            float(np.asarray(after["start"]).ravel()[0]),
        )

    # -------------------------------------------------------------- what it costs

    def _bound(self, node: ChainNode, options: list[TileOptions], kind: Class) -> tuple[Any, Any]:
        """Bounds of all tiles with one order of loops, and what is known after them."""
        m = node.depth + 1
        spread, facts = self.spread, self.facts
        valid: Any = True
        if kind[0] >= 0:
            valid = self.tables.axis(kind[0], options[kind[0]].iterates)
            if kind[1] not in (-1, kind[0]):
                valid = valid & self._first_window(options, kind[1])
        else:
            for p, o in enumerate(options):
                valid = valid & self.tables.axis(p, ~o.iterates)
        energy: Any = node.energy
        ports = [list(port) for port in node.ports]
        sums = node.sums
        moves, amounts = [], []
        moved: Any = [[[0.0, 0.0], [0.0, 0.0]] for _ in ports]
        for t in range(3):
            reads, share, fills, rows = self.moves.moves(node, options, kind, t)
            given, own = rows
            moves.append((reads, share, fills, given))
            volume, idle = float(spread.whole(t)) * share, self._idle(t, m, share)
            takers = self._takers(options, t)
            rate = volume * reads + idle / (given[0] * given[1])
            amounts.append((rate, volume * fills + takers * idle / (given[0] * given[1]), given))
            if not facts.keeps[m][t]:
                continue
            keeper = facts.keeper(t, m)
            before = [port[:] for port in ports]
            if t == OUTPUT:
                out = rate * spread.still(t, keeper)
                once = volume * fills + idle * takers
                energy, sums = self._written(energy, sums, m, out, fills, once)
                self.time.carry(ports, keeper, m, np.maximum(out - node.sums[1], 0.0), out)
            else:
                read = rate * given[0] * given[1]
                fill = volume * fills * given[0] * given[1]
                if own:
                    _, anchored = self.moves.state(options, kind, t)
                    counted = kind[0] in self.tables.own(t)
                    fill = np.where(anchored | counted, volume * fills * own[0] * own[1], fill)
                energy = energy + facts.prices[keeper].read[t] * read
                energy = energy + facts.prices[m].write[t] * (fill + idle * takers)
                self.time.give(ports, keeper, m, read * facts.chip.widths[t], options, t)
            self._moved(moved, before, ports, options, kind, t, volume * reads / rate)
        waits = [] if m == facts.depth else [
            self._rest(table, m, options, amounts, sums) for _, table in self.time.waits
        ]  # fmt: skip
        start, loads = node.start, 0.0
        if m == 1:
            step = self.time.first_wait(options, waits) if waits else 0.0
            start, loads = self.time.start(options, ports[0], step)
        if waits:
            start = np.maximum(start, self.time.waiting(ports, waits))
        if facts.stepwise and kind[0] >= 0 and self.spread.alone:
            start = np.maximum(start, self.time.phases(options, kind[0], moved))
        energy = self._serve(m, options, energy, sums, ports)
        inside = [
            [0.0 if table is None else np.maximum(
                self._rest(table, m, options, amounts, sums), 0.0) for table in tables]
            for tables in self.time.inner
        ]  # fmt: skip
        cycles = self.time.cycles(m, options, ports, inside, start)
        rest = self._rest(self.togo, m, options, amounts, sums)
        bound = np.where(valid, self.value(energy + rest, cycles), np.inf)
        after = {
            "energy": energy,
            "sums": sums,
            "moves": moves,
            "ports": ports,
            "start": start,
            "loads": loads,
            "cycles": cycles,
            "inside": inside,
            "rest": rest,
        }
        return bound, after

    def _idle(self, t: int, m: int, share: Any) -> Any:
        """Elements of a tensor in whose part of a dimension no loop runs: they move once at least."""
        least = float(self.spread.whole(t))
        if t == INPUT:
            keeper = self.facts.keeper(t, m)
            for window, (d, _) in enumerate(WINDOWS):
                least *= self.togo.once(keeper, window, self.spread.extents[d])
        return (1.0 - share) * least

    def _takers(self, options: list[TileOptions], t: int) -> Any:
        """Instances that get each element of a tensor, at least: those that all pieces need."""
        found: Any = 1.0
        for p in self.tables.free(t):
            found = found * self.tables.axis(p, np.ceil(options[p].many / options[p].steps))
        return found

    def _moved(
        self, moved: Any, before: Any, ports: Any, options: list[TileOptions], kind: Class, t: int,
        running: Any,
    ) -> None:  # fmt: skip
        """Add what a tensor put through ports to first steps of the innermost loop, and to others.

        `running` is the share of it that moves in steps of a loop that runs.
        """
        e = kind[0]
        front: Any = 1.0
        later: Any = 0.0
        if e in self.tables.own(t):
            front = self.tables.axis(e, options[e].front)
            later = (1.0 - front) * running
            if t == INPUT and e in self.halos:
                front, later = 0.0, 0.0
        for q, (old, new) in enumerate(zip(before, ports, strict=True)):
            first = front * (new[0] - old[0]) - (new[2] - old[2])
            moved[q][0][0] = moved[q][0][0] + np.maximum(first, 0.0)
            moved[q][0][1] = moved[q][0][1] + later * (new[0] - old[0])
            moved[q][1][0] = moved[q][1][0] + front * (new[1] - old[1])
            moved[q][1][1] = moved[q][1][1] + later * (new[1] - old[1])

    def _first_window(self, options: list[TileOptions], place: int) -> Any:
        """Where a loop over rows or columns may be the first of them: it iterates, or none does."""
        halos = sorted({h for _, h in self.classes if h >= 0})
        found = self.tables.axis(place, options[place].iterates)
        if place != halos[0]:
            return found
        none: Any = True
        for h in halos:
            none = none & ~self.tables.axis(h, options[h].iterates)
        return found | none

    def _written(
        self, energy: Any, sums: Any, m: int, out: Any, fills: Any, once: Any
    ) -> tuple[Any, Any]:
        """Outputs that leave a memory for the one around it that keeps them: `once` at least."""
        keeper, before = sums
        still = self.spread.still(OUTPUT, m)
        energy = energy + self.spread.energy.add[keeper] * np.maximum(out - before, 0.0)
        energy = energy + self.spread.energy.once[m] * once * still
        return energy, (m, float(self.spread.whole(OUTPUT)) * still * fills)

    def _serve(self, m: int, options: list[TileOptions], energy: Any, sums: Any, ports: Any) -> Any:
        """What the MACs read and write in the memories that serve them."""
        if m < self.facts.depth:
            return energy
        for t in range(3):
            keeper = self.facts.innermost[t]
            turns: Any = self.spread.mac_reads(t, keeper, 1.0)
            for p in self.tables.free(t):
                units = self.spread.units(keeper, m, self.dims[p])
                steps = np.maximum(options[p].turns, np.ceil(options[p].each / units))
                turns = turns * self.tables.axis(p, steps)
            if t == OUTPUT:
                add = self.spread.energy.add[keeper]
                more = np.maximum(turns - sums[1], 0.0)
                energy = energy + add * more
                self.time.carry(ports, keeper, m + 1, more, turns)
            else:
                energy = energy + self.facts.prices[keeper].read[t] * turns
                self.time.give(ports, keeper, m + 1, turns * self.facts.chip.widths[t])
        return energy

    def fill(self) -> None:
        """Work out tables of energy, once."""
        if not self.togo.rest[-1]:
            self.togo.fill()

    def fill_ports(self) -> None:
        """Work out tables of what ports take that have a limit."""
        self.time.fill_ports()

    def _rest(
        self, table: CostsToGo, m: int, options: list[TileOptions], amounts: Any, sums: Any
    ) -> Any:
        """What the memories inside cost, at least."""
        if m == self.facts.depth:
            return 0.0
        at = self.tables.at(options)
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
