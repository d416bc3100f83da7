"""A mapping as inputs of AccelForge: architecture, workload and mapping.

Source of the format: AccelForge's documentation and examples. A loop's tile shape is what one of
its steps covers; memories hold their tensors below the loops that stand above them.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from cost_models import clock_of
from layers import TENSORS
from mapper.export.chip_stores import OPEN_BYTES, ChipStore, ChipStores
from mapper.export.loop_nest import MAC, LoopNest, Loops
from mapper.export.tagged_yaml import ToolNode, tagged_text

RANK = {"K": "k", "C": "c", "Y": "p", "X": "q", "R": "r", "S": "s", "N": "n", "G": "g"}
"""Our dimensions as rank variables."""
ARRAYS = dict(zip(TENSORS, ("I", "W", "O"), strict=True))
EINSUM = "Layer"
AXES = "XYZ"


class ForgeAction(ToolNode):
    """What a component does: energy [J] and calls a second; a memory's call is of one bit."""

    name: Literal["read", "write", "compute"]
    energy: float = Field(ge=0)
    throughput: float | Literal["inf"]


class KeptTensors(ToolNode):
    """What a memory keeps."""

    keep: str


class ForgeSpatial(ToolNode):
    """A fan-out."""

    name: str
    fanout: int = Field(ge=1)
    may_reuse: str | None = None


class ForgeMemory(ToolNode):
    """A memory; size in bits."""

    tag: ClassVar[str] = "!Memory"
    name: str
    size: int | Literal["inf"]
    leak_power: float = 0
    area: float = 0
    tensors: KeptTensors
    actions: list[ForgeAction]


class ForgeContainer(ToolNode):
    """What everything below it lies in."""

    tag: ClassVar[str] = "!Container"
    name: str
    spatial: list[ForgeSpatial]


class ForgeCompute(ToolNode):
    """The multiply-accumulate unit."""

    tag: ClassVar[str] = "!Compute"
    name: str
    leak_power: float = 0
    area: float = 0
    actions: list[ForgeAction]


class TensorAccess(ToolNode):
    """A tensor of the einsum: the sum of rank variables that index each of its ranks."""

    name: str
    projection: dict[str, str]
    output: Literal[True] | None = None
    bits_per_value: int | None = None


class ForgeEinsum(ToolNode):
    """The layer."""

    name: str
    tensor_accesses: list[TensorAccess]
    renames: dict[str, str]


class ForgeWorkload(ToolNode):
    """The file's part of that name."""

    iteration_space_shape: dict[str, str]
    bits_per_value: dict[str, int]
    einsums: list[ForgeEinsum]


class ForgeStorage(ToolNode):
    """Tensors in a memory."""

    tag: ClassVar[str] = "!Storage"
    component: str
    tensors: list[str]


class ForgeTemporal(ToolNode):
    """A loop in time."""

    tag: ClassVar[str] = "!Temporal"
    rank_variable: str
    tile_shape: int = Field(ge=1)


class ForgeSpatialLoop(ToolNode):
    """A loop in space."""

    tag: ClassVar[str] = "!Spatial"
    rank_variable: str
    tile_shape: int = Field(ge=1)
    component: str
    name: str


class ForgeComputeNode(ToolNode):
    """The innermost node."""

    tag: ClassVar[str] = "!Compute"
    einsum: str
    component: str


def accelforge_files(nest: LoopNest) -> dict[str, str]:
    """``arch.yaml``, ``workload.yaml`` and ``mapping.yaml``."""
    stores = ChipStores(nest)
    return {
        "arch.yaml": tagged_text({"arch": {"nodes": arch_nodes(nest, stores)}}),
        "workload.yaml": tagged_text({"workload": workload(nest)}),
        "mapping.yaml": tagged_text({"mapping": {"nodes": mapping_nodes(nest, stores)}}),
    }


def arch_nodes(nest: LoopNest, stores: ChipStores) -> list[ToolNode]:
    """The memories from DRAM inwards, between them what they feed, and the MACs."""
    nodes: list[ToolNode] = []
    for level in nest.chip.levels:
        nodes += [_memory(nest, store) for store in stores.at(level.name)]
        if nest.fanout(level.name):
            nodes.append(_fanout(nest, level.name))
    mac = ForgeAction(
        name="compute",
        energy=1e-9 * stores.prices.mac_nj,
        throughput=1e6 * clock_of(nest.chip) * nest.chip.lanes,
    )
    return [*nodes, ForgeCompute(name=MAC, actions=[mac])]


def _fanout(nest: LoopNest, level: str) -> ForgeContainer:
    apart = [(spread.axis, tensor) for name, spread, tensor in nest.unshared() if name == level]
    spatial = []
    for place, (name, axis) in enumerate(zip(AXES, nest.fanout(level), strict=False)):
        alone = [ARRAYS[tensor] for at, tensor in apart if at == place]
        reuse = f"~({' | '.join(alone)})" if alone else None
        spatial.append(ForgeSpatial(name=name, fanout=axis.units, may_reuse=reuse))
    return ForgeContainer(name=nest.fed[level], spatial=spatial)


