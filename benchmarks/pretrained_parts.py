"""What each part of the trained agents is worth, at equal processor time and at equal samples.

    python -m benchmarks pretrained_parts             # the table from the runs that are kept
    python -m benchmarks pretrained_parts --measure   # measures arms that the runs lack, first

The 24 cases of marl_cases.py with proven optima, five seeds, each arm with one part left out. Time
is processor time after the problem was built and everything compiled; samples are evaluations of
the cost model. docs/data/pretrained-parts-runs.csv has a row a run: value over the optimum at each
limit, empty before the first feasible sample. Arms with parts that are gone since were measured by
this benchmark of commit 30eea7c, which also trained their agents (`--train 3`, seed 0).
docs/data/pretrained-parts.csv has a row a part and limit: what removing it costs, as a ratio of
medians with the 95 % interval of a bootstrap of cases and of their runs, and Holm's p over all
parts at the limits that decide.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import baselines
from maestro_env import BudgetExhausted, Evaluation, Problem
from mapper.pretrained.decisions import Decision
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.observation import Observation
from mapper.pretrained.policy import MappingPolicy
from mapper.pretrained.policy_proposals import PolicyProposals, search_from
from mapper.pretrained.weights import agents_of
from marl_common import IntArray
from marl_runs import holm, two_level_ratio

DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
RUNS, TABLE = DATA / "pretrained-parts-runs.csv", DATA / "pretrained-parts.csv"
MS = (0.3, 1, 3, 10, 30, 100)
SAMPLES = (16, 64, 256)
LIMITS = (*(f"{t:g} ms" for t in MS), *(f"{n} samples" for n in SAMPLES))
LAYERS = {
    "archgym": ("mobilenetv2.2", "resnet18.1", "vgg16.1", "alexnet.2"),
    "edge": ("mobilenetv2.7", "resnet18.10", "vgg16.8", "alexnet.4"),
}
"""The 24 cases of marl_cases.py, by accelerator, with each of `OBJECTIVES`."""
OBJECTIVES = ("latency", "edp", "energy")
SEEDS = 5
DECIDING = ("10 ms", "100 ms")
WITHOUT = {
    "agents": ("judge", "judge"),
    "no policy gradient": ("trained", "policy gradient"),
    "no imitation": ("trained", "imitation"),
    "no masks": ("trained", "masks of agents in training and search"),
    "agents, no masks in the search": ("agents", "masks of agents in the search"),
    "proposals alone": ("agents", "local search"),
    "uniform, masks": ("agents", "policy"),
    "uniform, no masks": ("uniform, masks", "masks of uniform proposals"),
}
"""Arms that lack a part: the arm that has it, and the part."""
Go = Callable[[Problem, np.random.Generator], None]


class Uniform(MappingPolicy):
    """Chooses uniformly among what masks leave; asks no network."""

    def score(self, decision: Decision, seen: Observation) -> np.ndarray:
        """See :meth:`MappingPolicy.score`."""
        return np.where(seen.legal, 0.0, -np.inf).astype(np.float32)


def searched(policy: MappingPolicy, problem: Problem, rng: np.random.Generator) -> None:
    """Proposals and local search without end."""
    search_from(policy, problem, rng).run(10**9)


def proposed(policy: MappingPolicy, problem: Problem, rng: np.random.Generator) -> None:
    """Proposals alone, without end."""
    draw = PolicyProposals(policy, problem, rng)
    problem.evaluate(draw(16))
    while True:
        problem.evaluate(draw(64))


def unmasked(problem: Problem, rng: np.random.Generator) -> None:
    """Uniform actions and local search without end."""
    ProposalSearch(problem, lambda n: problem.space.sample(n, rng), rng).run(10**9)


def genetic(problem: Problem, rng: np.random.Generator) -> None:
    """The genetic algorithm without end."""
    baselines.load("ga")._run(problem, rng)


@dataclass(frozen=True)
class Arm:
    """A way to search."""

    name: str
    go: Go


def arms() -> Iterator[Arm]:
    """Every arm whose parts are there."""
    agents = agents_of("auto", "exact")
    assert agents is not None
    policy, uniform = MappingPolicy(agents.weights), Uniform({})
    yield Arm("agents", partial(searched, policy))
    yield Arm("proposals alone", partial(proposed, policy))
    yield Arm("uniform, masks", partial(searched, uniform))
    yield Arm("uniform, no masks", unmasked)
    yield Arm("ga", genetic)


class _Enough(Exception):  # noqa: N818 - it ends a run, it is no error
    """All limits are behind."""


def measured(problem: Problem, go: Go, seed: int) -> list[float]:
    """Best value at each of `LIMITS`; inf before the first feasible sample."""
    times, samples, bests = [0.0], [0], [np.inf]

    def after(actions: IntArray, evaluation: Evaluation) -> None:
        times.append(1e3 * (time.process_time() - begin))
        samples.append(samples[-1] + len(evaluation.values))
        bests.append(min(bests[-1], evaluation.values.min()))
        if times[-1] > MS[-1] and samples[-1] >= SAMPLES[-1]:
            raise _Enough

    problem.start()
    problem.on_evaluate = after
    begin = time.process_time()
    with contextlib.suppress(_Enough, BudgetExhausted):
        go(problem, np.random.default_rng(seed))
    problem.on_evaluate = None
    at = [np.searchsorted(times, t, "right") - 1 for t in MS]
    at += [np.searchsorted(samples, n, "right") - 1 for n in SAMPLES]
    return [bests[place] for place in at]


def proven_optima() -> dict[tuple[str, ...], float]:
    """Proven optimum of each case: accelerator, layer, objective."""
    with (DATA / "case-optima.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["value"] == row["bound"]]
    return {
        (row["accelerator"], row["layer"], row["objective"]): float(row["value"]) for row in rows
    }


def measure(known: set[str]) -> list[dict[str, Any]]:
    """A row a run of every arm that is not known."""
    optima, rows = proven_optima(), list[dict[str, Any]]()
    every = [arm for arm in arms() if arm.name not in known]
    for accelerator, names in LAYERS.items():
        for layer in names:
            for objective in OBJECTIVES:
                problem = Problem(layer, accelerator, objective)
                problem.look(problem.space.sample(64, 0))
                about = {"accelerator": accelerator, "layer": layer, "objective": objective}
                for arm in every:
                    if not rows or arm.name not in {row["arm"] for row in rows}:
                        measured(problem, arm.go, 0)  # compiles
                    for seed in range(SEEDS):
                        found = [
                            best / optima[(*about.values(),)]
                            for best in measured(problem, arm.go, seed)
                        ]
                        shown = ["" if np.isinf(r) else f"{r:.6g}" for r in found]
                        ratios = dict(zip(LIMITS, shown, strict=True))
                        rows.append({**about, "arm": arm.name, "seed": seed, **ratios})
                print(*about.values(), flush=True)
    return rows


def scores(rows: list[dict[str, Any]], arm: str, limit: str) -> list[np.ndarray]:
    """``(runs,)`` ratios to the optimum of each case; a run without a value counts as `WORST`."""
    cases: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row["arm"] == arm:
            case = (row["accelerator"], row["layer"], row["objective"])
            cases.setdefault(case, []).append(float(row[limit] or WORST))
    return [np.array(found) for found in cases.values()]


WORST = 100.0
"""Ratio to the optimum that stands for no feasible sample."""


def best_judge(rows: list[dict[str, Any]], limit: str) -> str:
    """The judge's arm that is best at a limit."""
    names = sorted({row["arm"] for row in rows if row["arm"].startswith("judge")})
    return min(names, key=lambda name: _mean(scores(rows, name, limit)))


