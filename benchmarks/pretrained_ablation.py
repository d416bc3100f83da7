"""What each part of the training of the pre-trained agents is worth: one part changed at a time.

    python benchmarks/pretrained_ablation.py no-masks --seed 1 --cpu-minutes 2 --out FILE.csv
    python benchmarks/pretrained_ablation.py --collect DIR --out docs/data/pretrained-ablation.csv

A training is the shipped recipe, shortened. Its agents are measured on every `EVERY`-th case of
``pretrained_cases.py --set in-range`` whose optimum is proven, in two ways: plain draws from the
policies alone, without a judge, which show what the agents learnt; and ``zero-shot``, where the
judge and the variations of what proved best make up for much.
Agents that are ``blind`` see no choice made so far but those of their own parameters: 7 agents, one
a kind of parameter; 13, one a parameter; or the clusters of correlated parameters of a stored
dendrogram. What a choice leaves of the buffers is seen by all, as the masks are.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pretrained_cases import Case, References, cases

import cost_models
from common import FloatArray
from layers import DIMS
from maestro_env import Problem
from mapper.clustering.library import stored
from mapper.pretrained.cases import case_of
from mapper.pretrained.network import HIDDEN
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.tables import tabulate
from mapper.pretrained.training.judge_fit import JudgeFit
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.trainer import PolicyTrainer
from mapper.pretrained.trials import Trials
from mapper.pretrained.turns import (
    CLUSTER_SIZE,
    INNER_PARALLEL,
    INNER_TILE,
    OUTER_PARALLEL,
    OUTER_TILE,
    TURNS,
    all_turns,
)
from mapper.pretrained.view import CHOICE_FEATURES, PER_DIM, STATE_FEATURES
from mapper.pretrained.weights import Agents, save

FULL_MINUTES = 15
REFERENCE = Path("docs/data/pretrained-reference.csv")
EVERY = 7
"""Each n-th case is measured."""
PLAIN, OFFERED = (1, 16, 100), (1, 16)
"""The best of so many samples is shown, of plain draws and of ``zero-shot``."""
SHOWN = "median", "p90", "within5"
STATED = 0, 6
"""Choice features that stay where the others are hidden: a choice's size, or what tensors it
touches."""
PG_STEPS_OF_IMITATION = 1100
IMITATION_STEPS_OF_PG = 10_600
"""What a stage's processor time buys of the other one's steps, in the full recipe."""


def needs() -> list[set[int]]:
    """The turns on whose choices each state feature rests."""
    across, within = {OUTER_PARALLEL, CLUSTER_SIZE}, {INNER_PARALLEL, CLUSTER_SIZE}
    inner = [INNER_TILE + d for d in range(len(DIMS))]
    outer = [OUTER_TILE + d for d in range(len(DIMS))]
    found: list[set[int]] = []
    for i, o in zip(inner, outer, strict=True):
        found += [{i}, {i, o}, {o} | across, {i, o} | within, {OUTER_PARALLEL}, {INNER_PARALLEL}]
    held_l1, held_l2 = set(inner), set(outer) | across
    assert len(found) == PER_DIM * len(DIMS)
    found += [{CLUSTER_SIZE}, {CLUSTER_SIZE}, held_l2, held_l1 | set(outer) | within]
    return found + [held_l1, held_l2] + 3 * [held_l1] + 3 * [held_l2]


def sees_own(agent_of: list[int]) -> NDArray[np.float32]:
    """``(TURNS, STATE_FEATURES)`` 1 where a feature rests on choices of the same agent alone."""
    sees = np.zeros((TURNS, STATE_FEATURES), np.float32)
    for feature, turns in enumerate(needs()):
        agents = {agent_of[turn] for turn in turns}
        if len(agents) == 1:
            sees[[agent in agents for agent in agent_of], feature] = 1
    return sees


def by_kind() -> list[int]:
    """One agent a kind of parameter."""
    kinds = sorted({turn.kind for turn in all_turns()})
    return [kinds.index(turn.kind) for turn in all_turns()]


def by_dendrogram() -> list[int]:
    """The clusters of a stored dendrogram; an order goes where most of its parameters are."""
    here = {"layer": "resnet50.1", "accelerator": "edge"}
    tree = next(one for one in stored() if here.items() <= one.source.items())
    groups = tree.tree.groups(tree.agents)
    found = []
    for number, turn in enumerate(all_turns()):
        name = f"{turn.name}priority" if turn.is_order else turn.name
        shares = [sum(p.startswith(name) for p in group) for group in groups]
        # a dimension that the layer of the dendrogram has no parameter of is alone
        found.append(int(np.argmax(shares)) if any(shares) else len(groups) + number)
    return found


@dataclass(frozen=True)
class Variant:
    """A changed training."""

    schedule: Callable[[Schedule], Schedule] = lambda plan: plan
    agent_of: Callable[[], list[int]] | None = None
    hides_features: bool = False
    masked: bool = True

    def trainer(self, minutes: float, seed: int) -> PolicyTrainer:
        """The trainer of a schedule of so many processor minutes."""
        plan = self.schedule(Schedule()).scaled(minutes / FULL_MINUTES)
        features = None
        if self.hides_features:
            features = np.zeros(CHOICE_FEATURES, np.float32)
            features[list(STATED)] = 1
        sees = sees_own(self.agent_of()) if self.agent_of else None
        model = cost_models.load("exact")
        return PolicyTrainer(model, plan, seed, sees, features=features, masked=self.masked)


def _policy_gradient_alone(plan: Schedule) -> Schedule:
    steps = plan.refine_steps + PG_STEPS_OF_IMITATION
    return replace(plan, imitate_steps=0, refine_steps=steps, beside=0.0)


def _imitation_alone(plan: Schedule) -> Schedule:
    return replace(plan, imitate_steps=plan.imitate_steps + IMITATION_STEPS_OF_PG, refine_steps=0)


def _hidden(width: int) -> Variant:
    return Variant(lambda plan: replace(plan, hidden=width))


VARIANTS = {
    "all": Variant(),
    "no-choice-features": Variant(hides_features=True),
    "no-masks": Variant(masked=False),
    "no-imitation": Variant(_policy_gradient_alone),
    "no-policy-gradient": Variant(_imitation_alone),
    "blind-7": Variant(agent_of=by_kind),
    "blind-13": Variant(agent_of=lambda: list(range(TURNS))),
    "blind-dendrogram": Variant(agent_of=by_dendrogram),
    **{f"hidden-{width}": _hidden(width) for width in (16, 32, 64, 192) if width != HIDDEN},
    "entropy-0.02": Variant(lambda plan: replace(plan, entropy_floor=0.02)),
    "entropy-0.03": Variant(lambda plan: replace(plan, entropy_floor=0.03)),
    "samples-32": Variant(lambda plan: replace(plan, problems=24, samples=32)),
    "imitation-more": Variant(
        lambda plan: replace(
            plan, expert_problems=2700, imitate_steps=3800, refine_steps=2700, beside=0.5
        )
    ),
}


def proven_cases() -> list[tuple[Case, float]]:
    """Cases of no training with their proven optima."""
    references = References(REFERENCE, "exact", 0.0)
    found = []
    for case in list(cases("in-range", Path()))[::EVERY]:
        value, source = references.known.get(case.name, (np.inf, ""))
        if source == "optimal":
            found.append((case, value))
    return found


def drawn(proposer: Proposer, problem: Problem, seed: int) -> FloatArray:
    """``(max(PLAIN),)`` values of draws from the policies, inf where infeasible."""
    tables = tabulate([case_of(problem.space, problem.objective, problem.cost_model)])
    which = np.zeros(max(PLAIN), np.int64)
    mappings = proposer.propose(tables, which, np.random.default_rng(seed)).mappings()
    costs = problem.cost_model.evaluate_batch(problem.layer, problem.accelerator, mappings)
    return problem.objective.values(costs)


def offered(proposer: Proposer, problem: Problem, seed: int) -> FloatArray:
    """``(max(OFFERED),)`` values as ``zero-shot`` samples with such a budget."""
    trials = Trials(Agents(proposer.weights), [problem], np.random.default_rng(seed))
    trials.proposer = proposer  # a variant's also sees and masks as in its training
    (values,) = trials.run(max(OFFERED))
    return np.pad(values, (0, max(OFFERED) - len(values)), constant_values=np.inf)


def figures(proposer: Proposer) -> list[str]:
    """The share of plain draws that is infeasible; then `SHOWN` of both ways, by count."""
    known = proven_cases()
    plain, judged = (
        np.array([way(proposer, case.problem("exact"), n) for n, (case, _) in enumerate(known)])
        / np.array([[value] for _, value in known])
        for way in (drawn, offered)
    )
    found = [float(np.mean(~np.isfinite(plain)))]
    for ratios, counts in ((plain, PLAIN), (judged, OFFERED)):
        for count in counts:
            best = ratios[:, :count].min(axis=1)
            high = np.quantile(best, 0.9, method="higher")
            found += [float(np.median(best)), float(high), float(np.mean(best <= 1.05))]
    return [f"{value:.5g}" for value in found]


def measure(name: str, seed: int, minutes: float, keep: Path | None) -> list[str]:
    """Train and measure one variant; a row of the table."""
    torch.set_num_threads(1)
    trainer = VARIANTS[name].trainer(minutes, seed)
    plan = trainer.schedule
    begin = time.process_time()
    while trainer.done < plan.steps:
        trainer.step()
    fit = JudgeFit(problems=plan.judge_problems, steps=plan.judge_steps)
    weights, judge = fit.fit(trainer.proposer, trainer.model, seed)
    spent = (time.process_time() - begin) / 60
    if keep is not None:
        save(keep, Agents(weights, {"cost_model": "exact", "seed": seed}, trainer.proposer.sees))
    size = sum(a.size for key, a in weights.items() if not key.startswith("judge"))
    calls = trainer.calls + judge["cost_model_calls"]
    about = [name, str(seed), f"{spent:.2f}", str(size), str(calls)]
    return about + figures(trainer.proposer.with_weights(weights))


HEADER = ["variant", "seed", "cpu_minutes", "parameters", "cost_model_calls", "infeasible"] + [
    f"{way}_{what}_{count}"
    for way, counts in (("plain", PLAIN), ("zero_shot", OFFERED))
    for count in counts
    for what in SHOWN
]


def main() -> None:
    """Measure one variant, or collect the rows of many."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant", nargs="?", choices=list(VARIANTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu-minutes", type=float, default=2.0)
    parser.add_argument("--agents", type=Path, help="where the agents are kept")
    parser.add_argument("--collect", type=Path, help="folder of such files")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.collect:
        rows = [line for path in given.collect.glob("*.csv") for line in _rows(path)]
        rows.sort(key=lambda row: (list(VARIANTS).index(row[0]), int(row[1])))
    elif given.variant:
        rows = [measure(given.variant, given.seed, given.cpu_minutes, given.agents)]
    else:
        parser.error("name a variant, or --collect a folder")
    with given.out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


if __name__ == "__main__":
    main()
