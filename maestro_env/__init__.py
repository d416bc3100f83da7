"""The problem: mapping spaces, objectives, sample counting, environments.

Importing this package registers the environments with Gymnasium; ``maestro_env:MaestroEnv-v0``
makes one without the import.
"""

from typing import Any

from maestro_env.agents import AgentWorlds
from maestro_env.batched_problem import BatchedProblem
from maestro_env.build import layer_worlds, network_worlds
from maestro_env.dataflows import DATAFLOWS, NamedDataflow, dataflow_named
from maestro_env.evaluation import Evaluation
from maestro_env.extras import needed
from maestro_env.map_space import ActionError, MapSpace, MapSpaceError
from maestro_env.objective import OBJECTIVES, Objective, ObjectiveError
from maestro_env.parameters import Parameter
from maestro_env.problem import BudgetExhausted, Problem, ProblemError
from maestro_env.registration import ENVIRONMENTS, register
from maestro_env.rewards import EnvError

register()

__all__ = [
    "DATAFLOWS",
    "ENVIRONMENTS",
    "OBJECTIVES",
    "ActionError",
    "AgentWorlds",
    "BatchedProblem",
    "BudgetExhausted",
    "EnvError",
    "Evaluation",
    "MapSpace",
    "MapSpaceError",
    "NamedDataflow",
    "Objective",
    "ObjectiveError",
    "Parameter",
    "Problem",
    "ProblemError",
    "dataflow_named",
    "layer_worlds",
    "network_worlds",
    "parallel_env",
    "register",
    "rllib_env",
    "sb3_vec_env",
]


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
