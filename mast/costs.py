"""Costs of configurations beside each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mast.config import MastConfig
from mast.errors import MastError
from mast.flops import count_updates, layer_costs, outside_layers, run_cost
from mast.registries import check_parts
from mast.tasks import TeamWorlds, find_task
from mast.tiny import widths_of

KEPT_OF_A_WEIGHT = 24
"""Bytes that training keeps of a weight: itself, its target, gradient, mask, Adam's two."""


def cost_rows(configs: Sequence[MastConfig], steps: int) -> list[dict[str, Any]]:
    """One row a configuration, and before them one of the dense network.

    Args:
        configs: Configurations of one task.
        steps: Steps of the run.
    """
    shape = TeamWorlds(find_task(configs[0].task), 1, configs[0].team).shape
    dense = replace(
        configs[0], arm="dense", without=(), growth=None, agent_sparsities=(), backend="masked"
    )
    whole = run_cost(dense, shape, steps).plain()
    rows = []
    for config in (dense, *configs):
        widths = widths_of(config, shape)
        found = run_cost(config, shape, steps, widths).plain()
        updates, _ = count_updates(config, shape, steps)
        rows.append(
            {
                "task": config.task, "arm": config.label, **found,
                "outside_flops": updates * outside_layers(config, shape, widths),
                "train_times": whole["train_flops"] / found["train_flops"],
                "inference_times": whole["inference_flops"] / found["inference_flops"],
                "executed_times": whole["train_flops"] / found["train_flops_executed"],
            }
        )  # fmt: skip
    return rows


def _check_memory(config: MastConfig, n_agents: int) -> None:
    """Refuse agents whose weights, with all that training keeps of them, exceed the memory."""
    networks = 1 if config.share else n_agents
    needed = KEPT_OF_A_WEIGHT * networks * config.hidden**2
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise MastError(
            f"hidden={config.hidden}: training takes about {needed / 1e9:.0f} GB, this machine has "
            f"{there / 1e9:.0f} GB; lower --hidden."
        )


def check_run(config: MastConfig) -> None:
    """Make sure that a configuration can be trained, before its run is begun.

    Raises:
        MastError: No such task, rewards that differ, or an agent without an available action.
        SparseTrainingError: The sparsity leaves a layer empty, or blocks cannot meet it.
    """
    check_parts(config)
    worlds = TeamWorlds(find_task(config.task, config.episode_length), 1, config.team)
    _check_memory(config, worlds.shape.n_agents)
    layer_costs(config, worlds.shape, widths_of(config, worlds.shape))
    available = worlds.look().available
    first = np.zeros((1, worlds.shape.n_agents), dtype=np.int64)
    worlds.step(first if available is None else available.argmax(axis=2))
