"""Steps per second of the environments, one thread: ``python -m benchmarks env_speed``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import gymnasium
import numpy as np

import maestro_env
from benchmarks.frame import asked, show_figures

IMPORT = "import time; start = time.{}(); import maestro_env; seconds = time.{}() - start; "
IMPORT += "import sys; print(seconds, *sys.modules)"
HEAVY = ("torch", "ray", "matplotlib", "pettingzoo", "stable_baselines3", "sklearn")


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = time.perf_counter


def rate(work: Callable[[], int], repeats: int) -> float:
    """Best rate of some repeats [1/s]; `work` returns how many steps it made."""
    work()
    best = 0.0
    for _ in range(repeats):
        start = clock()
        count = work()
        best = max(best, count / (clock() - start))
    return best


def single(layer: str, steps: int, repeats: int) -> float:
    """One environment with all of Gymnasium's wrappers [steps/s]; sampling, resets included."""
    env = gymnasium.make("MaestroEnv-v0", layer=layer)
    env.action_space.seed(0)
    env.reset(seed=0)

    def work() -> int:
        for _ in range(steps):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
        return steps

    return rate(work, repeats)


def vector(layer: str, worlds: int, steps: int, repeats: int) -> tuple[float, float]:
    """World steps of the vector environment, and mappings of the bare batched model."""
    envs = gymnasium.make_vec("MaestroEnv-v0", num_envs=worlds, layer=layer)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(steps)]
    problem = envs.unwrapped.worlds.problems[0]
    mappings = [problem.space.decode(batch) for batch in actions]

    def step() -> int:
        before = problem.samples
        for batch in actions:
            envs.step(batch)
        return int(problem.samples - before)

    def bare() -> int:
        for batch in mappings:
            costs = problem.cost_model.evaluate_batch(problem.layer, problem.accelerator, batch)
            problem.objective.values(costs)
        return worlds * steps

    rates = np.array([(rate(step, 1), rate(bare, 1)) for _ in range(repeats)])
    return float(rates[:, 0].max()), float(rates[:, 1].max())


def pettingzoo(layer: str, agents: int, steps: int, repeats: int) -> float | None:
    """One world with several agents; sampling and resets included. None without PettingZoo."""
    names = maestro_env.Problem(layer).space.names
    dealt = [names[i::agents] for i in range(agents)]
    try:
        env = maestro_env.parallel_env(layer=layer, agents=dealt)
    except gymnasium.error.DependencyNotInstalled:
        return None
    env.reset(seed=0)

    def work() -> int:
        for _ in range(steps):
            env.step({agent: env.action_space(agent).sample() for agent in env.agents})
            if not env.agents:
                env.reset()
        return steps

    return rate(work, repeats)


def import_seconds(repeats: int) -> tuple[float, list[str]]:
    """Shortest warm import in a new process [s], and the heavy libraries it loads."""
    times, loaded = [], set()
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", IMPORT.replace("{}", clock.__name__)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, *modules = done.stdout.split()
        times.append(float(seconds))
        loaded |= set(HEAVY) & set(modules)
    return min(times), sorted(loaded)


def measure(arguments: Any) -> dict[str, Any]:
    """All figures."""
    layer, repeats = arguments.layer, arguments.repeats
    worlds, bare = vector(layer, arguments.worlds, 8, repeats)
    seconds, loaded = import_seconds(repeats)
    return {
        "layer": layer,
        "cost_model": str(maestro_env.Problem(layer).cost_model),
        "clock": arguments.clock,
        "threads": int(os.environ["NUMBA_NUM_THREADS"]),
        "single_steps_per_s": single(layer, 2000, repeats),
        "vector_worlds": arguments.worlds,
        "vector_steps_per_s": worlds,
        "bare_model_per_s": bare,
        "vector_share_of_bare": worlds / bare,
        "pettingzoo_agents": arguments.agents,
        "pettingzoo_steps_per_s": pettingzoo(layer, arguments.agents, 1000, repeats),
        "import_s": seconds,
        "import_loads": loaded,
    }


def main() -> None:
    """Print a table, or JSON."""
    given = asked(
        __doc__,
        layer="mobilenetv2.2",
        worlds=1024,
        agents=10,
        repeats=(7, "the best of these counts"),
        clock=("wall", "cpu on a machine that does other work too", CLOCKS),
        json=False,
    )
    global clock
    clock = CLOCKS[given.clock]
    show_figures(measure(given), given.json)
