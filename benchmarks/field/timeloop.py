"""Timeloop's mapper, by its random search."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import yaml

from benchmarks import crosscheck_timeloop
from benchmarks.crosscheck_timeloop import kept_in, loops_of
from benchmarks.export_rules import Node
from benchmarks.field import timeloop_map
from benchmarks.field.answer import Keep, Loop, MappingTool, Part, width_of
from benchmarks.field.cases import FieldCase
from cost_models import ChainMapping
from layers import TENSORS
from mapper.export.chip_stores import ChipStore, ChipStores
from mapper.export.export_files import write_files
from mapper.export.loop_nest import ExportError, LoopNest, loop_nest
from mapper.export.timeloop_files import NAME

METRIC = {"energy": "energy", "latency": "delay", "edp": "edp"}
SEARCH = {"algorithm": "random-pruned", "timeout": 15_000, "victory-condition": 3_000}
"""It ends after as many mappings one after another that do not fit, or are no better."""
SUMS = "Timeloop: a partial sum goes back to each unit that adds to it"
WINDOWS = "Timeloop: what a window shares with the tile before stays"
SLOWEST = "Timeloop takes the slowest of MACs and memories, over all steps together"


@dataclass(frozen=True)
class Timeloop(MappingTool):
    """Timeloop's mapper and its model, built apart.

    Args:
        programs: Folder with ``timeloop-mapper`` and ``timeloop-model``, version 3.0.3.
    """

    programs: Path
    name, version = "timeloop", "3.0.3"
    packages, script = ("pyyaml==6.0.2",), timeloop_map

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write all of a problem but its mapping.

        Raises:
            ToolError: A memory is shared by unlike widths.
        """
        mapper = {"optimization-metric": METRIC[case.objective], "num-threads": 1, **SEARCH}
        stated = {
            **problem_of(case, case.statement),
            "architecture_constraints": {"targets": [*_constraints(case)]},
            "mapper": {**mapper, "out_prefix": "out"},
        }
        write_files(folder, {"input.yaml": yaml.safe_dump(stated, sort_keys=False)})

    def words(self, objective: str) -> tuple[object, ...]:
        """Its mapper."""
        return (self.programs.resolve() / "timeloop-mapper",)

    def parts(self, case: FieldCase, said: Node) -> Iterator[Part]:
        """Loops and kept tensors, outermost first."""
        return parts(case, said["mapping"])

    def price(self, case: FieldCase, mapping: ChainMapping, python: str) -> float:
        """The value of a mapping of whole factors by Timeloop's model.

        Raises:
            ExportError: It refuses the mapping, or has no words for it.
        """
        nest = loop_nest(case.layer, case.chip, mapping)
        stated = {**problem_of(case, nest), "mapping": [*directives(nest)]}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            given = stated | {"model": {"out_prefix": "out"}}
            write_files(folder, {"input.yaml": yaml.safe_dump(given, sort_keys=False)})
            words = self.command(python, folder, self.programs.resolve() / "timeloop-model")
            run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ExportError(run.stderr.strip())
        said = json.loads(run.stdout)
        return self.value(case, said)


def rule_of(case: FieldCase, mapping: ChainMapping) -> str:
    """The rule by which Timeloop prices a mapping as we do not."""
    if case.objective == "latency":
        return SLOWEST
    nest = loop_nest(case.layer, case.chip, mapping)
    sums = set(nest.extents) - set(nest.depends(TENSORS.index("output")))
    adds = any(one.dim in sums for loops in nest.levels for one in loops.spreads)
    return SUMS if adds else WINDOWS if case.windowed else SLOWEST


def problem_of(case: FieldCase, nest: LoopNest) -> Node:
    """Layer, chip and prices in format 0.3.

    Raises:
        ToolError: A memory is shared by tensors of unlike widths.
    """
    stores = ChipStores(nest)
    prices = {s.name: {"read": s.read_pj, "write": s.write_pj} for s in stores.all}
    words = {s.name: width_of(case, s) / 8 for s in stores.all}
    energies = [
        {"name": f"chip.{name}", "actions": _actions(ways, words[name])}
        for name, ways in prices.items()
    ] + [{"name": "chip.mac", "actions": _actions({"compute": 1000 * stores.prices.mac_nj}, 1)}]
    areas = [{"name": one["name"], "area": 0.0} for one in energies]
    return {
        "architecture": {"version": 0.3, "subtree": _tree(case, stores)},
        "problem": crosscheck_timeloop.problem_of(nest),
        "ERT": {"version": 0.3, "tables": energies},
        "ART": {"version": 0.3, "tables": areas},
    }


