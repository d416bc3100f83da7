"""A network's best schedule: its nodes with their mappings, and how far it is from the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from layers import GraphNode, Layer
from mapper.staying.shape_facts import KnownMapping, Resident

CLOSE = 1e-9
"""Share below which two values are the same."""


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
        keys: Keys in a tile of scores; 0: all.
    """

    group: int
    tile: tuple[int, int]
    tiles: int
    halo: tuple[str, str]
    filter_stays: bool
    parts: tuple[tuple[LayerPart, KnownMapping], ...]
    keys: int = 0


@dataclass(frozen=True)
class NetworkResult:
    """A network's best schedule.

    Args:
        steps: Its nodes.
        value: Of the objective.
        bound: No schedule, and no mappings, have less.
        prices: Of a cycle [nJ], whose sums bound a product.
    """

    steps: tuple[NodeResult, ...]
    value: float
    bound: float
    prices: tuple[float, ...] = ()

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

    def totals(self) -> dict[str, float]:
        """All figures of the whole, and what is proven, by name."""
        return {
            "latency_cycles": self.latency,
            "energy_nj": self.energy,
            "edp": self.latency * self.energy,
            "dram_bytes": self.dram,
            "value": self.value,
            "bound": self.bound,
            "gap": self.gap,
        }