def _memory(nest: LoopNest, store: ChipStore) -> ForgeMemory:
    clock_hz = 1e6 * clock_of(nest.chip)
    kept = " | ".join(ARRAYS[tensor] for tensor in store.tensors)
    return ForgeMemory(
        name=store.name,
        size="inf" if store.size >= OPEN_BYTES else 8 * store.size,
        area=1e-12 * store.area_um2,
        tensors=KeptTensors(keep="All" if len(store.tensors) == len(ARRAYS) else kept),
        actions=[
            ForgeAction(name=name, energy=1e-12 * price / 8, throughput=clock_hz * rate)
            for name, price, rate in (
                ("read", store.read_pj, store.read_bits),
                ("write", store.write_pj, store.write_bits),
            )
        ],
    )


def workload(nest: LoopNest) -> ForgeWorkload:
    """The layer as one einsum."""
    widths = nest.chip.widths
    accesses = [
        TensorAccess(
            name=ARRAYS[tensor],
            projection=_projection(nest, place),
            output=True if tensor == "output" else None,
        )
        for place, tensor in enumerate(TENSORS)
    ]
    return ForgeWorkload(
        iteration_space_shape={
            RANK[dim]: f"0 <= {RANK[dim]} < {extent}" for dim, extent in nest.extents.items()
        },
        bits_per_value={"I": widths.input, "W": widths.filter, "O": widths.psum},
        einsums=[
            ForgeEinsum(
                name=EINSUM,
                tensor_accesses=accesses,
                renames={"input": "I", "weight": "W", "output": "O"},
            )
        ],
    )


def _projection(nest: LoopNest, tensor: int) -> dict[str, str]:
    """Ranks of a tensor; of an input, taps slide along outputs."""
    layer = nest.layer
    window = TENSORS[tensor] == "input"
    depends = nest.depends(tensor)
    found = {}
    for dim in depends:
        if not window or dim not in "YXRS":
            found[RANK[dim].upper()] = RANK[dim]
    for rank, place, taps, stride, dilation in (
        ("H", "Y", "R", layer.stride_y, layer.dilation_y),
        ("W", "X", "S", layer.stride_x, layer.dilation_x),
    ):
        terms = [_term(stride, place)] if window and place in depends else []
        terms += [_term(dilation, taps)] if window and taps in depends else []
        if terms:
            found[rank] = " + ".join(terms)
    return found


def _term(factor: int, dim: str) -> str:
    return RANK[dim] if factor == 1 else f"{factor} * {RANK[dim]}"


def mapping_nodes(nest: LoopNest, stores: ChipStores) -> list[ToolNode]:
    """The loop tree, outermost node first; loops of one step are left out.

    A tensor is fetched anew in every step of the loops above its storage. So units come before
    the loops in time of a memory, and a storage above the last ones that leave its tile as it is.
    """
    rest: dict[str, int] = dict(nest.extents)
    nodes: list[ToolNode] = [ForgeStorage(component="DRAM", tensors=list(ARRAYS.values()))]
    times: list[tuple[str, int]] = []
    for outside, loops in nest.inside:
        for dim, units, axis in loops.spreads:
            rest[dim] //= units or 1
            if units != 1:
                nodes.append(
                    ForgeSpatialLoop(
                        rank_variable=RANK[dim],
                        tile_shape=rest[dim],
                        component=nest.fed[outside.name],
                        name=AXES[axis],
                    )
                )
        times += loops.in_time
        if loops.keeps or loops.level == MAC:
            nodes += _storages(nest, stores, loops, times, rest)
            times = []
    return [*nodes, ForgeComputeNode(einsum=EINSUM, component=MAC)]


def _storages(
    nest: LoopNest,
    stores: ChipStores,
    loops: Loops,
    times: list[tuple[str, int]],
    rest: dict[str, int],
) -> list[ToolNode]:
    """Loops in time, and between them what a level keeps; `rest` is what a step covers so far."""
    places: dict[tuple[int, str], list[str]] = {}
    for store in stores.at(loops.level):
        for tensor in store.tensors:
            if tensor in loops.keeps:
                place = loops_moving(nest, tensor, times)
                places.setdefault((place, store.name), []).append(ARRAYS[tensor])
    nodes: list[ToolNode] = []
    for place in range(len(times) + 1):
        nodes += [
            ForgeStorage(component=name, tensors=tensors)
            for (at, name), tensors in places.items()
            if at == place
        ]
        if place < len(times):
            dim, steps = times[place]
            rest[dim] //= steps
            nodes.append(ForgeTemporal(rank_variable=RANK[dim], tile_shape=rest[dim]))
    return nodes


def loops_moving(nest: LoopNest, tensor: str, times: list[tuple[str, int]]) -> int:
    """Loops in time down to the last one that moves a tensor's tile."""
    depends = nest.depends(TENSORS.index(tensor))
    return max((at for at, (dim, _) in enumerate(times, 1) if dim in depends), default=0)
