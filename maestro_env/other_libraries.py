"""The environments for other libraries, which need extras."""

from __future__ import annotations

from typing import Any

from maestro_env.extras import needed


def parallel_env(**arguments: Any) -> Any:
    """A PettingZoo ``ParallelEnv``; the arguments are those of ``MaestroParallelEnv``.

    Raises:
        DependencyNotInstalled: PettingZoo is missing (extra ``rl``).
    """
    with needed("pettingzoo", "rl"):
        from maestro_env.parallel import MaestroParallelEnv
    return MaestroParallelEnv(**arguments)


def sb3_vec_env(num_envs: int, **arguments: Any) -> Any:
    """A Stable-Baselines3 ``VecEnv``; the arguments are those of ``SB3MaestroEnv``.

    Raises:
        DependencyNotInstalled: Stable-Baselines3 is missing (extra ``rl``).
    """
    with needed("stable_baselines3", "rl"):
        from maestro_env.sb3 import SB3MaestroEnv
    return SB3MaestroEnv(num_envs, **arguments)


def rllib_env(config: dict[str, Any] | None = None) -> Any:
    """An RLlib ``MultiAgentEnv``, for ``ray.tune.register_env``; see ``RLlibMaestroEnv``.

    Raises:
        DependencyNotInstalled: Ray is missing (extra ``rllib``).
    """
    with needed("ray", "rllib"):
        from maestro_env.rllib import RLlibMaestroEnv
    return RLlibMaestroEnv(config)
