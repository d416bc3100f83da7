"""The optimum of a network whose tensors may stay in L2, with a lower bound.

What layers cost at least and at most gives two schedules. Layers on the one that may be cheapest
are proven where they are and what they have room for, until it is known to cost what it may.

Latency and energy add, so each is one sum. The energy-delay product of two sums is least at a
corner of their convex hull, because the product is quasi-concave there; a corner is where energy +
price * latency is least, for some price of a cycle. Each price gives a line that no network is
below; the next price is that of the corner of these lines with the least product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cost_models import Chain, Moved, pass_cost
from layers import GraphNode, Layer, NetworkGraph, NodeKind
from mapper.staying.rooms import TensorRoom, home_of, rooms_of
from mapper.staying.shape_facts import CostLine, KnownMapping, Resident, ShapeFacts, SumWeights
from mapper.staying.stay_proof import BOTH, StayProof, StaySetting
from mapper.staying.stay_schedule import (
    NO_GROUPS,
    Groups,
    Stays,
    StaySchedule,
    schedule,
    taken_bits,
)

if TYPE_CHECKING:
    from baselines import StructureSpace

ENERGY, LATENCY = SumWeights(1.0, 0.0), SumWeights(0.0, 1.0)
MOST_ROOMS = 12
"""Rooms of a shape that are proven; others are rounded to them, down for the answer, up for the
bound."""
MOST_PRICES = 24
CLOSE = 1e-9
RunProofs = Callable[[Sequence[StayProof]], Sequence[Any]]
"""Does proofs and gives their results, in order; None for one that was stopped."""


class NetworkStoppedError(Exception):
    """The proofs were stopped before an answer was known."""


class UnmappableError(ValueError):
    """A layer that has no mapping on the chip."""


@dataclass(frozen=True)
class NodeResult:
    """A node in the answer.

    Args:
        node: The node.
        resident: What of a layer is in L2.
        stays: Names of the tensors that are in L2 during it.
        latency: [cycles].
        energy: [nJ].
        dram: Bytes over DRAM's boundary.
        taken: Bytes of L2 that tensors take.
        known: A layer's mapping; None of a node without MACs.
        fused: Of a layer that is fused with others, how, and the mappings of its parts.
    """

    node: GraphNode
    resident: Resident
    stays: tuple[str, ...]
    latency: float
    energy: float
    dram: float
    taken: float
    known: KnownMapping | None
    fused: FusedStep | None = None


class LayerPart(NamedTuple):
    """What is asked of a layer, or of its part in a fused tile.

    Args:
        layer: The layer.
        resident: What of it is in L2.
        room: Bytes of L2 that its tiles may take.
        times: How often it runs.
    """

    layer: Layer
    resident: Resident
    room: float
    times: int = 1


@dataclass(frozen=True)
class FusedStep:
    """A layer in a group that is cut into fused tiles.

    Args:
        group: Number of the group in the answer.
        tile: Rows and columns of the group's output in a fused tile.
        tiles: Number of fused tiles.
        halo: For rows and columns, ``kept`` or ``again``: computed anew.
        filter_stays: Whether its filter stays in L2 from one tile to the next.
        parts: What it computes in fused tiles, and the mapping of each.
    """

    group: int
    tile: tuple[int, int]
    tiles: int
    halo: tuple[str, str]
    filter_stays: bool
    parts: tuple[tuple[LayerPart, KnownMapping], ...]


@dataclass(frozen=True)
class NetworkResult:
    """A network's best schedule.

    Args:
        steps: Its nodes.
        value: Of the objective.
        bound: No schedule, and no mappings, have less.
    """

    steps: tuple[NodeResult, ...]
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the value is above the bound, as a share."""
        above = self.value / self.bound - 1 if self.bound > 0 else math.inf
        return above if above > CLOSE else 0.0

    @property
    def latency(self) -> float:
        """Of all nodes [cycles]."""
        return sum(step.latency for step in self.steps)

    @property
    def energy(self) -> float:
        """Of all nodes [nJ]."""
        return sum(step.energy for step in self.steps)

    @property
    def dram(self) -> float:
        """Bytes over DRAM's boundary."""
        return sum(step.dram for step in self.steps)


