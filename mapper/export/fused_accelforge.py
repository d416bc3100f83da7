"""A fused group as inputs of AccelForge: an einsum a layer, below the loops over fused tiles.

A tensor between two layers has ranks for the fused tile besides, so that rows that neighbouring
tiles compute anew are elements of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from cost_models import Chain, ChainMapping, Entry
from layers import DIMS, TENSORS, LayerKind
from mapper.export.accelforge_files import (
    ARRAYS,
    RANK,
    ForgeComputeNode,
    ForgeEinsum,
    ForgeSpatialLoop,
    ForgeStorage,
    ForgeTemporal,
    ForgeWorkload,
    TensorAccess,
    arch_nodes,
    mapping_nodes,
)
from mapper.export.chip_stores import ChipStores
from mapper.export.loop_nest import TWO_LEVELS, LoopNest, loop_nest
from mapper.export.tagged_yaml import ToolNode, tagged_text
from mapper.staying.shape_facts import Resident

TILE_RANKS = ("ty", "tx")
"""Fused tiles along rows, and along columns (of products, along heads)."""


class ForgeNested(ToolNode):
    """Nodes of which each lies in the one before."""

    tag: ClassVar[str] = "!Nested"
    nodes: list[ToolNode]


class ForgeSequential(ToolNode):
    """Branches that come one after another."""

    tag: ClassVar[str] = "!Sequential"
    nodes: list[ForgeNested]


@dataclass(frozen=True)
class FusedNests:
    """A fused group whose fused tiles are alike, as whole factors.

    Args:
        chip: The chip as a list of levels.
        nests: The part of each layer in a fused tile.
        tiles: Fused tiles along rows and columns.
        resident: What of each layer is in L2.
        stays: Layers whose filters are brought into L2, and stay there.
    """

    chip: Chain
    nests: tuple[LoopNest, ...]
    tiles: tuple[int, int]
    resident: tuple[Resident, ...]
    stays: frozenset[int]

    @cached_property
    def home(self) -> str:
        """The level next to DRAM."""
        return self.chip.inner[0].name

    @cached_property
    def statement(self) -> LoopNest:
        """The chip with all of its memories, whatever clusters a layer's mapping makes."""
        ones = dict.fromkeys(DIMS, 1)
        entries = (Entry(one.name, ones if one.is_memory else {}) for one in self.chip.inner)
        return loop_nest(self.nests[0].layer, self.chip, ChainMapping(tuple(entries)), pad=True)

    @property
    def products(self) -> bool:
        """Whether layers are matrix products, whose fused tiles are cut along heads first."""
        return self.nests[0].layer.kind is LayerKind.GEMM

    @cached_property
    def names(self) -> tuple[dict[str, str], ...]:
        """What the tensors of each layer are called."""
        last = len(self.nests) - 1
        return tuple(
            {
                "input": f"T{place}" if place else "I",
                "filter": f"W{place}",
                "output": f"T{place + 1}" if place < last else "O",
            }
            for place in range(last + 1)
        )

    @property
    def loops(self) -> list[tuple[str, int]]:
        """Loops over fused tiles of more than one, outermost first, and how many tiles."""
        found = [(rank, n) for rank, n in zip(TILE_RANKS, self.tiles, strict=True) if n > 1]
        return found[::-1] if self.products else found


def fused_files(group: FusedNests) -> dict[str, str]:
    """``arch.yaml``, ``workload.yaml`` and ``mapping.yaml``.

    Raises:
        ExportError: The chip's memories cannot be said for all layers at once.
    """
    arch = arch_nodes(group.statement, ChipStores(group.statement))  # PEs are one axis
    return {
        "arch.yaml": tagged_text({"arch": {"nodes": arch}}),
        "workload.yaml": tagged_text({"workload": fused_workload(group)}),
        "mapping.yaml": tagged_text({"mapping": {"nodes": fused_nodes(group)}}),
    }


def fused_workload(group: FusedNests) -> ForgeWorkload:
    """An einsum a layer."""
    shape = {rank: f"0 <= {rank} < {tiles}" for rank, tiles in group.loops}
    for place, nest in enumerate(group.nests):
        for dim, extent in nest.extents.items():
            rank = f"{RANK[dim]}{place}"
            shape[rank] = f"0 <= {rank} < {extent}"
    widths = group.chip.widths
    bits = {"I": widths.input}
    for names in group.names:
        bits |= {names["filter"]: widths.filter, names["output"]: widths.psum}
    return ForgeWorkload(
        iteration_space_shape=shape,
        bits_per_value=bits,
        einsums=[_einsum(group, place) for place in range(len(group.nests))],
    )


def _einsum(group: FusedNests, place: int) -> ForgeEinsum:
    names = group.names[place]
    return ForgeEinsum(
        name=f"Layer{place}",
        tensor_accesses=[
            TensorAccess(
                name=names[tensor],
                projection=_projection(group, place, tensor),
                output=True if tensor == "output" else None,
                bits_per_value=(group.chip.widths.input if tensor == "input" and place else None),
            )
            for tensor in TENSORS
        ],
        renames={"input": names["input"], "weight": names["filter"], "output": names["output"]},
    )


