"""Random chips of any depth, and random mappings of them, one by one and as arrays."""

import numpy as np

from cost_models import Axis, Chain, ChainLevel, ChainMapping, Fanout, Widths, Wires
from cost_models.chain.batch import ChainBatch, Slot
from layers import DIMS, TENSORS, Layer


def random_chip(rng: np.random.Generator, memories: int, limited: bool = False) -> Chain:
    """A chip of some memories and up to two levels that hold nothing, with up to two axes each.

    Args:
        rng: Draws.
        memories: How many, besides DRAM.
        limited: Memories have capacities, the first holds all tensors, and axes have up to eight
            units; else every mapping fits, and is soon executed.
    """
    holds = rng.random((memories, len(TENSORS))) < 0.8
    holds[~holds.any(axis=1)] = True
    if limited:
        holds[0] = True
    holds[-1] |= ~holds.any(axis=0)
    bare = rng.integers(0, memories + 1, rng.integers(0, 3)).tolist()
    levels = [ChainLevel(name="DRAM", kind="LPDDR4", read_bw=64, write_bw=48)]
    for place in range(memories + 1):
        for number in range(bare.count(place)):
            fanout = _fanout(rng, 1, limited)
            levels.append(
                ChainLevel(name=f"Rows{place}{number}", holds=(False,) * 3, fanout=fanout)
            )
        if place < memories:
            levels.append(_memory(rng, place, tuple(holds[place].tolist()), limited))
    widths = Widths(8, 8, 16, 24) if rng.random() < 0.5 else Widths()
    return Chain(tuple(levels), widths=widths, node_nm=28, clock_mhz=500)


def _memory(
    rng: np.random.Generator, place: int, holds: tuple[bool, bool, bool], limited: bool
) -> ChainLevel:
    room = max(int(2 ** rng.integers(10, 17)) // 4**place, 1)
    own = max(room // 2, 1) if limited and holds[1] and rng.random() < 0.3 else None
    shared = place == 1 and rng.random() < 0.5
    fanout, price = _fanout(rng, 0, limited), float(rng.choice([0.0, 0.1]))
    return ChainLevel(
        name=f"M{place}",
        holds=holds,
        shared_bytes=room if limited and rng.random() < 0.8 else None,
        tensor_bytes=(None, own, None),
        double_buffer=(bool(rng.random() < 0.5), True, False),
        read_bw=int(rng.choice([32, 64, 256])) if shared or rng.random() < 0.7 else None,
        write_bw=64 if not shared and rng.random() < 0.7 else None,
        shared_bw=shared,
        fanout=fanout,
        network=Wires(price, 4 * price) if fanout.axes else Wires(),
    )


def _fanout(rng: np.random.Generator, least: int, limited: bool) -> Fanout:
    axes = [
        Axis(
            int(rng.integers(1, 9 if limited else 4)),
            "".join(rng.permutation(list(DIMS))[: rng.integers(1, 9)]),
            bool(rng.random() < 0.8),
            bool(rng.random() < 0.8),
        )
        for _ in range(rng.integers(least, 3))
    ]
    return Fanout(tuple(axes))


def random_mapping(rng: np.random.Generator, chip: Chain, layer: Layer) -> ChainMapping:
    """One mapping of those that `random_batch` draws."""
    return random_batch(rng, chip, layer, 1)[0]


def random_batch(
    rng: np.random.Generator, chip: Chain, layer: Layer, size: int, uneven: bool = False
) -> ChainBatch:
    """Mappings of a chip: any tiles, or a share of those around, any orders, axes in part or whole.

    Uneven ones have the outermost memory as three entries, a tensor in each.
    """
    levels = [
        level
        for level in chip.inner
        for _ in range(3 if uneven and level is chip.memories[0] else 1)
    ]
    last = {level.name: e for e, level in enumerate(levels)}
    slots = tuple(
        Slot(last[level.name], axis)
        for level in chip.inner
        for axis in range(len(level.fanout.axes))
    )
    dims = np.full((size, len(slots)), -1, np.int8)
    units = np.ones((size, len(slots)), np.int32)
    sharing = np.ones((size, len(levels), len(DIMS)), np.int64)
    for place, slot in enumerate(slots):
        axis = levels[slot.entry].fanout.axes[slot.axis]
        dims[:, place] = [DIMS.index(d) for d in rng.choice(list(axis.dims), size)]
        units[:, place] = rng.integers(1, axis.units + 1, size)
        for other in range(place):
            if slots[other].entry == slot.entry:  # one dimension only once a level
                same = dims[:, other] == dims[:, place]
                dims[same, place], units[same, place] = -1, 1
        sharing[np.arange(size), slot.entry, dims[:, place]] *= units[:, place]
    tiles = np.zeros((size, len(levels), len(DIMS)), np.int32)
    tile = np.broadcast_to(np.array(layer.extents), (size, len(DIMS)))
    for e in range(len(levels)):
        drawn = np.ceil(tile ** rng.random(tile.shape)).astype(np.int64)
        tiles[:, e] = np.where(rng.random(tile.shape) < 0.2, 0, drawn)
        tile = np.where(tiles[:, e] == 0, -(-tile // sharing[:, e]), drawn)
    orders = np.argsort(rng.random(tiles.shape), axis=2).astype(np.int8)
    keeps = None
    if uneven:
        keeps = np.tile(np.array([level.holds for level in levels]), (size, 1, 1))
        first = levels.index(chip.memories[0])
        for row in range(size):
            keeps[row, first : first + 3] = np.eye(3, dtype=np.bool_)[rng.permutation(3)]
    return ChainBatch(tuple(x.name for x in levels), slots, tiles, orders, dims, units, keeps)
