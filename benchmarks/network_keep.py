"""Networks whose tensors may stay in L2, searched as a user does, and what it takes.

    python -m benchmarks network_keep --objectives edp latency energy
    python -m benchmarks network_keep --fuse tiles --out docs/data/network-tiles.csv
    python -m benchmarks network_keep --inputs 16 --out docs/data/network-inputs.csv

Each row is one process, ``mapper search --network N --fuse keep --workers 1 --json``, with a store
of its own: totals with all tensors in DRAM, with tensors that stay and (``tiles``) with fused
layers, each with its gap, and the processor time of the whole command, imports and all answers
included. Of several inputs figures are a run's mean.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import cost_models
import layers
from benchmarks.frame import Row, Table
from benchmarks.network_proofs import search
from mapper.staying.filter_costs import FilterCosts
from mapper.staying.stay_proof import StaySetting

LLAMA = "llama-3-8b:tokens"
NETWORKS = (
    "resnet50", "mobilenetv2", "bert_base", "gpt2", f"{LLAMA}=2048",
    *(f"{LLAMA}=1,cache=2048" + (f",batch={batch}" if batch > 1 else "") for batch in (1, 8, 64)),
)  # fmt: skip
FIGURES = ("latency_cycles", "energy_nj", "dram_bytes", "gap")
WAYS = {"keep": ("none", "keep"), "tiles": ("none", "keep", "tiles")}


def columns(given: Any) -> tuple[str, ...]:
    """Columns of a table by what may be fused, and whether filters may stay."""
    figures = (f"{way} {figure}" for way in WAYS[given.fuse] for figure in FIGURES)
    fused = ("groups", "fused layers") if given.fuse == "tiles" else ()
    runs = ("inputs",) if given.inputs > 1 else ()
    what = ("network", "accelerator", "objective", *runs, "may stay", "stay")
    return (*what, *fused, *figures, "cpu_s")


def row_of(given: Any, network: str, accelerator: str, objective: str) -> Row:
    """One search."""
    asked = ("--network", network, "-a", accelerator, "-o", objective, "--fuse", given.fuse)
    said, cpu_s = search(*asked, "--inputs", str(given.inputs), "--workers", "1")
    fused = [node["fused"]["group"] for node in said["nodes"] if "fused" in node]
    setting = StaySetting(cost_models.load_chip(accelerator))
    rooms = FilterCosts(layers.graph_of(network), setting, False, {}, given.inputs).rooms
    return {
        **({"inputs": given.inputs} if given.inputs > 1 else {}),
        "may stay": len(rooms),
        "stay": len(said["stays"]),
        **({"groups": len(set(fused)), "fused layers": len(fused)} if "tiles" in said else {}),
        **{f"{way} {name}": said[way][name] for way in WAYS[given.fuse] for name in FIGURES},
        "cpu_s": f"{cpu_s:.1f}",
    }


TABLE = Table(
    __doc__,
    columns,
    lambda given: product(given.networks, given.accelerators, given.objectives),
    row_of,
    options={
        "networks": list(NETWORKS),
        "accelerators": ["edge", "cloud"],
        "objectives": ["edp"],
        "inputs": 1,
        "fuse": ("keep", None, sorted(WAYS)),
    },
    quick={"networks": ["mlp"]},
)
