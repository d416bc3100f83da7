"""A mapping as inputs of Timeloop 4: architecture, problem and mapping, version 0.4.

Source of the format: the documentation and examples of Timeloop and timeloopfe. A level that keeps
nothing is a memory that everything bypasses, so that each of its units walks its own tile.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from math import prod
from typing import ClassVar, Literal

from pydantic import Field

from cost_models import DEFAULT_DRAM
from layers import DIMS, TENSORS
from mapper.export.chip_stores import ChipStore, ChipStores
from mapper.export.loop_nest import MAC, ExportError, LoopNest, Loops
from mapper.export.tagged_yaml import ToolNode, tagged_text

NAME = {"K": "K", "C": "C", "Y": "P", "X": "Q", "R": "R", "S": "S", "N": "N", "G": "G"}
"""Our dimensions in Timeloop's customary letters."""
SPACES = dict(zip(TENSORS, ("Inputs", "Weights", "Outputs"), strict=True))
_Term = tuple[str] | tuple[str, str]


class TimeloopFanout(ToolNode):
    """How many instances of a node there are."""

    meshX: int = Field(ge=1)


class TimeloopMemory(ToolNode):
    """A storage component; sizes in words and bits, bandwidths in words a cycle."""

    tag: ClassVar[str] = "!Component"
    name: str = Field(min_length=1)
    component_class: Literal["DRAM", "SRAM", "storage"] = Field(alias="class")
    attributes: dict[str, float | int | str]
    constraints: dict[str, dict[str, list[str]]] | None = None
    spatial: TimeloopFanout | None = None


class TimeloopContainer(ToolNode):
    """What everything below it lies in."""

    tag: ClassVar[str] = "!Container"
    name: str = Field(min_length=1)
    attributes: dict[str, float | int | str] | None = None
    spatial: TimeloopFanout | None = None


class TimeloopMac(ToolNode):
    """The multiply-accumulate unit."""

    tag: ClassVar[str] = "!Component"
    name: str
    component_class: Literal["intmac"] = Field(alias="class")
    attributes: dict[str, int]


class TimeloopParallel(ToolNode):
    """Memories side by side."""

    tag: ClassVar[str] = "!Parallel"
    nodes: list[TimeloopMemory]


class TimeloopArchitecture(ToolNode):
    """The file's part of that name."""

    version: float = Field(ge=0.4, le=0.4)
    nodes: list[TimeloopContainer | TimeloopMemory | TimeloopParallel | TimeloopMac]


class Coefficient(ToolNode):
    """A named factor of a projection, such as a stride."""

    name: str
    default: int = Field(ge=1)


class DataSpace(ToolNode):
    """A tensor: for each of its axes the sum of terms that index it."""

    name: str
    projection: list[list[_Term]]
    read_write: Literal[True] | None = None


class TimeloopShape(ToolNode):
    """The loop nest's shape."""

    name: str
    dimensions: list[str]
    coefficients: list[Coefficient]
    data_spaces: list[DataSpace]


class TimeloopProblem(ToolNode):
    """The file's part of that name."""

    version: float = Field(ge=0.4, le=0.4)
    shape: TimeloopShape
    instance: dict[str, int]


class TimeloopDirective(ToolNode):
    """One line of the mapping: the innermost dimension of a permutation comes first."""

    target: str
    type: Literal["temporal", "spatial", "dataspace"]
    factors: list[str] | None = None
    permutation: list[str] | None = None
    split: int | None = None
    keep: list[str] | None = None
    bypass: list[str] | None = None


def timeloop_files(nest: LoopNest) -> dict[str, str]:
    """``arch.yaml``, ``problem.yaml`` and ``mapping.yaml``.

    Raises:
        ExportError: A memory stands several times, or units that want the same do not share it.
    """
    names = [loops.level for loops in nest.levels]
    for name in names:
        if names.count(name) > 1:
            raise ExportError(
                f"mapping.levels: {name} stands {names.count(name)} times, in Timeloop a memory "
                "has one tile; expected one entry, or --to accelforge or zigzag"
            )
    nest.check_shared("Timeloop")
    stores = ChipStores(nest)
    return {
        "arch.yaml": tagged_text({"architecture": architecture(nest, stores)}),
        "problem.yaml": tagged_text({"problem": problem(nest)}),
        "mapping.yaml": tagged_text({"mapping": mapping(nest, stores)}),
    }


def architecture(nest: LoopNest, stores: ChipStores) -> TimeloopArchitecture:
    """The memories from DRAM inwards, what they feed, and the MACs."""
    chip = nest.chip
    mac = TimeloopMac.model_validate(
        {
            "name": "mac",
            "class": "intmac",
            "attributes": {
                "multiplier_width": max(chip.widths.input, chip.widths.filter),
                "adder_width": chip.widths.psum,
            },
        }
    )
    nodes: list[TimeloopContainer | TimeloopMemory | TimeloopParallel | TimeloopMac] = [
        TimeloopContainer(name="system"),
        *(_memory(nest, store) for store in stores.at("DRAM")),
        TimeloopContainer(name="chip", attributes={"technology": f"{chip.node_nm or 45}nm"}),
    ]
    for outside, loops in nest.inside:
        axes = nest.fanout(outside.name)
        mesh = TimeloopFanout(meshX=prod(axis.units for axis in axes)) if axes else None
        if _passed(loops):
            nodes.append(_passing(loops.level, mesh))
            continue
        if mesh is not None:
            nodes.append(TimeloopContainer(name=nest.fed[outside.name], spatial=mesh))
        beside = [_memory(nest, store) for store in stores.at(loops.level)]
        nodes += beside if len(beside) < 2 else [TimeloopParallel(nodes=beside)]
    return TimeloopArchitecture(version=0.4, nodes=[*nodes, mac])


