"""Why a mapping does not fit a chain, and concrete changes with which it would."""

from __future__ import annotations

from cost_models.buffers import BYTE
from cost_models.chain.chip import Chain
from cost_models.exact.limits import (
    Room,
    Tiles,
    no_room,
    rooms_of,
    tile_bits,
    tile_elements,
    tile_levers,
)
from cost_models.exact.nest import Nest, NestLevel
from cost_models.infeasible import Infeasible, ReasonCode
from layers import Layer


def over_capacity(
    layer: Layer, chip: Chain, nest: Nest, names: tuple[str, ...], box: bool
) -> Infeasible | None:
    """The report of the innermost memory that tiles do not fit; None where all fit.

    Args:
        layer: The layer.
        chip: The chip.
        nest: The nest of the mapping.
        names: The level of each entry of the nest.
        box: Whether input tiles count as boxes.
    """
    for name in reversed(dict.fromkeys(names)):
        entries = [level for level, other in zip(nest.levels, names, strict=True) if other == name]
        buffer = chip.levels[chip.position(name)].buffer
        for room in rooms_of(buffer, buffer.holds):
            needs = [_needs(layer, nest, entry, entry.tile, room, box) for entry in entries]
            if sum(needs) > room.bits:
                return _report(layer, nest, name, entries, needs, room, box)
    return None


def has_room(layer: Layer, chip: Chain, name: str, tiles: Tiles, doubled: bool = True) -> bool:
    """Whether a memory has room for the tiles of a layer's tensors that it holds.

    Args:
        layer: The layer.
        chip: The chip.
        name: The memory.
        tiles: What one instance works on, by dimension.
        doubled: Whether it holds twice what the chip can hold twice.
    """
    buffer = chip.levels[chip.position(name)].buffer
    copies = buffer.copies if doubled else (1, 1, 1)
    bits = tile_bits(tile_elements(layer, tiles), chip.widths, copies)
    return all(room.taken(bits) <= room.bits for room in rooms_of(buffer, buffer.holds))


def _copies(nest: Nest, entry: NestLevel) -> list[int]:
    """How often an entry's memory holds each tensor's tile; 0 where it does not."""
    copies = [times * kept for times, kept in zip(entry.copies, entry.keeps, strict=True)]
    if entry is nest.levels[0]:  # what is whole there has its room apart
        copies = [n * (not here) for n, here in zip(copies, nest.resident, strict=True)]
    return copies


def _needs(layer: Layer, nest: Nest, entry: NestLevel, tiles: Tiles, room: Room, box: bool) -> int:
    bits = tile_bits(tile_elements(layer, tiles, box), nest.widths, _copies(nest, entry))
    return room.taken(bits)


def _report(
    layer: Layer,
    nest: Nest,
    name: str,
    entries: list[NestLevel],
    needs: list[int],
    room: Room,
    box: bool,
) -> Infeasible:
    largest = max(range(len(entries)), key=lambda i: needs[i])
    entry, others = entries[largest], sum(needs) - needs[largest]
    levers = []
    if others < room.bits:
        levers = tile_levers(
            entry.tile,
            lambda tiles: others + _needs(layer, nest, entry, tiles, room, box),
            room.bits,
            name,
        )
    levers.append(f"raise {room.path} to {-(-sum(needs) // BYTE)}")
    held = [max(copies) for copies in zip(*(_copies(nest, one) for one in entries), strict=True)]
    room = room._replace(tensors=tuple(t for t in room.tensors if held[t]))
    halved = any(held[t] > 1 for t in room.tensors)
    what = f"layer {layer.name!r}: {name}"
    return no_room(ReasonCode.CAPACITY, what, sum(needs), room, levers, halved)
