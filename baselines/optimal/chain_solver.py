"""Best first over ways of spreading units, and then over tiles, a memory after another.

Of uneven mappings every choice of what entries keep is a chain of its own, in one queue.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice, product
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from baselines.optimal.chain_structures import ChainStructures
from baselines.optimal.chain_values import improved
from baselines.optimal.proof import Counts, ProofProgress, Status, settled
from cost_models import (
    ChainBrancher,
    ChainChoices,
    ChainMapping,
    ChainNode,
    ChainSpread,
    CostsToGo,
    Frontier,
)
from layers import DIMS
from maestro_env import Problem
from marl_common import FloatArray, IntArray

ROUNDING = 1e-9
"""What two figures may differ by without one being the better; far above rounding."""
MAPPINGS = 1024
"""Mappings evaluated at a time."""
NODES = 16
"""Choices that are made nodes at a time, at most."""
STRUCTURES = 64
"""Structures evaluated at a time, at most."""
PER_STRUCTURE = 1000
"""Boxes that take about as long as the loop orders of a structure."""
PER_NODE = 20_000
"""The same for the choices of one memory, however few they are."""
NODE_BYTES = 4 << 10
"""What a node and the heap's entry of it take, about."""
CELL_BYTES = 64
"""What tables take of a vector of tiles, at least."""
DIVES = 32
"""Every so many ways of spreading units the best tiles of one are looked at at once."""


class Ways(NamedTuple):
    """Ways of spreading units over a chain, by what they can reach at least.

    Args:
        structures: What the space offers there.
        frontier: What all of them reach; None where that is not known.
        energy: What they spend at least [nJ].
        order: The ways, the most promising first.
        keys: What they reach at least, in that order.
    """

    structures: ChainStructures
    frontier: Frontier | None
    energy: float
    order: IntArray
    keys: FloatArray


class Way(NamedTuple):
    """A way of spreading units, and its bounds."""

    structures: ChainStructures
    picks: IntArray
    bounds: ChainBrancher


class Open(NamedTuple):
    """Choices of tiles that are still to be looked at: those from a place on."""

    way: Way
    node: ChainNode
    choices: ChainChoices
    place: int
    ready: list[ChainNode]
    """The nodes of those from the place on that are made already."""

    @property
    def bytes(self) -> int:
        """Memory of the choices, about."""
        return NODE_BYTES + sum(part.nbytes for part in self.choices)


