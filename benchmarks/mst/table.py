"""Arms of equal tokens or equal counted operations: bits per byte on held-out text.

    python -m benchmarks mst.table run --arms dense,tiny,mst --seeds 0,1,2 --schedule short
    python -m benchmarks mst.table report --json table.json --csv table.csv

Each arm takes the best of three learning rates, tried on a seed of its own at a quarter of the
tokens. Runs are kept in a store: the same command continues where it was stopped. A schedule is a
run of its own; its rows are never points of a longer run's curve.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import asked, rounded, write
from benchmarks.mst.pages import earlier_rows, keep_json, rate_label
from benchmarks.pool import finished
from marl_runs import RunStatus, Store, StoredRun, mean_interval
from mst.arms import arm_run
from mst.attention import DENSE
from mst.comparing import Curve, comparison, read_curves
from mst.config import PretrainConfig
from mst.data import Corpus
from mst.experiment import KIND, SparsePretraining
from mst.presets import preset

ARMS = "dense,tiny,dense-short,static,rigl,mst"
RATES = (2e-3, 4e-3, 8e-3)
MST = "mst"
Done = tuple[StoredRun, Curve]
"""A finished run, and how it learned."""
TIMED = ("tiny", "dense-short")
"""Arms whose size or length follows from how many times less they cost than dense."""
SWEEP_SEED, SWEEP_WINDOWS = 100, 64
WINDOWS = 256


@dataclass(frozen=True)
class TableSchedule:
    """A model and the length of its dense run.

    Attributes:
        tokens: Tokens of the dense run.
        times: How many times less than dense `tiny` and `dense-short` cost; None: as MST counts.
        batch: Windows of an update.
        shape: What differs from the preset's model.
        sparse: What differs from the preset's sparsity.
    """

    tokens: int
    times: float | None = None
    batch: int = 16
    shape: Mapping[str, int] = field(default_factory=dict)
    sparse: Mapping[str, int] = field(default_factory=dict)


SMALLER: dict[str, Any] = {
    "batch": 8,
    "shape": {"layers": 2, "width": 64, "heads": 2, "context": 128},
    "sparse": {"window": 16, "stride": 32, "every": 25},
}
SCHEDULES = {
    "smoke": TableSchedule(40 * 1024, **SMALLER),
    "reduced": TableSchedule(256_000, **SMALLER),
    "reduced-2": TableSchedule(512_000, **SMALLER),
    "reduced-4": TableSchedule(1_024_000, **SMALLER),
    "brief": TableSchedule(1_024_000, batch=4),
    "short": TableSchedule(4_096_000),
    "short-time": TableSchedule(4_096_000, times=1.7),
    "middle": TableSchedule(8_192_000),
    "long": TableSchedule(16_384_000),
    "wide": TableSchedule(1_024_000, batch=4, shape={"width": 256}),
    "wide-time": TableSchedule(1_024_000, times=1.6, batch=4, shape={"width": 256}),
}
"""`reduced` is a smaller model in 250 updates of 1,024 tokens, with topology steps every 25; the
others are the preset's, `wide` twice as wide. In `-time` the dense controls take as long as MST
does instead of counting as many operations: dense took so many times longer than free weights in
`short` and in `time.py`."""


def settings(
    schedule: TableSchedule, device: str, by_density: float | None = None
) -> PretrainConfig:
    """MST's settings at a length; another law of sparse layers' rates where one is given."""
    base = preset("small").config
    power = base.adam.by_density if by_density is None else by_density
    return replace(
        base,
        adam=replace(base.adam, by_density=power),
        shape=replace(base.shape, **schedule.shape),
        sparse=replace(base.sparse, **schedule.sparse),
        batch=schedule.batch,
        micro_batch=schedule.batch,
        device=device,
    )


def experiment(
    arm: str,
    config: PretrainConfig,
    schedule: TableSchedule,
    rate: float,
    seed: int,
    corpus: tuple[Path, str],
    windows: int = WINDOWS,
) -> SparsePretraining:
    """One run of the table; sparse arms use the compiled kernels on a processor."""
    run = arm_run(arm, config, schedule.tokens, schedule.times)
    sparse = bool(run.config.sparse.phases) and config.device == "cpu"
    adam = replace(run.config.adam, lr=rate)
    chosen = replace(run.config, adam=adam, backend="compiled" if sparse else "masked")
    folder, digest = corpus
    return SparsePretraining(arm, chosen, digest, str(folder), seed, run.tokens, windows=windows)


def best_rate(
    store: Store,
    arm: str,
    config: PretrainConfig,
    schedule: TableSchedule,
    rates: Sequence[float],
    corpus: tuple[Path, str],
) -> float:
    """The learning rate with the fewest bits per byte on held-out files at a quarter's length."""
    if len(rates) == 1:
        return rates[0]
    quarter = replace(schedule, tokens=schedule.tokens // 4)
    tried = [experiment(arm, config, quarter, r, SWEEP_SEED, corpus, SWEEP_WINDOWS) for r in rates]
    scores = [float(run.best_value or np.inf) for run in finished(store, tried)]
    return rates[int(np.argmin(scores))]


def run(arguments: argparse.Namespace) -> None:
    schedule = SCHEDULES[arguments.schedule]
    config = settings(schedule, arguments.device, arguments.by_density)
    digest = Corpus.open(arguments.corpus).manifest.digest
    corpus = (arguments.corpus, digest)
    rates = [float(rate) for rate in arguments.rates.split(",")]
    seeds = [int(seed) for seed in arguments.seeds.split(",")] if arguments.seeds else []
    with Store.open(arguments.store[0]) as store:
        for arm in arguments.arms.split(","):
            rate = best_rate(store, arm, config, schedule, rates, corpus)
            print(f"{arguments.schedule} {arm}: learning rate {rate:g}", flush=True)
            planned = [experiment(arm, config, schedule, rate, s, corpus) for s in seeds]
            for row in finished(store, planned):
                print(f"{row.name}: {row.best_value:.4f} bits/byte, {row.cpu_s:.0f} s", flush=True)


def report(arguments: argparse.Namespace) -> None:
    found = [run_and_curve for store in arguments.store for run_and_curve in _finished(store)]
    rows = [row for name in SCHEDULES for row in _rows(name, found)]
    _write(together(earlier_rows(arguments.record), rows), arguments)


def together(kept: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of an earlier report and new ones, schedule by schedule; a new row replaces its own.

    Where MST was run anew, rows that stay are held against it by their means alone: their runs are
    not there to be paired.
    """
    worst_first = sorted(new, key=lambda row: -row["bpb files"])
    mst = {row["schedule"]: row for row in worst_first if row["arm"] == MST}
    replaced = {_label(row) for row in new}
    stay = [
        {**row, **_above_by_means(row, mst[row["schedule"]])} if row["schedule"] in mst else row
        for row in kept
        if _label(row) not in replaced
    ]
    rows = sorted([*stay, *new], key=lambda row: list(SCHEDULES).index(row["schedule"]))
    dense = {row["schedule"]: row["counted flops"] for row in rows if row["arm"] == "dense"}
    below = "counted, times below dense"
    for row in rows:
        if row[below] is None and row["schedule"] in dense:
            row[below] = dense[row["schedule"]] / row["counted flops"]
    return rows


def _label(row: dict[str, Any]) -> tuple[str, ...]:
    """What makes two rows the same."""
    return tuple(
        str(row[name])
        for name in (
            "schedule",
            "arm",
            "learning rate",
            "law",
            "attention dense from",
            "new weights",
        )
    )


def _above_by_means(row: dict[str, Any], mst: dict[str, Any]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for split in ("files", "package"):
        found[f"{split} above mst"] = row[f"bpb {split}"] - mst[f"bpb {split}"]
        found[f"{split} above mst +-"] = None
    return found


def _finished(location: str) -> list[Done]:
    """The finished runs of a store, but not those of the sweep."""
    with Store.open(location, create=False) as store:
        done = [
            r
            for r in store.runs(kind=KIND)
            if r.status is RunStatus.FINISHED and r.seed != SWEEP_SEED
        ]
        return [(r, read_curves(store, [r])[0]) for r in done]


def _rows(name: str, found: Sequence[Done]) -> list[dict[str, Any]]:
    """One row an arm and learning rate of a schedule."""
    schedule = SCHEDULES[name]
    config = settings(schedule, "cpu")
    own = [(run, curve) for run, curve in found if _belongs(run, config, schedule)]
    by_kind: dict[tuple[str, str], list[Done]] = {}
    for run, curve in own:
        by_kind.setdefault((curve.arm, _rate_label(run)), []).append((run, curve))
    if schedule.times:  # the other arms are those of another schedule, too
        if not any(arm in TIMED for arm, _ in by_kind):
            return []
        by_kind = {kind: by_kind[kind] for kind in by_kind if kind[0] in (*TIMED, MST)}
    mst = [[curve for _, curve in members] for (arm, _), members in by_kind.items() if arm == MST]
    best = min(mst, key=_files, default=[])
    return [
        {"schedule": name, "tokens": schedule.tokens, **_row(kind, members, own, best)}
        for kind, members in by_kind.items()
    ]


def _files(curves: Sequence[Curve]) -> float:
    """Mean bits per byte of held-out files."""
    return float(np.mean([curve.result["bpb"]["files"] for curve in curves]))


def _row(
    kind: tuple[str, str], members: Sequence[Done], own: Sequence[Done], mst: Sequence[Curve]
) -> dict[str, Any]:
    """An arm at a learning rate beside all other arms, and above MST at its best one."""
    arm, rate = kind
    curves = [curve for _, curve in members]
    others = [curve for _, curve in own if curve.arm != arm]
    (row,) = (r for r in comparison([*curves, *others], "flops") if r["arm"] == arm)
    return {
        **row,
        **_against(curves, mst),
        "learning rate": rate,
        "law": "/".join(sorted({_law(run) for run, _ in members})),
        "attention dense from": _dense_from(members[0][0]),
        "new weights": _new_weights(members[0][0]),
    }


def _rate_label(run: StoredRun) -> str:
    config = PretrainConfig.of(run.spec["config"])
    return rate_label(config.adam.lr, config.adam.by_density if config.sparse.phases else 0)


def _law(run: StoredRun) -> str:
    return PretrainConfig.of(run.spec["config"]).adam.law


def _dense_from(run: StoredRun) -> float:
    """Share of the run from which on attention is dense to the end."""
    sparse = PretrainConfig.of(run.spec["config"]).sparse
    turns = [phase.end for phase in sparse.phases if phase.pattern(sparse.pattern) != DENSE]
    return turns[-1] if turns else 0.0


def _new_weights(run: StoredRun) -> str:
    """What new weights begin with; none come in dense runs and under static masks."""
    sparse = PretrainConfig.of(run.spec["config"]).sparse
    static = sparse.growth == "static" or not sparse.phases
    return "" if static else sparse.optimizer_state


def _belongs(run: StoredRun, config: PretrainConfig, schedule: TableSchedule) -> bool:
    """Whether a run is an arm of a schedule."""
    wanted = arm_run(str(run.spec["arm"]), config, schedule.tokens, schedule.times)
    found = PretrainConfig.of(run.spec["config"])
    same = replace(found, adam=wanted.config.adam, backend=wanted.config.backend, device="cpu")
    return run.budget == wanted.tokens and same == wanted.config


def _against(curves: Sequence[Curve], mst: Sequence[Curve]) -> dict[str, float | None]:
    """How many bits per byte an arm is above MST, by seeds that both have, and the half width."""
    gains = {}
    for split in ("files", "package"):
        ours, theirs = (
            {c.seed: c.result["bpb"][split] for c in some if split in c.result["bpb"]}
            for some in (curves, mst)
        )
        above = np.array([bits - theirs[seed] for seed, bits in ours.items() if seed in theirs])
        mean, half = mean_interval(above) if len(above) else (np.nan, np.nan)
        gains[f"{split} above mst"] = None if np.isnan(mean) else float(mean)
        gains[f"{split} above mst +-"] = None if np.isnan(half) else float(half)
    return gains


def _write(rows: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> None:
    keep_json(arguments.json, rows)
    names = list(dict.fromkeys(key for row in rows for key in row))
    write(arguments.csv, names, (rounded(row, 5) for row in rows))
    for row in rows:
        print(json.dumps(row))


def main() -> None:
    arguments = asked(
        __doc__,
        do_=(str, None, ("run", "report")),
        arms=ARMS,
        seeds="0,1,2",
        schedule=("short", None, SCHEDULES),
        rates=",".join(f"{rate:g}" for rate in RATES),
        by_density=(float, "divide sparse layers' rates, a power"),
        device="cpu",
        corpus=Path("mst-data"),
        store=(["mst-table.db"], "of the runs; `report` takes several"),
        json=(Path, "of the report"),
        csv=(Path, "of the report"),
        record=(Path, "JSON of an earlier report: its rows stay"),
    )
    (run if arguments.do == "run" else report)(arguments)
