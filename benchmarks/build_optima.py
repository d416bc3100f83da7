"""Make the library of proven optima: every distinct layer of the zoo on three chips.

    python benchmarks/build_optima.py                  # resumable: what is there and holds is kept
    python benchmarks/build_optima.py --check          # evaluate every entry's mapping again

Proofs that need more than --timeout seconds are kept with their bound, and tried again next time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import baselines
import layers
from baselines import Optimum, optimum_of, problem_key, prove, read_optima, write_optima
from cost_models import Mapping
from maestro_env import Problem
from mapper.auto import proposed

FILE = Path(baselines.__file__).parent / "optimal" / "optima.csv"
CHIPS = ("edge", "cloud", "archgym")
OBJECTIVES = ("edp", "latency")


def problems(objectives: list[str], chips: list[str]) -> Iterator[tuple[str, Problem]]:
    """Every distinct problem and its chip's name."""
    seen = set()
    for objective in objectives:
        for chip in chips:
            for network in layers.networks():
                for number, layer in enumerate(layers.network(network)):
                    problem = Problem(layer.renamed(f"{network}.{number}"), chip, objective)
                    key = problem_key(problem)
                    if key not in seen:
                        seen.add(key)
                        yield chip, problem


def first_value(problem: Problem) -> Mapping | None:
    """The best of what trained agents propose and of ga's 3,000 samples."""
    runs = [baselines.load("ga").search(problem.fork(), 3000, 0)]
    found = [(run.best_value, run.mapping) for run in runs if run.mapping is not None]
    actions = proposed(problem, "auto", 0)
    if actions is not None:
        looked = problem.look(actions)
        best = int(np.argmin(looked.values))
        found.append((float(looked.values[best]), looked.mappings[best]))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def holds(problem: Problem, entry: Optimum) -> bool:
    """Whether an entry is of today's model."""
    try:
        baselines.check_entry(problem, entry)
    except baselines.OptimaError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    known = read_optima(arguments.file) if arguments.file.exists() else {}
    wanted = list(problems(arguments.objectives.split(","), arguments.chips.split(",")))
    current: dict[str, Optimum] = {}
    began, done = time.process_time(), 0
    for number, (chip, problem) in enumerate(wanted):
        key = problem_key(problem)
        entry = known.get(key)
        if entry is not None and holds(problem, entry) and (entry.proven or arguments.check):
            current[key] = entry
            continue
        if arguments.check:
            print(f"missing or stale: {problem.layer.name} on {chip}, {problem.objective.name}")
            continue
        start = entry.mapping if entry is not None else first_value(problem)
        proof = prove(problem, start=start, timeout=arguments.timeout)
        if proof.mapping is None:
            print(f"{problem.layer.name} on {chip}: {proof.status}", flush=True)
            continue
        current[key] = optimum_of(problem, chip, proof)
        done += 1
        print(
            f"{number + 1}/{len(wanted)} {problem.objective.name} {problem.layer.name} on {chip}: "
            f"{proof.status} {proof.value:.6g}, gap {100 * proof.gap:.3f} %, "
            f"{proof.counts.boxes:,} boxes, {proof.seconds:.2f} s",
            flush=True,
        )
        if done % 20 == 0:
            write_optima(arguments.file, {**known, **current}.values())
    if arguments.check:
        print(f"{len(current)} of {len(wanted)} hold")
        return
    whole = (arguments.objectives, arguments.chips) == (",".join(OBJECTIVES), ",".join(CHIPS))
    write_optima(arguments.file, (current if whole else {**known, **current}).values())
    proven = sum(entry.proven for entry in current.values())
    times = sorted(entry.seconds for entry in current.values())
    print(
        f"{proven} of {len(current)} proven; median {np.median(times):.2f} s, "
        f"95 % within {np.quantile(times, 0.95):.2f} s, longest {times[-1]:.2f} s; "
        f"{time.process_time() - began:.0f} s of processor time now"
    )


if __name__ == "__main__":
    main()
