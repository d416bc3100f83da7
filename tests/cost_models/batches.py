"""Random mappings of one layer, as arrays."""

import numpy as np

from cost_models import MappingBatch
from layers import Layer


def random_batch(layer: Layer, num_pes: int, size: int, rng: np.random.Generator) -> MappingBatch:
    """Mappings with any tiles (small ones as often as large ones), orders and spatial dims."""
    extents = np.array(layer.extents[:6])
    outer = np.ceil(extents ** rng.random((size, 6))).astype(np.int64)
    # half of the tiles are balanced, as a map space has them: ceil(n / ceil(n / t))
    balanced = -(-extents // -(-extents // outer))
    outer = np.where(rng.random((size, 6)) < 0.5, balanced, outer)
    inner = np.ceil(outer ** rng.random((size, 6))).astype(np.int64)
    sizes = np.floor((num_pes + 0.999) ** rng.random(size)).astype(np.int64)
    return MappingBatch(
        orders=rng.permuted(np.tile(np.arange(6), (size, 2, 1)), axis=2),
        parallel=rng.integers(0, 6, (size, 2)),
        tiles=np.stack([outer, inner], axis=1),
        cluster_size=sizes,
    )


def whole_filter_batch(
    layer: Layer, size: int, seed: int, most_pes: int = 19, above: bool = False
) -> MappingBatch:
    """Mappings that every model takes: whole filters, and no parallel dimension of one element.

    With `above`, tiles may be larger than what they tile, and any dimension may be parallel.
    """
    rng = np.random.default_rng(seed)
    extents = np.array(layer.extents[:6])
    limit = 3 * extents + 2 if above else extents
    outer = rng.integers(1, limit + 1, (size, 6))
    inner = rng.integers(1, (limit if above else outer) + 1, (size, 6))
    for tiles in (outer, inner):
        tiles[:, 4:] = extents[4:]
    return MappingBatch(
        orders=rng.permuted(np.tile(np.arange(6), (size, 2, 1)), axis=2),
        parallel=rng.choice([d for d in range(4) if above or extents[d] > 1], (size, 2)),
        tiles=np.stack([outer, inner], axis=1),
        cluster_size=rng.integers(1, most_pes + 1, size),
    )
