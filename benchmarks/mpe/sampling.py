"""Mini-batch sampling of one update of all trainers: layouts and laws against the papers' lists.

    python benchmarks/mpe/sampling.py --agents 3 6 12 --json sampling.json
    python benchmarks/mpe/sampling.py --agents 48 --without arrays

One thread, its processor time, the fastest of the repeats, everything in one process. The `lists`
layout takes about 2 kB an agent and transition (9.5 GB at 48 agents and 100,000 rows).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from mapper.show.tables import print_rows
from mpe_marl.profiling.peaks import copy_seconds
from mpe_marl.replay import Replay, Schema, Transition, make_law
from mpe_marl.worlds import BatchWorlds, make_spec

# layout, law; the first is what the others are compared with
CASES = [
    ("lists", "uniform"), ("lists", "neighbor"), ("lists", "neighbor-skip"),
    ("arrays", "uniform"), ("joint", "uniform"), ("joint", "neighbor"), ("joint", "runs"),
    ("joint", "shared"), ("state", "uniform"), ("state", "shared"),
]  # fmt: skip


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


def sampling_seconds(store: Replay, law: str, n: int, repeats: int) -> float:
    """Fastest time to draw and fetch what one update of all trainers takes [s]."""
    store.law = make_law(law)
    draws = 1 if store.law.shared else n
    best = float("inf")
    for _ in range(repeats):
        start = time.thread_time()
        for _ in range(draws):
            store.sample()
        best = min(best, time.thread_time() - start)
    return best


def free_memory() -> None:
    """Give the memory of millions of small objects back, which the C library keeps otherwise."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def measure(n: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row a layout and law, and memcpy of the same bytes."""
    cases = [c for c in CASES if c[0] not in args.without]
    rows: list[dict[str, Any]] = []
    store = held = None
    for layout, law in cases:
        if layout != held:
            store = None  # one layout in memory at a time
            free_memory()
            store, held = filled(n, args.rows, args.world, layout), layout
        repeats = args.repeats if layout == "lists" else 4 * args.repeats
        seconds = sampling_seconds(store, law, n, repeats)
        draws = 1 if store.law.shared else n
        bytes_ = store.layout.row_bytes() * store.batch * draws
        row = {"agents": n, "layout": layout, "law": law, "ms": seconds * 1e3}
        row |= {"MB": bytes_ / 1e6, "GB/s": bytes_ / seconds / 1e9}
        if layout == "joint":
            copied = copy_seconds(
                store.layout.row_bytes(), args.rows, store.batch, draws, timer=time.thread_time
            )
            row["over memcpy"] = seconds / copied
        else:
            row["over memcpy"] = None
        row["times"] = rows[0]["ms"] / row["ms"] if rows else 1.0
        row["cut %"] = 100 * (1 - row["ms"] / rows[0]["ms"]) if rows else 0.0
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 6, 12])
    parser.add_argument("--world", default="simple_tag")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--without", nargs="*", default=[], help="layouts to leave out")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = [row for n in args.agents for row in measure(n, args)]
    print_rows(f"Sampling for one update of all trainers, batch 1024, {args.rows:,} rows", rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
