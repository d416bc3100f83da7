"""The papers' baseline, neighbor sampling and this package's ways, measured in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from marl_common import check_name
from marl_runs import in_fresh_process
from mpe_marl.asked import Effort, OnceEffort
from mpe_marl.clock import UPDATE_PHASES
from mpe_marl.errors import MpeError
from mpe_marl.profiling.profile import profile
from mpe_marl.train_config import TrainConfig

BASELINE = "baseline"
# name -> engine, layout, law, update mode
VARIANTS = {
    BASELINE: ("mpe2", "lists", "uniform", "loop"),
    "neighbor": ("mpe2", "lists", "neighbor", "loop"),
    "neighbor-drop": ("mpe2", "lists", "neighbor-drop", "loop"),
    "arrays": ("mpe2", "arrays", "uniform", "loop"),
    "joint": ("compiled", "joint", "uniform", "batched"),
    "shared": ("compiled", "joint", "shared", "shared"),
    "folded": ("compiled", "state", "shared", "folded"),
}


def variant(config: TrainConfig, name: str) -> TrainConfig:
    """The configuration with a variant's engine, layout, law and update mode.

    Raises:
        MpeError: No such variant.
    """
    check_name("variant", name, VARIANTS, MpeError)
    engine, layout, law, mode = VARIANTS[name]
    learner = replace(config.learner, mode=mode)
    return replace(config, engine=engine, layout=layout, law=law, learner=learner)


def measure(config: TrainConfig, how: Effort) -> dict[str, Any]:
    """Profile one configuration in a new interpreter, as JSON values."""
    return in_fresh_process(profiled, config, how)


def profiled(config: TrainConfig, how: OnceEffort) -> dict[str, Any]:
    """Profile one configuration in this process, as JSON values."""
    import torch

    torch.set_num_threads(how.threads)
    return profile(config, rows=how.rows, repeats=how.repeats).plain()


def take_turns(config: TrainConfig, names: Sequence[str], how: Effort) -> list[dict[str, Any]]:
    """Profile variants in turn, each time in a process of its own.

    What an earlier store leaves of the heap scatters the objects of the next one, which neighbor
    sampling wants side by side; and a shared machine is faster in some minutes than in others.

    Args:
        config: World, size, algorithm and batch.
        names: Variants.
        how: Rows, repeats, rounds and threads.

    Returns:
        One profile a variant: each phase, and a whole cycle, at its fastest of all rounds.
    """
    configs = [variant(config, name) for name in names]
    rounds = [[measure(c, how) for c in configs] for _ in range(how.rounds)]
    pairs = zip(names, zip(*rounds, strict=True), strict=True)
    return [{"variant": name, **_fastest(found)} for name, found in pairs]


def _fastest(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    phases = {p: min(found["phase_ms"][p] for found in rounds) for p in rounds[0]["phase_ms"]}
    cycle = min(found["cycle_ms"] for found in rounds)
    return {**rounds[0], "phase_ms": phases, "cycle_ms": cycle}


def against_first(profiles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each variant beside the first one of its size.

    Returns:
        One row a profile: milliseconds of sampling, of update-all-trainers and of a cycle, and how
        far below the first variant's they are [%], and how many times faster.
    """
    rows = []
    for p in profiles:
        base = next(b for b in profiles if b["n_agents"] == p["n_agents"])
        total, base_total = (sum(q["phase_ms"].values()) for q in (p, base))
        sample, base_sample = p["phase_ms"]["sample"], base["phase_ms"]["sample"]
        rows.append(
            {
                "variant": p["variant"], "n_agents": p["n_agents"], "algorithm": p["algorithm"],
                "sample_ms": sample, "update_ms": sum(p["phase_ms"][k] for k in UPDATE_PHASES),
                "cycle_ms": total,
                "sample_cut_percent": 100 * (1 - sample / base_sample),
                "cycle_cut_percent": 100 * (1 - total / base_total),
                "sample_times": base_sample / sample, "cycle_times": base_total / total,
            }
        )  # fmt: skip
    return rows
