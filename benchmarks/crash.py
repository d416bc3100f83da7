"""Kill comparisons again and again: nothing is lost, and the tables are equal.

    python benchmarks/crash.py                # 48 runs, killed 20 times
    python benchmarks/crash.py --kills 3 --budget 200

A comparison of 48 searches is killed with SIGKILL, workers and all, at random moments, each time
after it has begun to write, and the same command is given again. In the end every run must be
finished, with the same samples and the same best value as in a comparison that nobody disturbed;
no finished run may ever be gone or be done a second time. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from marl_runs import RunStatus, Store, StoreError, say

Outcome = dict[str, tuple[Any, ...]]


def command(store: Path, budget: int, workers: int) -> list[str]:
    """48 searches: two layers, two objectives, three methods, four seeds."""
    words = f"""compare -l mobilenetv2.2,vgg16.1 -o latency,edp -m random,ga,annealing
        --budget {budget} --seeds 4 --workers {workers} --store {store}"""
    return [sys.executable, "-m", "mapper", *words.split()]


def outcomes(path: Path) -> Outcome:
    """What each finished run of a store says, by its key: all but times and places."""
    if not path.exists():
        return {}
    with Store.open(path, create=False) as store:
        found = {}
        for run in store.runs(status=RunStatus.FINISHED):
            actions, values = store.samples(run.id)
            samples = (len(values), float(np.min(values)), int(np.sum(actions)))
            found[run.key] = (run.name, run.seed, run.samples, run.best_value, *samples)
        return found


def attempts(path: Path) -> dict[str, int]:
    """How often each finished run was begun."""
    with Store.open(path, create=False) as store:
        return {run.key: run.attempt for run in store.runs(status=RunStatus.FINISHED)}


def one_kill(words: list[str], path: Path, more: int, after_s: float) -> bool:
    """Start the command and kill it and its workers; whether it was still at work.

    Args:
        words: The command.
        path: Its store.
        more: So many runs more than before must be begun, so that it is past its imports and
            has come further than the last time.
        after_s: Then it goes on for this long [s].
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, start_new_session=True, **quiet)  # type: ignore[call-overload]
    before = begun(path)
    while process.poll() is None and begun(path) < before + more:
        time.sleep(0.05)
    time.sleep(after_s)
    alive = process.poll() is None
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return alive


def begun(path: Path) -> int:
    """Attempts of all runs so far."""
    try:
        with Store.open(path, create=False) as store:
            return sum(run.attempt for run in store.runs())
    except StoreError:
        return 0


def crash(folder: Path, args: argparse.Namespace) -> list[str]:
    """What went wrong; empty when nothing did."""
    calm, stormy = folder / "calm.sqlite", folder / "stormy.sqlite"
    words = command(stormy, args.budget, args.workers)
    rng, kills, finished, wrong = random.Random(args.seed), 0, Outcome(), []
    while kills < args.kills:
        # the runs that were cut off are begun again first, one a worker
        more = args.workers + rng.randint(0, 2)
        if not one_kill(words, stormy, more, rng.uniform(0.0, args.longest)):
            break
        kills += 1
        now = outcomes(stormy)
        wrong += [
            f"lost after kill {kills}: {finished[key]}" for key in finished.keys() - now.keys()
        ]
        finished = now
        say(f"kill {kills}: {len(finished)} of 48 finished")
    done_before = attempts(stormy)
    for path in (stormy, calm):
        subprocess.run(command(path, args.budget, args.workers), check=True, capture_output=True)
    again = attempts(stormy)
    wrong += [f"done twice: {key}" for key, count in done_before.items() if again[key] != count]
    one, two = outcomes(stormy), outcomes(calm)
    wrong += [f"{key}: {one.get(key)} and {two.get(key)}" for key in one.keys() | two.keys()
              if one.get(key) != two.get(key)]  # fmt: skip
    if len(one) != 48:
        wrong.append(f"{len(one)} runs finished, expected 48")
    if kills < args.kills:
        wrong.append(f"over after {kills} kills, expected {args.kills}: give a larger --budget")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--budget", type=int, default=12_000, help="samples of a search")
    parser.add_argument("--longest", type=float, default=0.3, help="seconds at work at most")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        wrong = crash(Path(folder), args)
    say("\n".join(wrong) or f"{args.kills} kills: 0 lost, 0 done twice, tables equal")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
