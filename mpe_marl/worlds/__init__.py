"""Particle worlds, compiled and batched; simple_tag and simple_spread of any size."""

from __future__ import annotations

from typing import Any

from mpe_marl.worlds.batch import BatchEnv, BatchWorlds, Step
from mpe_marl.worlds.role_spec import RoleSpec
from mpe_marl.worlds.spec import (
    LINEAR_SCENARIOS,
    SCENARIOS,
    VELOCITY_ORDERS,
    AnySpec,
    WorldSpec,
    make_spec,
)

__all__ = [
    "LINEAR_SCENARIOS",
    "SCENARIOS",
    "VELOCITY_ORDERS",
    "AnySpec",
    "BatchEnv",
    "BatchWorlds",
    "RoleSpec",
    "Step",
    "WorldSpec",
    "make_spec",
    "parallel_env",
]


def parallel_env(
    scenario: str, n_agents: int | None = None, render_mode: str | None = None, **options: Any
) -> Any:
    """Make one world with PettingZoo's ParallelEnv face.

    Args:
        scenario: One of :data:`SCENARIOS`.
        n_agents: Agents that learn; None: as many as usual.
        render_mode: ``"rgb_array"`` for pictures from ``render()``.
        options: See :func:`make_spec`.

    Raises:
        MpeError: See :func:`make_spec`.
    """
    from mpe_marl.worlds.parallel import ParticleWorld

    return ParticleWorld(make_spec(scenario, n_agents, **options), render_mode)
