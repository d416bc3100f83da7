"""Networks whose tensors may stay in L2, searched as a user does, and what it takes.

    python -m benchmarks network_keep --objectives edp latency energy
    python -m benchmarks network_keep --fuse tiles --out docs/data/network-tiles.csv
    python -m benchmarks network_keep --inputs 16 --out docs/data/network-inputs.csv

Each row is one process, ``mapper search --network N --fuse keep --workers 1 --json``, with a store
of its own: totals with all tensors in DRAM, with tensors that stay and (``tiles``) with fused
layers, each with its gap, and the processor time of the whole command, imports and all answers
included. Of several inputs figures are a run's mean. A row that the file has already is kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.chain_searchers import known, write
from benchmarks.network_proofs import processor_time

LLAMA = "llama-3-8b:tokens"
NETWORKS = (
    "resnet50", "mobilenetv2", "bert_base", "gpt2", f"{LLAMA}=2048",
    *(f"{LLAMA}=1,cache=2048" + (f",batch={batch}" if batch > 1 else "") for batch in (1, 8, 64)),
)  # fmt: skip
FIGURES = ("latency_cycles", "energy_nj", "dram_bytes", "gap")
WAYS = {"keep": ("none", "keep"), "tiles": ("none", "keep", "tiles")}


def columns(fuse: str, inputs: int) -> tuple[str, ...]:
    """Columns of a table by what may be fused, and whether filters may stay."""
    figures = (f"{way} {figure}" for way in WAYS[fuse] for figure in FIGURES)
    fused = ("groups", "fused layers") if fuse == "tiles" else ()
    runs = ("inputs",) if inputs > 1 else ()
    what = ("network", "accelerator", "objective", *runs, "may stay", "stay")
    return (*what, *fused, *figures, "cpu_s")


def row_of(
    network: str, accelerator: str, objective: str, fuse: str, inputs: int
) -> dict[str, Any]:
    """One search."""
    import cost_models
    import layers
    from mapper.staying.filter_costs import FilterCosts
    from mapper.staying.stay_proof import StaySetting

    began = processor_time()
    with tempfile.TemporaryDirectory() as folder:
        asked = ["--network", network, "-a", accelerator, "-o", objective, "--fuse", fuse]
        asked += ["--inputs", str(inputs)]
        how = ["--workers", "1", "--json", "--store", f"{folder}/runs.sqlite"]
        words = [sys.executable, "-m", "mapper", "search", *asked, *how]
        said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    fused = [node["fused"]["group"] for node in said["nodes"] if "fused" in node]
    setting = StaySetting(cost_models.load_chip(accelerator))
    rooms = FilterCosts(layers.graph_of(network), setting, False, {}, inputs).rooms
    return {
        "network": network,
        "accelerator": accelerator,
        "objective": objective,
        **({"inputs": inputs} if inputs > 1 else {}),
        "may stay": len(rooms),
        "stay": len(said["stays"]),
        **({"groups": len(set(fused)), "fused layers": len(fused)} if fuse == "tiles" else {}),
        **{f"{way} {name}": said[way][name] for way in WAYS[fuse] for name in FIGURES},
        "cpu_s": f"{processor_time() - began:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--accelerators", nargs="+", default=["edge", "cloud"])
    parser.add_argument("--objectives", nargs="+", default=["edp"])
    parser.add_argument("--inputs", type=int, default=1)
    parser.add_argument("--fuse", choices=sorted(WAYS), default="keep")
    parser.add_argument("--out", type=Path, default=Path("network-keep.csv"))
    args = parser.parse_args()
    rows = known(args.out)
    done = {(r["network"], r["accelerator"], r["objective"]) for r in rows}
    for objective in args.objectives:
        for network in args.networks:
            for accelerator in args.accelerators:
                if (network, accelerator, objective) in done:
                    continue
                rows.append(row_of(network, accelerator, objective, args.fuse, args.inputs))
                print(rows[-1], flush=True)
                write(args.out, columns(args.fuse, args.inputs), rows)


if __name__ == "__main__":
    main()
