"""The front of quality against operations: schedules tried on a small model, arms at `small`.

Every stage adds its runs to one file, and goes on where it was stopped:

    python -m benchmarks mst.front --stage search     # 1.0 M tokens, two layers, 64 wide
    python -m benchmarks mst.front --stage rates      # 4.1 M tokens, each arm's learning rates
    python -m benchmarks mst.front --stage short      # 4.1 M tokens, each arm at its best one
    python -m benchmarks mst.front --stage long       # 16.4 M
    python -m benchmarks mst.front --summary means.csv --plot mst-front.png

Rates are chosen by the held-out package, on a seed of their own; the held-out files are reported.
A schedule is named by its S, the restoration's ends, its law, and a growth rule where it is not the
preset's: `S.9 .65-.8 cubic static`. It is dense from the restoration's end on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.frame import Row, Table, grouped, known, show, write
from marl_runs import mean_interval, panel_grid, save_figure
from mst.arms import ARMS, arm_run
from mst.config import PretrainConfig
from mst.data import Corpus
from mst.errors import NotFiniteError
from mst.evaluating import result_of
from mst.phases import parse_phases
from mst.presets import preset, three_phases
from mst.switching import dense_above
from mst.trainer import Pretrainer

Runs = dict[str, Row]
"""Runs by their seed."""
WINDOWS = 256
TOKENS = {"search": 1_024_000, "rates": 4_096_000, "short": 4_096_000, "long": 16_384_000}
SEARCH_SEEDS, RATE_SEED, SEEDS = (0, 1), 100, (10, 11, 12)
SEARCH_RATE = 4e-3, 0.5
RATES = (2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)
LAWS = {0.0: RATES[2:4], 0.5: RATES[:-1]}
"""By which power of the density sparse layers' rate is divided -> rates that are tried."""
SMALLER = {"layers": 2, "width": 64, "heads": 2, "context": 128}

ENDS = (".85-1", ".75-1", ".75-.9", ".65-1", ".65-.8", ".5-.8")
SCHEDULES = [
    *(f"S.9 {ends} {law}" for ends in ENDS[1:] for law in ("linear", "cubic")),
    *(f"S.8 {ends} {law}" for ends in ENDS[:-1] for law in ("linear", "cubic")),
    *(f"S.95 {ends} linear" for ends in ENDS[2:]),
    *(f"S.9 {ends} linear {rule}" for ends in ENDS[::2] for rule in ("static", "set")),
    *("S.9 .65-.8 cubic set", "S.9 .6-.7 cubic", "S.9 .6-.7 cubic set"),
]
"""Schedules that are tried; all but `S.9 .5-.8 cubic` need less than half of dense's operations."""
PARTS: dict[str, dict[str, Any]] = {
    "no variation": {"growth": "static"},
    "growth by gradient alone": {"growth": "rigl"},
    "growth at random alone": {"growth": "set"},
    "dense attention": {"pattern": "dense"},
    "uniform densities": {"rule": "uniform"},
    "state reset": {"optimizer_state": "reset"},
    "state keep": {"optimizer_state": "keep"},
    "faithful": {"faithful": True},
    "masked head": {"mask_head": True},
    "score mest:1": {"score": "mest:1"},
    "score r-sensitivity": {"score": "r-sensitivity"},
    "no warm-up": {"phases": parse_phases("ultra:0-.85,restoration:.85-1")},
    "warm-up of a tenth": {"phases": three_phases(0.1, 0.1)},
    "window of 64": {"window": 64},
    "one rate for all layers": {"by_density": 0.0},
    "rate by density": {"by_density": 1.0},
    "rate rises at once": {"warm_up": 0.02},
    "cosine": {"law": "cosine"},
}
"""A part of MST that is changed -> what differs in its sparsity or its optimiser."""
DENSE = ("dense", "dense-short", "tiny")
"""Arms whose rate nothing divides; they are swept once."""
OFF_THE_FRONT = ("dense-short", "tiny")
"""Arms that end so far above the others that they are not drawn."""
NAME_WIDTH, NAME_HEIGHT = 1.065, 0.03
"""About what a name covers in the picture [times below dense, bits per byte]."""
CONTROLS = ("dense", "dense-short", "static", "rigl")
REPORTED = {
    "short": (*CONTROLS, "tiny", "mst", "S.9 .85-1 linear set", "S.9 .75-.9 cubic",
              "S.9 .65-.8 cubic", "S.9 .6-.7 cubic set"),
    "long": (*CONTROLS, "mst", "S.9 .65-.8 cubic", "S.9 .6-.7 cubic set"),
}  # fmt: skip
"""Stage -> arms: controls, the preset, and of the schedules that did best in the search, one each
at about 4.2, 2.9, 2.3 and 2 times below dense."""


