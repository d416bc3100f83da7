"""A mapping as inputs of ZigZag 3: accelerator, workload and mapping.

Source of the format: ZigZag's documentation and example inputs. ZigZag itself decides which loops
of the temporal ordering each memory holds, from the memories' sizes. It splits the array below all
loops in time, so that the units of every fan-out share each step of the innermost level.
"""

from __future__ import annotations

from math import prod
from typing import Literal

from pydantic import Field

from layers import TENSORS
from mapper.export.chip_stores import OPEN_BITS, ChipStore, ChipStores
from mapper.export.loop_nest import ExportError, LoopNest
from mapper.export.tagged_yaml import ToolNode, tagged_text

NAME = {"K": "K", "C": "C", "Y": "OY", "X": "OX", "R": "FY", "S": "FX", "N": "B", "G": "G"}
"""Our dimensions in ZigZag's names."""
MEMORY_OPERAND = dict(zip(TENSORS, ("I1", "I2", "O"), strict=True))
LAYER_OPERAND = dict(zip(TENSORS, ("I", "W", "O"), strict=True))
Operand = Literal["I1", "I2", "O"]
Steps = list[tuple[str, int]]


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


def zigzag_files(nest: LoopNest) -> dict[str, str]:
    """``accelerator.yaml``, ``workload.yaml`` and ``mapping.yaml``.

    Raises:
        ExportError: Units that want the same do not share it, or there is no loop at all.
    """
    nest.check_shared("ZigZag")
    return {
        "accelerator.yaml": tagged_text(accelerator(nest)),
        "workload.yaml": tagged_text([workload(nest)]),
        "mapping.yaml": tagged_text([zigzag_mapping(nest)]),
    }


def axes_of(nest: LoopNest) -> dict[tuple[str, int], str]:
    """The dimensions of ZigZag's array by level and axis of its fan-out, outermost first."""
    axes = [
        (lv.name, place) for lv in nest.chip.levels for place in range(len(nest.fanout(lv.name)))
    ]
    return {axis: f"D{number}" for number, axis in enumerate(axes, 1)}


def accelerator(nest: LoopNest) -> ZigZagAccelerator:
    """Memories from the MACs outwards, and the array of all fan-outs."""
    chip, stores = nest.chip, ChipStores(nest)
    axes = axes_of(nest)
    sizes = [nest.fanout(level)[place].units for level, place in axes]
    return ZigZagAccelerator(
        name=chip.name or "accelerator",
        memories={store.name: _memory(nest, stores, store) for store in reversed(stores.all)},
        operational_array=ZigZagArray(
            input_precision=(chip.widths.input, chip.widths.filter),
            unit_energy=1000 * stores.prices.mac_nj,
            unit_area=stores.prices.mac_area_um2,
            dimensions=list(axes.values()) or ["D1"],
            sizes=sizes or [1],
        ),
    )


def _memory(nest: LoopNest, stores: ChipStores, store: ChipStore) -> ZigZagMemory:
    read, write = port_bits(nest, stores, store)
    inner = nest.chip.position(store.level)
    return ZigZagMemory(
        size=8 * store.size,
        r_cost=store.read_pj * read / 8,
        w_cost=store.write_pj * write / 8,
        area=store.area_um2,
        operands=[MEMORY_OPERAND[tensor] for tensor in store.tensors],
        ports=_ports(store, read, write, own=feeds_macs(stores, store)),
        served_dimensions=[
            name for (level, _), name in axes_of(nest).items() if nest.chip.position(level) >= inner
        ],
    )


def port_bits(nest: LoopNest, stores: ChipStores, store: ChipStore) -> tuple[int, int]:
    """Bits of an access that reads a memory, and of one that writes it.

    ZigZag prices accesses of a memory alike, so all of its ports of a direction are as wide as its
    boundary to the level inside. A memory next to the MACs whose own boundary has no limit is as
    wide as what fills it.
    """
    chip = nest.chip
    one = chip.widths.input + chip.widths.filter + chip.widths.psum
    every = one * nest.macs  # no cycle's MACs take more from an open boundary
    read, write = min(store.read_bits, every), min(store.write_bits, every)
    if not feeds_macs(stores, store):
        return read, write
    fed = one * prod(level.fanout.units for level in chip.levels[chip.position(store.level) :])
    outside = next(other for other in reversed(stores.all) if other.level != store.level)
    read, write = port_bits(nest, stores, outside)
    return max(fed, write), max(fed, read)


