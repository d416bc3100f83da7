"""GAMMA's genetic algorithm on the stock MAESTRO program; chips of two levels alone."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import baselines
import cost_models
from benchmarks.export_rules import Node
from benchmarks.field import gamma_map
from benchmarks.field.answer import Tool, ToolError
from benchmarks.field.cases import FieldCase
from cost_models import Accelerator, load_chip, parse_network
from layers import LayerKind
from maestro_env import Problem
from mapper.export.export_files import write_files

FITNESS = {"energy": "energy", "edp": "EDP", "latency": "latency"}
POPULATION, GENERATIONS = 20, 50
"""Mappings a generation, GAMMA's default; and enough of them for 1,000 mappings."""
SAMPLES = 20_000
"""Those of `ga` beside it."""
KIND = {LayerKind.CONV: 1, LayerKind.GEMM: 1, LayerKind.DSCONV: 2}


@dataclass(frozen=True)
class Gamma(Tool):
    """GAMMA, its checkout and MAESTRO's program, which is built apart.

    Args:
        checkout: Folder of the public repository, commit 3d6caf8.
        program: MAESTRO, commit 4eb08d1.
    """

    checkout: Path
    program: Path
    name, version, script = "gamma", "3d6caf8", gamma_map
    packages = ("numpy==1.26.4", "pandas==2.2.3", "matplotlib==3.9.2")

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write the layer as one of six dimensions, and the chip.

        Raises:
            ToolError: It has no words for the chip or the layer.
        """
        layer, chip = case.layer, load_chip(case.chip_name)
        if not isinstance(chip, Accelerator):
            raise ToolError("chips of two levels alone")
        if layer.stride > 1 or layer.N > 1 or layer.groups > 1:
            raise ToolError("no strides, batches and groups")
        said = {
            "dimensions": [layer.K, layer.C, layer.Y, layer.X, layer.R, layer.S, KIND[layer.kind]],
            "chip": {
                "num_pe": chip.num_pes,
                "l1_size": chip.l1_bytes,
                "l2_size": chip.l2_bytes,
                "NocBW": chip.noc_bw,
                "offchipBW": chip.offchip_bw,
            },
            "population": POPULATION,
            "generations": GENERATIONS,
        }
        write_files(folder, {"problem.json": json.dumps(said, indent=1)})

    def words(self, objective: str) -> tuple[object, ...]:
        """Checkout, program and fitness."""
        return self.checkout.resolve(), self.program.resolve(), FITNESS[objective]


def gamma_row(case: FieldCase, said: Node) -> Node:
    """Its answer by the program, and by our port with the guard, beside ours.

    Ours is the best of a genetic algorithm with 20,000 samples; the bound is a physical one. An
    answer that the guard refuses has no ratio.
    """
    [(_, dataflow)] = parse_network(said["mapping"], "GAMMA's answer")
    chip = load_chip(case.chip_name)
    assert isinstance(chip, Accelerator)
    problem = Problem(case.layer, chip, case.objective, "maestro")
    began = time.process_time()
    ours = float(baselines.load("ga").search(problem, SAMPLES, seed=0).best_value)
    cpu_s = time.process_time() - began
    raw = cost_models.load("maestro", guard=False).evaluate(case.layer, chip, dataflow)
    guarded = problem.cost_model.evaluate(case.layer, chip, dataflow)
    judged = raw if guarded.infeasible else guarded
    theirs = case.value(judged.energy_nj, judged.latency_cycles)
    return {
        "theirs_by_tool": case.value(said["energy_nj"], said["cycles"]),
        "theirs": theirs,
        "theirs_cpu_s": round(said["cpu_s"], 2),
        "ours": ours,
        "bound": problem.bound,
        "ours_cpu_s": round(cpu_s, 2),
        "ratio": "" if guarded.infeasible else round(ours / theirs, 5),
        "why": guarded.infeasible.message if guarded.infeasible else "",
    }
