"""The stock MAESTRO program as a cost model, for checking a result against it."""

from __future__ import annotations

import csv
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.cost import FIGURES, TENSORS, Cost, CostBatch
from cost_models.cost_model import CostModelError, ModelCapabilities, Symmetry
from cost_models.dataflow import Dataflow, print_network
from cost_models.energy_tables import L1_ACCESS, L2_ACCESS, MAC_NJ
from cost_models.infeasible import Infeasible, MappingError, ReasonCode
from cost_models.mapping import Mapping, MappingBatch
from layers import Layer, LayerKind

FIGURE_COLUMNS = {
    "latency_cycles": "Runtime (Cycles)",
    "energy_nj": "Activity count-based Energy (nJ)",
    "power_mw": "Power",
    "area_um2": "Area",
    "throughput_macs_per_cycle": "Throughput (MACs/Cycle)",
    "macs": "Num MACs",
    "l1_bytes": "L1 SRAM Size Req (Bytes)",
    "l2_bytes": "L2 SRAM Size Req (Bytes)",
    "noc_bw_req": "NoC BW Req (Elements/cycle)",
    "offchip_bw_req": "Offchip BW Req (Elements/cycle)",
    "utilized_pes": "Avg number of utilized PEs",
    "arithmetic_intensity": "Arithmetic Intensity",
}
"""The program's CSV columns of the figures it prints."""
DETAIL_COLUMNS = {
    "avg_noc_bw": "Avg BW Req",
    "peak_noc_bw": "Peak BW Req",
    "ingress_delay_min": "Ingress Delay (Min)",
    "ingress_delay_max": "Ingress Delay (Max)",
    "ingress_delay_avg": "Ingress Delay (Avg)",
    "egress_delay_min": "Egress Delay (Min)",
    "egress_delay_max": "Egress Delay (Max)",
    "egress_delay_avg": "Egress Delay (Avg)",
    "compute_delay_avg": "Compute Delay (Avg)",
}
ACCESS_COLUMNS = {
    tensor: {
        kind: f"{tensor} {kind.replace('_', ' ')}"
        for kind in ("l1_read", "l1_write", "l2_read", "l2_write")
    }
    for tensor in TENSORS
}
_ENVIRONMENT = "MAESTRO_BIN"
_SECONDS = 60.0


