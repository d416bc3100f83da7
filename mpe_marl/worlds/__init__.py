"""Particle worlds: simple_tag and simple_spread of any size, compiled and batched."""

from __future__ import annotations

from typing import Any

from mpe_marl.worlds.batch import BatchEnv, BatchWorlds, Step
from mpe_marl.worlds.spec import SCENARIOS, VELOCITY_ORDERS, WorldSpec, make_spec

__all__ = [
    "SCENARIOS",
    "VELOCITY_ORDERS",
    "BatchEnv",
    "BatchWorlds",
    "Step",
    "WorldSpec",
    "make_spec",
    "parallel_env",
]


def parallel_env(
    scenario: str, n_agents: int = 3, render_mode: str | None = None, **options: Any
) -> Any:
    """Make one world with PettingZoo's ParallelEnv face.

    Args:
        scenario: ``"simple_tag"`` or ``"simple_spread"``.
        n_agents: Agents that learn.
        render_mode: ``"rgb_array"`` for pictures from ``render()``.
        options: See :func:`make_spec`.

    Raises:
        MpeError: See :func:`make_spec`.
    """
    from mpe_marl.worlds.parallel import ParticleWorld

    return ParticleWorld(make_spec(scenario, n_agents, **options), render_mode)
