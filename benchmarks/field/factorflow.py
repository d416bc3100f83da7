"""FactorFlow's mapper: moves of prime factors between levels, by greedy steps; products alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.export_rules import Node
from benchmarks.field import factorflow_map
from benchmarks.field.answer import Keep, Loop, MappingTool, Part, ToolError, width_of
from benchmarks.field.cases import FieldCase
from layers import TENSORS, LayerKind
from mapper.export.chip_stores import ChipStore, ChipStores
from mapper.export.export_files import write_files

DIM = {"M": "K", "K": "C", "N": "Y"}
"""Its dimensions as ours: outputs, terms of a sum, columns."""
OPERANDS = dict(zip(TENSORS, ("in", "w", "out"), strict=True))


@dataclass(frozen=True)
class FactorFlow(MappingTool):
    """FactorFlow and its checkout.

    Args:
        checkout: Folder of the public repository, commit 062f9de.
    """

    checkout: Path
    name, version = "factorflow", "062f9de"
    packages, script, objectives = ("prettytable==3.11.0",), factorflow_map, ("edp",)

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write the levels and the product.

        Raises:
            ToolError: The layer is no single product, or a memory is shared by unlike widths.
        """
        if case.layer.kind is not LayerKind.GEMM or case.layer.groups > 1:
            raise ToolError("single products alone")
        product = {name: case.statement.extents[dim] for name, dim in DIM.items()}
        stated = {"product": product, "levels": list(levels_of(case))}
        write_files(folder, {"levels.json": json.dumps(stated, indent=1)})

    def words(self, objective: str) -> tuple[object, ...]:
        """Its checkout."""
        return (self.checkout.resolve(),)

    def parts(self, case: FieldCase, said: Node) -> Iterator[Part]:
        """Loops and kept tensors, outermost first."""
        stores = {store.name: store for store in ChipStores(case.statement).all}
        for one in said["levels"]:
            level, _, axis = one["name"].partition("/")
            if level in stores and not axis and stores[level].level != "DRAM":
                yield from (Keep(stores[level].level, tensor) for tensor in stores[level].tensors)
            for dim, steps in one["loops"]:
                if steps > 1:
                    yield Loop(DIM[dim], steps, level if axis else "", int(axis or 0))


def levels_of(case: FieldCase) -> Iterator[Node]:
    """Memories, fan-outs and MACs, outermost first.

    Raises:
        ToolError: A memory is shared by tensors of unlike widths: it counts in elements.
    """
    nest = case.statement
    stores = ChipStores(nest)
    for level in nest.chip.levels:
        yield from (_memory(case, store) for store in stores.at(level.name))
        for place, axis in enumerate(nest.fanout(level.name)):
            dims = [name for name, dim in DIM.items() if dim in axis.dims]
            yield {
                "kind": "fanout",
                "name": f"{level.name}/{place}",
                "mesh": axis.units,
                "dims": dims,
            }
    mac_pj = 1000 * stores.prices.mac_nj
    yield {
        "kind": "macs",
        "name": "MAC",
        "mesh": 1,
        "compute_energy": mac_pj,
        "cycles": 1,
        "dim": "M",
    }


def _memory(case: FieldCase, store: ChipStore) -> Node:
    width = width_of(case, store)
    return {
        "kind": "memory",
        "name": store.name,
        "size": 8 * store.size // width,
        "read_value_access_energy": store.read_pj * width / 8,
        "write_value_access_energy": store.write_pj * width / 8,
        "bandwidth": max(store.read_bits / width, 1e-9),
        "bypasses": [OPERANDS[tensor] for tensor in TENSORS if tensor not in store.tensors],
    }
