"""Fused tiles beside their execution, and networks with fused layers beside brute force.

    python -m benchmarks fused_check

The first row counts random groups of 2 to 4 convolutions with random tilings, each executed element
by element (mapper/fusing/fused_execution.py): what every layer computes in every fused tile has to
be what is planned, and the room for what is held has to suffice. Each further row is a random
network, of 2 or 3 small convolutions or (every other one) of scores, softmax and context, half of
these with rows that are long for L2: all groups, tilings, tiles of keys, halos, filters that stay,
tensors that stay and mappings are enumerated (tests/mapper/network_brute.py), and the least
latency, energy and energy-delay product compared with what `mapper.fusing` proves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frame import Table
from mapper.fusing.fused_execution import differences
from mapper.fusing.fused_network import FusedProblem
from tests.mapper.network_brute import NetworkBrute, beside_brute, prove_here
from tests.mapper.small_networks import long_attention, random_tiling, small_attention, small_chain

SAME = 1e-9


def row_of(given: Any, what: str) -> tuple[Any, ...]:
    """The groups, or a network: optima (latency, energy, EDP), those that fuse, and that differ."""
    if what == "groups executed":
        rng, count = np.random.default_rng(0), given.groups
        return count, count, sum(bool(differences(*random_tiling(rng))) for _ in range(count)), ""
    seed = int(what.split()[1])
    make = (small_chain, small_attention, small_chain, long_attention)[seed % 4]
    graph, setting = make(seed)
    net = FusedProblem(graph, setting, prove_here)
    found = beside_brute(net, NetworkBrute(graph, setting, fused=True).best())
    differ = [abs(one.value / best - 1) > SAME for one, best in found]
    fused = sum(any(step.fused for step in one.steps) for one, _ in found)
    return len(found), fused, sum(differ), max(one.gap for one, _ in found)


TABLE = Table(
    __doc__,
    ("what", "cases", "fused", "differ", "gap"),
    lambda given: [("groups executed",), *((f"network {n}",) for n in range(given.networks))],
    row_of,
    "fused-check.csv",
    {"groups": 10_000, "networks": 100},
    {"groups": 20},
)
