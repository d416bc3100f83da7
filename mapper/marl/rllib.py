"""The RLlib learner: one PPO policy an agent, on Ray's new API stack.

Slower than the batched learner and without its elites; it is the reference of the plain method
(every agent chooses anew in each sample) and runs on a Ray cluster.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from baselines import one_thread
from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from mapper.marl.agents import choosing
from mapper.marl.checkpoint import WEIGHTS, CheckpointError
from mapper.marl.observation_and_reward import Observer, PrintedFeedback
from mapper.marl.policies import OBSERVATION
from mapper.marl.rllib_config import RllibConfig
from marl_runs import ray_session

EPISODE = 16
"""Samples an episode; RLlib's bookkeeping grows with the number of finished episodes."""
ENVIRONMENT = "rllib-multi-agent-env-v0"
"""What RLlib registers each algorithm's environment as."""


class ChoosingEnv(MultiAgentEnv):
    """One world: every agent chooses its parameters, one sample is evaluated, all share a reward.

    Args:
        problem: It counts the samples, and raises BudgetExhausted out of `step` at the end.
        assignment: Which agent owns which parameter.
        reward: See :class:`~mapper.marl.rllib_config.RllibConfig`.
        mode: Likewise.
    """

    def __init__(
        self,
        problem: Problem,
        assignment: Assignment,
        reward: str = "improvement",
        mode: str = "search",
    ) -> None:
        self.problem, self.feedback, self.reward = problem, Observer(problem), reward
        self.printed = PrintedFeedback(problem) if mode == "paper" else None
        names = list(problem.space.names)
        self.columns = [[names.index(name) for name in agent] for agent in assignment.agents]
        # Numbers, as RLlib goes through sets of agents: those of texts are in another order in
        # each process, and the policies draw from one generator in that order.
        self.possible_agents = list(range(len(assignment)))
        self.agents = list(self.possible_agents)
        box = gymnasium.spaces.Box(-1.0, 1.0, (OBSERVATION,), np.float32)
        self.observation_spaces = dict.fromkeys(self.possible_agents, box)
        self.action_spaces = {
            agent: gymnasium.spaces.MultiDiscrete(problem.space.nvec[columns])
            for agent, columns in zip(self.possible_agents, self.columns, strict=True)
        }
        self.age = 0
        self.seen = np.zeros(OBSERVATION, np.float32)
        self.end: BaseException | None = None
        super().__init__()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start an episode: the last sample's figures, for every agent."""
        self.age = 0
        return dict.fromkeys(self.possible_agents, self.seen), {}

    def step(self, action_dict: Mapping[int, NDArray[np.int64]]) -> Any:
        """One sample."""
        self.age += 1
        reward = self._sample(action_dict)
        ends = self.age >= EPISODE
        agents: list[Any] = self.possible_agents  # numbers, beside "__all__"
        return (
            dict.fromkeys(agents, self.seen),
            dict.fromkeys(agents, reward),
            {**dict.fromkeys(agents, False), "__all__": False},
            {**dict.fromkeys(agents, ends), "__all__": ends},
            {},
        )

    def _sample(self, action_dict: Mapping[int, NDArray[np.int64]]) -> float:
        action = np.zeros((1, len(self.problem.space.nvec)), np.int64)
        for agent, columns in zip(self.possible_agents, self.columns, strict=True):
            action[0, columns] = action_dict[agent]
        try:
            evaluation = self.problem.evaluate(action)
        except BaseException as end:
            self.end = end  # RLlib raises another one in its place
            raise
        if self.printed is not None:
            observed, rewards = self.printed(evaluation)
            self.seen = observed[0]
            return float(rewards[0])
        self.seen = self.feedback.observed(evaluation)[0]
        if self.reward == "relative":
            return float(self.feedback.relative(evaluation.values)[0])
        free = np.full(1, np.nan)
        return float(self.feedback.gain(free, evaluation.values)[0])


_WORLDS: dict[str, ChoosingEnv] = {}
"""Worlds of this process by key: RLlib copies whatever an environment's maker holds, and a copied
problem would count its samples nowhere."""


def _world_of(config: Mapping[str, Any]) -> ChoosingEnv:
    return _WORLDS[config["key"]]


def search(
    problem: Problem, assignment: Assignment, config: RllibConfig, rng: np.random.Generator
) -> None:
    """Train until the budget is used up; raises BudgetExhausted as every searcher does.

    With `config.checkpoint`, the policies' weights are written there now and then and at the end
    (tensors only), and read from there at the start if the file exists.
    """
    missing = set(choosing(problem)) - set(assignment.names)
    if missing:
        raise ValueError(f"assignment: {', '.join(sorted(missing))} belong to no agent")
    world = ChoosingEnv(problem, assignment, config.reward, config.mode)
    key = f"{os.getpid()}-{id(world)}"
    _WORLDS[key] = world
    try:
        with one_thread(), ray_session(config.ray_address or "local"):
            _train(world, key, config, int(rng.integers(2**31)))
    finally:
        del _WORLDS[key]