def settings(stage: str, device: str) -> PretrainConfig:
    """MST's settings in a stage: the preset `small`, or a smaller model."""
    base = replace(preset("small").config, device=device)
    if stage != "search":
        return base
    sparse = replace(base.sparse, window=16, stride=32, every=25)
    shape = replace(base.shape, **SMALLER)
    return replace(base, shape=shape, sparse=sparse, batch=8, micro_batch=8)


def changed(base: PretrainConfig, arm: str) -> PretrainConfig:
    """The settings of a schedule by its name, or of MST with one part changed."""
    if arm in PARTS:
        ours = {k: v for k, v in PARTS[arm].items() if hasattr(base.sparse, k)}
        others = {k: v for k, v in PARTS[arm].items() if k not in ours}
        return replace(base, sparse=replace(base.sparse, **ours), adam=replace(base.adam, **others))
    sparsity, ends, law, *growth = arm.split()
    begin, end = ends.split("-")
    dense = f",dense:{end}-1" if float(end) < 1 else ""
    phases = parse_phases(f"warm-up:0-.02,ultra:.02-{begin},restoration:{begin}-{end}:{law}{dense}")
    sparse = replace(base.sparse, sparsity=float(sparsity[1:]), phases=phases)
    return replace(base, sparse=replace(sparse, growth=growth[0]) if growth else sparse)


def planned(
    stage: str, arm: str, rate: float, by_density: float, device: str
) -> tuple[PretrainConfig, int]:
    """The settings and the length of a run."""
    base = settings(stage, device)
    base = replace(base, adam=replace(base.adam, lr=rate, by_density=by_density))
    if arm in ARMS:
        run = arm_run(arm, base, TOKENS[stage])
        config, tokens = run.config, run.tokens
    else:
        config, tokens = changed(base, arm), TOKENS[stage]
    sparse = bool(config.sparse.phases) and device == "cpu"
    return replace(config, backend="compiled" if sparse else "masked"), tokens


@lru_cache(maxsize=64)
def _above(config: PretrainConfig) -> dict[str, float]:
    """From which density on a layer is multiplied dense, of one machine and shape."""
    return dense_above(config)


def trained(
    given: Any, stage: str, arm: str, rate: float, by_density: float, seed: int
) -> tuple[Any, ...]:
    """How one run ends."""
    torch.set_num_threads(1)
    config, tokens = planned(stage, arm, rate, by_density, given.device)
    updates = config.updates(tokens)
    same = replace(config, adam=preset("small").config.adam)
    trainer = Pretrainer(config, seed, updates, given.text, _above(same))
    try:
        while trainer.done < updates:
            trainer.step()
    except NotFiniteError:
        bits, density = {"files": math.inf, "package": math.inf}, trainer.density
    else:
        found = result_of(trainer, given.text, WINDOWS)
        bits, density = found["bpb"], found["density"]
    device = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    ends = (f"{density:.2f}", f"{bits['files']:.4f}", f"{bits['package']:.4f}")
    return device, tokens, *ends, f"{trainer.work.theory.total:.4e}", f"{trainer.cpu_s:.1f}"


def keys(given: Any) -> Iterator[tuple[str, str, float, float, int]]:
    """Runs of a stage, those of one seed together."""
    given.text = Corpus.open(given.corpus)
    stage = given.stage
    if stage == "search":
        for seed, arm in product(SEARCH_SEEDS, given.arms or ["dense", "mst", *SCHEDULES, *PARTS]):
            rate, power = SEARCH_RATE
            yield stage, arm, rate, PARTS.get(arm, {}).get("by_density", power), seed
        return
    arms = given.arms or REPORTED.get(stage, REPORTED["short"])
    if stage == "rates":
        for arm in arms:
            for power, rates in ({0.0: RATES} if arm in DENSE else LAWS).items():
                yield from ((stage, arm, rate, power, RATE_SEED) for rate in rates)
        return
    best = chosen(known(given.out))
    if given.rate:
        best = {arm: (given.rate, 0.0 if arm in DENSE else SEARCH_RATE[1]) for arm in arms}
    for seed, arm in product(SEEDS[: given.seeds], arms):
        yield stage, arm, *best[arm], seed