def _actions(ways: dict[str, float], words: float) -> list[Node]:
    return [{"name": name, "energy": float(pj * words)} for name, pj in ways.items()]


def _tree(case: FieldCase, stores: ChipStores) -> list[Node]:
    """Memories and MACs, each node inside the one before; units of fan-outs as instances."""
    nodes: list[Node] = []
    units = columns = inside = 1
    for level in case.chip.levels:
        own = [_memory(case, store, columns) for store in stores.at(level.name)]
        nodes.append({"name": _instances(f"{level.name}_node", units), "local": own})
        inside, fanout = units, stores.nest.fanout(level.name)
        if fanout:
            units *= prod(axis.units for axis in fanout)
            columns *= fanout[0].units
    mac = {"name": "mac", "class": "intmac", "attributes": {"datawidth": 8, "meshX": columns}}
    if units == inside:
        nodes[-1]["local"].append(mac)
    else:
        nodes.append({"name": _instances("mac_node", units), "local": [mac]})
    for outside, inside in zip(nodes[-2::-1], nodes[:0:-1], strict=True):
        outside["subtree"] = [inside]
    return nodes[:1]


def _instances(name: str, units: int) -> str:
    return name + f"[0..{units - 1}]" * (units > 1)


def _memory(case: FieldCase, store: ChipStore, columns: int) -> Node:
    width = width_of(case, store)
    rates = {"read_bandwidth": store.read_bits / width, "write_bandwidth": store.write_bits / width}
    if store.shared_bw:
        rates = {"shared_bandwidth": store.read_bits / width}
    sizes = {"word-bits": width, "block-size": 1, "width": width, "meshX": columns}
    attributes = {**sizes, **rates, "addr-gen-energy": 0.0}
    if store.level == "DRAM":
        return {"name": store.name, "class": "DRAM", "attributes": attributes}
    attributes["entries"] = 8 * store.size // width
    return {"name": store.name, "class": "SRAM", "attributes": attributes}


def _constraints(case: FieldCase) -> Iterator[Node]:
    """Every memory keeps its tensors; an axis takes the dimensions that the chip allows."""
    nest = case.statement
    stores = ChipStores(nest)
    yield from kept_in((store.name, store.tensors) for store in stores.all[1:])
    for level in case.chip.levels:
        axes = [axis.dims for axis in nest.fanout(level.name)]
        if not axes:
            continue
        barred = [NAME[dim] for dim in nest.extents if not any(dim in dims for dims in axes)]
        first = [NAME[dim] for dim in nest.extents if dim in axes[0] and dim not in axes[-1]]
        given = {"factors": " ".join(f"{name}=1" for name in barred)} if barred else {}
        given |= {"permutation": "".join(first)} if first else {}
        if given:
            yield {"target": stores.at(level.name)[-1].name, "type": "spatial", **given}


def directives(nest: LoopNest) -> Iterator[Node]:
    """A mapping's loops, and what each memory keeps."""
    stores = ChipStores(nest)
    yield from loops_of(nest, lambda level: [store.name for store in stores.at(level)])
    yield from kept_in((store.name, store.tensors) for store in stores.all[1:])


def parts(case: FieldCase, mapping: list[Node]) -> Iterator[Part]:
    """Loops and kept tensors, outermost first."""
    dims = {name: dim for dim, name in NAME.items()}
    said = {(one["target"], one["type"]): one for one in mapping}
    for store in ChipStores(case.statement).all:
        if store.level != "DRAM":
            yield from (Keep(store.level, tensor) for tensor in store.tensors)
        for kind in ("temporal", "spatial"):
            one = said.get((store.name, kind))
            if one is None:
                continue
            steps = {word[0]: int(word[1:]) for word in one["factors"].split()}
            for place, name in reversed([*enumerate(one["permutation"])]):
                if steps[name] > 1:
                    axis = int(place >= one.get("split", len(steps)))
                    inside = (store.level, axis) if kind == "spatial" else ("", 0)
                    yield Loop(dims[name], steps[name], *inside)
