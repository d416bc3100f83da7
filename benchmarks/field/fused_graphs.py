"""Chains of products, or of convolutions of one tap, for AccelForge's fused mapper; its answers.

All get `edge` as `benchmarks.field.cases` states it: tiles are held once and brought whole. A
tensor between two layers may lie in DRAM, or in L2 alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import cost_models
from benchmarks.export_groups import attention, products
from benchmarks.export_rules import Node
from benchmarks.field.accelforge import AccelForge, parts
from benchmarks.field.answer import AnswerError, Keep, ToolError, mapping_of
from benchmarks.field.cases import PLAIN, FieldCase
from cost_models import Accelerator, ChainMapping, Moved, energy_of_counts, pass_cost
from layers import DIMS, TENSORS, Layer, LayerKind, NetworkGraph
from layers.graph_builder import GraphBuilder
from mapper.export.accelforge_files import (
    ARRAYS,
    RANK,
    ForgeEinsum,
    ForgeMemory,
    ForgeWorkload,
    KeptTensors,
    TensorAccess,
    arch_nodes,
)
from mapper.export.chip_stores import ChipStores
from mapper.export.export_files import write_files
from mapper.export.tagged_yaml import tagged_text

CHIP = "edge"


class MayKeep(KeptTensors):
    """What a memory has to keep, and what it may."""

    may_keep: str


def _convolutions(size: int, *channels: int) -> NetworkGraph:
    graph = GraphBuilder()
    at = graph.source("input", (1, channels[0], size, size))
    for place, (inner, outer) in enumerate(pairwise(channels)):
        at = graph.mac(Layer(f"conv{place}", "CONV", outer, inner, size, size, 1, 1), at)
    return graph.graph()


GRAPHS = {
    "three products": products(256, 64, 256, 64, 256),
    "BERT's attention, 128 tokens": attention(12, 128, 128, 64, softmax=False),
    "BERT's MLP, 128 tokens": products(128, 768, 3072, 768),
    "GPT-2's MLP, 1 token": products(1, 768, 3072, 768),
    "MobileNet-v2's 1 x 1 pair": _convolutions(56, 24, 144, 24),
}


class PartCase(NamedTuple):
    """A layer, or what a fused tile has of it, where another tool's mapping is read."""

    layer: Layer
    case: FieldCase

    @property
    def statement(self) -> Any:
        """The chip's memories, by name."""
        return self.case.statement


@dataclass(frozen=True)
class FusedCase:
    """A graph on `CHIP`.

    Args:
        name: Of `GRAPHS`.
        objective: What is least.
    """

    name: str
    objective: str = "energy"

    @property
    def layers(self) -> list[Layer]:
        """Its layers, one after another."""
        return [node.layer for node in GRAPHS[self.name].nodes if node.layer is not None]

    @cached_property
    def plain(self) -> FieldCase:
        """A case that states the chip."""
        return FieldCase("gemm:M=2,N=2,K=2", CHIP, self.objective)

    def ranks(self, place: int) -> dict[str, str]:
        """The rank variables of a layer's dimensions, those that neighbours share by one name."""
        own = {"N": "h", "Y": "m", "X": "x", "C": f"n{place}", "K": f"n{place + 1}"}
        extents = dict(zip(DIMS, self.layers[place].extents, strict=True))
        return {dim: rank for dim, rank in own.items() if extents[dim] > 1}

    def names(self, place: int) -> dict[str, str]:
        """What a layer's tensors are called."""
        last = place == len(self.layers) - 1
        read, written = f"T{place}" if place else "I", "O" if last else f"T{place + 1}"
        return {"input": read, "filter": f"W{place}", "output": written}

    def workload(self) -> ForgeWorkload:
        """The graph as einsums."""
        shape: dict[str, str] = {}
        einsums = []
        for place, layer in enumerate(self.layers):
            ranks, names = self.ranks(place), self.names(place)
            extents = dict(zip(DIMS, layer.extents, strict=True))
            shape |= {rank: f"0 <= {rank} < {extents[dim]}" for dim, rank in ranks.items()}
            accesses = []
            for tensor, row in zip(TENSORS, layer.coupling, strict=True):
                on = {dim for dim, depends in zip(DIMS, row, strict=True) if depends}
                own = {rank.upper(): rank for dim, rank in ranks.items() if dim in on}
                output = True if tensor == "output" else None
                accesses.append(TensorAccess(name=names[tensor], projection=own, output=output))
            renames = {"input": names["input"], "weight": names["filter"],
                       "output": names["output"]}  # fmt: skip
            einsums.append(
                ForgeEinsum(name=f"Layer{place}", tensor_accesses=accesses, renames=renames)
            )
        widths = set(self.plain.chip.widths)
        assert len(widths) == 1
        return ForgeWorkload(
            iteration_space_shape=shape, bits_per_value={"All": widths.pop()}, einsums=einsums
        )


class FusedForge(AccelForge):
    """AccelForge's mapper of several einsums at once (FFM)."""

    def state(self, case: Any, folder: Path) -> None:
        """Write architecture and workload."""
        nest = case.plain.statement
        nodes = arch_nodes(nest, ChipStores(nest))
        dram = nodes[0]
        assert isinstance(dram, ForgeMemory)
        kept = MayKeep(keep="~Intermediates", may_keep="All")
        nodes[0] = dram.model_copy(update={"tensors": kept})
        texts = {
            "arch.yaml": tagged_text({"arch": {"nodes": nodes}}),
            "workload.yaml": tagged_text({"workload": case.workload()}),
        }
        write_files(folder, texts)


class Branch(NamedTuple):
    """An einsum in a fused mapping: nodes that it shares with others, and its own."""

    shared: list[Node]
    own: list[Node]


