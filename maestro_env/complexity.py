"""How large the space of mappings is: equation 1 of the MARL mapping paper and its Table II."""

from __future__ import annotations

import math
from dataclasses import dataclass

from layers import Layer, LayerKind

TILE_SIZES = 10
"""Tile sizes to choose from in each dimension, as in Table II."""
PARALLEL_LEVELS = 3
"""Levels of parallelism, as in Table II."""
MEMORY_LEVELS = (1, 3)
"""Fewest and most memory levels of Table II."""


@dataclass(frozen=True)
class LayerClass:
    """A row of Table II.

    Args:
        name: What kind of layer.
        dims: Its dimensions, as the table names them.
        loops: How many loops its nest has (H x W and R x S are two each).
    """

    name: str
    dims: str
    loops: int


LAYER_CLASSES = {
    "linear": LayerClass("linear", "I, O, B", 3),
    "attention": LayerClass("attention", "T, C, H, N, B", 5),
    "convolution": LayerClass("convolution", "H x W, C, R x S, K, B", 7),
}


def mapping_space_size(
    loops: int, tile_sizes: int, parallel_levels: int, memory_levels: int
) -> int:
    """Size of the mapping space of a loop nest: ``(n^d * d! * d!/(d-k)!)^l``.

    ``n^d`` tile sizes, ``d!`` loop orders and ``d!/(d-k)!`` ways to give k levels of parallelism
    a dimension each, at every one of l memory levels (MARL for DNN mapping, equation 1).

    Args:
        loops: Loops of the nest, d.
        tile_sizes: Tile sizes a dimension can take, n.
        parallel_levels: Levels of parallelism, k; at most `loops`.
        memory_levels: Memory levels, l.

    Returns:
        The exact number of mappings.

    Raises:
        ValueError: An argument is below 1, or there are more levels of parallelism than loops.
    """
    for name, value in (
        ("loops", loops),
        ("tile_sizes", tile_sizes),
        ("parallel_levels", parallel_levels),
        ("memory_levels", memory_levels),
    ):
        if value < 1:
            raise ValueError(f"{name}: got {value}, expected at least 1")
    if parallel_levels > loops:
        raise ValueError(
            f"parallel_levels: got {parallel_levels}, expected at most the {loops} loops of the "
            "nest (each level of parallelism takes a loop of its own)"
        )
    choices: int = tile_sizes**loops * math.factorial(loops) * math.perm(loops, parallel_levels)
    return int(choices**memory_levels)


def layer_class(layer: Layer) -> LayerClass:
    """The row of Table II that a layer belongs to.

    A single matrix product is linear; one that repeats (once a head) is attention; everything
    else is a convolution.
    """
    if layer.kind is LayerKind.GEMM:
        return LAYER_CLASSES["attention" if layer.N > 1 else "linear"]
    return LAYER_CLASSES["convolution"]


def table_sizes(
    tile_sizes: int = TILE_SIZES, parallel_levels: int = PARALLEL_LEVELS
) -> dict[str, tuple[int, int]]:
    """Smallest and largest space of each layer class (Table II): one to three memory levels.

    Returns:
        ``{"linear": (fewest, most), ...}`` as exact integers.
    """
    low, high = MEMORY_LEVELS
    return {
        name: (
            mapping_space_size(row.loops, tile_sizes, parallel_levels, low),
            mapping_space_size(row.loops, tile_sizes, parallel_levels, high),
        )
        for name, row in LAYER_CLASSES.items()
    }


def order_of_magnitude(size: int) -> int:
    """The power of ten below a size, exactly: 12,345 gives 4.

    Raises:
        ValueError: The size is below 1.
    """
    if size < 1:
        raise ValueError(f"size: got {size}, expected at least 1")
    return len(str(size)) - 1
