"""Why a mapping is infeasible under the exact model, and concrete changes that would satisfy it."""

from __future__ import annotations

import math
from collections.abc import Callable

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.infeasible import Infeasible, ReasonCode
from layers import COUPLED, DIMS, Layer, footprint

MAX_MACS = 1 << 59
"""Layers from this many MACs on are refused: every count is at most a few times the MACs, so that
below it no 64-bit sum can wrap."""
MAX_EXTENT = (1 << 31) - 1
"""Largest tile, cluster size or PE count that a batch can hold; no extent is larger."""

Tiles = tuple[int, ...]


def too_large(layer: Layer) -> Infeasible | None:
    """The reason why a layer's counts could leave 64 bits, or None."""
    if layer.macs >= MAX_MACS:
        return Infeasible(
            ReasonCode.TOO_LARGE,
            f"layer {layer.name!r}: {layer.macs} MACs; counts stay exact below {MAX_MACS}",
            layer.macs,
            MAX_MACS,
            "MACs",
            (f"Split the layer into at least {layer.macs // MAX_MACS + 1} equal parts",),
        )
    return None


def footprint_bytes(layer: Layer, tiles: Tiles, buffers: int) -> int:
    """Bytes a buffer needs for a tile of the layer's box, in output coordinates."""
    held = dict(zip(DIMS, tiles, strict=True))
    plain, filters, outputs = (
        math.prod(held[d] for d in dims if d not in window)
        for dims, window in zip(COUPLED[layer.kind], ("YXRS", "", ""), strict=True)
    )
    rows = footprint(held["Y"], held["R"], layer.stride_y, layer.dilation_y)
    columns = footprint(held["X"], held["S"], layer.stride_x, layer.dilation_x)
    return buffers * (plain * rows * columns + filters + outputs)


def _largest(fits: Callable[[int], bool], below: int) -> int:
    """The largest tile under `below` that fits (a smaller tile always fits as well), or 0."""
    low, high = 0, below
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def tile_levers(tiles: Tiles, need: Callable[[Tiles], int], limit: int, name: str) -> list[str]:
    """Changes of tiles that bring `need` down to `limit`.

    Args:
        tiles: The tiles, in the order of `DIMS`.
        need: Bytes that given tiles need.
        limit: Bytes there are.
        name: What the tiles are called.

    Returns:
        One change a dimension that is enough by itself; where none is, one change of several.
    """
    levers = []
    for d, tile in enumerate(tiles):
        # mypy infers no type for a lambda with a default.
        smaller = _largest(lambda t, d=d: need(_with(tiles, d, t)) <= limit, tile)  # type: ignore[misc]
        if smaller > 0:
            levers.append(f"Reduce {name} tile {DIMS[d]} {tile} -> {smaller}")
    if levers:
        return levers
    changed = tiles
    while need(changed) > limit:
        d = max(range(len(DIMS)), key=lambda d: changed[d])
        if changed[d] == 1:
            return []
        # B023: the lambda is called here, before d and changed are set anew.
        enough = _largest(lambda t: need(_with(changed, d, t)) <= limit, changed[d])  # noqa: B023
        changed = _with(changed, d, max(enough, changed[d] // 2) if enough else changed[d] // 2)
    pairs = enumerate(zip(tiles, changed, strict=True))
    parts = [f"{DIMS[d]} {a} -> {b}" for d, (a, b) in pairs if a != b]
    return [f"Reduce {name} tiles {', '.join(parts)}"]


def _with(tiles: Tiles, d: int, tile: int) -> Tiles:
    return (*tiles[:d], tile, *tiles[d + 1 :])


def _raised(what: str, demand: int) -> str:
    if demand > UNLIMITED_BW and what.startswith("--l"):
        return f"leave {what[2:].replace('-', '_')} unlimited (null)"
    return f"raise {what} to {demand}"


def explain(
    code: ReasonCode,
    layer: Layer,
    accelerator: Accelerator,
    tiles: tuple[Tiles, Tiles],
    outer_dim: int,
    cluster_size: int,
    num_pes: int,
    buffers: int,
) -> Infeasible:
    """The report of a mapping that breaks a limit.

    Args:
        code: The limit that the kernel found broken.
        layer: The layer.
        accelerator: The accelerator.
        tiles: Tiles of a cluster and of a PE, clipped to the extents.
        outer_dim: The dimension spread over clusters.
        cluster_size: PEs of a cluster.
        num_pes: PEs in all.
        buffers: Copies of each tile that a buffer holds.
    """
    where = f"layer {layer.name!r}"
    if code is ReasonCode.PE_COUNT:
        chosen = "--num-pes" if num_pes == accelerator.num_pes else "the mapping's num_pes"
        return Infeasible(
            code,
            f"{where}: a cluster needs {cluster_size} PEs, limit {num_pes} PEs "
            f"(+{cluster_size - num_pes})",
            cluster_size,
            num_pes,
            "PEs",
            (f"Reduce the cluster size {cluster_size} -> {num_pes}", _raised(chosen, cluster_size)),
        )
    outer, inner = tiles
    if code is ReasonCode.L1_CAPACITY:
        name, option, limit, held = "L1", "--l1-bytes", accelerator.l1_bytes, inner

        def need(t: Tiles) -> int:
            return footprint_bytes(layer, t, buffers)
    else:
        name, option, limit, held = "L2", "--l2-bytes", accelerator.l2_bytes, outer
        clusters = num_pes // cluster_size

        def need(t: Tiles) -> int:
            span = min(t[outer_dim] * clusters, layer.extents[outer_dim])
            return footprint_bytes(layer, _with(t, outer_dim, span), buffers)

    assert limit is not None
    demand = need(held)
    level = "inner" if name == "L1" else "outer"
    levers = [*tile_levers(held, need, limit, level), _raised(option, demand)]
    if buffers == 2 and -(-demand // 2) <= limit:
        levers.append("load the model with double_buffer=False")
    return Infeasible(
        code,
        f"{where}: {name} needs {demand} B, limit {limit} B (+{demand - limit} B)",
        demand,
        limit,
        "B",
        tuple(levers),
    )
