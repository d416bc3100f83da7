"""What ports and MACs take of the time, at least."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cost_models.exact.chain_bounds.chain_nodes import TileOptions
from cost_models.exact.chain_bounds.option_tables import OptionTables
from cost_models.exact.chain_bounds.spread import TENSORS_IN
from cost_models.exact.chain_bounds.togo import CostsToGo
from cost_models.exact.chain_bounds.waits import WaitingTime
from cost_models.exact.nest import OUTPUT


class Lane(NamedTuple):
    """What bits of a memory's port pass one after another.

    Args:
        memory: The memory.
        rate: Bits in a cycle.
        ways: 0 for what is read of it, 1 for what is written, or both.
    """

    memory: int
    rate: float
    ways: tuple[int, ...]


class PortTime:
    """Time of one spread.

    Args:
        tables: Its tiles.
    """

    def __init__(self, tables: OptionTables) -> None:
        self.tables, self.spread, self.facts = tables, tables.spread, tables.facts
        self.dims = tables.dims
        self.lanes = list(self._all_lanes())
        self._reads = {lane.memory: lane.rate for lane in self.lanes if 0 in lane.ways}
        self._begun = self._first_ports()
        self.turns: list[Any] = []
        self.inner: list[CostsToGo | None] = [None] * len(self.lanes)
        """By lane, the table of what the memories inside put through it."""
        self.waits: list[tuple[Lane, WaitingTime]] = []

    def _all_lanes(self) -> Iterator[Lane]:
        served = self.facts.chip.levels[-1].is_memory  # what it gives to its MACs takes no time
        for m, level in enumerate(self.facts.memories):
            if not self._has_time(m) or (served and m == self.facts.depth):
                continue
            if level.read_bw is not None:
                yield Lane(m, level.read_bw, (0, 1) if level.shared_bw else (0,))
            if level.write_bw is not None and not level.shared_bw:
                yield Lane(m, level.write_bw, (1,))

    @property
    def filled(self) -> list[CostsToGo]:
        """All tables of ports."""
        inner = [table for table in self.inner if table is not None]
        return [*inner, *(table for _, table in self.waits)]

    def _first_ports(self) -> list[int]:
        """Memories whose ports first tiles pass."""
        found = {
            q
            for m in range(1, self.facts.depth + 1)
            for t in TENSORS_IN if self.facts.keeps[m][t]
            for q in range(self.facts.keeper(t, m), m) if self._has_time(q)
        }  # fmt: skip
        return sorted(found)

    def _has_time(self, m: int) -> bool:
        """Whether a memory has a port whose time counts."""
        return self.facts.has_port(m) and (m > 0 or not any(self.facts.residents))

    def fill_ports(self) -> None:
        """Work out tables of what ports take that have a limit, and of steps that wait for them."""
        togo = self.tables.togo
        for place, lane in enumerate(self.lanes):
            costs = self.spread.port(lane.memory, 0 in lane.ways, 1 in lane.ways)
            table = togo.of(costs)
            if not table.is_empty():
                table.fill()
                self.inner[place] = table
            waits = WaitingTime([each / lane.rate for each in costs.reads[-1]], togo)
            if self.facts.stepwise and not waits.is_empty():
                waits.fill()
                self.waits.append((lane, waits))

    def give(self, ports: Any, passed: range, bits: Any, first: Any) -> None:
        """Bits of inputs or filters, of their first tiles too, that memories give to the next."""
        for q in passed:
            ports[q][0] = ports[q][0] + bits / self.spread.instances[q]
            ports[q][2] = ports[q][2] + first

    def carry(self, ports: Any, keeper: int, m: int, back: Any, out: Any) -> None:
        """Sums that cross ports, out and, where they come again, in."""
        widths = self.facts.chip.widths
        for q in range(keeper, m):
            ports[q][0] = ports[q][0] + back * widths.psum / self.spread.instances[q]
            width = np.where(back > 0, widths.psum, widths.output) if q == 0 else widths.psum
            ports[q][1] = ports[q][1] + out * width / self.spread.instances[q]

    def mac_cycles(self, m: int, options: list[TileOptions]) -> Any:
        """Cycles that the MACs take at least."""
        turns = self.tables.product(self.tables.togo.places, lambda p: options[p].turns)
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
            inside: By lane, bits of what is inside the memory, at least.
            start: Cycles, but for first tiles, that take certain steps one after another.
        """
        slowest = np.maximum(self.mac_cycles(m, options), start)
        stepwise = self.facts.stepwise
        for lane, more in zip(self.lanes, inside, strict=True):
            port = ports[lane.memory]
            off = port[2] if stepwise and 0 in lane.ways else 0.0
            bits = sum(port[way] for way in lane.ways) + more - off
            slowest = np.maximum(slowest, np.ceil(bits / lane.rate - 1e-9))
        first: Any = 0.0
        for q in self._begun if stepwise else ():
            first = first + (np.ceil(ports[q][2] / self._reads[q]) if q in self._reads else 1.0)
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
        number = self.tables.product(self.tables.togo.places, lambda p: options[p].steps)
        bits = sum(room.bits for room in rooms) * self.spread.instances[-1]
        for (lane, _), cycles in zip(self.waits, inside, strict=True):
            off = bits / self._reads.get(lane.memory, lane.rate)
            found = np.maximum(found, cycles / number - off)
        return found

    def waiting(self, ports: Any, inside: list[Any]) -> Any:
        """Cycles, but for first tiles, of the last memory's steps, by tables.

        Args:
            ports: Bits through each port, in and out, and of first tiles.
            inside: What the tables of such steps have.
        """
        found: Any = 0.0
        for (lane, _), cycles in zip(self.waits, inside, strict=True):
            q = lane.memory
            off = ports[q][2] / self._reads[q] if q in self._reads else 0.0
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
        for memory, rate, ways in self.lanes:
            a, b = (sum(moved[memory][way][steps] for way in ways) for steps in range(2))
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
        if 0 not in self._reads or not self.facts.stepwise:
            return 0.0, 0.0
        read, (later, _, begun) = self._reads[0], dram
        if self.facts.memories[0].shared_bw:  # outputs of other tiles leave in other steps
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
