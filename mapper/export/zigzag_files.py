"""A mapping as inputs of ZigZag 3: accelerator, workload and mapping.

Source of the format: ZigZag's documentation and example inputs. ZigZag itself decides which loops
of the temporal ordering each memory holds, from the memories' sizes. It splits the array below all
loops in time, so that the clusters of a mapping share each step of the inner level.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from layers import TENSORS
from mapper.export.chip_stores import ChipStore, prices_of, stores_of
from mapper.export.loop_factors import ExportError, LoopFactors
from mapper.export.tagged_yaml import ToolNode, tagged_text

NAME = {"K": "K", "C": "C", "Y": "OY", "X": "OX", "R": "FY", "S": "FX", "N": "B", "G": "G"}
"""Our dimensions in ZigZag's names."""
MEMORY_OPERAND = dict(zip(TENSORS, ("I1", "I2", "O"), strict=True))
LAYER_OPERAND = dict(zip(TENSORS, ("I", "W", "O"), strict=True))
Operand = Literal["I1", "I2", "O"]
ARRAY = ("D1", "D2")
"""Clusters, and PEs of a cluster."""


class ZigZagPort(ToolNode):
    """A port; bandwidths in bits a cycle, `allocation` of operands and directions."""

    name: str = Field(pattern=r"^r?w?_port_\d+$")
    type: Literal["read", "write", "read_write"]
    bandwidth_min: int = Field(ge=1)
    bandwidth_max: int = Field(ge=1)
    allocation: list[str]


class ZigZagMemory(ToolNode):
    """A memory; size in bits, energy in pJ for an access of a port's `bandwidth_max` bits."""

    size: int = Field(ge=1)
    r_cost: float = Field(ge=0)
    w_cost: float = Field(ge=0)
    area: float = Field(ge=0)
    latency: int = 1
    auto_cost_extraction: bool = False
    operands: list[Operand]
    ports: list[ZigZagPort]
    served_dimensions: list[str]


class ZigZagArray(ToolNode):
    """The array of MACs."""

    input_precision: tuple[int, int]
    unit_energy: float
    unit_area: float
    dimensions: list[str]
    sizes: list[int]


class ZigZagAccelerator(ToolNode):
    """The accelerator's file."""

    name: str
    memories: dict[str, ZigZagMemory]
    operational_array: ZigZagArray


class ZigZagLayer(ToolNode):
    """One layer of the workload."""

    id: int
    name: str
    operator_type: Literal["Conv", "Gemm"]
    equation: str = Field(pattern=r"^O(\[\w+\])+\+?=W(\[\w+\])+\*I(\[\w+\])+$")
    dimension_relations: list[str]
    loop_dims: list[str]
    loop_sizes: list[int]
    operand_precision: dict[Literal["I", "W", "O", "O_final"], int]
    operand_source: dict[Literal["I", "W"], int]


class ZigZagMapping(ToolNode):
    """The mapping of a layer: innermost loop first."""

    name: str
    spatial_mapping: dict[str, list[str]]
    temporal_ordering: list[tuple[str, int]]
    memory_operand_links: dict[Literal["O", "W", "I"], Operand]


def zigzag_files(nest: LoopFactors) -> dict[str, str]:
    """``accelerator.yaml``, ``workload.yaml`` and ``mapping.yaml``."""
    return {
        "accelerator.yaml": tagged_text(accelerator(nest)),
        "workload.yaml": tagged_text([workload(nest)]),
        "mapping.yaml": tagged_text([zigzag_mapping(nest)]),
    }


def accelerator(nest: LoopFactors) -> ZigZagAccelerator:
    """Memories from the PEs outwards, and the array of clusters and PEs."""
    chip = nest.chip
    prices = prices_of(nest)
    memories = {store.name: _memory(nest, store) for store in reversed(stores_of(nest))}
    return ZigZagAccelerator(
        name=chip.name or "accelerator",
        memories=memories,
        operational_array=ZigZagArray(
            input_precision=(chip.widths.input, chip.widths.filter),
            unit_energy=1000 * prices.mac_nj,
            unit_area=prices.mac_area_um2,
            dimensions=list(ARRAY),
            sizes=[nest.clusters, nest.mapping.cluster_size],
        ),
    )


def _memory(nest: LoopFactors, store: ChipStore) -> ZigZagMemory:
    read, write = port_bits(nest, store)
    return ZigZagMemory(
        size=8 * store.size,
        r_cost=store.read_pj * read / 8,
        w_cost=store.write_pj * write / 8,
        area=store.area_um2,
        operands=[MEMORY_OPERAND[tensor] for tensor in store.tensors],
        ports=[*_ports("read", read, _reads(store)), *_ports("write", write, _writes(store))],
        served_dimensions=[] if store.level == "L1" else list(ARRAY),
    )


