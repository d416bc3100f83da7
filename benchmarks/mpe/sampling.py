r"""Mini-batch sampling of one update of all trainers: layouts and laws against the papers' lists.

    python benchmarks/mpe/sampling.py --agents 3 6 12 --csv docs/data/mpe-sampling-layouts.csv
    python benchmarks/mpe/sampling.py --agents 48 --without arrays
    python benchmarks/mpe/sampling.py --agents 3 --without arrays state \
        --occasions docs/data/mpe-sampling.csv

One thread, its processor time, the fastest of the repeats. Every size is measured in a process of
its own, `lists` first in it: what earlier stores leave of the heap scatters the objects of the next
one, and neighbor sampling gains from neighbouring transitions that lie near each other. `lists`
takes about 2 kB an agent and transition (9.5 GB at 48 agents and 100,000 rows). What Python objects
cost differs from day to day: ``--occasions`` adds the ratios of this run to a file of several.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import gc
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from tables import write_table

from marl_runs import in_fresh_process, print_rows
from mpe_marl.profiling.peaks import copy_seconds
from mpe_marl.replay import Replay, Schema, Transition, make_law
from mpe_marl.replay.law import SamplingLaw
from mpe_marl.worlds import BatchWorlds, make_spec

# layout -> laws; the first of all is what the others are compared with
CASES = {
    "lists": ("uniform", "neighbor", "neighbor-drop", "neighbor-clip"),
    "arrays": ("uniform",),
    "joint": ("uniform", "neighbor", "runs", "shared"),
    "state": ("uniform", "shared"),
}


def filled(n: int, rows: int, world: str, layout: str) -> Replay:
    """A store that holds random play, the same for every layout."""
    worlds, rng = BatchWorlds(make_spec(world, n)), np.random.default_rng(0)
    store = Replay(Schema.of(worlds), rows, layout)
    obs = worlds.reset(0).copy()
    for _ in range(rows):
        actions = rng.integers(0, 5, (1, n))
        before = worlds.states()
        step = worlds.step(actions)
        after = step.obs.copy()
        move = Transition(
            obs, actions, step.rewards, after, step.terminated, step.ended, before, worlds.states()
        )
        store.add(move)
        obs = worlds.restart(step.ended).copy() if step.ended[0] else after
    return store


def sampling_seconds(
    store: Replay, laws: Sequence[SamplingLaw], n: int, repeats: int
) -> dict[str, float]:
    """Fastest time to draw and fetch what one update of all trainers takes [s], for each law.

    The laws take turns, so that other work on the machine meets them alike.
    """
    best = dict.fromkeys((law.name for law in laws), float("inf"))
    for _ in range(repeats):
        for law in laws:
            store.law = law
            start = time.thread_time()
            for _ in range(draws_of(law, n)):
                store.sample()
            best[law.name] = min(best[law.name], time.thread_time() - start)
    return best


def draws_of(law: SamplingLaw, n: int) -> int:
    """Mini-batches that one update of ``n`` trainers draws."""
    return 1 if law.shared else n


def free_memory() -> None:
    """Give the memory of millions of small objects back, which the C library keeps otherwise."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def measure(n: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row a layout and law, and memcpy of the same bytes."""
    rows: list[dict[str, Any]] = []
    for layout, names in CASES.items():
        if layout in args.without:
            continue
        free_memory()  # one layout in memory at a time
        store, laws = filled(n, args.rows, args.world, layout), [make_law(name) for name in names]
        repeats = args.repeats if layout == "lists" else 4 * args.repeats
        width = store.layout.row_bytes()
        for law, seconds in zip(
            laws, sampling_seconds(store, laws, n, repeats).values(), strict=True
        ):
            draws = draws_of(law, n)
            copied = None
            if layout == "joint":
                copied = copy_seconds(width, args.rows, store.batch, draws, timer=time.thread_time)
            size, first = width * store.batch * draws, rows[0]["ms"] if rows else seconds * 1e3
            rows.append(
                {
                    "agents": n, "layout": layout, "law": law.name, "ms": seconds * 1e3,
                    "MB": size / 1e6, "GB/s": size / seconds / 1e9,
                    "over memcpy": seconds / copied if copied else None,
                    "times": first / (seconds * 1e3), "cut %": 100 * (1 - seconds * 1e3 / first),
                }
            )  # fmt: skip
        del store
    return rows


OCCASION = ("when", "agents", "layout", "law", "ms", "times")


def add_occasion(path: Path, rows: list[dict[str, Any]]) -> None:
    """Add this run's times, and how many times the lists' they are, to a file."""
    new = not path.exists()
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, OCCASION, extrasaction="ignore", lineterminator="\n")
        if new:
            writer.writeheader()
        for row in rows:
            shown = {"ms": round(row["ms"], 4), "times": round(row["times"], 2)}
            writer.writerow({**row, **shown, "when": when})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 6, 12])
    parser.add_argument("--world", default="simple_tag")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--without", nargs="*", default=[], help="layouts to leave out")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument(
        "--occasions", type=Path, help="CSV that a row a layout and law is added to"
    )
    args = parser.parse_args()
    found = [in_fresh_process(measure, n, args) for n in args.agents]
    rows = [row for rows in found for row in rows]
    print_rows(f"Sampling for one update of all trainers, batch 1024, {args.rows:,} rows", rows)
    if args.occasions:
        add_occasion(args.occasions, rows)
    if args.csv:
        write_table(args.csv, rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
