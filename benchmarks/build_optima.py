"""Make the library of proven optima: every distinct layer of the zoo on three chips.

    python -m benchmarks build_optima                  # resumable: what is there and holds is kept
    python -m benchmarks build_optima --check          # evaluate every entry's mapping again

Proofs that need more than --timeout seconds are kept with their bound, and tried again next time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

import baselines
import layers
from baselines import Optimum, optimum_of, problem_key, prove, read_optima, write_optima
from benchmarks.frame import asked
from cost_models import Mapping
from maestro_env import Problem
from mapper.search.auto import TRIED, knows

FILE = Path(baselines.__file__).parent / "optimal" / "optima.csv"
CHIPS = ("edge", "cloud", "archgym")
OBJECTIVES = ("edp", "latency")


def problems() -> Iterator[tuple[str, Problem]]:
    """Every distinct problem and its chip's name."""
    seen = set()
    for objective, chip, network in product(OBJECTIVES, CHIPS, layers.networks(language=False)):
        for number, layer in enumerate(layers.network(network)):
            problem = Problem(layer.renamed(f"{network}.{number}"), chip, objective)
            if problem_key(problem) not in seen:
                seen.add(problem_key(problem))
                yield chip, problem


def first_value(problem: Problem) -> Mapping | None:
    """The best of ga's 3,000 samples and of what trained agents that know such problems try."""
    starts = [("ga", 3000)] + [("zero-shot", TRIED)] * knows(problem, "auto")
    runs = [baselines.load(name).search(problem.fork(), samples, 0) for name, samples in starts]
    found = [run for run in runs if run.mapping is not None]
    return min(found, key=lambda run: run.best_value).mapping if found else None


def holds(problem: Problem, entry: Optimum) -> bool:
    """Whether an entry is of today's model."""
    try:
        baselines.check_entry(problem, entry)
    except baselines.OptimaError:
        return False
    return True


def solved(problem: Problem, entry: Optimum | None) -> bool:
    """Whether an optimum is known and of today's model."""
    return entry is not None and entry.proven and holds(problem, entry)


def built(problem: Problem, chip: str, entry: Optimum | None, timeout: float) -> Optimum | None:
    """Prove an optimum, from a known mapping where there is one; None where none is feasible."""
    start = entry.mapping if entry is not None else first_value(problem)
    proof = prove(problem, start=start, timeout=timeout)
    print(
        f"{problem.objective.name} {problem.layer.name} on {chip}: {proof.status} "
        f"{proof.value:.6g}, gap {100 * proof.gap:.3f} %, "
        f"{proof.counts.boxes:,} boxes, {proof.seconds:.2f} s",
        flush=True,
    )
    return None if proof.mapping is None else optimum_of(problem, chip, proof)


def main() -> None:
    given = asked(__doc__, timeout=60.0, check=(False, "only say what is missing or stale"))
    known = read_optima(FILE) if FILE.exists() else {}
    current: dict[str, Optimum] = {}
    began = time.process_time()
    for number, (chip, problem) in enumerate(problems()):
        entry = known.get(problem_key(problem))
        if not solved(problem, entry):
            start = entry if entry is not None and holds(problem, entry) else None
            if given.check:
                said = "missing or stale" if start is None else f"not proven: {start.status}"
                print(f"{problem.objective.name} {problem.layer.name} on {chip}: {said}")
                continue
            entry = built(problem, chip, start, given.timeout)
        if entry is not None:
            current[entry.key] = entry
        if number % 20 == 19 and not given.check:
            write_optima(FILE, {**known, **current}.values())
    if not given.check:
        write_optima(FILE, current.values())
    times = [entry.seconds for entry in current.values()]
    if times:
        print(f"{sum(entry.proven for entry in current.values())} of {len(times)} proven; "
              f"median {np.median(times):.2f} s, 95 % within {np.quantile(times, 0.95):.2f} s, "
              f"longest {max(times):.2f} s")  # fmt: skip
    print(f"{time.process_time() - began:.0f} s of processor time now")
