"""The kernel against the simulator on random nests of one to five memories: every count.

Nests have ragged tiles, units along several dimensions, memories that keep some tensors only or
stand as several entries, fan-outs that keep nothing, ports of any rate, and all rules of counting.
How often each of that occurs is counted, too.

Work is done seed by seed, 1,000 nests each, as many of each depth. With ``--out`` a line is written
for each seed, and seeds that have one are left out, so that a run can be stopped and gone on with,
or shared among several processes with ``--share`` (one file each, or the same one):

    python -m benchmarks.levels_agreement --seeds 1000 --out levels.csv --share 0/2

With ``--layers`` nests are those of layers of the zoo with two fan-outs of 64 to 1,024 units
together, 100 a seed: rows, columns and taps are the layer's, channels and filters few. With
``--between simulator sets`` the simulator is compared with the execution by sets of the tests.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from benchmarks.nest_counts import COUNTERS, differing
from benchmarks.nest_features import FEATURES, features
from benchmarks.seed_lines import run_seeds, seed_options
from tests.cost_models.layer_nests import layer_nest
from tests.cost_models.nests import random_nest

PER_SEED, LAYERS_PER_SEED = 1000, 100
DEPTHS = (1, 2, 3, 4, 5)
SHOWN = 4
"""Nests of a seed that are printed where they differ, and counts of each."""


def run(seed: int, args: argparse.Namespace) -> Counter[str]:
    """Compare the nests drawn from a seed; counts of what they have, and of those that differ.

    Args:
        seed: Where draws start.
        args: How many ``nests``, of which ``depth`` in turn, whether of ``layers``, and
            ``between`` which two ways of counting.
    """
    draw = layer_nest if args.layers else random_nest
    left, right = (COUNTERS[name] for name in args.between)
    found: Counter[str] = Counter(nests=args.nests)
    for number in range(args.nests):
        depth = args.depth[number % len(args.depth)]
        nest = draw(np.random.default_rng((seed, number)), depth)
        counts = right(nest)
        found.update(features(nest, counts))
        wrong = differing(left(nest), counts)
        found["differ"] += bool(wrong)
        if wrong and found["differ"] <= SHOWN:
            some = dict(list(wrong.items())[:SHOWN])
            print(f"seed {seed}, nest {number}, depth {depth}: {some} {nest}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    seed_options(parser)
    parser.add_argument("--nests", type=int, help="nests a seed, if not as many as said above")
    parser.add_argument("--depth", type=int, choices=DEPTHS, nargs="+", default=DEPTHS)
    parser.add_argument("--layers", action="store_true", help="layers of the zoo, many units")
    parser.add_argument(
        "--between", nargs=2, choices=tuple(COUNTERS), default=("kernel", "simulator")
    )
    args = parser.parse_args()
    args.nests = args.nests or (LAYERS_PER_SEED if args.layers else PER_SEED)
    total = run_seeds(args, ("nests", "differ", *FEATURES), lambda seed: run(seed, args))
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