@dataclass
class ChainSolver:
    """One proof.

    Args:
        problem: The problem; its counters are not used.
        structures: What its space offers, by what entries keep.
        gap: Relative gap to the bound at which to stop.
        deadline: Time to stop at, as `time.perf_counter` counts.
        max_memory: Bytes of open choices and tables.
        most_boxes: Vectors of tiles to bound at most.
        on_step: Called now and then.
    """

    problem: Problem
    structures: Iterable[ChainStructures]
    gap: float = 0.0
    deadline: float = math.inf
    max_memory: float = math.inf
    most_boxes: float = math.inf
    on_step: Callable[[], None] = lambda: None
    counts: Counts = field(default_factory=Counts)
    value: float = math.inf
    mapping: ChainMapping | None = None

    def __post_init__(self) -> None:
        figures, limits = self.problem.objective.figures, self.problem.limits
        late = sum(name == "latency_cycles" for name in figures)
        self._powers = late, len(figures) - late
        energies = (limits.get(f"max_{n}", math.inf) for n in ("energy_nj", "energy_total_nj"))
        self._most = limits.get("max_latency_cycles", math.inf), min(energies)
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers, self._bytes, self._ways, self._nodes = count(), 0, 0, 0
        self._held: WeakKeyDictionary[ChainBrancher, int] = WeakKeyDictionary()
        self._full = False
        for structures in self.structures:
            if len(structures.ways):
                self._push(self.problem.bound or 0.0, self._begin, structures)

    def _begin(self, bound: float, structures: ChainStructures) -> None:
        """Order the ways of spreading units by what they can reach at least."""
        turns = structures.turns()
        spread, frontier = structures.widest(), None
        if spread is None:
            late, spent = self._powers
            energy = max(self.problem.figure_bounds.get("energy_nj", 0.0), 0.0)
            keys = turns**late * energy**spent
        else:
            bounds = self._bounds(structures, spread, ((0,) * len(DIMS),) * len(spread.spatial))
            self._make_room(bounds, CELL_BYTES * bounds.table_cells)
            if self._full:
                self._push(bound, self._begin, structures)
                return
            bounds.fill_all()
            self.counts.boxes += bounds.table_cells * 2
            frontier = Frontier(bounds, self.enough)
            self._bytes += frontier.held_bytes
            energy = frontier.energy
            keys = frontier.of_turns(bounds, turns)
        order = np.argsort(keys, kind="stable")
        ways = Ways(structures, frontier, energy, order, keys[order])
        self._push(max(bound, float(ways.keys[0])), self._take, ways, 0)

    def _bounds(
        self, structures: ChainStructures, spread: ChainSpread, redundant: Any
    ) -> ChainBrancher:
        togo = CostsToGo(spread, structures.tiles, redundant)
        return ChainBrancher(togo, self._powers, self._most)

    def _slowest(self, energy: float) -> float:
        """Cycles from which on no mapping is of interest that spends some energy [nJ] at least."""
        late, spent = self._powers
        least = float(energy**spent)
        if late == 0 or not 0 < least < math.inf or not math.isfinite(self.enough):
            return self._most[0]
        return float(min(self._most[0], (self.enough / least) ** (1 / late)) * (1 + ROUNDING))

    def _push(self, bound: float, step: Callable[..., None], *args: Any) -> None:
        if bound < self.enough:
            heapq.heappush(self._heap, (bound, next(self._numbers), step, args))
        else:
            self.counts.ruled_out += 1

    @property
    def enough(self) -> float:
        """A bound from which on a choice is of no interest."""
        return self.value / (1 + self.gap) * (1 - ROUNDING)

    @property
    def bound(self) -> float:
        """What no mapping goes below, as far as is proven."""
        # with a gap, something below the value may have been ruled out
        lost = self.value / (1 + self.gap) if self.gap else math.inf
        least = min(self._heap[0][0] if self._heap else math.inf, lost)
        return self.value if least >= self.value * (1 - ROUNDING) else least

    def progress(self, seconds: float) -> ProofProgress:
        """How far the proof is after some processor time."""
        left = len(self._heap)
        return ProofProgress(self.value, self.bound, self.counts.boxes, left, seconds, self.mapping)

    def run(self) -> Status:
        """Search until nothing can be better, or until time, memory or boxes end."""
        steps = 0
        while self._heap and self._heap[0][0] < self.enough:
            if time.perf_counter() >= self.deadline:
                return "timeout"
            if self._full:
                return "memory"
            work = PER_STRUCTURE * self.counts.structures + PER_NODE * self._nodes
            if self.counts.boxes + work >= self.most_boxes:
                return "boxes"
            bound, _, step, args = heapq.heappop(self._heap)
            try:
                step(bound, *args)
            except BaseException:
                heapq.heappush(self._heap, (bound, next(self._numbers), step, args))
                raise
            steps += 1
            if steps % 16 == 0:
                self.on_step()
        return settled(self.value, self.bound)

    # -------------------------------------------------------------- ways of spreading units

    def _take(self, bound: float, ways: Ways, place: int) -> None:
        """Bound the next way by the MAC steps that its memories have room for."""
        structures = ways.structures
        picks = structures.ways[ways.order[place]]
        spread, redundant = structures.spread(picks), structures.redundant(picks)
        way = Way(structures, picks, self._bounds(structures, spread, redundant))
        way.bounds.frontier = ways.frontier
        way.bounds.slower_than(self._slowest(ways.energy))
        reach = bound if ways.frontier is None else ways.frontier.reach(way.bounds)
        self._push(max(bound, reach), self._fill, way)
        if place + 1 < len(ways.order):
            self._push(float(ways.keys[place + 1]), self._take, ways, place + 1)

    def _fill(self, bound: float, way: Way) -> None:
        """Bound it by tables of energy, for the outermost tiles that all ways leave."""
        self._make_room(way.bounds, CELL_BYTES * way.bounds.table_cells)
        if self._full:
            self._push(bound, self._fill, way)
            return
        frontier = way.bounds.frontier
        if frontier is not None:
            way.bounds.togo.wanted = frontier.tiles(way.bounds, self.enough)
            if len(way.bounds.togo.wanted) == 0:
                return
        way.bounds.fill()
        self.counts.boxes += way.bounds.table_cells
        self._ways += 1
        root = way.bounds.root()
        choices = self._choices(way, root)
        if len(choices.bounds) == 0:
            return
        way.bounds.togo.wanted = choices.tiles
        if self._ways & (self._ways - 1) == 0 or self._ways % DIVES == 0:
            self._dive(way, root, choices)
        self._push(max(bound, float(choices.bounds[0])), self._fill_ports, way)

    def _fill_ports(self, bound: float, way: Way) -> None:
        """Bound it by tables of ports, and nearer ones of energy."""
        way.bounds.fill_ports()
        self.counts.boxes += way.bounds.table_cells * 3
        self._expand(bound, way, way.bounds.root())

    # -------------------------------------------------------------- memory

    def _recall(self, way: Way) -> None:
        """Work out the tables of a way that were dropped."""
        if not way.bounds.time.turns:
            way.bounds.fill_ports()
            self.counts.boxes += way.bounds.table_cells * 3

    def _make_room(self, mine: ChainBrancher, more: int = 0) -> None:
        """Drop tables of the ways that were looked at longest ago, where memory ends."""
        self._held.pop(mine, None)
        self._held[mine] = mine.held_bytes + more
        used = self._bytes + sum(self._held.values())
        for bounds in list(self._held):
            if used <= self.max_memory or bounds is mine:
                break
            used -= self._held.pop(bounds)
            bounds.forget()
        self._full = used > self.max_memory

    # -------------------------------------------------------------- tiles

    def _choices(self, way: Way, node: ChainNode) -> ChainChoices:
        self._recall(way)
        before = way.bounds.bounded
        found = way.bounds.children(node, self.enough)
        self.counts.boxes += way.bounds.bounded - before
        self._nodes += 1
        self._make_room(way.bounds)
        return found

    def _dive(self, way: Way, node: ChainNode, choices: ChainChoices) -> None:
        """Evaluate what the best choices lead to, for a value."""
        while len(choices.bounds):
            if node.depth + 1 == way.structures.facts.depth:
                for actions in islice(self._orders(Open(way, node, choices, 0, [])), 1):
                    self.better(actions[0])
                return
            kind = way.bounds.classes[choices.classes[0]]
            node = way.bounds.child(node, kind, choices.tiles[0])
            choices = self._choices(way, node)

    def _expand(self, bound: float, way: Way, node: ChainNode) -> None:
        choices = self._choices(way, node)
        if len(choices.bounds):
            some = Open(way, node, choices, 0, [])
            self._bytes += some.bytes
            self._push(max(bound, float(choices.bounds[0])), self._next, some)

    def _next(self, bound: float, some: Open) -> None:
        """Look at the best of some choices, and leave the others."""
        way, node, choices, place, ready = some
        if node.depth + 1 == way.structures.facts.depth:
            place = self._evaluate(some)
        else:
            if not ready:
                self._recall(way)
                next_ = slice(place, place + min(place + 1, NODES))
                kinds = [way.bounds.classes[number] for number in choices.classes[next_]]
                ready = way.bounds.nodes(node, kinds, choices.tiles[next_])
            self._expand(bound, way, ready[0])
            place, ready = place + 1, ready[1:]
        if place < len(choices.bounds):
            rest = some._replace(place=place, ready=ready)
            self._push(max(bound, float(choices.bounds[place])), self._next, rest)
        else:
            self._bytes -= some.bytes

    def _evaluate(self, some: Open) -> int:
        """Evaluate the next structures, more of them each time; returns the place behind them.

        One mapping of each comes first: where its value is the bound, no other order is better.
        """
        choices, first = some.choices, some.place
        last = min(first + min(first + 1, STRUCTURES), len(choices.bounds))
        last = first + max(1, int((choices.bounds[first:last] < self.enough).sum()))
        orders = ((place, self._orders(some._replace(place=place))) for place in range(first, last))
        begun = [(place, batches, next(batches, None)) for place, batches in orders]
        found = [(place, batches, one) for place, batches, one in begun if one is not None]
        self.counts.structures += last - first
        if not found:  # the space narrows loop orders
            return last
        values = self.look(np.concatenate([one for _, _, one in found]))
        waiting: list[IntArray] = []
        for (place, batches, _), value in zip(found, values, strict=True):
            if value <= choices.bounds[place] * (1 + ROUNDING):
                continue
            for actions in batches:
                if choices.bounds[place] >= self.enough:
                    break
                waiting.append(actions)
                if sum(map(len, waiting)) >= MAPPINGS:
                    self.look(np.concatenate(waiting))
                    waiting = []
                    if time.perf_counter() >= self.deadline:
                        return place
        if waiting:
            self.look(np.concatenate(waiting))
        return last

    def _orders(self, some: Open) -> Iterator[IntArray]:
        """Actions with every loop order of a structure that differs: one, then many at a time."""
        way, node, choices, place, _ = some
        bounds = way.bounds
        kinds = (*node.classes, bounds.classes[choices.classes[place]])
        tiles = (*node.tiles, tuple(choices.tiles[place]))
        return _batches(
            *way.structures.actions(way.picks, bounds.spread, tiles, kinds, bounds.halos)
        )

    def better(self, action: IntArray) -> None:
        """Better a mapping one choice at a time, and remember it if it is the best."""
        action, _, looked = improved(self.problem, action)
        self.counts.evaluated += looked
        self.look(action[None])

    def look(self, actions: IntArray) -> FloatArray:
        """Evaluate mappings and remember the best."""
        found = self.problem.look(actions)
        self.counts.evaluated += len(actions)
        row = int(np.argmin(found.values))
        if found.values[row] < self.value:
            self.value, self.mapping = float(found.values[row]), found.mappings[row]
        return found.values


def _batches(action: IntArray, columns: list[int], orders: list[list[int]]) -> Iterator[IntArray]:
    combined = product(*orders)
    size = 1
    while part := list(islice(combined, size)):
        actions = np.repeat(action[None], len(part), axis=0)
        actions[:, columns] = part
        yield actions
        size = MAPPINGS
