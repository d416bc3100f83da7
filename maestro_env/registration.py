"""The environments that Gymnasium knows by name."""

from __future__ import annotations

from typing import Any

import gymnasium

from maestro_env.bench import bench_problems
from maestro_env.paper_space import PAPER_SPACES

PAPER: dict[str, Any] = {
    "objective": "latency",
    "accelerator": "archgym",
    "cost_model": "maestro",
    "space": PAPER_SPACES["paper"],
    "observation": "figures",
    "reward": "inverse",
}
"""The papers' setting: MAESTRO (guarded), 1,024 PEs without limits; every parameter of Fig. 2 (loop
orders, parallel dimensions, tiles of K, C, Y, X, R and S, PEs); the observation <latency, power,
energy, area> and the reward 1 / X as printed."""

_OF_A_LAYER = {
    "entry_point": "maestro_env.env:MaestroEnv",
    "vector_entry_point": "maestro_env.vector:VectorMaestroEnv",
}

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "MaestroEnv-v0": _OF_A_LAYER,
    "MaestroEnvPaper-v0": {**_OF_A_LAYER, "kwargs": PAPER},
    "MaestroEnvNetwork-v0": {
        "entry_point": "maestro_env.env:MaestroNetworkEnv",
        "vector_entry_point": "maestro_env.vector:VectorMaestroNetworkEnv",
    },
    **{
        problem.id: {
            **_OF_A_LAYER,
            "kwargs": {
                "layer": problem.layer,
                "accelerator": problem.accelerator,
                "objective": problem.objective,
                "reference": problem.optimum,
            },
        }
        for problem in bench_problems()
    },
}
"""What is registered under each id."""


def register() -> None:
    """Register the environments that are not registered yet."""
    for name, entry in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, **entry)