@dataclass
class NetworkProblem:
    """A network on a chip.

    Args:
        graph: The network.
        setting: Chip, model and space.
        run: Does proofs.
        counted: Whether nodes without MACs cost what they move in every place; if not, only what
            they move between DRAM and L2.
        gap: The gap at which to stop.
        facts: What is known, by shape.
    """

    graph: NetworkGraph
    setting: StaySetting
    run: RunProofs
    counted: bool = False
    gap: float = 0.0
    facts: dict[Layer, ShapeFacts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import cost_models

        self.rooms: tuple[TensorRoom, ...] = rooms_of(self.graph, self.setting.chip)
        bits = home_of(self.setting.chip).capacity_bits
        self._capacity = math.inf if bits is None else float(bits)
        self._room_of = {name: n for n, room in enumerate(self.rooms) for name in room.tensors}
        self._shape = {
            node.layer: node.layer.renamed("") for node in self.graph.nodes if node.layer
        }
        self._model = cost_models.load("exact", **self.setting.options)
        self._sizes = {node.name: node.elements for node in self.graph.nodes} | {
            name: math.prod(shape) for name, shape in self.graph.sources.items()
        }
        self.learnt = 0
        self._roots: set[tuple[Layer, Resident, SumWeights]] = set()
        self._figures: set[tuple[Layer, Resident]] = set()
        self._made: set[tuple[Layer, Resident, float, SumWeights]] = set()
        self._left: dict[tuple[int, Stays], float] = {}
        self._spaces: dict[Layer, StructureSpace] = {}

    # ------------------------------------------------------------------ a node's cost

    def _here(self, name: str, taken: Stays) -> bool:
        """Whether a tensor is in L2."""
        return self._room_of.get(name, -1) in taken

    def resident(self, node: GraphNode, taken: Stays) -> Resident:
        """What of a layer is in L2."""
        pairs = zip(("input", "filter"), node.inputs, strict=False)
        found = {kind for kind, name in pairs if self._here(name, taken)}
        return frozenset(found | ({"output"} if self._here(node.name, taken) else set()))

    def room(self, place: int, taken: Stays) -> float:
        """Bytes of L2 that a node's tiles may take; inf where nothing else takes any."""
        key = (place, taken)
        if key not in self._left:
            bits = taken_bits(self.rooms, taken, place)
            self._left[key] = (self._capacity - bits) / 8 if bits else math.inf
        return self._left[key]

    def pass_of(self, node: GraphNode, taken: Stays) -> tuple[float, float, float]:
        """Latency [cycles], energy [nJ] and bytes over DRAM's boundary of a node without MACs."""
        here = [self._here(name, taken) for name in (*node.reads, node.name)]
        if not self.counted and not any(here):
            return 0.0, 0.0, 0.0
        moved = {"dram_read": 0, "l2_read": 0, "dram_written": 0, "l2_written": 0}
        for name, inside in zip(node.reads, here, strict=False):
            size = self._sizes[name]
            if node.kind is NodeKind.CONCAT and len(node.reads) == 1:
                size = min(size, node.elements)  # a part
            moved["l2_read" if inside else "dram_read"] += size
        moved["l2_written" if here[-1] else "dram_written"] = node.elements
        if not self.counted:
            moved["l2_read"] = moved["l2_written"] = 0
        latency, energy = pass_cost(self._model, self.setting.chip, Moved(**moved))
        widths = self.setting.chip.widths
        bits = moved["dram_read"] * widths.input + moved["dram_written"] * widths.output
        return float(latency), energy, bits / 8

    def _cost(self, place: int, taken: Stays, weights: SumWeights, upper: bool) -> float:
        node = self.graph.nodes[place]
        if node.layer is None:
            latency, energy, _ = self.pass_of(node, taken)
            return weights.of(energy, latency)
        facts, resident = self._facts(node.layer, taken, node, weights)
        room = self.room(place, taken)
        return (facts.upper if upper else facts.lower)(resident, room, weights)

    def _facts(
        self, layer: Layer, taken: Stays, node: GraphNode, weights: SumWeights
    ) -> tuple[ShapeFacts, Resident]:
        """What is known of a layer."""
        resident = self.resident(node, taken)
        return self.facts_of(self._shape[layer], resident, weights), resident

    def facts_of(self, shape: Layer, resident: Resident, weights: SumWeights) -> ShapeFacts:
        """What is known of a shape; at first what its bounds say of the whole space."""
        facts = self.facts.setdefault(shape, ShapeFacts())
        if (shape, resident, weights) not in self._roots:
            self._roots.add((shape, resident, weights))
            self.learnt += 1
            for line in self._first_lines(shape, resident, weights):
                facts.bound(resident, line)
        return facts

    def _first_lines(self, shape: Layer, resident: Resident, weights: SumWeights) -> list[CostLine]:
        """What the cost model's bounds of its whole space say of a layer."""
        from baselines import StructureSpace

        found = []
        if (shape, resident) not in self._figures:  # whatever is summed
            self._figures.add((shape, resident))
            bounds = self.setting.problem(shape, resident, math.inf, ENERGY).figure_bounds
            for one, name in ((ENERGY, "energy_nj"), (LATENCY, "latency_cycles")):
                found.append(CostLine(math.inf, one, bounds.get(name, 0.0)))
        if isinstance(self.setting.chip, Chain):
            return found
        problem = self.setting.problem(shape, resident, math.inf, weights)
        if shape not in self._spaces:
            self._spaces[shape] = StructureSpace(problem.space)
        space = self._spaces[shape]
        bounds = problem.lower_bounds_of(space.structures)
        if bounds is not None:
            values = [float(bounds.bounds(*roots).min()) for roots in space.roots()]
            found.append(CostLine(math.inf, weights, min(values) * (weights.energy or 1.0)))
        return found

    # ------------------------------------------------------------------ one sum

    def least(self, weights: SumWeights, stay: bool) -> tuple[StaySchedule, float]:
        """The schedule of the least sum, and what no sum is below.

        Args:
            weights: What is summed.
            stay: Whether tensors may stay.

        Raises:
            NetworkStoppedError: Proofs were stopped.
            UnmappableError: A layer has no mapping.
        """
        rooms = self.rooms if stay else ()
        while True:
            learnt = self.learnt
            known = self._schedule(weights, rooms, upper=True)
            may = self._schedule(weights, rooms, upper=False)
            if known.value <= may.bound * (1 + max(self.gap / 2, CLOSE)):
                return known, may.bound
            if self.look(may, weights):
                continue
            asked = self._asked(may, weights)
            if not asked and self.learnt > learnt:
                continue
            if not asked and math.isinf(known.value):
                raise UnmappableError(
                    "a layer has no mapping on this chip; `mapper search --network` without "
                    "--fuse keep says which"
                )
            if not asked:
                return known, may.bound
            for proof, result in zip(asked, self.run(asked), strict=True):
                if result is None:
                    raise NetworkStoppedError
                shape = proof.layer.renamed("")
                self.learnt += 1
                proof.take_in(result, self.facts[shape])
                self._made.add((shape, proof.resident, proof.room, proof.weights))

    def look(self, may: StaySchedule, weights: SumWeights) -> bool:
        """Learn more of what a schedule costs before proofs are asked for; whether there was any.

        Here there is none; networks with fused layers look at tilings.
        """
        return False

    def result(
        self, found: StaySchedule, weights: SumWeights, value: float, bound: float
    ) -> NetworkResult:
        """A schedule with the mappings that are known to be best for it."""
        steps = [self.step(place, taken, weights) for place, taken in enumerate(found.stays)]
        return NetworkResult(tuple(steps), value, bound)

    def floor(self, weights: SumWeights, stay: bool = True) -> float:
        """What no sum is below, by what is known already."""
        return self._schedule(weights, self.rooms if stay else (), upper=False).bound

    def step(self, place: int, taken: Stays, weights: SumWeights) -> NodeResult:
        """A node that runs by itself."""
        node = self.graph.nodes[place]
        names = tuple(name for n in sorted(taken) for name in self.rooms[n].tensors)
        bits = taken_bits(self.rooms, taken, place)
        known = None
        latency, energy, dram = self.pass_of(node, taken)
        if node.layer is not None:
            facts, resident = self._facts(node.layer, taken, node, weights)
            known = facts.best(resident, self.room(place, taken), weights)
            assert known is not None
            latency, energy, dram = known.latency, known.energy, known.dram
        resident = self.resident(node, taken)
        return NodeResult(node, resident, names, latency, energy, dram, bits / 8, known)

    def sum(self, weights: SumWeights, stay: bool = True) -> NetworkResult:
        """The network of the least latency, or energy; see :meth:`least`."""
        found, bound = self.least(weights, stay)
        return self.result(found, weights, found.value, bound)

    def product(self, stay: bool = True) -> NetworkResult:
        """The network of the least product of energy and latency [nJ cycles]."""
        first = [CostLine(math.inf, one, self.floor(one, stay)) for one in (ENERGY, LATENCY)]
        lines, best = first, None
        price = _rounded(first[0].value / first[1].value)
        for _ in range(MOST_PRICES):
            weights = SumWeights(1.0, price)
            found, bound = self.least(weights, stay)
            lines.append(CostLine(math.inf, weights, bound))
            one = self.result(found, weights, 0.0, 0.0)
            if best is None or one.energy * one.latency < best.energy * best.latency:
                best = one
            least, price = _least_corner(lines)
            value = best.energy * best.latency
            price = _rounded(price)
            known = any(line.weights == SumWeights(1.0, price) for line in lines)
            if value <= least * (1 + max(self.gap, CLOSE)) or known:
                break
        assert best is not None
        return NetworkResult(best.steps, value, min(least, value))

    def _schedule(
        self, weights: SumWeights, rooms: Sequence[TensorRoom], upper: bool
    ) -> StaySchedule:
        found: dict[tuple[int, Stays], float] = {}

        def cost(place: int, taken: Stays) -> float:
            key = (place, taken)
            if key not in found:
                found[key] = self._cost(place, taken, weights, upper)
            return found[key]

        everything = frozenset(range(len(self.rooms)))

        def least(place: int) -> float:
            node = self.graph.nodes[place]
            if node.layer is None:
                return 0.0
            facts, most = self._facts(node.layer, everything, node, weights)
            return facts.lower(most, 0.0, weights)  # no less where less is in L2

        groups = self.groups(weights, upper)
        return schedule(len(self.graph.nodes), rooms, self._capacity, cost, least, groups)

    def groups(self, weights: SumWeights, upper: bool) -> Groups:
        """Nodes that may run as one; here there are none."""
        return NO_GROUPS

    def parts(self, may: StaySchedule, weights: SumWeights) -> Iterator[LayerPart]:
        """What a schedule asks of layers that run by themselves."""
        inside = {n for place, length in may.groups for n in range(place, place + length)}
        for place, taken in enumerate(may.stays):
            node = self.graph.nodes[place]
            if node.layer is not None and place not in inside:
                yield LayerPart(node.layer, self.resident(node, taken), self.room(place, taken))

    def _asked(self, may: StaySchedule, weights: SumWeights) -> list[StayProof]:
        """Proofs of the layers on a schedule whose cost is not known well enough, worst first."""
        unsure: dict[tuple[Layer, Resident, float], float] = {}
        first: dict[Layer, Layer] = {}
        for layer, resident, room, times in self.parts(may, weights):
            shape = layer.renamed("")
            facts = self.facts_of(shape, resident, weights)
            low, high = (
                facts.lower(resident, room, weights),
                facts.upper(resident, room, weights),
            )
            rooms = facts.proven.get(resident, set())
            full = len(rooms) >= MOST_ROOMS and room not in rooms
            if high > low * (1 + CLOSE) and not full:
                key = (shape, resident, room)
                first.setdefault(shape, layer)
                unsure[key] = unsure.get(key, 0.0) + times * (high - low)
        spare, aim = self.gap / 8 * may.bound, weights
        if isinstance(self.setting.chip, Chain) and weights.energy and weights.latency:
            aim = BOTH
        asked: list[StayProof] = []
        for key in sorted(unsure, key=lambda k: (unsure[k], k[0].macs, sorted(k[1]), k[2])):
            shape, resident, room = key
            if unsure[key] <= spare:
                spare -= unsure[key]
                continue
            if (*key, aim) not in self._made:
                start = self._start(shape, resident, room, weights)
                asked.append(StayProof(self.setting, first[shape], resident, room, aim, start))
        return asked[::-1]

    def _start(self, shape: Layer, resident: Resident, room: float, weights: SumWeights) -> Any:
        """The best mapping known of a shape, wherever its tensors are."""
        facts = self.facts[shape]
        best = facts.best(resident, room, weights)
        if best is None:
            deep = isinstance(self.setting.chip, Chain)  # a proof says itself whether it fits
            for other in facts.mappings:
                best = best or facts.best(other, math.inf if deep else room, weights)
        return None if best is None else best.mapping


def _rounded(price: float) -> float:
    return float(f"{price:.9g}")


def _least_corner(lines: Sequence[CostLine]) -> tuple[float, float]:
    """The least product of energy and latency above all lines, and the price of a cycle there."""
    ordered = sorted(lines, key=lambda line: line.weights.latency / (line.weights.energy or 1e-300))
    least, price = math.inf, 1.0
    for one in ordered:
        for other in ordered:
            (a, b), (c, d) = one.weights, other.weights
            determinant = a * d - b * c
            if determinant <= 0:
                continue
            energy = (one.value * d - other.value * b) / determinant
            latency = (a * other.value - c * one.value) / determinant
            holds = all(
                line.weights.of(energy, latency) >= line.value * (1 - 1e-12) for line in lines
            )
            if holds and energy * latency < least:
                least, price = energy * latency, energy / latency
    return least, price