def _passed(loops: Loops) -> bool:
    return not loops.keeps and loops.level != MAC


def _passing(name: str, mesh: TimeloopFanout | None) -> TimeloopMemory:
    return TimeloopMemory.model_validate(
        {
            "name": name,
            "class": "storage",
            "attributes": {"depth": 1, "width": 8, "datawidth": 8},
            "constraints": {"dataspace": {"bypass": list(SPACES.values())}},
            "spatial": mesh,
        }
    )


def _memory(nest: LoopNest, store: ChipStore) -> TimeloopMemory:
    bits = nest.chip.widths.input
    rates = {"read_bandwidth": store.read_bits / bits, "write_bandwidth": store.write_bits / bits}
    if store.shared_bw:
        rates = {"shared_bandwidth": store.read_bits / bits}
    sizes: dict[str, float | int | str] = {"width": bits, "datawidth": bits}
    if store.level == "DRAM":
        dram = nest.chip.levels[0].kind or DEFAULT_DRAM
        kind, sizes = "DRAM", {"type": dram, "width": 64, "datawidth": bits}
    else:
        kind = "SRAM"
        sizes["depth"] = max(1, store.size * 8 // bits)
    kept = [SPACES[tensor] for tensor in store.tensors]
    return TimeloopMemory.model_validate(
        {
            "name": store.name,
            "class": kind,
            "attributes": {**sizes, **rates},
            "constraints": None if len(kept) == len(SPACES) else {"dataspace": {"keep": kept}},
        }
    )


def problem(nest: LoopNest) -> TimeloopProblem:
    """The layer, with strides and dilations as coefficients."""
    layer = nest.layer
    steps = {
        "Pstride": layer.stride_y,
        "Qstride": layer.stride_x,
        "Rdilation": layer.dilation_y,
        "Sdilation": layer.dilation_x,
    }
    spaces = []
    for place, tensor in enumerate(TENSORS):
        depends = nest.depends(place)
        spaces.append(
            DataSpace(
                name=SPACES[tensor],
                projection=_axes(depends, window=tensor == "input"),
                read_write=True if tensor == "output" else None,
            )
        )
    extents = {NAME[dim]: extent for dim, extent in nest.extents.items()}
    return TimeloopProblem(
        version=0.4,
        shape=TimeloopShape(
            name=layer.kind.lower(),
            dimensions=[NAME[dim] for dim in nest.extents],
            coefficients=[Coefficient(name=name, default=1) for name in steps],
            data_spaces=spaces,
        ),
        instance=extents | steps,
    )


def _axes(depends: list[str], window: bool) -> list[list[_Term]]:
    """An axis for each dimension; of an input, taps slide along outputs."""
    axes: list[list[_Term]] = []
    for dim in depends:
        if not window or dim not in "YXRS":
            axes.append([(NAME[dim],)])
    for place, taps, stride, dilation in (
        ("Y", "R", "Pstride", "Rdilation"),
        ("X", "S", "Qstride", "Sdilation"),
    ):
        if not window:
            continue
        terms: list[_Term] = []
        if place in depends:
            terms.append((NAME[place], stride))
        if taps in depends:
            terms.append((NAME[taps], dilation))
        if terms:
            axes.append(terms)
    return axes


def mapping(nest: LoopNest, stores: ChipStores) -> list[TimeloopDirective]:
    """Loops of every level, outermost level first; every factor is written."""
    everything = list(SPACES.values())
    found = []
    target = "DRAM"
    for place, (outside, loops) in enumerate(nest.inside):
        found.append(_directive(target, "temporal", loops, loops.steps))
        if place and _passed(nest.levels[place - 1]):
            found.append(
                TimeloopDirective(target=target, type="dataspace", keep=[], bypass=everything)
            )
        memories = stores.at(loops.level)
        target = memories[0].name if memories else loops.level
        if nest.fanout(outside.name):
            units = dict.fromkeys(loops.order, 1)
            for spread in loops.spreads:
                units[spread.dim] *= spread.units or 1
            name = target if _passed(loops) else nest.fed[outside.name]
            found.append(_directive(name, "spatial", loops, units, split=len(DIMS)))
    for store in stores.all:
        kept = [SPACES[tensor] for tensor in store.tensors]
        found.append(
            TimeloopDirective(
                target=store.name,
                type="dataspace",
                keep=kept,
                bypass=[space for space in everything if space not in kept],
            )
        )
    return found


def _directive(
    target: str,
    kind: Literal["temporal", "spatial"],
    loops: Loops,
    factors: MappingABC[str, int],
    split: int | None = None,
) -> TimeloopDirective:
    return TimeloopDirective(
        target=target,
        type=kind,
        factors=[f"{NAME[dim]}={factors[dim]}" for dim in loops.order],
        permutation=[NAME[dim] for dim in reversed(loops.order)],
        split=split,
    )
