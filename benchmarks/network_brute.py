"""Networks whose tensors may stay in L2, beside brute force.

    python -m benchmarks network_brute --out docs/data/network-brute.csv
    python -m benchmarks network_brute --inputs 4 --out docs/data/network-brute-inputs.csv

100 random networks of 2 to 5 small layers, half of them with residual edges, on random chips: all
choices of what stays and all mappings of all layers are enumerated (tests/mapper/staying.py), and
the least latency, energy and energy-delay product of the network compared with what
`mapper.staying` proves. Over several inputs all sets of filters that stay are enumerated besides. A
row that the file has already is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.chain_searchers import known, write
from mapper.staying.filter_sets import RepeatedProblem
from mapper.staying.network_optimum import NetworkProblem
from tests.mapper.staying import beside_brute, brute, counted_brute, prove_here, small

COLUMNS = (
    "network", "layers", "nodes", "adds", "rooms", "inputs", "passes", "mappings", "choices",
    "latency", "energy", "edp", "gap",
)  # fmt: skip
SAME = 1e-9


def row_of(seed: int, inputs: int) -> dict[str, object]:
    """One network: whether each optimum is that of brute force, and the largest gap."""
    graph, setting, counted = small(seed)
    net = NetworkProblem(graph, setting, prove_here, counted)
    if inputs > 1:
        net = RepeatedProblem(graph, setting, prove_here, counted, inputs=inputs)
    found = beside_brute(net, brute(graph, setting, counted, inputs))
    same = [abs(one.value / best - 1) <= SAME for one, best in found]
    return {
        "network": seed,
        "layers": len(graph.layers),
        "nodes": len(graph.nodes),
        "adds": sum(node.name.startswith("add") for node in graph.nodes),
        "rooms": len(net.rooms),
        "inputs": inputs,
        "passes": "counted" if counted else "free",
        "mappings": counted_brute(graph, setting),
        "choices": 2 ** len(net.rooms),
        **dict(zip(("latency", "energy", "edp"), map(int, same), strict=True)),
        "gap": max(one.gap for one, _ in found),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--inputs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("network-brute.csv"))
    options = parser.parse_args()
    rows = known(options.out)
    for seed in range(len(rows), options.networks):
        rows.append(row_of(seed, options.inputs))
        print(rows[-1], flush=True)
        write(options.out, COLUMNS, rows)


if __name__ == "__main__":
    main()