def feeds_macs(stores: ChipStores, store: ChipStore) -> bool:
    """Whether a memory is next to the MACs, and its boundary to them has no limit."""
    return store.level == stores.all[-1].level and store.read_bits >= OPEN_BITS


def _ports(store: ChipStore, read: int, write: int, own: bool) -> list[ZigZagPort]:
    """Tensors take turns at a boundary, and have a port of their `own` to MACs and from outside.

    The boundary outside is limited by the memory that a memory fills from. One rate for both
    directions is one port.
    """
    down = [f"{MEMORY_OPERAND[tensor]}, tl" for tensor in store.tensors]
    filled = [] if store.level == "DRAM" else [[f"{MEMORY_OPERAND[t]}, fh"] for t in store.tensors]
    up = ["O, fl"] if "output" in store.tensors else []
    given = [["O, th"]] if up and filled else []
    if store.shared_bw:
        return [
            *_numbered("read_write", read, [[*down, *up]]),
            *_numbered("read", read, given),
            *_numbered("write", write, filled),
        ]
    reads = [[one] for one in down] if own else [down]
    return [
        *_numbered("read", read, [*reads, *given]),
        *_numbered("write", write, [*filled, *([up] if up else [])]),
    ]


def _numbered(
    kind: Literal["read", "write", "read_write"], bits: int, allocations: list[list[str]]
) -> list[ZigZagPort]:
    letters = "".join(word[0] for word in kind.split("_"))
    return [
        ZigZagPort(
            name=f"{letters}_port_{place}",
            type=kind,
            bandwidth_min=1,
            bandwidth_max=bits,
            allocation=allocation,
        )
        for place, allocation in enumerate(allocations, 1)
    ]


def workload(nest: LoopNest) -> ZigZagLayer:
    """The layer as an equation; dimensions of one element are left out."""
    layer, widths = nest.layer, nest.chip.widths
    sizes = {NAME[dim]: extent for dim, extent in nest.extents.items()}
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


def _axes(nest: LoopNest, tensor: int) -> str:
    depends = nest.depends(tensor)
    window = TENSORS[tensor] == "input" and {"R", "S"} <= set(depends)
    names = []
    for dim in depends:
        if window and dim in "YX":
            names.append("iy" if dim == "Y" else "ix")
        elif not (window and dim in "RS"):
            names.append(NAME[dim].lower())
    return "".join(f"[{name}]" for name in names)


def temporal_loops(nest: LoopNest, tensor: str = "") -> list[Steps]:
    """Loops in time by the memory whose tile they walk, innermost first, of each loop and memory.

    Args:
        nest: The mapping.
        tensor: Of its memories alone; of all levels that keep anything where none is given.
    """
    found: list[Steps] = [[]]
    for loops in reversed(nest.levels):
        if tensor in loops.keeps or (loops.keeps and not tensor):
            found.append([])
        found[-1] += [(NAME[dim], steps) for dim, steps in reversed(loops.in_time)]
    return found


def spatial_loops(nest: LoopNest) -> dict[str, Steps]:
    """Loops in space by the dimension of the array."""
    axes = axes_of(nest)
    found: dict[str, Steps] = {name: [] for name in axes.values()}
    for outside, loops in nest.inside:
        for dim, units, axis in loops.spreads:
            if units is not None and units > 1:
                found[axes[outside.name, axis]].append((NAME[dim], units))
    return found


def zigzag_mapping(nest: LoopNest) -> ZigZagMapping:
    """The mapping of the layer.

    Raises:
        ExportError: The ordering would have no loop at all.
    """
    loops = [loop for part in temporal_loops(nest) for loop in part]
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
