"""AccelForge's mapper (TCM: pruned enumeration of partial mappings, to its optimum)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.export_cases import Case
from benchmarks.export_counts import run_accelforge
from benchmarks.export_rules import Node
from benchmarks.field import accelforge_map
from benchmarks.field.answer import Keep, Loop, MappingTool, Part
from benchmarks.field.cases import FieldCase
from cost_models import ChainMapping, clock_of
from layers import DIMS
from mapper.export.accelforge_files import (
    ARRAYS,
    AXES,
    RANK,
    ForgeContainer,
    ForgeSpatial,
    accelforge_files,
    arch_nodes,
    workload,
)
from mapper.export.chip_stores import ChipStores
from mapper.export.export_files import write_files
from mapper.export.loop_nest import ExportError
from mapper.export.tagged_yaml import ToolNode, tagged_text

METRIC = {"energy": "ENERGY", "latency": "LATENCY", "edp": "ENERGY_DELAY_PRODUCT"}


class LoopBound(ToolNode):
    """What loops over an axis may be."""

    expression: str
    operator: str
    value: int


class BoundSpatial(ForgeSpatial):
    """A fan-out for some dimensions alone."""

    loop_bounds: list[LoopBound]


class AccelForge(MappingTool):
    """AccelForge and its environment."""

    name, version, python = "accelforge", "1.0.467", "3.12"
    packages, script = (f"accelforge=={version}",), accelforge_map

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write architecture and workload; each axis takes the dimensions that the chip allows."""
        nest = case.statement
        moving = {dim: extent for dim, extent in nest.extents.items() if extent > 1}
        nodes = [_bound(case, node) for node in arch_nodes(nest, ChipStores(nest))]
        texts = {
            "arch.yaml": tagged_text({"arch": {"nodes": nodes}}),
            "workload.yaml": tagged_text({"workload": workload(replace(nest, extents=moving))}),
        }
        write_files(folder, texts)

    def words(self, objective: str) -> tuple[object, ...]:
        """The metric."""
        return (METRIC[objective],)

    def value(self, case: FieldCase, said: Node) -> float:
        """The value that it gives."""
        return float(said["value"] * _units(case))

    def parts(self, case: FieldCase, said: Node) -> list[Part]:
        """Loops and kept tensors, outermost first."""
        return parts(case, said["nodes"])

    def price(self, case: FieldCase, mapping: ChainMapping, python: str) -> float:
        """The value of a mapping of whole factors by AccelForge's model.

        Raises:
            ExportError: It refuses the mapping: a tile of a strided input is its box there.
        """
        nest = Case(case.layer, case.chip, mapping).nest
        try:
            said = run_accelforge([accelforge_files(nest)], python)[0]
        except SystemExit as error:
            raise ExportError(str(error)) from None
        return case.value(said["energy_j"], said["latency_s"]) * _units(case)


def _units(case: FieldCase) -> float:
    """A value in J and s, as one in nJ and cycles."""
    return case.value(1e9, 1e6 * clock_of(case.chip))


def _bound(case: FieldCase, node: ToolNode) -> ToolNode:
    if not isinstance(node, ForgeContainer):
        return node
    level = next(lv for lv, fed in case.statement.fed.items() if fed == node.name)
    found: list[ForgeSpatial] = []
    for axis, one in zip(case.statement.fanout(level), node.spatial, strict=True):
        barred = [RANK[d] for d, n in case.statement.extents.items() if n > 1 > (d in axis.dims)]
        bound = LoopBound(expression=" | ".join(barred), operator="==", value=1)
        found.append(BoundSpatial(**dict(one), loop_bounds=[bound]) if barred else one)
    return ForgeContainer(name=node.name, spatial=found)


def parts(case: FieldCase, nodes: list[Node]) -> list[Part]:
    """Loops and kept tensors of the nodes of a mapping."""
    dims = {rank: dim for dim, rank in RANK.items()}
    tensors = {array: tensor for tensor, array in ARRAYS.items()}
    stores = {store.name: store.level for store in ChipStores(case.statement).all}
    fed = {name: level for level, name in case.statement.fed.items()}
    rest = dict(zip(DIMS, case.layer.extents, strict=True))
    found: list[Part] = []
    for node in nodes:
        if node["node"] == "Storage" and node["component"] != "DRAM":
            level = stores[node["component"]]
            found += [Keep(level, tensors[array]) for array in node["tensors"]]
        elif node["node"] in ("Temporal", "Spatial"):
            dim, tile = dims[node["rank_variable"]], int(node["tile_shape"])
            steps, rest[dim] = -(-rest[dim] // tile), tile
            if node["node"] == "Temporal":
                found.append(Loop(dim, steps))
            else:
                found.append(Loop(dim, steps, fed[node["component"]], AXES.index(node["name"])))
    return found
