"""A mapping as inputs of Timeloop 4: architecture, problem and mapping, version 0.4.

Source of the format: the documentation and examples of Timeloop and timeloopfe. Between L2 and the
PEs stands a level `cluster` that keeps nothing: its loops are those of the inner level, so that
each cluster walks its own tile, as it does here.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from layers import DIMS, TENSORS
from mapper.export.chip_stores import ChipStore, stores_of
from mapper.export.loop_factors import LoopFactors
from mapper.export.tagged_yaml import ToolNode, tagged_text

NAME = {"K": "K", "C": "C", "Y": "P", "X": "Q", "R": "R", "S": "S", "N": "N", "G": "G"}
"""Our dimensions in Timeloop's customary letters."""
SPACES = dict(zip(TENSORS, ("Inputs", "Weights", "Outputs"), strict=True))
LEVELS = ("DRAM", "L2", "cluster", "PE", "L1")
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


def timeloop_files(nest: LoopFactors) -> dict[str, str]:
    """``arch.yaml``, ``problem.yaml`` and ``mapping.yaml``."""
    return {
        "arch.yaml": tagged_text({"architecture": architecture(nest)}),
        "problem.yaml": tagged_text({"problem": problem(nest)}),
        "mapping.yaml": tagged_text({"mapping": mapping(nest)}),
    }


def architecture(nest: LoopFactors) -> TimeloopArchitecture:
    """DRAM, L2, clusters, PEs with their L1, and MACs."""
    chip = nest.chip
    stores = stores_of(nest)
    by_level = {
        level: [_memory(nest, store) for store in stores if store.level == level]
        for level in ("DRAM", "L2", "L1")
    }
    cluster = TimeloopMemory.model_validate(
        {
            "name": "cluster",
            "class": "storage",
            "attributes": {"depth": 1, "width": 8, "datawidth": 8},
            "constraints": {"dataspace": {"bypass": list(SPACES.values())}},
            "spatial": {"meshX": nest.clusters},
        }
    )
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
    return TimeloopArchitecture(
        version=0.4,
        nodes=[
            TimeloopContainer(name="system"),
            *by_level["DRAM"],
            TimeloopContainer(name="chip", attributes={"technology": f"{chip.node_nm or 45}nm"}),
            *_side_by_side(by_level["L2"]),
            cluster,
            TimeloopContainer(name="PE", spatial=TimeloopFanout(meshX=nest.mapping.cluster_size)),
            *_side_by_side(by_level["L1"]),
            mac,
        ],
    )


def _side_by_side(memories: list[TimeloopMemory]) -> list[TimeloopMemory | TimeloopParallel]:
    if len(memories) == 1:
        return [memories[0]]
    return [TimeloopParallel(nodes=memories)]


def _memory(nest: LoopFactors, store: ChipStore) -> TimeloopMemory:
    bits = nest.chip.widths.input
    rates = {
        "read_bandwidth": store.read_bits / bits,
        "write_bandwidth": store.write_bits / bits,
    }
    sizes: dict[str, float | int | str] = {"width": bits, "datawidth": bits}
    if store.level == "DRAM":
        kind, sizes = "DRAM", {"type": "LPDDR4", "width": 64, "datawidth": bits}
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


def problem(nest: LoopFactors) -> TimeloopProblem:
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
    extents = {NAME[dim]: bounds.extent for dim, bounds in nest.bounds.items()}
    return TimeloopProblem(
        version=0.4,
        shape=TimeloopShape(
            name=layer.kind.lower(),
            dimensions=[NAME[dim] for dim in nest.dims],
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


def mapping(nest: LoopFactors) -> list[TimeloopDirective]:
    """Loops of every level, outermost level first; every factor is written."""
    everything = list(SPACES.values())
    found = [
        _loops(nest, "DRAM", "temporal", "outer", nest.order(0)),
        _loops(nest, _first("L2", nest), "temporal", "", nest.order(0)),
        _loops(nest, "cluster", "spatial", "clusters", nest.order(0), split=len(DIMS)),
        _loops(nest, "cluster", "temporal", "inner", nest.order(1)),
        TimeloopDirective(target="cluster", type="dataspace", keep=[], bypass=everything),
        _loops(nest, "PE", "spatial", "pes", nest.order(1), split=len(DIMS)),
        _loops(nest, _first("L1", nest), "temporal", "tile", nest.order(1)),
    ]
    for store in stores_of(nest):
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


def _first(level: str, nest: LoopFactors) -> str:
    return next(store.name for store in stores_of(nest) if store.level == level)


def _loops(
    nest: LoopFactors,
    target: str,
    kind: Literal["temporal", "spatial"],
    part: str,
    order: list[str],
    split: int | None = None,
) -> TimeloopDirective:
    bounds = {dim: getattr(nest.bounds[dim], part) if part else 1 for dim in order}
    return TimeloopDirective(
        target=target,
        type=kind,
        factors=[f"{NAME[dim]}={bounds[dim]}" for dim in order],
        permutation=[NAME[dim] for dim in reversed(order)],
        split=split,
    )
