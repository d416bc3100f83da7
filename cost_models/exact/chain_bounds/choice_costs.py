"""What choices of a memory's tiles and loop order cost at least, given those outside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import STILL, ChainNode, Class, TileOptions
from cost_models.exact.chain_bounds.chain_tables import RestCosts
from cost_models.exact.chain_bounds.facts import ChainFacts
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.port_time import PortTime
from cost_models.exact.chain_bounds.spread import TENSORS_IN
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


class ChoiceCosts:
    """Bounds of choices of one spread.

    Args:
        togo: Tables of the spread.
        powers: Exponents of latency and energy in the objective.
        most: Largest latency [cycles] and energy [nJ] allowed.
    """

    def __init__(
        self,
        togo: CostsToGo,
        powers: tuple[int, int],
        most: tuple[float, float] = (math.inf, math.inf),
    ) -> None:
        self.spread, self.facts, self.dims = togo.spread, togo.facts, togo.dims
        self.powers, self.most = powers, most
        self.beside: dict[CostsToGo, list[RestCosts]] = {}
        """Tables of tiles whose pieces are known, where there are any."""
        self._begin(togo)

    def _begin(self, togo: CostsToGo) -> None:
        """Take tables that are still to be filled."""
        self.togo, self.halos = togo, togo.halos
        self.classes = self._classes()
        self._kinds = np.array(self.classes)
        self.tables = OptionTables(togo)
        self.moves, self.time = TensorMoves(self.tables), PortTime(self.tables)

    def forget(self) -> None:
        """Drop all tables; filled again, they are the same."""
        self._begin(self.togo.anew())

    @property
    def held_bytes(self) -> int:
        """Memory of tables, and of tiles that are remembered."""
        grids = [*self.time.turns, *self.togo.fitting.values()]
        for table in (self.togo, *self.time.filled):
            grids += [rest.cost for some in table.rest for rest in some]
        return sum(grid.nbytes for grid in grids) + self.tables.held_bytes

    def _classes(self) -> list[Class]:
        found: list[Class] = [STILL]
        for place in self.togo.places:
            if place in self.halos:
                found.append((place, place))
            elif place in self.togo.free[INPUT] and self.halos:
                found += [(place, h) for h in self.halos]
            else:
                found.append((place, -1))
        return found

    def value(self, energy: Any, cycles: Any) -> FloatArray:
        """The objective from energy but for leakage [nJ] and latency [cycles]."""
        return values_of(energy, cycles, self.powers, self.most, self.facts)

    def floor(self, node: ChainNode, options: list[TileOptions]) -> FloatArray:
        """What tiles take at least with any order of loops: inputs and filters move once more."""
        m, facts = node.depth + 1, self.facts
        found: dict[str, Any] = {"energy": node.energy, "sums": node.sums}
        for t in TENSORS_IN:
            if facts.keeps[m][t]:
                read, fill = self.moves.sure(node, options, t)
                read = facts.prices[facts.keeper(t, m)].read[t] * read
                found["energy"] += self.togo.elements_once(m, t) * (
                    read + facts.prices[m].write[t] * fill
                )
        if m == facts.depth:
            if facts.keeps[m][OUTPUT]:
                found["sums"] = m, self._most_outputs(m, options)
            found["ports"] = [list(port) for port in node.ports]
            self._serve(m, options, found)
        else:
            at = self.tables.at(options)
            found["energy"] += reduce(np.minimum, (rest.cost[at] for rest in self.togo.rest[m]))
            found["energy"] -= self._outputs_again(node, options)
        return self.value(found["energy"], self.time.mac_cycles(m, options))

    def _most_outputs(self, m: int, options: list[TileOptions]) -> Any:
        """Outputs that leave a memory, at most."""
        most = float(self.spread.whole(OUTPUT)) * self.spread.still(OUTPUT, m)
        return self.tables.product(self.tables.free[OUTPUT], lambda p: options[p].many, most)

    def _outputs_again(self, node: ChainNode, options: list[TileOptions]) -> Any:
        """What tables count for outputs that further out were paid for already, at most.

        An output that certainly leaves the memory for each time that tables count weighs there no
        more than it costs, see :meth:`ChainSpread.weights`; so those around count, and others.
        """
        m, outer = node.depth + 1, node.sums[0]
        weights, add = self.togo.weights, self.spread.energy.add
        found: Any = weights[outer][0] * add[outer] * node.sums[1]
        if self.facts.keeps[m][OUTPUT]:
            share: Any = node.held[OUTPUT].share
            for p in self.tables.own[OUTPUT]:
                runs = np.where(options[p].iterates, options[p].share, 1.0)
                share = np.minimum(share, self.tables.axis(p, runs))
            again = (1.0 - share) * self._most_outputs(m, options)
            found = found + weights[m][0] * add[m] * again
        return found

    def bound(self, node: ChainNode, options: list[TileOptions]) -> tuple[Any, Any]:
        """Bounds of tiles with the orders of loops that they are looked at with.

        Returns:
            The bounds, and what is known after the choices.
        """
        m = node.depth + 1
        found = self.after(node, options)
        self._serve(m, options, found)
        inside = [
            0.0 if table is None else np.maximum(self._rest(table, m, options, found), 0.0)
            for table in self.time.inner
        ]
        start = np.maximum(found["start"], self.time.waiting(found["ports"], found["waits"]))
        found["cycles"] = self.time.cycles(m, options, found["ports"], inside, start)
        found["rest"] = self._rest(self.togo, m, options, found)
        return self.value(found["energy"] + found["rest"], found["cycles"]), found

    def after(self, node: ChainNode, options: list[TileOptions]) -> dict[str, Any]:
        """What is known after choices, but for what is inside them."""
        m, facts = node.depth + 1, self.facts
        found = self._passed(node, options)
        waits: list[Any] = list(node.waits) or [0.0] * len(self.time.waits)
        if m < facts.depth:
            waits = [
                np.maximum(known, self._rest(table, m, options, found))
                for known, (_, table) in zip(waits, self.time.waits, strict=True)
            ]
        found["waits"] = waits
        found["start"], found["loads"] = node.start, 0.0
        if m == 1:
            step = self.time.first_wait(options, waits) if m < facts.depth else 0.0
            found["start"], found["loads"] = self.time.start(options, found["ports"][0], step)
        if facts.stepwise and self.spread.alone:
            phases = self.time.phases(options, found["moved"])
            found["start"] = np.maximum(found["start"], phases)
        return found

    def combine(self, options: list[TileOptions]) -> IntArray:
        """Look at vectors of tiles with each class of orders that their loops may have.

        Returns:
            ``(N,)`` numbers of those classes.
        """
        cells = self.tables.cells
        assert cells is not None
        rows = [
            np.flatnonzero(np.broadcast_to(self._valid(options, kind), cells[0].shape))
            for kind in self.classes
        ]
        numbers = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        every = np.concatenate(rows)
        self.tables.look_at([cell[every] for cell in cells], self._kinds[numbers])
        return numbers

    def _valid(self, options: list[TileOptions], kind: Class) -> Any:
        """Where loops that iterate are those of an order."""
        if kind[0] < 0:
            return self._still(options, self.togo.places)
        valid = self.tables.axis(kind[0], options[kind[0]].iterates)
        if kind[1] not in (-1, kind[0]):
            valid = valid & self._first_window(options, kind[1])
        return valid

    def _passed(self, node: ChainNode, options: list[TileOptions]) -> dict[str, Any]:
        """What tensors cost on their way into the next memory, and what passed each port.

        Of a tensor some moves in steps of loops that run. Its elements in the part of a dimension
        where none runs are `idle`: they move once at least, to all instances that all pieces need.
        """
        m, facts = node.depth + 1, self.facts
        found: dict[str, Any] = {
            "energy": node.energy,
            "sums": node.sums,
            "ports": [list(port) for port in node.ports],
            "moves": [],
            "amounts": [],
            "moved": [[[0.0, 0.0], [0.0, 0.0]] for _ in node.ports],
        }
        for t in range(3):
            reads, share, fills, (given, own), sure = self.moves.moves(node, options, t)
            found["moves"].append((reads, share, fills, given, sure))
            running = float(self.spread.whole(t)) * share
            idle = (1.0 - share) * self.togo.elements_once(m, t)
            rows = given[0] * given[1]
            takers = sure[1] * idle
            rate = running * reads + sure[0] * idle / rows
            found["amounts"].append((rate, running * fills + takers / rows, given))
            if not facts.keeps[m][t]:
                continue
            before = [port[:] for port in found["ports"]]
            if t == OUTPUT:
                self._written(found, m, rate, fills, running * fills + takers)
            else:
                if own:
                    _, anchored = self.moves.state(options, t)
                    rows = np.where(anchored, own[0] * own[1], rows)
                fill = running * fills * rows + takers
                found["energy"] = found["energy"] + facts.prices[m].write[t] * fill
                first = facts.chip.widths[t] * self.tables.elements(m, options, t)
                self._read(found, m, t, rate * given[0] * given[1], first)
            self._moved(found, before, options, t, running * reads / rate)
        return found

    def _read(self, found: dict[str, Any], m: int, t: int, read: Any, first: Any = 0.0) -> None:
        """Inputs or filters that a memory, or the MACs, get from the memory that keeps them.

        `first` is how many bits the first tile has, where it comes into a memory.
        """
        keeper = self.facts.keeper(t, m)
        found["energy"] = found["energy"] + self.facts.prices[keeper].read[t] * read
        self.time.give(found["ports"], range(keeper, m), read * self.facts.chip.widths[t], first)

    def _written(self, found: dict[str, Any], m: int, rate: Any, fills: Any, once: Any) -> None:
        """Outputs that leave a memory for the one around it that keeps them: `once` at least."""
        keeper, before = found["sums"]
        still = self.spread.still(OUTPUT, m)
        out = rate * self.spread.still(OUTPUT, self.facts.keeper(OUTPUT, m))
        back = np.maximum(out - before, 0.0)
        energy = found["energy"] + self.spread.energy.add[keeper] * back
        each = self.spread.energy.once[m] + self.spread.energy.fills[m][OUTPUT]
        found["energy"] = energy + each * once * still
        found["sums"] = m, float(self.spread.whole(OUTPUT)) * still * fills
        self.time.carry(found["ports"], self.facts.keeper(OUTPUT, m), m, back, out)

    def _moved(
        self, found: dict[str, Any], before: Any, options: list[TileOptions], t: int, running: Any
    ) -> None:
        """Add what a tensor put through ports to an innermost loop's first steps, and to others.

        `running` is the share of it that moves in steps of a loop that runs.
        """
        front = self.tables.of_loop(o.front for o in options)
        front = np.where(self.tables.is_loop(self.tables.own[t]), front, 1.0)
        later = (1.0 - front) * running
        if t == INPUT:
            apart = self.tables.is_loop(self.halos)
            front, later = np.where(apart, 0.0, front), np.where(apart, 0.0, later)
        moved = found["moved"]
        for q, (old, new) in enumerate(zip(before, found["ports"], strict=True)):
            first = front * (new[0] - old[0]) - (new[2] - old[2])
            moved[q][0][0] = moved[q][0][0] + np.maximum(first, 0.0)
            moved[q][0][1] = moved[q][0][1] + later * (new[0] - old[0])
            moved[q][1][0] = moved[q][1][0] + front * (new[1] - old[1])
            moved[q][1][1] = moved[q][1][1] + later * (new[1] - old[1])

    def _first_window(self, options: list[TileOptions], place: int) -> Any:
        """Where a loop over rows or columns may be the first of them: it iterates, or none does."""
        found = self.tables.axis(place, options[place].iterates)
        if place != min(self.halos):
            return found
        return found | self._still(options, self.halos)

    def _still(self, options: list[TileOptions], places: Iterable[int]) -> Any:
        """Where no loop over some dimensions iterates."""
        return self.tables.product(places, lambda p: ~options[p].iterates, start=True)

    def _serve(self, m: int, options: list[TileOptions], found: dict[str, Any]) -> None:
        """What the MACs read and write in the memories that serve them."""
        for t in range(3) if m == self.facts.depth else ():
            keeper = self.facts.innermost[t]
            turns: Any = self.spread.mac_reads(t, keeper)
            for p in self.tables.free[t]:
                units = self.spread.units(keeper, m, self.dims[p])
                steps = np.maximum(options[p].turns, np.ceil(options[p].each / units))
                turns = turns * self.tables.axis(p, steps)
            if t == OUTPUT:
                more = np.maximum(turns - found["sums"][1], 0.0)
                found["energy"] = found["energy"] + self.spread.energy.add[keeper] * more
                self.time.carry(found["ports"], keeper, m + 1, more, turns)
            else:
                self._read(found, m + 1, t, turns)

    def _least_part(self, part: float, m: int, t: int, moves: Any) -> tuple[Any, Any, Any]:
        """The amounts of the part of a tensor that moves the least."""
        reads, share, fills, given, sure = moves
        idle = np.minimum(part, 1.0 - share)
        running = (part - idle) * float(self.spread.whole(t))
        once = idle * self.togo.elements_once(m, t) / (given[0] * given[1])
        return running * reads + sure[0] * once, running * fills + sure[1] * once, given

    def _rest(
        self, table: CostsToGo, m: int, options: list[TileOptions], found: dict[str, Any]
    ) -> Any:
        """What the memories inside cost, at least."""
        if m == self.facts.depth:
            return 0.0
        at = self.tables.at(options)
        least: Any = np.inf
        for rest in self.beside.get(table) or table.rest[m]:
            cost = rest.cost[at]
            for t in range(3):
                if rest.reads[t] + rest.fills[t] == 0:
                    continue
                read, fill, rows = found["amounts"][t]
                if rest.parts[t] < 1.0:
                    read, fill, rows = self._least_part(rest.parts[t], m, t, found["moves"][t])
                if t == INPUT:
                    read, fill = read * rows[0] * rows[1], fill * rows[0] * rows[1]
                if t == OUTPUT:
                    read = read * self.spread.still(t, self.facts.keeper(t, m + 1))
                cost = cost + rest.reads[t] * read + rest.fills[t] * fill
            least = np.minimum(least, cost)
        place, outputs = found["sums"]
        return least - table.weights[place][0] * table.costs.add[place] * outputs
