"""Figures 2 to 5: whole training cycles (100 steps and one update of all trainers).

    python benchmarks/mpe/cycle.py --agents 3 6 12 --json cycle.json --figures figures
    python benchmarks/mpe/cycle.py --agents 48 --variants baseline folded --rounds 1

One thread, its processor time; every phase keeps its fastest of the repeats. Every variant at every
size is measured in a process of its own: what an earlier store leaves of the heap scatters the
objects of the next one, which neighbor sampling wants side by side. The variants take turns for
some rounds, as a shared machine is faster in some minutes than in others. The baseline is mpe2,
lists of tuples, uniform sampling and one network after the other, in PyTorch.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from fresh import in_fresh_process

from mpe_marl.comparing import VARIANTS, variant
from mpe_marl.figures import draw_comparison, draw_profiles
from mpe_marl.learners import LearnerConfig
from mpe_marl.profiling import profile
from mpe_marl.train_config import TrainConfig
from runs import print_rows


def measure(name: str, n: int, args: argparse.Namespace) -> dict[str, Any]:
    """One variant at one size, as JSON values."""
    torch.set_num_threads(1)
    learner = LearnerConfig(algorithm=args.algorithm)
    config = TrainConfig(world=args.world, n_agents=n, capacity=args.rows, learner=learner)
    found = profile(variant(config, name), rows=args.rows, repeats=args.repeats).plain()
    return {"variant": name, **found}


def fastest(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One variant over its rounds: the fastest time of each phase, and of a whole cycle."""
    phases = {
        phase: min(found["phase_ms"][phase] for found in rounds) for phase in rounds[0]["phase_ms"]
    }
    cycle = min(found["cycle_ms"] for found in rounds)
    return {**rounds[0], "phase_ms": phases, "cycle_ms": cycle}


def measure_all(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Every size and variant, in the order asked."""
    found = []
    for n in args.agents:
        rounds = [
            [in_fresh_process(measure, name, n, args) for name in args.variants]
            for _ in range(args.rounds)
        ]
        found += [fastest(list(of_variant)) for of_variant in zip(*rounds, strict=True)]
    return found


def against_first(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sampling and cycle of each variant beside the first's."""
    rows = []
    for p in found:
        base = next(b for b in found if b["n_agents"] == p["n_agents"])
        total, base_total = (sum(q["phase_ms"].values()) for q in (p, base))
        sample, base_sample = p["phase_ms"]["sample"], base["phase_ms"]["sample"]
        update = total - sum(p["phase_ms"][k] for k in ("act", "environment", "store"))
        rows.append(
            {
                "n_agents": p["n_agents"], "variant": p["variant"], "sample_ms": sample,
                "update_ms": update, "cycle_ms": total,
                "sample_cut_percent": 100 * (1 - sample / base_sample),
                "cycle_cut_percent": 100 * (1 - total / base_total),
                "sample_times": base_sample / sample, "cycle_times": base_total / total,
            }
        )  # fmt: skip
    return rows


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
    args = parser.parse_args()
    found = measure_all(args)
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
    if args.json:
        args.json.write_text(json.dumps({"profiles": found, "comparison": rows}, indent=2))


if __name__ == "__main__":
    main()
