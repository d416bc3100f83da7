"""Figures 2 to 5: whole training cycles (100 steps and one update of all trainers).

    python benchmarks/mpe/cycle.py --agents 3 6 12 --json cycle.json --figures figures
    python benchmarks/mpe/cycle.py --agents 3 12 --csv docs/data/mpe-cycle.csv
    python benchmarks/mpe/cycle.py --agents 48 --variants baseline folded --rounds 1

What ``mpe-marl compare`` measures, and the profiles it is made of, which Figures 2 to 4 show. One
thread, its processor time; every phase keeps its fastest of the repeats and rounds. The baseline is
mpe2, lists of tuples, uniform sampling and one network after the other, in PyTorch.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tables import write_table

from marl_runs import print_rows
from mpe_marl.asked import Effort
from mpe_marl.comparing import VARIANTS, against_first, take_turns
from mpe_marl.figures import draw_comparison, draw_profiles
from mpe_marl.learners import LearnerConfig
from mpe_marl.train_config import TrainConfig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 6, 12])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--world", default="simple_tag")
    parser.add_argument("--algorithm", default="maddpg")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="cycles of a round")
    parser.add_argument("--figures", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path, help="the comparison as a table")
    args = parser.parse_args()
    how = Effort(rows=args.rows, repeats=args.repeats, rounds=args.rounds)
    learner = LearnerConfig(algorithm=args.algorithm)
    found = []
    for n in args.agents:
        config = TrainConfig(world=args.world, n_agents=n, capacity=args.rows, learner=learner)
        found += take_turns(config, args.variants, how)
    rows = against_first(found)
    print_rows("Cycle of 100 steps and one update of all trainers", rows)
    base = [p for p in found if p["variant"] == args.variants[0]]
    print_rows(
        f"Phases of {args.variants[0]} [ms]",
        [{"agents": p["n_agents"], **p["phase_ms"]} for p in base],
    )
    if args.figures:
        draw_profiles(base, args.figures)
        draw_comparison(rows, args.figures)
    if args.csv:
        write_table(args.csv, rows)
    if args.json:
        args.json.write_text(json.dumps({"profiles": found, "comparison": rows}, indent=2))


if __name__ == "__main__":
    main()