def _projection(group: FusedNests, place: int, tensor: str) -> dict[str, str]:
    """Ranks of a tensor of a layer; that of its output are those of the next one's input."""
    nest, read = group.nests[place], tensor == "input"
    layer, depends = nest.layer, nest.depends(TENSORS.index(tensor))
    if tensor == "filter":
        found = {RANK[dim].upper(): [(1, dim)] for dim in depends}
    else:
        wide = "C" if read or layer.depthwise else "K"
        found = {"A": [(1, wide)], "G": [(1, "G")], "N": [(1, "N")]}
        found["H"] = [(layer.stride_y, "Y"), (layer.dilation_y, "R")] if read else [(1, "Y")]
        found["W"] = [(layer.stride_x, "X"), (layer.dilation_x, "S")] if read else [(1, "X")]
    terms = {
        rank: [_term(n, f"{RANK[dim]}{place}") for n, dim in some if dim in depends]
        for rank, some in found.items()
    }
    for tile, _ in group.loops:
        along, step = ("N", 0) if tile == "tx" and group.products else _step(group, tile)
        if tensor == "filter" and along != "N":
            continue
        if step and read and not place:
            terms[along].append(_term(step, tile))
        else:
            terms[tile.upper()] = [tile]
    return {rank: " + ".join(some) for rank, some in terms.items() if some}


def _step(group: FusedNests, tile: str) -> tuple[str, int]:
    """Rank of rows or columns, and those of the input from a fused tile to the next one.

    0 where neighbouring tiles read none that are the same.
    """
    rank, dim, taps, axis = ("H", "Y", "R", "y") if tile == "ty" else ("W", "X", "S", "x")
    strides = [getattr(nest.layer, f"stride_{axis}") for nest in group.nests]
    first, step = group.nests[0], group.nests[-1].extents[dim] * math.prod(strides)
    reach = getattr(first.layer, f"dilation_{axis}") * (first.extents[taps] - 1)
    return rank, step if step <= strides[0] * (first.extents[dim] - 1) + reach else 0


def _term(factor: int, rank: str) -> str:
    return rank if factor == 1 else f"{factor} * {rank}"


def fused_nodes(group: FusedNests) -> list[ToolNode]:
    """The loop tree: what lies where, the loops over fused tiles, and a branch a layer."""
    last = len(group.nests) - 1
    filters = [names["filter"] for names in group.names]
    whole = [filters[n] for n, some in enumerate(group.resident)
             if "filter" in some and n not in group.stays]  # fmt: skip
    whole += ["I"] * ("input" in group.resident[0]) + ["O"] * ("output" in group.resident[last])
    outside = [name for name in ("I", *filters, "O") if name not in whole]
    stay = [filters[n] for n in sorted(group.stays)]
    nodes: list[ToolNode] = [
        ForgeStorage(component="DRAM", tensors=outside),
        ForgeStorage(component=group.home, tensors=whole),
    ]
    loops: list[ToolNode] = [ForgeTemporal(rank_variable=rank, tile_shape=1)
                             for rank, _ in group.loops]  # fmt: skip
    of_tile = 1 if group.products and group.tiles[1] > 1 else 0  # heads have their own filters
    loops.insert(of_tile, ForgeStorage(component=group.home, tensors=stay))
    between = [names["input"] for names in group.names[1:]]
    nodes += [*loops, ForgeStorage(component=group.home, tensors=between)]
    branches = [ForgeNested(nodes=_branch(group, place)) for place in range(last + 1)]
    nodes.append(ForgeSequential(nodes=branches))
    return [one for one in nodes if not isinstance(one, ForgeStorage) or one.tensors]


def _branch(group: FusedNests, place: int) -> list[ToolNode]:
    """A layer's own loops; what is in L2 already is not brought there."""
    nest, names = group.nests[place], group.names[place]
    arrays = {ARRAYS[tensor]: tensor for tensor in TENSORS}
    found: list[ToolNode] = []
    for node in mapping_nodes(nest, ChipStores(nest))[1:]:
        if isinstance(node, ForgeStorage):
            kept = [arrays[one] for one in node.tensors]
            if node.component == group.home:
                kept = [one for one in kept if one not in group.resident[place]]
            if kept:
                tensors = [names[one] for one in kept]
                found.append(node.model_copy(update={"tensors": tensors}))
        elif isinstance(node, ForgeTemporal | ForgeSpatialLoop):
            own = {"rank_variable": f"{node.rank_variable}{place}"}
            if isinstance(node, ForgeSpatialLoop) and node.component in TWO_LEVELS.values():
                own["component"] = group.statement.fed[group.home]
            found.append(node.model_copy(update=own))
        elif isinstance(node, ForgeComputeNode):
            found.append(node.model_copy(update={"einsum": f"Layer{place}"}))
    return found
