"""Tensors that may stay on the chip: the room that each takes, and from when to when.

They stay in the level next to DRAM, the chip's home for tensors: L2, or the first of a list.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cost_models import Accelerator, Buffer, Chain
from layers import KEEPS_SIZE, NetworkGraph, NodeKind

Stays = frozenset[int]
"""Rooms, by their number, that are taken."""
LEAST_ROOM = 1e-3
"""Bytes in place of none: limits are above 0."""


def home_of(chip: Accelerator | Chain) -> Buffer:
    """The level in which tensors may stay."""
    return chip.levels[1].buffer if isinstance(chip, Chain) else chip.buffers()[0]


def room_limit(chip: Accelerator | Chain) -> str:
    """The name of the limit on what tiles take of it."""
    return f"max_bytes.{home_of(chip).name}" if isinstance(chip, Chain) else "max_l2_bytes"


def limits_of(chip: Accelerator | Chain, room: float) -> dict[str, float]:
    """Limits of a problem whose tiles have so many bytes of it; `room` is inf for all of it."""
    return {} if math.isinf(room) else {room_limit(chip): max(room, LEAST_ROOM)}


def can_stay(home: Buffer) -> bool:
    """Whether inputs and outputs are in one capacity there, and filters are not apart in it."""
    return home.sharing[0] and home.sharing[2] and home.sharing[1] == home.holds[1]


@dataclass(frozen=True)
class TensorRoom:
    """A place on the chip for a tensor, and for those that take its place one after another.

    A node that writes as much as it reads, the last one to read it, writes in its place.

    Args:
        tensors: Names of the tensors.
        first: Place of the node that writes the first.
        last: Place of the last node that reads one.
        bits: What it takes.
        first_bits: What it takes while it is written: partial sums may be wider.
    """

    tensors: tuple[str, ...]
    first: int
    last: int
    bits: int
    first_bits: int

    def taken(self, place: int) -> int:
        """Bits that it takes during a node."""
        if not self.first <= place <= self.last:
            return 0
        return self.first_bits if place == self.first else self.bits


def rooms_of(graph: NetworkGraph, chip: Accelerator | Chain) -> tuple[TensorRoom, ...]:
    """The tensors of a network that may stay, whole, in the order in which they are written.

    Those that are wanted in DRAM in the end may not, nor those that there is no room for, nor
    those that are read where a level does not hold them; see :func:`can_stay`.
    """
    home = home_of(chip)
    if not can_stay(home):
        return ()
    filters = {
        node.inputs[1]
        for node in graph.nodes
        if not home.holds[1] and node.kind is NodeKind.MAC and len(node.inputs) > 1
    }
    away = graph.leaving | filters
    places = {node.name: place for place, node in enumerate(graph.nodes)}
    groups: dict[str, list[str]] = {}
    head: dict[str, str] = {}
    for place, node in enumerate(graph.nodes):
        before = _place_taken(graph, places, place, away)
        head[node.name] = node.name if before is None else head[before]
        groups.setdefault(head[node.name], []).append(node.name)
    found = []
    for names in groups.values():
        members = [graph.nodes[places[name]] for name in names]
        if away.intersection(names):
            continue
        width = max(chip.widths.input, chip.widths.output)
        bits = max(node.elements * (node.bits or width) for node in members)
        first = bits
        if members[0].kind is NodeKind.MAC:
            first = max(first, members[0].elements * chip.widths.psum)
        room = TensorRoom(
            tuple(names), places[names[0]], max(max(graph.readers[n]) for n in names), bits, first
        )
        if home.capacity_bits is None or room.first_bits <= home.capacity_bits:
            found.append(room)
    return tuple(found)


def _place_taken(
    graph: NetworkGraph, places: dict[str, int], place: int, away: frozenset[str]
) -> str | None:
    """The tensor whose place a node's takes, or None; those that may not stay are `away`."""
    node = graph.nodes[place]
    if node.kind not in KEEPS_SIZE or node.name in away:
        return None
    for name in node.reads:
        if name not in places or name in away or graph.readers[name][-1] != place:
            continue
        other = graph.nodes[places[name]]
        if other.elements == node.elements and other.bits == node.bits:
            return name
    return None


def taken_bits(rooms: Sequence[TensorRoom], taken: Stays, place: int) -> int:
    """What tensors take during a node, or during the group that begins there [bits].

    A tensor that is read in a group stays until its end.
    """
    return sum(rooms[n].bits if rooms[n].first < place else rooms[n].first_bits for n in taken)
