"""Random mappings of one layer, as arrays."""

import numpy as np

from cost_models import MappingBatch
from layers import Layer


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
