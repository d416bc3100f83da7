"""A mapping as inputs of AccelForge: architecture, workload and mapping.

Source of the format: AccelForge's documentation and examples. A loop's tile shape is what one of
its steps covers; memories hold their tensors below the loops that stand above them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from cost_models import clock_of
from layers import TENSORS
from mapper.export.chip_stores import OPEN_BYTES, ChipStore, prices_of, stores_of
from mapper.export.loop_factors import LoopFactors
from mapper.export.tagged_yaml import ToolNode, tagged_text

RANK = {"K": "k", "C": "c", "Y": "p", "X": "q", "R": "r", "S": "s", "N": "n", "G": "g"}
"""Our dimensions as rank variables."""
ARRAYS = dict(zip(TENSORS, ("I", "W", "O"), strict=True))
EINSUM = "Layer"


class ForgeAction(ToolNode):
    """What a component does: energy [J] and calls a second, for a value of an input's width."""

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


def accelforge_files(nest: LoopFactors) -> dict[str, str]:
    """``arch.yaml``, ``workload.yaml`` and ``mapping.yaml``."""
    return {
        "arch.yaml": tagged_text({"arch": {"nodes": arch_nodes(nest)}}),
        "workload.yaml": tagged_text({"workload": workload(nest)}),
        "mapping.yaml": tagged_text({"mapping": {"nodes": mapping_nodes(nest)}}),
    }


def arch_nodes(nest: LoopFactors) -> list[ToolNode]:
    """DRAM, L2, clusters, PEs with their L1, and MACs."""
    stores = stores_of(nest)
    clock_hz = 1e6 * clock_of(nest.chip)

    def memories(level: str) -> list[ToolNode]:
        return [_memory(nest, s, clock_hz) for s in stores if s.level == level]

    mac = ForgeAction(
        name="compute",
        energy=1e-9 * prices_of(nest).mac_nj,
        throughput=clock_hz * nest.chip.simd_lanes,
    )
    return [
        *memories("DRAM"),
        *memories("L2"),
        _fanout("Cluster", nest.clusters),
        _fanout("PE", nest.mapping.cluster_size),
        *memories("L1"),
        ForgeCompute(name="MAC", actions=[mac]),
    ]


def _fanout(name: str, units: int) -> ForgeContainer:
    return ForgeContainer(name=name, spatial=[ForgeSpatial(name="X", fanout=units)])


def _memory(nest: LoopFactors, store: ChipStore, clock_hz: float) -> ForgeMemory:
    bits = nest.chip.widths.input
    kept = " | ".join(ARRAYS[tensor] for tensor in store.tensors)
    return ForgeMemory(
        name=store.name,
        size="inf" if store.size >= OPEN_BYTES else 8 * store.size,
        area=1e-12 * store.area_um2,
        tensors=KeptTensors(keep="All" if len(store.tensors) == len(ARRAYS) else kept),
        actions=[
            ForgeAction(
                name=name,
                energy=1e-12 * price * bits / 8,
                throughput=clock_hz * rate / bits,
            )
            for name, price, rate in (
                ("read", store.read_pj, store.read_bits),
                ("write", store.write_pj, store.write_bits),
            )
        ],
    )


def workload(nest: LoopFactors) -> ForgeWorkload:
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
            RANK[dim]: f"0 <= {RANK[dim]} < {bounds.extent}" for dim, bounds in nest.bounds.items()
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


def _projection(nest: LoopFactors, tensor: int) -> dict[str, str]:
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


def mapping_nodes(nest: LoopFactors) -> list[ToolNode]:
    """The loop tree, outermost node first; loops of one step are left out."""
    rest: dict[str, int] = {dim: bounds.extent for dim, bounds in nest.bounds.items()}
    nodes: list[ToolNode] = _storages(nest, "DRAM")
    nodes += _loops(nest, rest, "outer", 0)
    nodes += _storages(nest, "L2")
    nodes += _loops(nest, rest, "clusters", 0, "Cluster")
    nodes += _loops(nest, rest, "inner", 1)
    nodes += _loops(nest, rest, "pes", 1, "PE")
    nodes += _storages(nest, "L1")
    nodes += _loops(nest, rest, "tile", 1)
    return [*nodes, ForgeComputeNode(einsum=EINSUM, component="MAC")]


def _storages(nest: LoopFactors, level: str) -> list[ToolNode]:
    return [
        ForgeStorage(component=store.name, tensors=[ARRAYS[tensor] for tensor in store.tensors])
        for store in stores_of(nest)
        if store.level == level
    ]


def _loops(
    nest: LoopFactors, rest: dict[str, int], part: str, level: int, component: str = ""
) -> list[ToolNode]:
    """Loops of one part of the bounds; `rest` is what a step of each dimension covers so far."""
    nodes: list[ToolNode] = []
    for dim in nest.order(level):
        steps = getattr(nest.bounds[dim], part)
        rest[dim] //= steps
        if steps > 1:
            loop: dict[str, Any] = {"rank_variable": RANK[dim], "tile_shape": rest[dim]}
            nodes.append(
                ForgeSpatialLoop(**loop, component=component, name="X")
                if component
                else ForgeTemporal(**loop)
            )
    return nodes
