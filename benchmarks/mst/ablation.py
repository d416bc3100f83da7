"""MST with one part changed: bits per byte, and how much the loss rises behind topology steps.

    python -m benchmarks mst.ablation --schedule reduced --seeds 0 --json ablation.json

Every variant is MST at the same learning rate. Runs are kept in a store: the same command continues
where it was stopped.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import asked
from benchmarks.mst.pages import keep_json
from benchmarks.mst.table import SCHEDULES, WINDOWS, settings
from benchmarks.pool import finished
from marl_runs import Store, mean_interval
from mst.config import PretrainConfig
from mst.data import Corpus
from mst.experiment import SparsePretraining
from mst.phases import parse_phases
from mst.presets import three_phases

WHOLE = "mst"
VARIANTS: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "no variation": {"growth": "static"},
    "growth by gradient alone": {"growth": "rigl"},
    "growth at random alone": {"growth": "set"},
    "dense attention": {"pattern": "dense"},
    "uniform densities": {"rule": "uniform"},
    "state reset": {"optimizer_state": "reset"},
    "state keep": {"optimizer_state": "keep"},
    "faithful": {"faithful": True},
    "masked head": {"mask_head": True},
    "topology every 25": {"every": 25},
    "no warm-up": {"phases": parse_phases("ultra:0-.85,restoration:.85-1")},
    "warm-up of a tenth": {"phases": three_phases(0.1, 0.1)},
    "dense attention from .72": {
        "phases": parse_phases("warm-up:0-.02,ultra:.02-.72,ultra:.72-.88::dense,restoration:.88-1")
    },
    "slow new weights": {"optimizer_state": "local:25"},
    "window of 64": {"window": 64},
}
"""Variant -> what differs in :class:`mst.config.SparseSettings`."""
RATES: dict[str, dict[str, Any]] = {
    "one rate for all layers": {"by_density": 0.0},
    "rate by density": {"by_density": 1.0},
    "rate rises at once": {"warm_up": 0.02},
    "cosine": {"law": "cosine"},
}
"""Variant -> what differs in :class:`mst.config.AdamSettings`."""


def variant(name: str, config: PretrainConfig, rate: float) -> PretrainConfig:
    """The settings of a variant."""
    adam = replace(config.adam, lr=rate, **RATES.get(name, {}))
    sparse = replace(config.sparse, **VARIANTS.get(name, {}))
    return replace(config, sparse=sparse, adam=adam, backend="compiled")


def main() -> None:
    arguments = asked(
        __doc__,
        schedule=("reduced", None, SCHEDULES),
        variants=",".join([*VARIANTS, *RATES]),
        seeds="0",
        rate=8e-3,
        by_density=(float, "divide sparse layers' rates, a power"),
        corpus=Path("mst-data"),
        store="mst-ablation.db",
        json=Path,
    )
    schedule = SCHEDULES[arguments.schedule]
    config = settings(schedule, "cpu", arguments.by_density)
    digest = Corpus.open(arguments.corpus).manifest.digest
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    base = variant(WHOLE, config, arguments.rate)
    results: dict[str, list[dict[str, Any]]] = {}
    rows = []
    with Store.open(arguments.store) as store:
        for name in dict.fromkeys([WHOLE, *arguments.variants.split(",")]):
            chosen = variant(name, config, arguments.rate)
            if name != WHOLE and chosen == base:
                continue  # the schedule's own settings
            runs = [
                SparsePretraining(
                    "mst", chosen, digest, str(arguments.corpus), seed, schedule.tokens,
                    windows=WINDOWS,
                )
                for seed in seeds
            ]  # fmt: skip
            results[name] = [run.result or {} for run in finished(store, runs)]
            found = row(results[name], results[WHOLE])
            rows.append({"variant": name, "schedule": arguments.schedule, **found})
            print(json.dumps(rows[-1]), flush=True)
    keep_json(arguments.json, rows)


def row(results: list[dict[str, Any]], whole: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds, and how far a variant ends above MST by equal seeds, with its interval."""
    bits, bits_whole = (np.array([r["bpb"]["files"] for r in rs]) for rs in (results, whole))
    above, half = mean_interval(bits - bits_whole)
    rises = [r["loss_rise"] for r in results if r["loss_rise"] is not None]
    return {
        "seeds": len(results),
        "bpb files": float(bits.mean()),
        "bpb package": float(np.mean([r["bpb"]["package"] for r in results])),
        "above mst": float(above),
        "above mst +-": None if np.isnan(half) else float(half),
        "loss rise": float(np.mean(rises)) if rises else None,
        "counted flops": float(np.mean([r["flops"] for r in results])),
        "cpu s": float(np.mean([r["training_cpu_s"] for r in results])),
    }