def _mean(found: list[np.ndarray]) -> float:
    return float(np.exp(np.mean([np.log(np.median(runs)) for runs in found])))


FIGURES = ("over optimum with", "over optimum without", "cost of removal", "from", "to")


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a part and limit: what its removal costs."""
    found: list[dict[str, Any]] = []
    for lacking, (whole, part) in WITHOUT.items():
        for limit in LIMITS:
            having = best_judge(rows, limit) if whole == "judge" else whole
            with_part, without = (scores(rows, name, limit) for name in (having, lacking))
            ratio = two_level_ratio(without, with_part)
            told = {"part": part, "limit": limit, "with": having, "without": lacking}
            figures = _mean(with_part), _mean(without), ratio.value, ratio.low, ratio.high
            shown = dict(zip(FIGURES, (f"{figure:.4f}" for figure in figures), strict=True))
            found.append({**told, **shown, "Holm's p": ratio.p})
    decide = [row for row in found if row["limit"] in DECIDING]
    adjusted = holm([row["Holm's p"] for row in decide])
    for row in found:
        row["Holm's p"] = ""
    for row, p in zip(decide, adjusted, strict=True):
        row["Holm's p"] = f"{p:.3f}"
    return found


def levels(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line of Markdown an arm: geometric mean over cases, and 90th percentile of all runs."""
    for arm in dict.fromkeys(row["arm"] for row in rows):
        cells = []
        for limit in LIMITS:
            found = scores(rows, arm, limit)
            high = np.quantile(np.concatenate(found), 0.9, method="higher")
            cells.append(f"{_mean(found):.3f} / {high:.3f}")
        yield f"| {arm} | " + " | ".join(cells) + " |"


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="arms that the runs lack")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if given.runs.exists():
        with given.runs.open(newline="") as stream:
            rows += csv.DictReader(stream)
    if given.measure:
        rows += measure({row["arm"] for row in rows})
        write(given.runs, rows)
    write(given.out, summary(rows))
    print(f"| arm | {' | '.join(LIMITS)} |\n|---" + "|---" * len(LIMITS) + "|")
    print(*levels(rows), sep="\n")


if __name__ == "__main__":
    main()
