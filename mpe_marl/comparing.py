"""The papers' baseline, neighbor sampling and this package's ways, measured in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mpe_marl.errors import unknown_name
from mpe_marl.profiling.profile import Profile, profile
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
    if name not in VARIANTS:
        raise unknown_name("variant", name, VARIANTS)
    engine, layout, law, mode = VARIANTS[name]
    learner = replace(config.learner, mode=mode)
    return replace(config, engine=engine, layout=layout, law=law, learner=learner)


def compare(
    config: TrainConfig, names: Sequence[str], *, rows: int, repeats: int, seed: int = 0
) -> list[dict[str, Any]]:
    """Measure variants one after the other.

    Args:
        config: World, size, algorithm and batch.
        names: Variants; the first is what the others are compared with.
        rows: Transitions in the store.
        repeats: Cycles of which each phase keeps its fastest.
        seed: Seeds the play.

    Returns:
        One row a variant: milliseconds of sampling and of a cycle, and how far below the first
        variant's they are [%], and how many times faster.
    """
    configs = [variant(config, name) for name in names]
    profiles = [profile(c, rows=rows, repeats=repeats, seed=seed) for c in configs]
    return [_row(name, p, profiles[0]) for name, p in zip(names, profiles, strict=True)]


def _row(name: str, p: Profile, base: Profile) -> dict[str, Any]:
    sample, total = p.phase_ms["sample"], sum(p.phase_ms.values())
    base_sample, base_total = base.phase_ms["sample"], sum(base.phase_ms.values())
    return {
        "variant": name,
        "n_agents": p.config.n_agents,
        "algorithm": p.config.learner.algorithm,
        "sample_ms": sample,
        "cycle_ms": total,
        "sample_cut_percent": 100 * (1 - sample / base_sample),
        "cycle_cut_percent": 100 * (1 - total / base_total),
        "sample_times": base_sample / sample,
        "cycle_times": base_total / total,
    }