def chosen(rows: Iterable[Row]) -> dict[str, tuple[float, float]]:
    """Each arm's rate and law of it, by the held-out package."""
    tried = sorted(
        (float(row["package"]), row["arm"], float(row["learning rate"]), float(row["by density"]))
        for row in rows
        if row["stage"] == "rates"
    )
    return {arm: (rate, power) for _, arm, rate, power in reversed(tried)}


def means(rows: Iterable[Row]) -> list[Row]:
    """A row an arm and rate of a stage, above the best dense one by seeds that both have."""
    some = (row for row in rows if row["stage"] != "rates")
    groups = grouped(some, "stage", "arm", "learning rate", "by density")
    found = {key: {row["seed"]: row for row in own} for key, own in groups.items()}
    table = []
    for (stage, arm, rate, power), runs in found.items():
        others = (found[key] for key in found if key[:2] == (stage, "dense"))
        dense = min(others, key=lambda runs: mean(runs, "package"))
        shared = [seed for seed in runs if seed in dense]
        gaps = [float(runs[seed]["files"]) - float(dense[seed]["files"]) for seed in shared]
        gap, half = mean_interval(np.array(gaps))
        table.append(
            {
                "stage": stage,
                "arm": arm,
                "seeds": len(runs),
                "learning rate": rate + f" / density^{power}" * (float(power) > 0),
                "density": next(iter(runs.values()))["density"],
                "files": f"{mean(runs, 'files'):.3f}",
                "package": f"{mean(runs, 'package'):.3f}",
                "above dense": f"{gap:+.3f}",
                "±": "" if math.isnan(half) else f"{half:.3f}",
                "times below dense": f"{mean(dense, 'FLOPs') / mean(runs, 'FLOPs'):.2f}",
            }
        )
    return table


def mean(runs: Runs, column: str) -> float:
    """The mean of a column over runs."""
    return sum(float(row[column]) for row in runs.values()) / len(runs)


def drawn(table: list[Row], path: Path) -> None:
    """Draw how far arms end above dense against how much less they count, a panel a length."""
    figure, panels = panel_grid(2, 2, (5, 4), sharey=True)
    for axes, stage in zip(panels, ("short", "long"), strict=True):
        axes.set_title(f"{TOKENS[stage] / 1e6:.1f} M tokens")
        axes.set_xlabel("counted operations, times below dense")
        axes.axhline(0, color="0.8", zorder=0)
        axes.set_xlim(0.7, 6.2)  # room for the names
        rows = [r for r in table if r["stage"] == stage and r["arm"] not in OFF_THE_FRONT]
        points = [(float(r["times below dense"]), float(r["above dense"])) for r in rows]
        for row, (x, y) in zip(rows, points, strict=True):
            axes.errorbar(x, y, yerr=float(row["±"] or 0), fmt="o", color="C0")
            rates = len([other for other in rows if other["arm"] == row["arm"]])
            name = row["arm"] + f", {row['learning rate'].split()[0].lstrip('0')}" * (rates > 1)
            near = [other - y for at, other in points if abs(at - x) < NAME_WIDTH]
            crowded = any(0 < gap < NAME_HEIGHT for gap in near)
            under = crowded and not any(-2.5 * NAME_HEIGHT < gap < 0 for gap in near)
            axes.annotate(name, (x, y), xytext=(5, -11 if under else 3), textcoords="offset points")
    panels[0].set_ylabel("bits per byte above dense, held-out files")
    save_figure(figure, path, beside=False)


def summed(given: Any) -> None:
    """Write the means of a file, and draw them."""
    table = means(known(given.out))
    write(given.summary, table[0], table)
    show(table)
    if given.plot is not None:
        drawn(table, given.plot)


TABLE = Table(
    __doc__,
    (
        *("stage", "arm", "learning rate", "by density", "seed"),
        *("device", "tokens", "density", "files", "package", "FLOPs", "training s"),
    ),
    keys,
    trained,
    "mst-front-runs.csv",
    {
        "stage": ("search", None, list(TOKENS)),
        "arms": [str],
        "rate": (float, "in place of the one that was chosen at 4.1 M tokens"),
        "seeds": len(SEEDS),
        "corpus": Path("mst-data"),
        "device": "cpu",
        "summary": (Path, "of --out, which is only read"),
        "plot": (Path, "of the summary, as PNG, SVG or PDF"),
    },
    {"arms": ["dense", "mst"]},
    instead={"summary": summed},
)
