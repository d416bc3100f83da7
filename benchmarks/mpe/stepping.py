"""World steps a second: the compiled worlds against mpe2, action sampling excluded.

python benchmarks/mpe/stepping.py --json stepping.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mapper.show.tables import print_rows
from mpe_marl.profiling.peaks import fastest
from mpe_marl.worlds import SCENARIOS, BatchWorlds, make_spec
from mpe_marl.worlds.reference import mpe2_env


def seconds_a_step(step: Callable[[], object], steps: int, repeats: int) -> float:
    """Fastest mean time of a run of steps [s], processor time of this thread."""

    def run() -> None:
        for _ in range(steps):
            step()

    return fastest(run, repeats, time.thread_time) / steps


def compiled(scenario: str, n: int, worlds: int, repeats: int) -> float:
    """Seconds that one world's step takes among ``worlds``."""
    batch = BatchWorlds(make_spec(scenario, n), worlds)
    batch.reset(0)
    actions = np.random.default_rng(0).integers(0, 5, (worlds, n))
    steps = max(20, 20_000 // (n * worlds))
    return seconds_a_step(lambda: batch.step(actions), steps, repeats) / worlds


def reference(scenario: str, n: int, repeats: int) -> float:
    """Seconds that a step of mpe2 takes."""
    env = mpe2_env(make_spec(scenario, n), max_cycles=10**9)
    env.reset(seed=0)
    actions = {name: i % 5 for i, name in enumerate(env.possible_agents)}
    return seconds_a_step(lambda: env.step(actions), max(3, 300 // n), repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 12, 48])
    parser.add_argument("--worlds", type=int, default=64, help="worlds side by side")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for scenario in SCENARIOS:
        for n in args.agents:
            one = compiled(scenario, n, 1, args.repeats)
            many = compiled(scenario, n, args.worlds, args.repeats)
            theirs = reference(scenario, n, 5)
            rows.append(
                {
                    "world": scenario, "agents": n, "mpe2 us": theirs * 1e6, "one us": one * 1e6,
                    "one, times": theirs / one, f"each of {args.worlds} us": many * 1e6,
                    "more, times": one / many,
                }
            )  # fmt: skip
    print_rows("One step of one world", rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
