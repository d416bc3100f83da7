"""Hostile calls of the environments: one layer, many worlds, several agents, Stable-Baselines3."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import layers
import maestro_env
from maestro_env import ActionError, EnvError, MapSpaceError, ProblemError
from maestro_env import ResetNeededError as Reset
from maestro_env.checks import ArgumentError
from maestro_env.env import MaestroEnv, MaestroNetworkEnv
from maestro_env.vector import VectorMaestroEnv
from tests.hostile.calls import Row

LAYER = "mlp.2"
RAGGED = [[1], [1, 2]]
TWO = np.array([1, 2])
NO_RESET = r"expected a reset first; call reset\(\)"
Make = Callable[[], Any]


def one(**how: Any) -> MaestroEnv:
    return MaestroEnv(LAYER, **how)


def two(**how: Any) -> VectorMaestroEnv:
    return VectorMaestroEnv(2, LAYER, **how)


def agents(**how: Any) -> Any:
    pytest.importorskip("pettingzoo")
    return maestro_env.parallel_env(**{"layer": LAYER, **how})


def sb3(num_envs: Any = 2) -> Any:
    pytest.importorskip("stable_baselines3")
    return maestro_env.sb3_vec_env(num_envs, layer=LAYER)


def worlds_of(env: Any) -> Any:
    return env._world.group.worlds if hasattr(env, "_world") else env.worlds


def action_of(env: Any) -> Any:
    """An action that the environment takes."""
    if hasattr(env, "possible_agents"):
        return {name: np.zeros(space.shape, int) for name, space in env.action_spaces.items()}
    return np.zeros((worlds_of(env).num_worlds, len(worlds_of(env).nvec)), int).reshape(
        env.action_space.shape if not hasattr(env, "step_wait") else (2, -1)
    )


def step(
    name: str,
    make: Make,
    error: type[Exception],
    says: str,
    after: int | None = 0,
    action: Any = ...,
) -> Row:
    """A step with an action after some steps of an episode (None: after no reset)."""

    def call() -> None:
        env = make()
        if after is not None:
            env.reset()
        for _ in range(after or 0):
            env.step(action_of(env))
        worlds = worlds_of(env)
        try:
            env.step(action_of(env) if action is ... else action)
        finally:  # nothing was evaluated or counted
            count = (after or 0) * worlds.num_worlds
            assert sum(problem.samples for problem in worlds.problems) == count
            assert worlds.samples.sum() == count

    return Row(f"step: {name}", call, error, says)


def reset(name: str, make: Make, says: str, **how: Any) -> Row:
    """A reset that leaves the episodes as they were."""

    def call() -> None:
        env = make()
        env.reset(seed=0)
        env.step(action_of(env))
        try:
            env.reset(**how)
        finally:
            assert (worlds_of(env).age == 1).all()
            assert (worlds_of(env).samples == 1).all()

    return Row(f"reset: {name}", call, EnvError, says)


def made(error: type[Exception], says: str, **how: Any) -> Row:
    return Row(f"one world, {how}", lambda: one(**how), error, says)


def count(name: str, make: Callable[[Any], object], *numbers: Any) -> list[Row]:
    return [
        Row(f"{name} with {n!r} worlds", lambda n=n: make(n), EnvError, "num_envs: got")
        for n in numbers
    ]


def assigned(given: Any, says: str) -> Row:
    return Row(f"agents={given!r}", lambda: agents(agents=given), EnvError, says)


STEPS = [
    step("one world before a reset", one, Reset, NO_RESET, None),
    step("one world after the end", lambda: one(episode_length=2), Reset, "episode's end", 2),
    step("a network after all layers", lambda: MaestroNetworkEnv([LAYER]), Reset, NO_RESET, 1),
    step("worlds before a reset", two, Reset, r"worlds \[0, 1\] have not begun", None),
    step(
        "worlds after the end",
        lambda: two(episode_length=2, autoreset_mode="Disabled"),
        Reset,
        r"worlds \[0, 1\] have ended; reset them with options=\{'reset_mask'",
        2,
    ),
    step("agents before a reset", agents, Reset, NO_RESET, None),
    step("no action", one, ActionError, r"got shape \(\), expected", action=None),
    step("ragged lists", one, ActionError, "rows of equal length", action=RAGGED),
    step("floats", one, ActionError, "expected integers", action=np.zeros(19)),
    step("out of range", one, ActionError, "expected 0..1", action=np.full(19, 99)),
    step("ragged rows of worlds", two, ActionError, "rows of equal length", action=RAGGED),
    step("agents' None", agents, ActionError, "expected a dict of each agent", action=None),
    step("no actions of worlds", two, ActionError, "one row a world", action=None),
    step("Stable-Baselines3 with None", sb3, ActionError, "expected", action=None),
    step("no agent acts", agents, ActionError, "no action for agent_0", action={}),
    step("unknown agent", agents, ActionError, "unknown agent 'agent_99'", action={"agent_99": 1}),
]

MASK = np.array([True, False])
RESETS = [
    reset("an option of one world", one, "unknown option 'reset_mask'.*expected none",
          options={"reset_mask": MASK}),
    reset("options as a list", one, r"options: got \[1\], expected a dict", options=[1]),
    reset("a text as seed", one, "seed: got 'a', expected a whole number", seed="a"),
    reset("a negative seed", one, "seed: got -1", seed=-1),
    reset("a misspelt option of worlds", two, "Did you mean 'reset_mask'",
          options={"reset_maks": MASK}),
    reset("options of worlds as a list", two, "expected a dict of 'reset_mask'",
          options=["reset_mask"]),
    reset("a mask of integers", two, r"expected \(2,\) bool", options={"reset_mask": [1, 0]}),
    reset("a mask of no world", two, "one world to reset", options={"reset_mask": ~MASK & MASK}),
    reset("a ragged mask", two, r"expected \(2,\) bool", options={"reset_mask": RAGGED}),
    reset("three seeds", two, "got 3 seeds, expected 2", seed=[1, 2, 3]),
    reset("a text among seeds", two, "seed: got 'a'", seed=[1, "a"]),
]  # fmt: skip

ARGUMENTS = [
    made(EnvError, "infeasible_reward: got nan", infeasible_reward=float("nan")),
    made(EnvError, "reward: got array", reward=TWO),
    made(EnvError, "Did you mean 'relative'", reward="realtive"),
    made(ArgumentError, "Did you mean 'accelerator'", acelerator="edge"),
    made(EnvError, "Did you mean 'paper'", observation="papers"),
    made(EnvError, "Did you mean 'ansi'", render_mode="ansii"),
    made(EnvError, "episode_length: got 0, expected", episode_length=0),
    made(MapSpaceError, "space.filters: got 'all'", filters="all"),
    made(MapSpaceError, "Did you mean 'permutation'", orders="permutations"),
    made(MapSpaceError, "space.parallel: got 'KQ'", parallel="KQ"),
    Row("a network as layer", lambda: MaestroEnv("vgg16"), EnvError, "use MaestroEnvNet"),
    Row("layers as layer", lambda: MaestroEnv(["vgg16.0"]), EnvError, "use MaestroEnvNet"),
    Row("one layer of many", lambda: MaestroNetworkEnv(layers.get(LAYER)), EnvError, "list of lay"),
    Row("shuffle", lambda: MaestroNetworkEnv(order="shuffle"), EnvError, "mean 'shuffled'"),
    Row("no layers", lambda: MaestroNetworkEnv([]), EnvError, "expected at least one"),
    Row("order", lambda: MaestroNetworkEnv(order=[1]), EnvError, "order: got"),
    Row("autoreset", lambda: two(autoreset_mode=[1]), EnvError, "expected one of NextStep"),
    Row(
        "numeric_info as a text",
        lambda: agents(numeric_info="yes"),
        EnvError,
        "numeric_info: got 'yes', expected True or False",
    ),
    Row(
        "cost of world 99", lambda: two().cost(99), EnvError, "expected a whole number from 0 to 1"
    ),
    Row("cost of world a", lambda: two().cost("a"), EnvError, "got world 'a'"),
    Row("cost before a step", lambda: two().cost(0), EnvError, "step first"),
    assigned("outer_tile_K", "agents: got 'outer_tile_K', expected a list"),
    assigned(["outer_tile_K"], r"agents\[0\]: got 'outer_tile_K', expected a list"),
    assigned([], "no agent has"),
    assigned([["outer_tlie_K"]], "Did you mean 'outer_tile_K'"),
    assigned([["outer_tile_K"], ["outer_tile_K"]], "agent 0's already"),
    assigned([["outer_tile_K"], []], "got no parameters"),
]

PROBLEM = maestro_env.Problem(LAYER)
WORLDS = [
    Row("no budget", lambda: maestro_env.Problem(LAYER, budget=0), ProblemError, "budget: got 0"),
    Row("no actions", lambda: PROBLEM.evaluate(np.zeros((0, 19), int)), ActionError, "empty batch"),
    *count("worlds", lambda n: maestro_env.layer_worlds(n, LAYER), 1.5),
    *count("vector", lambda n: VectorMaestroEnv(n, LAYER), "a", 0, True, 10**13),
    *count("batched", lambda n: maestro_env.BatchedProblem(PROBLEM, n), float("inf")),
    *count("Stable-Baselines3", sb3, "a"),
    Row(
        "batched without a problem",
        lambda: maestro_env.BatchedProblem(None, 2),
        EnvError,
        "problem: got None, expected a maestro_env.Problem",
    ),
    Row("agents of no problem", lambda: agents(problem=3), EnvError, "problem: got 3, expected a"),
]

ROWS = [*STEPS, *RESETS, *ARGUMENTS, *WORLDS]
