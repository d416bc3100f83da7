"""What ports and MACs take of the time, at least."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import TileOptions
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.spread import TENSORS_IN
from cost_models.exact.chain_bounds.togo import CostsToGo
from cost_models.exact.chain_bounds.waits import WaitingTime
from cost_models.exact.nest import OUTPUT


class PortTime:
    """Time of one spread.

    Args:
        tables: Its tiles.
    """

    def __init__(self, tables: OptionTables) -> None:
        self.tables, self.spread, self.facts = tables, tables.spread, tables.facts
        self.dims = tables.dims
        self._ports = [
            (level.read_bw, level.write_bw, level.shared_bw)
            if self.facts.has_port(m)
            else (None, None, False)
            for m, level in enumerate(self.facts.memories)
        ]
        if self.facts.chip.levels[-1].is_memory:  # what it gives to its MACs takes no time
            self._ports[-1] = (None, None, False)
        self._begun = self._first_ports()
        self.turns: list[Any] = []
        self.inner: list[list[CostsToGo | None]] = [[None, None] for _ in self._ports]
        self.waits: list[tuple[int, WaitingTime]] = []

    @property
    def filled(self) -> list[CostsToGo]:
        """All tables of ports."""
        inner = [table for ways in self.inner for table in ways if table is not None]
        return [*inner, *(table for _, table in self.waits)]

    def _first_ports(self) -> list[bool]:
        """Ports that first tiles pass."""
        found = [False] * (self.facts.depth + 1)
        for m in range(1, self.facts.depth + 1):
            for t in TENSORS_IN:
                if self.facts.keeps[m][t]:
                    for q in range(self.facts.keeper(t, m), m):
                        found[q] = self.facts.has_port(q)
        return found

    def fill_ports(self) -> None:
        """Work out tables of what ports take that have a limit, and of steps that wait for them."""
        togo = self.tables.togo
        for q, (read, write, shared) in enumerate(self._ports):
            ways = [(read is not None, shared), (False, write is not None)]
            for way, (into, out) in enumerate(ways):
                if not into and not out:
                    continue
                costs = self.spread.port(q, into, out)
                table = togo.of(costs)
                if not table.is_empty():
                    table.fill()
                    self.inner[q][way] = table
                rate = float((read if way == 0 else write) or 1)
                waits = WaitingTime([each / rate for each in costs.reads[-1]], togo)
                if self.facts.stepwise and not waits.is_empty():
                    waits.fill()
                    self.waits.append((q, waits))

    def give(
        self,
        ports: Any,
        keeper: int,
        m: int,
        bits: Any,
        options: list[TileOptions] | None = None,
        tensor: int = 0,
    ) -> None:
        """Bits of inputs or filters that a keeper gives to a memory, or to the MACs."""
        first: Any = 0.0
        if options is not None:
            first = self.facts.chip.widths[tensor] * self.tables.elements(m, options, tensor)
        for q in range(keeper, min(m, self.facts.depth + 1)):
            ports[q][0] = ports[q][0] + bits / self.spread.instances[q]
            ports[q][2] = ports[q][2] + first

    def carry(self, ports: Any, keeper: int, m: int, back: Any, out: Any) -> None:
        """Sums that cross ports, out and, where they come again, in."""
        widths = self.facts.chip.widths
        for q in range(keeper, min(m, self.facts.depth + 1)):
            ports[q][0] = ports[q][0] + back * widths.psum / self.spread.instances[q]
            width = np.where(back > 0, widths.psum, widths.output) if q == 0 else widths.psum
            ports[q][1] = ports[q][1] + out * width / self.spread.instances[q]

    def mac_cycles(self, m: int, options: list[TileOptions]) -> Any:
        """Cycles that the MACs take at least."""
        turns = self.tables.product(range(len(options)), lambda p: options[p].turns)
        if self.turns:
            turns = np.maximum(turns, self.turns[m][self.tables.at(options)])
        return np.ceil(turns * self.spread.lead_turns() / self.facts.chip.lanes - 1e-9)

    def cycles(
        self, m: int, options: list[TileOptions], ports: Any, inside: Any, start: Any
    ) -> Any:
        """Cycles at least.

        Args:
            m: The memory.
            options: Its tiles.
            ports: Bits through each port, in and out, and of first tiles.
            inside: The same of what is inside the memory, at least.
            start: Cycles, but for first tiles, that take certain steps one after another.
        """
        slowest = np.maximum(self.mac_cycles(m, options), start)
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

    def first_wait(self, options: list[TileOptions], inside: list[Any]) -> Any:
        """Cycles of the outermost memory's first step, by tables of the last one's steps.

        The first step is the longest where no rows are shared. First tiles of inner memories are
        not in it: they are as many bits as those have room for, at most.
        """
        found: Any = 0.0
        rooms, kept = self.facts.rooms[self.facts.depth], self.facts.keeps[self.facts.depth]
        limited = all(any(room.widths[t] for room in rooms) for t in range(3) if kept[t])
        if self.tables.togo.halos or not limited:
            return found
        number = self.tables.product(range(len(options)), lambda p: options[p].steps)
        for (q, _), cycles in zip(self.waits, inside, strict=True):
            bits = sum(room.bits for room in rooms)
            off = bits * self.spread.instances[-1] / (self._ports[q][0] or self._ports[q][1] or 1)
            found = np.maximum(found, cycles / number - off)
        return found

    def waiting(self, ports: Any, inside: list[Any]) -> Any:
        """Cycles, but for first tiles, of the last memory's steps, by tables.

        Args:
            ports: Bits through each port, in and out, and of first tiles.
            inside: What the tables of such steps have.
        """
        found: Any = 0.0
        for (q, _), cycles in zip(self.waits, inside, strict=True):
            off = ports[q][2] / self._ports[q][0] if self._ports[q][0] else 0.0
            found = np.maximum(found, np.ceil(cycles - off - 1e-9))
        return found

    def phases(self, options: list[TileOptions], moved: Any) -> Any:
        """Cycles, but for first tiles, of first steps of the innermost loop and of all others.

        What stays over the loop comes in its first steps alone.

        Args:
            options: The memory's tiles.
            moved: By port bits in and out, of what stays and of what moves in both kinds of steps.
        """
        some: Any = float(self.spread.lead_turns()) / self.facts.chip.lanes
        for p, o in enumerate(options):
            some = some * np.where(self.tables.loops == p, 1.0, self.tables.axis(p, o.turns))
        first = some * self.tables.of_loop(o.firsts for o in options)
        later = some * self.tables.of_loop(o.turns - o.firsts for o in options)
        found: Any = 0.0
        for (read, write, shared), (into, out) in zip(self._ports, moved, strict=True):
            ways = [(read, [into, out] if shared else [into]), (None if shared else write, [out])]
            for rate, bits in ways:
                if rate is not None:
                    a, b = sum(each[0] for each in bits), sum(each[1] for each in bits)
                    both = np.maximum(first, a / rate) + np.maximum(later, b / rate)
                    found = np.maximum(found, np.ceil(both - 1e-9))
        return np.where(self.tables.loops < 0, 0.0, found)

    def start(self, options: list[TileOptions], dram: Any, step: Any) -> tuple[Any, Any]:
        """Cycles where the first step of the outermost memory hides no load.

        Args:
            options: Its tiles.
            dram: Bits through DRAM's port, in and out, and of first tiles.
            step: Cycles of that step, at least, beside those of its MACs.

        Returns:
            Cycles but for first tiles: that step, and all loads after it; and of all loads alone.
        """
        (read, _, shared), (into, _, begun) = self._ports[0], dram
        if read is None or not self.facts.stepwise:
            return 0.0, 0.0
        later: Any = into
        if shared:  # outputs of other tiles leave in other steps
            outputs = self.tables.product(self.tables.own[OUTPUT], lambda p: options[p].tile)
            rest = float(self.spread.whole(OUTPUT)) - self.untiled(OUTPUT) * outputs
            later = later + np.maximum(rest, 0.0) * self.facts.chip.widths.output
        turns = np.maximum(np.ceil(self.first_turns([o.tile for o in options]) - 1e-9), step)
        return turns + np.maximum(np.ceil((later - begun) / read - 1e-9), 0.0), later / read

    def first_turns(self, tiles: Any) -> Any:
        """Cycles of MACs in the first step of the outermost memory, at least."""
        inside = [self.spread.inside(1, d) for d in self.dims]
        turns = self.spread.lead_turns() / self.facts.chip.lanes
        places = range(len(inside))
        return self.tables.product(places, lambda p: np.ceil(tiles[p] / inside[p]), turns)

    def untiled(self, tensor: int) -> float:
        """Elements of a tensor along dimensions that no memory tiles, but for rows of inputs."""
        rel = self.facts.relevant[tensor]
        return math.prod(float(self.spread.extents[d]) for d in rel if d not in self.dims)
