"""Fused tiles beside their execution, and networks with fused layers beside brute force.

    python -m benchmarks fused_check --out docs/data/fused-check.csv

The first row counts random groups of 2 to 4 convolutions with random tilings, each executed element
by element (mapper/fusing/fused_execution.py): what every layer computes in every fused tile has to
be what is planned, and the room for what is held has to suffice. Each further row is a random
network, of 2 or 3 small convolutions or (every other one) of scores, softmax and context, half of
these with rows that are long for L2: all groups, tilings, tiles of keys, halos, filters that stay,
tensors that stay and mappings are enumerated (tests/mapper/fused_brute.py), and the least latency,
energy and energy-delay product compared with what `mapper.fusing` proves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.chain_searchers import write
from mapper.fusing.fused_execution import differences
from mapper.fusing.fused_network import FusedProblem
from tests.mapper.fused_brute import FusedBrute, long_attention, small_attention, small_chain
from tests.mapper.fused_chains import random_tiling
from tests.mapper.staying import beside_brute, prove_here

COLUMNS = ("what", "cases", "fused", "differ", "gap")
SAME = 1e-9


def groups_row(count: int) -> dict[str, object]:
    """Random groups beside their execution."""
    rng = np.random.default_rng(0)
    differ = sum(bool(differences(*random_tiling(rng))) for _ in range(count))
    return {"what": "groups executed", "cases": count, "fused": count, "differ": differ, "gap": ""}


def network_row(seed: int) -> dict[str, object]:
    """One network: optima (latency, energy, EDP), those that fuse layers, and that differ."""
    make = (small_chain, small_attention, small_chain, long_attention)[seed % 4]
    graph, setting = make(seed)
    net = FusedProblem(graph, setting, prove_here)
    found = beside_brute(net, FusedBrute(graph, setting).best())
    differ = [abs(one.value / best - 1) > SAME for one, best in found]
    return {
        "what": f"network {seed}",
        "cases": len(found),
        "fused": sum(any(step.fused for step in one.steps) for one, _ in found),
        "differ": sum(differ),
        "gap": max(one.gap for one, _ in found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("fused-check.csv"))
    options = parser.parse_args()
    rows = [groups_row(options.groups)]
    for seed in range(options.networks):
        rows.append(network_row(seed))
        print(rows[-1], flush=True)
        write(options.out, COLUMNS, rows)


if __name__ == "__main__":
    main()
