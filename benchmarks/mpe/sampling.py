"""Mini-batch sampling of one update of all trainers: layouts and laws against the papers' lists.

    python -m benchmarks mpe.sampling --agents 3 6 12
    python -m benchmarks mpe.sampling --agents 48 --without arrays --out FILE

One thread, its processor time, the fastest of the repeats. Every size is measured in a process of
its own, `lists` first in it: what earlier stores leave of the heap scatters the objects of the next
one, and neighbor sampling gains from neighbouring transitions that lie near each other. `lists`
takes about 2 kB an agent and transition (9.5 GB at 48 agents and 100,000 rows).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.frame import Row, Table, in_turns, rounded
from marl_runs import in_fresh_process
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


def filled(n: int, rows: int, layout: str) -> Replay:
    """A store that holds random play, the same for every layout."""
    worlds, rng = BatchWorlds(make_spec("simple_tag", n)), np.random.default_rng(0)
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
    """Fastest time to draw and fetch what one update of all trainers takes [s], for each law."""

    def drawn(law: SamplingLaw) -> None:
        store.law = law
        for _ in range(draws_of(law, n)):
            store.sample()

    works = {law.name: partial(drawn, law) for law in laws}
    times = in_turns(works, repeats, clock=time.thread_time)
    return {name: min(taken) for name, taken in times.items()}


def draws_of(law: SamplingLaw, n: int) -> int:
    """Mini-batches that one update of ``n`` trainers draws."""
    return 1 if law.shared else n


def free_memory() -> None:
    """Give the memory of millions of small objects back, which the C library keeps otherwise."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def measure(n: int, args: argparse.Namespace) -> list[Row]:
    """One row a layout and law, and memcpy of the same bytes."""
    rows: list[Row] = []
    for layout, names in CASES.items():
        if layout in args.without:
            continue
        free_memory()  # one layout in memory at a time
        store, laws = filled(n, args.rows, layout), [make_law(name) for name in names]
        repeats = args.repeats if layout == "lists" else 4 * args.repeats
        width = store.layout.row_bytes()
        for law, seconds in zip(
            laws, sampling_seconds(store, laws, n, repeats).values(), strict=True
        ):
            draws, over, ms = draws_of(law, n), None, 1e3 * seconds
            if layout == "joint":
                sizes = (width, args.rows, store.batch, draws)
                over = seconds / copy_seconds(*sizes, timer=time.thread_time)
            mb, first = width * store.batch * draws / 1e6, rows[0]["ms"] if rows else ms
            told = {"layout": layout, "law": law.name, "ms": ms, "MB": mb, "GB/s": mb / ms}
            told |= {"over memcpy": over, "times": first / ms}
            rows.append(told | {"cut %": 100 * (1 - ms / first)})
        del store
    return rows


def row_of(given: Any, agents: int) -> list[Row]:
    """All layouts and laws at a size, in a process of its own."""
    found = in_fresh_process(measure, agents, given)
    return [rounded(row, 5) for row in found]


TABLE = Table(
    __doc__,
    ("agents", "layout", "law", "ms", "MB", "GB/s", "over memcpy", "times", "cut %"),
    lambda given: ((n,) for n in given.agents),
    row_of,
    "mpe-sampling-layouts.csv",
    {
        "agents": [3, 6, 12],
        "rows": 100_000,
        "repeats": 15,
        "without": ([str], "layouts to leave out"),
    },
    {"rows": 2_000, "repeats": 1},
)