def branches(nodes: Sequence[Node]) -> Iterator[Branch]:
    """The einsums of a mapping, in order."""
    *above, last = nodes
    if last["node"] not in ("Sequential", "Nested"):
        yield Branch([], list(nodes))
        return
    for node in last["nodes"]:
        inner = node["nodes"] if node["node"] == "Nested" else [node]
        for branch in branches(inner):
            yield Branch([*above, *branch.shared], branch.own)


class PartAnswer(NamedTuple):
    """A layer of another tool's answer.

    Args:
        energy: By our model, in all fused tiles [nJ].
        mapping: Of what a fused tile has of it.
        tiles: Fused tiles by rank, outermost first.
        here: Its tensors that lie in L2 alone, or over several fused tiles.
    """

    energy: float
    mapping: ChainMapping
    tiles: dict[str, int]
    here: list[str]


@dataclass(frozen=True)
class FusedReader:
    """Reads what AccelForge answers, and prices it by our model.

    Args:
        case: The graph.
    """

    case: FusedCase
    chip = Accelerator.load(CHIP)
    model = cost_models.load("exact", **PLAIN)

    def read(self, nodes: Sequence[Node]) -> list[PartAnswer]:
        """Each layer of an answer.

        Raises:
            ToolError: Ours has no words for it.
        """
        try:
            return [self._part(place, one) for place, one in enumerate(branches(nodes))]
        except AnswerError as error:
            raise ToolError(str(error)) from None

    def _part(self, place: int, branch: Branch) -> PartAnswer:
        layer, names = self.case.layers[place], self.case.names(place)
        dims = {rank: dim for dim, rank in self.case.ranks(place).items()}
        rest, steps = dict(zip(DIMS, layer.extents, strict=True)), dict.fromkeys(DIMS, 1)
        tiles: dict[str, int] = {}
        more, here = 0.0, set[str]()
        stored: dict[str, tuple[int, int]] = {}
        for node in branch.shared:
            if node["node"] == "Temporal":
                dim, tile = dims[node["rank_variable"]], int(node["tile_shape"])
                tiles[node["rank_variable"]] = -(-rest[dim] // tile)
                steps[dim], rest[dim] = steps[dim] * -(-rest[dim] // tile), tile
            elif node["node"] == "Storage" and node["component"] == "L2":
                for tensor in (t for t in TENSORS if names[t] in node["tensors"]):
                    here.add(tensor)
                    stored[tensor] = prod(steps.values()), _size(_part_of(layer, rest), tensor)
        kept = [one for one in (*branch.shared, *branch.own) if one.get("component") == "DRAM"]
        outside = {name for node in kept for name in node.get("tensors", ())}
        part, times = _part_of(layer, rest), prod(steps.values())
        for tensor, (loads, size) in stored.items():
            if names[tensor] in outside:
                more += self._brought(tensor, loads * size)
        again = times * _size(part, "output") - layer.output_size  # sums that are added to
        if again and names["output"] in outside:
            ways = ("l2r_psum",) if "output" in stored else ("l2r_psum", "dram_out_r")
            more += energy_of_counts(self.model, self.chip, 0, dict.fromkeys(ways, again))
        here |= {tensor for tensor in TENSORS if names[tensor] not in outside}
        mapping, energy = self._mapping(part, place, branch.own, here)
        return PartAnswer(
            times * energy + more, mapping, tiles, [names[t] for t in TENSORS if t in here]
        )

    def _brought(self, tensor: str, elements: int) -> float:
        """Energy of bringing a tensor into L2, or the output from there to DRAM [nJ]."""
        if tensor == "output":
            moved = Moved(l2_read=elements, dram_written=elements)
            return pass_cost(self.model, self.chip, moved)[1]
        return energy_of_counts(self.model, self.chip, 0, {"dram_fil": elements})

    def _mapping(
        self, part: Layer, place: int, nodes: list[Node], here: set[str]
    ) -> tuple[ChainMapping, float]:
        """A part's mapping and its energy [nJ]."""
        names = {name: ARRAYS[tensor] for tensor, name in self.case.names(place).items()}
        dims = {rank: dim for dim, rank in self.case.ranks(place).items()}
        named = []
        for node in nodes:
            if node["node"] == "Storage":
                tensors = [names[one] for one in node["tensors"] if one in names]
                if node["component"] == "L2":
                    tensors = [one for one in tensors if one not in {ARRAYS[t] for t in here}]
                node = node | {"tensors": tensors}
            elif "rank_variable" in node:
                node = node | {"rank_variable": RANK[dims[node["rank_variable"]]]}
            named.append(node)
        found = [Keep("L2", tensor) for tensor in TENSORS if tensor in here]
        read = PartCase(part, self.case.plain)
        mapping = mapping_of(part, [*found, *parts(read, named)], ["L2", "L1"])
        resident = "+".join(tensor for tensor in TENSORS if tensor in here)
        model = cost_models.load("exact", **PLAIN, **({"resident": resident} if here else {}))
        cost = model.evaluate(part, self.case.plain.chip, mapping)
        if cost.infeasible is not None:
            raise ToolError(f"layer {place}: {cost.infeasible.message}")
        return mapping, cost.energy_nj


def _part_of(layer: Layer, extents: dict[str, int]) -> Layer:
    k, c, y, x = (extents[dim] for dim in "KCYX")
    if layer.kind is LayerKind.GEMM:
        return Layer.gemm(layer.name, M=y, N=k, K=c, batch=extents["N"])
    return Layer(layer.name, "CONV", k, c, y, x, 1, 1)


def _size(layer: Layer, tensor: str) -> int:
    size: int = getattr(layer, f"{tensor}_size")
    return size
