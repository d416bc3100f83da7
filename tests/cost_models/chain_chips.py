"""Random chips of any depth, and random mappings of them as arrays."""

import numpy as np

from cost_models import Axis, Chain, ChainLevel, Fanout, Widths, Wires
from cost_models.chain.batch import ChainBatch, Slot
from layers import DIMS, TENSORS, Layer

HELD = ((True, True, True), (True, False, True), (False, True, True), (True, True, False))


def random_chip(rng: np.random.Generator, memories: int) -> Chain:
    """A chip with some memories, fan-outs of up to two axes, and a level that holds nothing."""
    levels = [ChainLevel(name="DRAM", read_bw=64, write_bw=48, kind="LPDDR4")]
    for place in range(memories):
        holds = (True, True, True) if place == 0 else HELD[rng.integers(len(HELD))]
        room = int(2 ** rng.integers(10, 17)) // (4**place)
        read = int(rng.choice([32, 64, 256]))
        own = (None, max(room // 2, 1), None) if holds[1] and rng.random() < 0.3 else (None,) * 3
        fanout, price = _fanout(rng), float(rng.choice([0.0, 0.1]))
        levels.append(
            ChainLevel(
                name=f"M{place}",
                holds=holds,
                shared_bytes=None if rng.random() < 0.2 else max(room, 1),
                tensor_bytes=own,
                double_buffer=(bool(rng.random() < 0.5), True, False),
                read_bw=read,
                write_bw=None if place == 1 else 64,
                shared_bw=place == 1,
                fanout=fanout,
                network=Wires(price, 4 * price) if fanout.axes else Wires(),
            )
        )
        if place == 0 and rng.random() < 0.5:
            axis = Axis(int(rng.integers(2, 5)))
            levels.append(ChainLevel(name="Rows", holds=(False,) * 3, fanout=Fanout((axis,))))
    return Chain(tuple(levels), widths=Widths(8, 8, 16, 24), node_nm=28, clock_mhz=500)


def _fanout(rng: np.random.Generator) -> Fanout:
    axes = [
        Axis(
            int(rng.integers(1, 9)),
            "".join(rng.permutation(list(DIMS))[: rng.integers(1, 9)]),
            bool(rng.random() < 0.7),
            bool(rng.random() < 0.7),
        )
        for _ in range(rng.integers(0, 3))
    ]
    return Fanout(tuple(axes))


def random_batch(
    rng: np.random.Generator, chip: Chain, layer: Layer, size: int, uneven: bool = False
) -> ChainBatch:
    """Mappings of a chip; uneven ones have a memory as three entries, a tensor in each."""
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
    tiles = np.zeros((size, len(levels), len(DIMS)), np.int32)
    tile = np.broadcast_to(np.array(layer.extents), (size, len(DIMS)))
    for e, level in enumerate(levels):
        steps = np.exp(rng.uniform(0, np.log(np.maximum(tile, 1) + 1))).astype(np.int64)
        tile = -(-tile // np.maximum(steps, 1))
        tiles[:, e] = tile if level.is_memory else 0
    orders = np.argsort(rng.random(tiles.shape), axis=2).astype(np.int8)
    dims = np.full((size, len(slots)), -1, np.int8)
    units = np.ones((size, len(slots)), np.int32)
    for place, slot in enumerate(slots):
        axis = levels[slot.entry].fanout.axes[slot.axis]
        dims[:, place] = [DIMS.index(d) for d in rng.choice(list(axis.dims), size)]
        units[:, place] = rng.integers(1, axis.units + 1, size)
        for other in range(place):
            if slots[other].entry == slot.entry:  # one dimension only once a level
                same = dims[:, other] == dims[:, place]
                dims[same, place], units[same, place] = -1, 1
    keeps = None
    if uneven:
        keeps = np.zeros((size, len(levels), len(TENSORS)), np.bool_)
        for e, level in enumerate(levels):
            keeps[:, e] = level.holds
        for row in range(size):
            keeps[row, :3] = np.eye(3, dtype=np.bool_)[rng.permutation(3)]
    return ChainBatch(tuple(x.name for x in levels), slots, tiles, orders, dims, units, keeps)
