"""Networks whose tensors may stay in L2, beside brute force.

    python -m benchmarks network_brute
    python -m benchmarks network_brute --inputs 4 --out docs/data/network-brute-inputs.csv

100 random networks of 2 to 5 small layers, half of them with residual edges, on random chips: all
choices of what stays and all mappings of all layers are enumerated (tests/mapper/network_brute.py),
and the least latency, energy and energy-delay product of the network compared with what
`mapper.staying` proves. Over several inputs all sets of filters that stay are enumerated besides.
"""

from __future__ import annotations

import math
from typing import Any

from benchmarks.frame import Table
from mapper.staying.filter_sets import RepeatedProblem
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.shape_facts import ENERGY
from tests.baselines.proofs import every_action
from tests.mapper.network_brute import NetworkBrute, beside_brute, prove_here
from tests.mapper.small_networks import small

SAME = 1e-9


def row_of(given: Any, seed: int) -> tuple[Any, ...]:
    """One network: whether each optimum is that of brute force, and the largest gap."""
    graph, setting, counted = small(seed)
    net = NetworkProblem(graph, setting, prove_here, counted)
    if given.inputs > 1:
        net = RepeatedProblem(graph, setting, prove_here, counted, inputs=given.inputs)
    brute = NetworkBrute(graph, setting, counted, inputs=given.inputs)
    found = beside_brute(net, brute.best())
    same = [abs(one.value / best - 1) <= SAME for one, best in found]
    adds = sum(node.name.startswith("add") for node in graph.nodes)
    sizes = (len(graph.layers), len(graph.nodes), adds, len(net.rooms), given.inputs)
    problems = (setting.problem(one, frozenset(), math.inf, ENERGY) for one in graph.layers)
    mappings = sum(len(actions) for one in problems for actions in every_action(one))
    gap = max(one.gap for one, _ in found)
    return (
        *sizes,
        "counted" if counted else "free",
        mappings,
        2 ** len(net.rooms),
        *map(int, same),
        gap,
    )


TABLE = Table(
    __doc__,
    (
        *("network", "layers", "nodes", "adds", "rooms", "inputs", "passes", "mappings"),
        *("choices", "latency", "energy", "edp", "gap"),
    ),
    lambda given: zip(range(given.networks)),
    row_of,
    "network-brute.csv",
    {"networks": 100, "inputs": 1},
)
