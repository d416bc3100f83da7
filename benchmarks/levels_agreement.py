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
import csv
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.nest_counts import COUNTERS, differing
from benchmarks.nest_features import FEATURES, features
from tests.cost_models.layer_nests import layer_nest
from tests.cost_models.nests import random_nest

PER_SEED, LAYERS_PER_SEED = 1000, 100
DEPTHS = (1, 2, 3, 4, 5)
FIELDS = ("seed", "nests", "differ", "cpu_s", *FEATURES)
SHOWN = 4
"""Nests of a seed that are printed where they differ, and counts of each."""


def run(seed: int, nests: int, depths: Sequence[int], args: argparse.Namespace) -> Counter[str]:
    """Compare so many nests drawn from a seed.

    Args:
        seed: Where draws start.
        nests: How many.
        depths: Their depths, in turn.
        args: ``between`` which two ways of counting, and whether of ``layers``.
    """
    draw = layer_nest if args.layers else random_nest
    left, right = (COUNTERS[name] for name in args.between)
    found: Counter[str] = Counter(nests=nests)
    for number in range(nests):
        depth = depths[number % len(depths)]
        nest = draw(np.random.default_rng((seed, number)), depth)
        counts = right(nest)
        found.update(features(nest, counts))
        wrong = differing(left(nest), counts)
        found["differ"] += bool(wrong)
        if wrong and found["differ"] <= SHOWN:
            some = dict(list(wrong.items())[:SHOWN])
            print(f"seed {seed}, nest {number}, depth {depth}: {some} {nest}", flush=True)
    return found


def done_before(out: Path | None) -> list[dict[str, float]]:
    """The lines of seeds that are done; half a line at the end is taken off the file.

    Raises:
        ValueError: The file has other columns.
    """
    if out is None or not out.exists():
        return []
    text = out.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        out.write_text(whole, encoding="utf-8")
    rows = list(csv.DictReader(whole.splitlines()))
    if rows and tuple(rows[0]) != FIELDS:
        raise ValueError(f"{out}: has other columns than this benchmark; give another file")
    return [{name: float(row[name]) for name in FIELDS} for row in rows]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help=f"{PER_SEED} nests are drawn of each")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--nests", type=int, help="nests a seed, if not as many as said above")
    parser.add_argument("--out", type=Path, help="a file with a line a seed, gone on with")
    parser.add_argument("--share", default="0/1", help="I/N: every N-th seed from the I-th on")
    parser.add_argument("--depth", type=int, choices=DEPTHS, nargs="+", default=DEPTHS)
    parser.add_argument("--layers", action="store_true", help="layers of the zoo, many units")
    parser.add_argument(
        "--between", nargs=2, choices=tuple(COUNTERS), default=("kernel", "simulator")
    )
    return parser.parse_args()


def main() -> None:
    args = arguments()
    part, parts = (int(n) for n in args.share.split("/"))
    nests = args.nests or (LAYERS_PER_SEED if args.layers else PER_SEED)
    try:
        rows = done_before(args.out)
    except ValueError as error:
        print(f"levels_agreement: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    done = {int(row["seed"]) for row in rows}
    for seed in range(args.start + part, args.start + args.seeds, parts):
        if seed in done:
            continue
        began = time.process_time()
        found = run(seed, nests, args.depth, args)
        seconds = round(time.process_time() - began, 2)
        row = {name: float(found[name]) for name in FIELDS} | {"seed": seed, "cpu_s": seconds}
        rows.append(row)
        if args.out is not None:
            with args.out.open("a", encoding="utf-8") as file:
                if file.tell() == 0:
                    file.write(",".join(FIELDS) + "\n")
                file.write(",".join(f"{row[name]:.10g}" for name in FIELDS) + "\n")
    total = {name: sum(row[name] for row in rows) for name in FIELDS[1:]}
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