def port_bits(nest: LoopFactors, store: ChipStore) -> tuple[int, int]:
    """Bits of an access that reads a memory, and of one that writes it.

    ZigZag prices accesses of a memory alike, so all of its ports of a direction are as wide as its
    boundary to the level inside. A PE's own memory is as wide as what fills it, the NoC.
    """
    chip = nest.chip
    one = chip.simd_lanes * (chip.widths.input + chip.widths.filter + chip.widths.psum)
    every = chip.num_pes * one  # no cycle's MACs take more from a boundary without a limit
    if store.level != "L1":
        return min(store.read_bits, every), min(store.write_bits, every)
    noc = chip.buffers()[1]
    return max(one, min(noc.write_bw or every, every)), max(one, min(noc.read_bw or every, every))


def _reads(store: ChipStore) -> list[list[str]]:
    """What each port reads: tensors take turns at a boundary, and have a port each within a PE."""
    down = [f"{MEMORY_OPERAND[tensor]}, tl" for tensor in store.tensors]
    ports = [[one] for one in down] if store.level == "L1" else [down]
    return [*ports, ["O, th"]] if _gives(store) else ports


def _writes(store: ChipStore) -> list[list[str]]:
    """What each port writes: the boundary outside is limited by the memory that it fills from."""
    filled = [] if store.level == "DRAM" else list(store.tensors)
    ports = [[f"{MEMORY_OPERAND[tensor]}, fh"] for tensor in filled]
    return [*ports, ["O, fl"]] if "output" in store.tensors else ports


def _gives(store: ChipStore) -> bool:
    return "output" in store.tensors and store.level != "DRAM"


def _ports(
    kind: Literal["read", "write"], bits: int, allocations: list[list[str]]
) -> list[ZigZagPort]:
    return [
        ZigZagPort(
            name=f"{kind[0]}_port_{place}",
            type=kind,
            bandwidth_min=1,
            bandwidth_max=bits,
            allocation=allocation,
        )
        for place, allocation in enumerate(allocations, 1)
    ]


def workload(nest: LoopFactors) -> ZigZagLayer:
    """The layer as an equation; dimensions of one element are left out."""
    layer, widths = nest.layer, nest.chip.widths
    sizes = {NAME[dim]: bounds.extent for dim, bounds in nest.bounds.items()}
    relations = []
    for place, taps, into, stride, dilation in (
        ("Y", "R", "iy", layer.stride_y, layer.dilation_y),
        ("X", "S", "ix", layer.stride_x, layer.dilation_x),
    ):
        if place in nest.depends(0) and taps in nest.depends(0):
            relations.append(
                f"{into}={stride}*{NAME[place].lower()}+{dilation}*{NAME[taps].lower()}"
            )
    axes = [_axes(nest, tensor) for tensor in range(len(TENSORS))]
    return ZigZagLayer(
        id=0,
        name=layer.name,
        operator_type="Conv",
        equation=f"O{axes[2]}+=W{axes[1]}*I{axes[0]}",
        dimension_relations=relations,
        loop_dims=list(sizes),
        loop_sizes=list(sizes.values()),
        operand_precision={
            "I": widths.input,
            "W": widths.filter,
            "O": widths.psum,
            "O_final": widths.output,
        },
        operand_source={"I": 0, "W": 0},
    )


def _axes(nest: LoopFactors, tensor: int) -> str:
    depends = nest.depends(tensor)
    window = TENSORS[tensor] == "input" and {"R", "S"} <= set(depends)
    names = []
    for dim in depends:
        if window and dim in "YX":
            names.append("iy" if dim == "Y" else "ix")
        elif not (window and dim in "RS"):
            names.append(NAME[dim].lower())
    return "".join(f"[{name}]" for name in names)


def temporal_loops(nest: LoopFactors) -> dict[str, list[tuple[str, int]]]:
    """Loops in time by the memory that holds what they walk, innermost first: L1, L2, DRAM."""
    parts = {"L1": ("tile", 1), "L2": ("inner", 1), "DRAM": ("outer", 0)}
    return {
        level: [
            (NAME[dim], steps)
            for dim in reversed(nest.order(order))
            if (steps := getattr(nest.bounds[dim], part)) > 1
        ]
        for level, (part, order) in parts.items()
    }


def spatial_loops(nest: LoopFactors) -> dict[str, list[tuple[str, int]]]:
    """Loops in space by the dimension of the array."""
    parts = dict(zip(ARRAY, ("clusters", "pes"), strict=True))
    return {
        name: [
            (NAME[dim], getattr(bounds, part))
            for dim, bounds in nest.bounds.items()
            if getattr(bounds, part) > 1
        ]
        for name, part in parts.items()
    }


def zigzag_mapping(nest: LoopFactors) -> ZigZagMapping:
    """The mapping of the layer.

    Raises:
        ExportError: The ordering would have no loop at all.
    """
    loops = [loop for part in temporal_loops(nest).values() for loop in part]
    if not loops and not any(spatial_loops(nest).values()):
        raise ExportError(f"layer {nest.layer.name!r}: one multiplication; nothing to export")
    return ZigZagMapping(
        name="default",  # ZigZag wants an entry of this name; it serves every layer of the file
        spatial_mapping={
            name: [f"{dim}, {units}" for dim, units in part]
            for name, part in spatial_loops(nest).items()
        },
        temporal_ordering=loops,
        memory_operand_links={LAYER_OPERAND[tensor]: MEMORY_OPERAND[tensor] for tensor in TENSORS},
    )