class BinaryModel:
    """MAESTRO itself, one process a mapping: its raw figures, with the six digits it prints.

    Args:
        path: The program; None takes the environment variable MAESTRO_BIN.

    Raises:
        CostModelError: There is no such program.
    """

    name = "maestro-binary"
    guard = False
    capabilities = ModelCapabilities(Symmetry.TILE, sound=False)

    def __init__(self, path: str | Path | None = None) -> None:
        given = path if path is not None else os.environ.get(_ENVIRONMENT)
        if given is None:
            raise CostModelError(
                f"maestro-binary: no program; give path=..., or set {_ENVIRONMENT} to the program "
                "built from maestro-project/maestro"
            )
        self.path = Path(given).expanduser().resolve()
        if not self.path.is_file() or not os.access(self.path, os.X_OK):
            raise CostModelError(f"maestro-binary: {self.path} is not a program that can be run")

    def evaluate(self, layer: Layer, accelerator: Accelerator, mapping: Mapping | Dataflow) -> Cost:
        """Run the program on one mapping.

        Args:
            layer: The layer.
            accelerator: Its buffers are not checked; a bandwidth that is None is given as 2^30,
                also to the program's area and power formulas.
            mapping: A mapping or a dataflow.

        Returns:
            The program's figures, as it prints them; infeasible where it exits or dies.
        """
        if isinstance(mapping, Mapping):
            if mapping.num_pes is not None:
                accelerator = replace(accelerator, num_pes=mapping.num_pes)
            try:
                mapping = mapping.dataflow(layer)
            except MappingError as error:
                return _nothing(Infeasible(ReasonCode.REFUSED, str(error)))
        text = print_network([(layer, mapping)])
        with tempfile.TemporaryDirectory(prefix="maestro-") as folder:
            Path(folder, "mapping.m").write_text(text, encoding="utf-8")
            try:
                done = subprocess.run(
                    self.command(accelerator),
                    cwd=folder,
                    capture_output=True,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return _nothing(_stopped(layer, f"did not end within {_SECONDS:.0f} s"))
            if done.returncode < 0:
                return _nothing(_stopped(layer, f"died of signal {-done.returncode}"))
            table = Path(folder, "mapping.csv")
            if done.returncode != 0 or not table.exists():
                return _nothing(_refused(layer, done.stdout.decode(errors="replace")))
            with table.open(newline="", encoding="utf-8") as file:
                header, values = list(csv.reader(file))[:2]
        row = {k.strip(): float(v) for k, v in zip(header[2:], values[2:], strict=True)}
        return _cost(row, layer)

    def evaluate_batch(
        self, layer: Layer, accelerator: Accelerator, mappings: MappingBatch
    ) -> CostBatch:
        """Run the program on each mapping in turn."""
        costs = [self.evaluate(layer, accelerator, mapping) for mapping in mappings]
        reasons = [cost.infeasible.code if cost.infeasible else 0 for cost in costs]

        return CostBatch(
            reason=np.array(reasons, np.int8),
            figures={name: np.array([getattr(c, name) for c in costs]) for name in FIGURES},
            accesses={tensor: _access_arrays(costs, tensor) for tensor in ACCESS_COLUMNS},
            detail={name: np.array([c.detail[name] for c in costs]) for name in DETAIL_COLUMNS},
            one=costs.__getitem__,
        )

    def command(self, accelerator: Accelerator) -> list[str]:
        """The command line for a file ``mapping.m`` in the working folder."""
        options = {
            "full_buffer": "false",
            "noc_hops": 1,
            "noc_hop_latency": 1,
            "noc_mc_support": "true",
            "noc_bw_cstr": accelerator.noc_bw or UNLIMITED_BW,
            "offchip_bw_cstr": accelerator.offchip_bw or UNLIMITED_BW,
            "num_pes": accelerator.num_pes,
            "num_simd_lanes": accelerator.simd_lanes,
            "l1_size_cstr": UNLIMITED_BW,
            "l2_size_cstr": UNLIMITED_BW,
            "print_res": "false",
            "print_res_csv_file": "true",
            "print_log_file": "false",
            "print_design_space": "false",
            "msg_print_lv": 0,
            "Mapping_file": "mapping.m",
        }
        return [str(self.path), *(f"--{name}={value}" for name, value in options.items())]


def _access_arrays(costs: list[Cost], tensor: str) -> dict[str, NDArray[np.float64]]:
    kinds = ACCESS_COLUMNS[tensor]
    return {kind: np.array([cost.accesses[tensor][kind] for cost in costs]) for kind in kinds}


def _cost(row: dict[str, float], layer: Layer) -> Cost:
    """The program's row; a GEMM of several products is one run for each of them."""
    repeats = layer.N if layer.kind is LayerKind.GEMM else 1
    figures: dict[str, Any] = {name: row[column] for name, column in FIGURE_COLUMNS.items()}
    figures["energy_total_nj"] = MAC_NJ * (
        row["Num MACs"] + L1_ACCESS * _added_up(row, "l1") + L2_ACCESS * _added_up(row, "l2")
    )
    for name in ("latency_cycles", "energy_nj", "energy_total_nj", "macs"):
        figures[name] *= repeats
    return Cost(
        infeasible=None,
        **figures,
        accesses={
            tensor: {kind: row[column] * repeats for kind, column in kinds.items()}
            for tensor, kinds in ACCESS_COLUMNS.items()
        },
        detail={name: row[column] for name, column in DETAIL_COLUMNS.items()},
    )


def _added_up(row: dict[str, float], buffer: str) -> float:
    """Accesses of all tensors to a buffer, ``"l1"`` or ``"l2"``."""
    columns = [ACCESS_COLUMNS[t][f"{buffer}_{kind}"] for t in TENSORS for kind in ("read", "write")]
    return sum(row[column] for column in columns)


def _nothing(why: Infeasible) -> Cost:
    figures: dict[str, Any] = dict.fromkeys(FIGURES, np.inf)
    return Cost(
        why,
        **figures,
        accesses={t: dict.fromkeys(kinds, np.inf) for t, kinds in ACCESS_COLUMNS.items()},
        detail=dict.fromkeys(DETAIL_COLUMNS, np.inf),
    )


def _stopped(layer: Layer, how: str) -> Infeasible:
    return Infeasible(ReasonCode.DIES, f"layer {layer.name!r}: the MAESTRO program {how}")


def _refused(layer: Layer, output: str) -> Infeasible:
    said = output.strip().splitlines()
    message = f"layer {layer.name!r}: the MAESTRO program refuses the mapping"
    return Infeasible(ReasonCode.REFUSED, f"{message}: {said[-1]}" if said else message)
