"""The kernel against the simulator on random nests of one to five memories: every count.

Nests have ragged tiles, units along several dimensions, memories that keep some tensors only or
stand as several entries, fan-outs that keep nothing, ports of any rate, and all rules of counting.
How often each of that occurs is counted, too. Work is done seed by seed, 1,000 nests each, as many
of each depth, and may be shared among several processes:

    python -m benchmarks levels_agreement --seeds 1000 --out levels.csv --share 0/2

With ``--layers`` nests are those of layers of the zoo with two fan-outs of 64 to 1,024 units
together, 100 a seed: rows, columns and taps are the layer's, channels and filters few. With
``--between simulator sets`` the simulator is compared with the execution by sets of the tests.

An execution takes most of the time. A row has ten digits of a hash of its seed's executed counts; a
kernel that changed since is held against such a file in half the time:

    python -m benchmarks levels_agreement --against levels.csv
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import known
from benchmarks.nest_features import COUNTERS, FEATURES, Counts, differing, features
from benchmarks.seed_lines import seed_table
from cost_models.exact.nest import Nest
from tests.cost_models.layer_nests import layer_nest
from tests.cost_models.nests import MOST_WORK, random_nest

PER_SEED, LAYERS_PER_SEED = 1000, 100
SHOWN = 4
"""Nests of a seed that are printed where they differ, and counts of each."""


def nests_of(given: Any, seed: int, many: int = 0) -> list[Nest]:
    """The nests of a seed, of each ``depth`` in turn, of ``layers`` or not."""
    many = many or given.nests or (LAYERS_PER_SEED if given.layers else PER_SEED)
    draw = layer_nest if given.layers else partial(random_nest, most_work=given.work)
    return [
        draw(np.random.default_rng((seed, number)), given.depth[number % len(given.depth)])
        for number in range(many)
    ]


def digest(counts: list[Counts]) -> int:
    """Ten digits that tell the counts of a seed's nests from others."""
    text = "\n".join(str(sorted((k, int(n)) for k, n in some.items() if n)) for some in counts)
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 10**10


def run(given: Any, seed: int) -> Counter[str]:
    """Compare the nests drawn from a seed; counts of what they have, and of those that differ."""
    left, right = (COUNTERS[name] for name in given.between)
    nests = nests_of(given, seed)
    found: Counter[str] = Counter(nests=len(nests))
    executed = []
    for number, nest in enumerate(nests):
        counts = right(nest)
        executed.append(counts)
        found.update(features(nest, counts))
        wrong = differing(left(nest), counts)
        found["differ"] += bool(wrong)
        if wrong and found["differ"] <= SHOWN:
            some = dict(list(wrong.items())[:SHOWN])
            depth = given.depth[number % len(given.depth)]
            print(f"seed {seed}, nest {number}, depth {depth}: {some} {nest}", flush=True)
    found["digest"] = digest(executed)
    return found


def against(given: Any) -> int:
    """How many seeds of a file the first way of counting has other counts of than were executed.

    Rows without a hash are left out: their nests were drawn before draws last changed.
    """
    count, wrong, total = COUNTERS[given.between[0]], [], 0
    for row in (row for row in known(given.against) if row["digest"]):
        nests = nests_of(given, int(row["seed"]), int(row["nests"]))
        total += len(nests)
        if digest([count(nest) for nest in nests]) != int(row["digest"]):
            wrong.append(int(row["seed"]))
    print(f"{total:,} nests of {given.against}: {len(wrong)} seeds differ {wrong[:SHOWN] or ''}")
    return len(wrong)


TABLE = seed_table(
    __doc__,
    ("nests", "differ", *FEATURES, "digest"),
    run,
    ("differ",),
    options={
        "nests": (int, "nests a seed, if not as many as said above"),
        "depth": ([1, 2, 3, 4, 5], None, (1, 2, 3, 4, 5)),
        "layers": (False, "layers of the zoo, many units"),
        "work": (MOST_WORK, "visits of the largest nest"),
        "against": (Path, "a file of rows: count its seeds again"),
        "between": (["kernel", "simulator"], "two ways of counting", tuple(COUNTERS)),
    },
    quick={"nests": 20},
    instead={"against": against},
)
