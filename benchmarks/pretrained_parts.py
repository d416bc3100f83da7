"""What each part of the trained agents is worth, at equal processor time and at equal samples.

    python -m benchmarks pretrained_parts --train 3 --agents DIR   # makes the arms' agents
    python -m benchmarks pretrained_parts --agents DIR             # makes the two tables

The 24 cases of marl_cases.py with proven optima, five seeds, each arm with one part left out. Time
is processor time after the problem was built and everything compiled; samples are evaluations of
the cost model. `--train` gives the nominal minutes of each training, the same for every arm;
trainings that are in DIR already stay. docs/data/pretrained-parts-runs.csv has a row a run: value
over the optimum at each limit, empty before the first feasible sample; arms that it has stay.
docs/data/pretrained-parts.csv has a row a part and limit: what removing it costs, as a ratio of
medians with the 95 % interval of a bootstrap of cases and of their runs, and Holm's p over all.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import baselines
import cost_models
from common import IntArray
from maestro_env import BudgetExhausted, Evaluation, Problem
from mapper.pretrained.decisions import Decision
from mapper.pretrained.local_search import LocalSearch
from mapper.pretrained.observation import Observation
from mapper.pretrained.policy import Policy
from mapper.pretrained.proposals import Proposals, search_from
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.trainer import PolicyTrainer
from mapper.pretrained.weights import Agents, agents_of, load, save
from runs import holm, two_level_ratio

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
FULL_MINUTES = 15
PG_STEPS_OF_IMITATION = 1100
IMITATION_STEPS_OF_PG = 10_600
"""What a stage's processor time buys of the other one's steps, in the full recipe."""
WITHOUT = {
    "no policy gradient": ("trained", "policy gradient"),
    "no imitation": ("trained", "imitation"),
    "no masks": ("trained", "masks of agents"),
    "proposals alone": ("agents", "local search"),
    "uniform, masks": ("agents", "policy"),
    "uniform, no masks": ("uniform, masks", "masks of uniform proposals"),
}
"""Arms that lack a part: the arm that has it, and the part."""
Go = Callable[[Problem, np.random.Generator], None]


class Uniform(Policy):
    """Chooses uniformly among what masks leave; asks no network."""

    def score(self, decision: Decision, seen: Observation) -> np.ndarray:
        """See :meth:`Policy.score`."""
        return np.where(seen.legal, 0.0, -np.inf).astype(np.float32)


def searched(policy: Policy, problem: Problem, rng: np.random.Generator) -> None:
    """PolicyProposals and local search without end."""
    search_from(policy, problem, rng).run(10**9)


def proposed(policy: Policy, problem: Problem, rng: np.random.Generator) -> None:
    """PolicyProposals alone, without end."""
    draw = Proposals(policy, problem, rng)
    problem.evaluate(draw(16))
    while True:
        problem.evaluate(draw(64))


def unmasked(problem: Problem, rng: np.random.Generator) -> None:
    """Uniform actions and local search without end."""
    LocalSearch(problem, lambda n: problem.space.sample(n, rng), rng).run(10**9)


def unmasked_alone(problem: Problem, rng: np.random.Generator) -> None:
    """Uniform actions without end."""
    while True:
        problem.evaluate(problem.space.sample(64, rng))


def genetic(problem: Problem, rng: np.random.Generator) -> None:
    """The genetic algorithm without end."""
    baselines.load("ga")._run(problem, rng)


@dataclass(frozen=True)
class Arm:
    """A way to search; arms of one name are pooled as runs."""

    name: str
    go: Go


def schedules() -> dict[str, Schedule]:
    """Schedule of each training."""
    plan = Schedule()
    imitation = replace(plan, imitate_steps=plan.imitate_steps + IMITATION_STEPS_OF_PG)
    gradient = replace(plan, refine_steps=plan.refine_steps + PG_STEPS_OF_IMITATION)
    return {
        "trained": plan,
        "no policy gradient": replace(imitation, refine_steps=0),
        "no imitation": replace(gradient, imitate_steps=0),
    }


def train(minutes: float, folder: Path) -> None:
    """Train what the folder lacks, one agents' file an arm and seed."""
    torch.set_num_threads(1)
    for seed in range(3):
        for name, plan in schedules().items():
            path = folder / f"{name}-{seed}.safetensors"
            if path.exists():
                continue
            model, short = cost_models.load("exact"), plan.scaled(minutes / FULL_MINUTES)
            trainer = PolicyTrainer(model, short, seed)
            begin = time.process_time()
            while trainer.done < short.steps:
                trainer.step()
            spent = (time.process_time() - begin) / 60
            save(path, Agents(trainer.weights, {"seed": seed, "cpu_minutes": spent}))
            print(f"{path.stem}: {spent:.2f} processor minutes", flush=True)


def arms(folder: Path) -> Iterator[Arm]:
    """Every arm, those of trainings once a file."""
    agents = agents_of("auto", "exact")
    assert agents is not None
    shipped, uniform = Policy(agents.weights), Uniform({})
    yield Arm("agents", partial(searched, shipped))
    yield Arm("proposals alone", partial(proposed, shipped))
    yield Arm("uniform, masks", partial(searched, uniform))
    yield Arm("uniform, masks, no local search", partial(proposed, uniform))
    yield Arm("uniform, no masks", unmasked)
    yield Arm("uniform, no masks, no local search", unmasked_alone)
    yield Arm("ga", genetic)
    for name in schedules():
        for path in sorted(folder.glob(f"{name}-?.safetensors")):
            yield Arm(name, partial(searched, Policy(load(path).weights)))


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


def measure(folder: Path, known: set[str]) -> list[dict[str, Any]]:
    """A row a run of every arm that is not known."""
    optima, rows = proven_optima(), []
    every = [arm for arm in arms(folder) if arm.name not in known]
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


def _mean(found: list[np.ndarray]) -> float:
    return float(np.exp(np.mean([np.log(np.median(runs)) for runs in found])))


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a part and limit: what its removal costs."""
    found, chances = [], []
    for lacking, (whole, part) in WITHOUT.items():
        for limit in LIMITS:
            with_part, without = (scores(rows, name, limit) for name in (whole, lacking))
            ratio = two_level_ratio(without, with_part)
            chances.append(ratio.p)
            found.append(
                {
                    "part": part,
                    "limit": limit,
                    "with": whole,
                    "without": lacking,
                    "over optimum with": f"{_mean(with_part):.4f}",
                    "over optimum without": f"{_mean(without):.4f}",
                    "cost of removal": f"{ratio.value:.4f}",
                    "from": f"{ratio.low:.4f}",
                    "to": f"{ratio.high:.4f}",
                }
            )
    for row, p in zip(found, holm(chances), strict=True):
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
    """Train, or measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=Path, help="folder of trainings")
    parser.add_argument("--train", type=float, metavar="MINUTES", help="train what is missing")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    if given.train:
        train(given.train, given.agents)
        return
    rows = list(csv.DictReader(given.runs.open(newline=""))) if given.runs.exists() else []
    if given.agents:
        rows += measure(given.agents, {row["arm"] for row in rows})
        write(given.runs, rows)
    write(given.out, summary(rows))
    print(f"| arm | {' | '.join(LIMITS)} |\n|---" + "|---" * len(LIMITS) + "|")
    print(*levels(rows), sep="\n")


if __name__ == "__main__":
    main()