def _train(world: ChoosingEnv, key: str, config: RllibConfig, seed: int) -> None:
    _hush()
    warnings.filterwarnings("ignore", module="ray")
    algorithm = _algorithm_config(world, key, config, seed).build_algo()
    _hush()  # building sets the levels anew
    policies = [policy_of(agent) for agent in world.possible_agents]
    try:
        _load_weights(algorithm, policies, config.checkpoint)
        kept = 0
        try:
            while True:
                _advance(algorithm, world)
                if world.problem.samples // config.checkpoint_every > kept:
                    kept = world.problem.samples // config.checkpoint_every
                    _save_weights(algorithm, policies, config.checkpoint)
        except Exception:
            _save_weights(algorithm, policies, config.checkpoint)
            raise
    finally:
        algorithm.stop()
        gymnasium.registry.pop(ENVIRONMENT, None)  # the next one's would warn that it is there
        _forget(Path(algorithm.logdir))


def policy_of(agent: int, *_: Any, **__: Any) -> str:
    """Name of an agent's policy."""
    return f"agent_{agent}"


def _algorithm_config(world: ChoosingEnv, key: str, config: RllibConfig, seed: int) -> Any:
    """RLlib's own config; a policy for each agent, in their order."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env

    register_env("mapper-choosing", _world_of)
    # On a cluster the updates run there; the samples are counted where the problem is, here.
    learners = 1 if config.ray_address not in ("", "local") else 0
    return (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment("mapper-choosing", env_config={"key": key}, disable_env_checking=True)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=1,
            episodes_to_numpy=False,
            batch_mode="truncate_episodes",
            rollout_fragment_length=config.batch,
        )
        .learners(num_learners=learners)
        .multi_agent(
            policies=[policy_of(agent) for agent in world.possible_agents],
            policy_mapping_fn=policy_of,
        )
        .rl_module(model_config=_model_config(config.hidden))
        .training(
            lr=config.learning_rate,
            gamma=0.0,
            lambda_=0.0,
            num_epochs=config.epochs,
            train_batch_size_per_learner=config.batch,
            minibatch_size=config.batch,
            clip_param=config.clip,
            entropy_coeff=_entropy(config.entropy, world.problem.budget),
            use_kl_loss=False,
            vf_clip_param=10.0,
            vf_loss_coeff=0.5,
            grad_clip=5.0,
        )
        .reporting(min_time_s_per_iteration=0, metrics_num_episodes_for_smoothing=1)
        .debugging(seed=seed, log_level="ERROR")
    )


def _model_config(hidden: int) -> Any:
    """An agent's network, as in the batched learner.

    One hidden layer serves both heads, which begin near 0, as a first value of random size would
    hide what small rewards say.
    """
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    return DefaultModelConfig(
        fcnet_hiddens=[hidden],
        vf_share_layers=True,
        head_fcnet_kernel_initializer="normal_",
        head_fcnet_kernel_initializer_kwargs={"std": 0.01},
        head_fcnet_bias_initializer="zeros_",
    )


def _entropy(start: float, budget: int | None) -> Any:
    """The weight, or its schedule: samples and weights between which it is interpolated."""
    return start if budget is None or start == 0 else [[0, start], [budget, 0.0]]


def _advance(algorithm: Any, world: ChoosingEnv) -> None:
    """One round of samples and the update; raises what ended the search: budget, Ctrl-C, a fault.

    RLlib says RuntimeError for all that an environment raises, so the world keeps it.
    """
    try:
        algorithm.train()
    except Exception as error:
        raise (world.end or error) from None


def _hush() -> None:
    """No log lines: what matters is raised."""
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _forget(folder: Path) -> None:
    """Remove the folder of results that RLlib makes in the home folder."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()  # only if nothing else is there


def _save_weights(algorithm: Any, policies: list[str], path: str) -> None:
    if not path:
        return
    weights = {name: dict(algorithm.get_module(name).state_dict()) for name in policies}
    WEIGHTS.save(path, {"agents": weights})


def _load_weights(algorithm: Any, policies: list[str], path: str) -> None:
    if not path or not Path(path).exists():
        return
    weights = WEIGHTS.load(path).get("agents")
    if not isinstance(weights, dict) or sorted(weights) != sorted(policies):
        raise CheckpointError(f"{path}: holds no policies of these {len(policies)} agents")
    state = {name: {k: v.numpy() for k, v in weights[name].items()} for name in policies}
    algorithm.set_weights(state)
