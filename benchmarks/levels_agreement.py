"""The kernel against the simulator on random nests of one to five memories: every count.

Nests have ragged tiles, units along several dimensions, memories that keep some tensors only or
stand as several entries, fan-outs that keep nothing, ports of any rate, and all rules of counting.
How often each of that occurs is counted, too.

Work is done seed by seed, 1,000 nests each, as many of each depth. With ``--out`` a line is written
for each seed, and seeds that have one are left out, so that a run can be stopped and gone on with,
or shared among several processes with ``--share`` (one file each, or the same one):

    python -m benchmarks levels_agreement --seeds 1000 --out levels.csv --share 0/2

With ``--layers`` nests are those of layers of the zoo with two fan-outs of 64 to 1,024 units
together, 100 a seed: rows, columns and taps are the layer's, channels and filters few. With
``--between simulator sets`` the simulator is compared with the execution by sets of the tests.

An execution takes most of the time. ``--digest`` writes ten digits of a hash of each seed's
executed counts, too; a kernel that changed since is held against such a file in half the time:

    python -m benchmarks levels_agreement --against levels.csv
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.nest_counts import COUNTERS, Counts, differing
from benchmarks.nest_features import FEATURES, features
from benchmarks.seed_lines import run_seeds, seed_options
from cost_models.exact.nest import Nest
from tests.cost_models.layer_nests import layer_nest
from tests.cost_models.nests import MOST_WORK, random_nest

PER_SEED, LAYERS_PER_SEED = 1000, 100
DEPTHS = (1, 2, 3, 4, 5)
SHOWN = 4
"""Nests of a seed that are printed where they differ, and counts of each."""


def nests_of(seed: int, args: argparse.Namespace) -> list[Nest]:
    """The nests of a seed: how many ``nests``, of each ``depth`` in turn, of ``layers`` or not."""
    found = []
    for number in range(args.nests):
        rng, depth = np.random.default_rng((seed, number)), args.depth[number % len(args.depth)]
        if args.layers:
            found.append(layer_nest(rng, depth))
        else:
            found.append(random_nest(rng, depth, most_work=args.work))
    return found


def digest(counts: list[Counts]) -> int:
    """Ten digits that tell the counts of a seed's nests from others."""
    text = "\n".join(str(sorted((k, int(n)) for k, n in some.items() if n)) for some in counts)
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 10**10


def run(seed: int, args: argparse.Namespace) -> Counter[str]:
    """Compare the nests drawn from a seed; counts of what they have, and of those that differ.

    Args:
        seed: Where draws start.
        args: What `nests_of` takes, and ``between`` which two ways of counting.
    """
    left, right = (COUNTERS[name] for name in args.between)
    found: Counter[str] = Counter(nests=args.nests)
    executed = []
    for number, nest in enumerate(nests_of(seed, args)):
        counts = right(nest)
        executed.append(counts)
        found.update(features(nest, counts))
        wrong = differing(left(nest), counts)
        found["differ"] += bool(wrong)
        if wrong and found["differ"] <= SHOWN:
            some = dict(list(wrong.items())[:SHOWN])
            depth = args.depth[number % len(args.depth)]
            print(f"seed {seed}, nest {number}, depth {depth}: {some} {nest}", flush=True)
    found["digest"] = digest(executed)
    return found


def against(path: Path, args: argparse.Namespace) -> int:
    """How many seeds of a file the first way of counting has other counts of than were executed."""
    count, wrong, nests = COUNTERS[args.between[0]], [], 0
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        args.nests, seed = int(row["nests"]), int(row["seed"])
        nests += args.nests
        if digest([count(nest) for nest in nests_of(seed, args)]) != int(row["digest"]):
            wrong.append(seed)
    print(f"{nests:,} nests of {path}: {len(wrong)} seeds differ {wrong[:SHOWN] or ''}")
    return len(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    seed_options(parser)
    parser.add_argument("--nests", type=int, help="nests a seed, if not as many as said above")
    parser.add_argument("--depth", type=int, choices=DEPTHS, nargs="+", default=DEPTHS)
    parser.add_argument("--layers", action="store_true", help="layers of the zoo, many units")
    parser.add_argument("--work", type=int, default=MOST_WORK, help="visits of the largest nest")
    parser.add_argument("--digest", action="store_true", help="a column with a hash of the counts")
    parser.add_argument("--against", type=Path, help="a file with digests: count its seeds again")
    parser.add_argument(
        "--between", nargs=2, choices=tuple(COUNTERS), default=("kernel", "simulator")
    )
    args = parser.parse_args()
    if args.against:
        raise SystemExit(against(args.against, args) > 0)
    args.nests = args.nests or (LAYERS_PER_SEED if args.layers else PER_SEED)
    columns = ("nests", "differ", *FEATURES, *(["digest"] if args.digest else []))
    total = run_seeds(args, columns, lambda seed: run(seed, args))
    for name in FEATURES:
        print(f"{100 * total[name] / max(total['nests'], 1):6.1f} %  {name}")
    between = " and ".join(args.between)
    print(
        f"{total['nests']:,.0f} nests, {between}: {total['differ']:.0f} differ; "
        f"{total['cpu_s']:.0f} s of processor time"
    )
    raise SystemExit(total["differ"] > 0)


if __name__ == "__main__":
    main()
