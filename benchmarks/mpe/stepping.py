"""World steps a second: the compiled worlds against mpe2.

    python benchmarks/mpe/stepping.py --csv docs/data/mpe-stepping.csv

Whole episodes of 25 random moves from the start that seed 0 gives, the same on both sides. Only
steps are timed: neither resets nor the choice of actions.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tables import write_table

from marl_runs import print_rows
from mpe_marl.worlds import LINEAR_SCENARIOS, BatchWorlds, make_spec
from mpe_marl.worlds.reference import mpe2_env

STEPS = 25


def seconds_a_step(
    reset: Callable[[], object],
    step: Callable[[Any], object],
    moves: Sequence[Any],
    episodes: int,
    repeats: int,
) -> float:
    """Fastest mean time of a step in a run of episodes [s], processor time of this thread."""
    best = float("inf")
    for _ in range(repeats):
        seconds = 0.0
        for _ in range(episodes):
            reset()
            start = time.thread_time()
            for move in moves:
                step(move)
            seconds += time.thread_time() - start
        best = min(best, seconds / (episodes * len(moves)))
    return best


def moves_of(n: int, worlds: int) -> Any:
    """``(STEPS, worlds, n)`` random moves."""
    return np.random.default_rng(0).integers(0, 5, (STEPS, worlds, n))


def compiled(scenario: str, n: int, worlds: int, repeats: int) -> float:
    """Seconds that one world's step takes among ``worlds``."""
    batch = BatchWorlds(make_spec(scenario, n), worlds)
    moves, episodes = list(moves_of(n, worlds)), max(5, 2_000 // (n * worlds))
    return seconds_a_step(lambda: batch.reset(0), batch.step, moves, episodes, repeats) / worlds


def reference(scenario: str, n: int, repeats: int) -> float:
    """Seconds that a step of mpe2 takes; its prey move at random too."""
    env = mpe2_env(make_spec(scenario, n))
    names = env.possible_agents
    moves = [dict(zip(names, m.tolist(), strict=True)) for m in moves_of(len(names), 1)[:, 0]]
    return seconds_a_step(lambda: env.reset(seed=0), env.step, moves, 1, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 12, 48])
    parser.add_argument("--worlds", type=int, default=64, help="worlds side by side")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    rows = []
    for scenario in LINEAR_SCENARIOS:
        for n in args.agents:
            one = compiled(scenario, n, 1, args.repeats)
            many = compiled(scenario, n, args.worlds, args.repeats)
            theirs = reference(scenario, n, args.repeats)
            rows.append(
                {
                    "world": scenario, "agents": n, "mpe2 us": theirs * 1e6, "one us": one * 1e6,
                    "one, times": theirs / one, f"each of {args.worlds} us": many * 1e6,
                    "more, times": one / many,
                }
            )  # fmt: skip
    print_rows("One step of one world", rows)
    if args.csv:
        write_table(args.csv, rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
