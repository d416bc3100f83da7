"""Speed of the environments on one thread, sampling and resets included, and of their import.

    python -m benchmarks env_speed

A figure is the best of `--repeats`, by processor time. The bare model evaluates the mappings of the
vector environment's actions, in the same batches.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import gymnasium

import maestro_env
from benchmarks.frame import Table

WORLDS, BATCHES, STEPS, AGENTS = 1024, 8, 2000, 10
Work = Callable[[], int]


def single(layer: str) -> Work:
    """One environment with all of Gymnasium's wrappers."""
    env = gymnasium.make("MaestroEnv-v0", layer=layer)
    env.action_space.seed(0)
    env.reset(seed=0)

    def work() -> int:
        for _ in range(STEPS):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
        return STEPS

    return work


def vector(layer: str, bare: bool = False) -> Work:
    """World steps of the vector environment, or mappings of the bare batched model."""
    envs = gymnasium.make_vec("MaestroEnv-v0", num_envs=WORLDS, layer=layer)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(BATCHES)]
    problem = envs.unwrapped.worlds.problems[0]
    mappings = [problem.space.decode(batch) for batch in actions]

    def work() -> int:
        before = problem.samples
        for batch, decoded in zip(actions, mappings, strict=True):
            if bare:
                costs = problem.cost_model.evaluate_batch(
                    problem.layer, problem.accelerator, decoded
                )
                problem.objective.values(costs)
            else:
                envs.step(batch)
        return WORLDS * BATCHES if bare else int(problem.samples - before)

    return work


def pettingzoo(layer: str) -> Work:
    """One world with several agents."""
    names = maestro_env.Problem(layer).space.names
    env = maestro_env.parallel_env(layer=layer, agents=[names[i::AGENTS] for i in range(AGENTS)])
    env.reset(seed=0)

    def work() -> int:
        for _ in range(STEPS // 2):
            env.step({agent: env.action_space(agent).sample() for agent in env.agents})
            if not env.agents:
                env.reset()
        return STEPS // 2

    return work


def imported(_: str) -> Work:
    """Starts of a process that imports the package."""
    return lambda: 1 + subprocess.call([sys.executable, "-c", "import maestro_env"])


ROWS: dict[str, Callable[[str], Work]] = {
    "single environment": single,
    f"vector environment, {WORLDS} worlds": vector,
    "bare batched model": lambda layer: vector(layer, bare=True),
    f"PettingZoo, {AGENTS} agents": pettingzoo,
    "imports": imported,
}


def row_of(given: Any, name: str) -> tuple[float]:
    """The best rate of a row [1/s]."""
    work, best = ROWS[name](given.layer), 0.0
    clock = time.perf_counter if name == "imports" else time.process_time
    for _ in range(1 + given.repeats):
        began = clock()
        count = work()
        best = max(best, count / (clock() - began))
    return (round(best, 1),)


TABLE = Table(
    __doc__,
    ("what", "a second"),
    lambda _: zip(ROWS, strict=True),
    row_of,
    options={"layer": "mobilenetv2.2", "repeats": 7},
    quick={"repeats": 1},
)
