"""Searches of the benchmark: what is searched, how, and every sample of it."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from benchmarks.frame import Row
from maestro_env import PAPER_SPACES, BudgetExhausted, Evaluation, Problem
from mapper.clustering.assignment import Assignment
from mapper.clustering.correlation import Correlation, correlate
from mapper.clustering.dataset import Dataset
from mapper.clustering.tree import cluster
from mapper.compare.plan import method_of
from mapper.explaining.evolution import explain

ALL = "agents=all"
"""In a method: one agent a parameter, however many the layer has."""
EVERY, ONE_AGENT = f"marl:mode=paper:{ALL}", "marl:mode=paper:agents=1"
"""The paper's method with one agent a parameter, and its single agent."""
KEPT = 20_000
"""Samples up to which a search's actions are handed back, too."""


@dataclass(frozen=True)
class Search:
    """One search, as plain values.

    Args:
        layer: The layer's name.
        objective: What is minimised.
        method: ``NAME:OPTION=VALUE``, or ``portfolio``'s classes.
        cost_model: The cost model's name.
        space: ``paper``, ``paper-10``, or nothing for the default space.
        accelerator: The accelerator's name.
        budget: Samples.
        seed: The seed.
        agents: Names of each agent's parameters, instead of what the method says.
        seconds: Processor time after which it ends; 0 lets the budget end it.
    """

    layer: str
    objective: str
    method: str
    cost_model: str = "maestro"
    space: str = "paper"
    accelerator: str = "archgym"
    budget: int = 20_000
    seed: int = 0
    agents: tuple[tuple[str, ...], ...] = ()
    seconds: float = 0.0

    @property
    def case(self) -> tuple[str, str, str, str, str]:
        """What is searched, whoever searches."""
        return self.cost_model, self.accelerator, self.space, self.layer, self.objective

    @property
    def told(self) -> dict[str, Any]:
        """Its fields, but for those that are as most searches have them."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, usual) in values.items() if value != usual}

    @property
    def key(self) -> str:
        """What tells it from others."""
        whole = json.dumps(self.told, sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        how = f"{len(self.agents)} given agents, " if self.agents else ""
        return f"{self.method} on {', '.join(self.case[::-1])}, {how}seed {self.seed}"


@dataclass(frozen=True)
class Samples:
    """Every sample of a search.

    Args:
        values: ``(n,)`` value of every sample; inf where infeasible.
        actions: ``(n, P)``; none of a search of more than `KEPT` samples.
        clock: ``(m, 2)`` samples and processor time [s] after each batch.
        proven: Whether the best value is the optimum.
        seconds: Processor time of the whole search [s].
    """

    values: np.ndarray
    actions: np.ndarray
    clock: np.ndarray
    proven: bool
    seconds: float


def problem_of(search: Search) -> Problem:
    """The problem of a search.

    Area is searched together with the PEs in use, whatever the space: with these fixed it hardly
    depends on the mapping. No limit goes with it, as none is printed.
    """
    space = dict(PAPER_SPACES.get(search.space, {}))
    if search.objective == "area":
        space["co_search"] = ["num_pes"]
    return Problem(search.layer, search.accelerator, search.objective, search.cost_model, space)


def choosing(problem: Problem) -> tuple[str, ...]:
    """Parameters with more than one choice."""
    return tuple(p.name for p in problem.space.parameters if len(p) > 1)


def dataset_of(search: Search, found: Samples) -> Dataset:
    """The samples of a search as what agents are clustered from."""
    space = problem_of(search).space
    categorical = np.array([not p.ordinal for p in space.parameters])
    data = Dataset(found.actions.astype(np.int64), found.values, space.names, categorical)
    return data.choosing(space.nvec > 1)


_warm: set[tuple[str, str]] = set()


def run(search: Search) -> Samples:
    """Search, and hand back every sample."""
    name = search.method.partition(":")[0]
    if (name, search.cost_model) not in _warm:  # imports and compilation are not counted
        _warm.add((name, search.cost_model))
        _run(replace(search, budget=min(search.budget, 40), seconds=0.0))
    return _run(search)


def _run(search: Search) -> Samples:
    import baselines

    problem = problem_of(search)
    name, options = method_of(search.method.replace(ALL, f"agents={len(choosing(problem))}"))
    if search.agents:
        options = {**options, "agents": Assignment(search.agents)}
    actions: list[np.ndarray] = []
    values: list[np.ndarray] = []
    clock: list[tuple[float, float]] = []
    begin = time.process_time()

    def keep(batch: np.ndarray, evaluation: Evaluation) -> None:
        values.append(np.array(evaluation.values))
        if search.budget <= KEPT:
            actions.append(np.array(batch, dtype=np.int16))
        spent = time.process_time() - begin
        clock.append((problem.samples, spent))
        if search.seconds and spent >= search.seconds:
            raise BudgetExhausted("the time is used up")

    problem.on_evaluate = keep
    result = baselines.load(name, **options).search(problem, search.budget, search.seed)
    none = np.empty((0, len(problem.space.nvec)), np.int16)
    return Samples(
        np.concatenate(values) if values else np.array([result.best_value]),
        np.concatenate([none, *actions]),
        np.array(clock).reshape(-1, 2),
        result.proven,
        time.process_time() - begin,
    )


def tell(text: str) -> None:
    """On standard error."""
    print(text, file=sys.stderr, flush=True)


POLICIES = ("random", "ga", "ppo")
"""Exploration policies of Fig. 4."""
EVOLVED = "mobilenetv2.2"
"""The layer of Fig. 7."""
AGENTS = 6
FEWEST = 20
"""Feasible samples from which on parameters are correlated."""
WAYS = (
    ("ward", "rows", False),
    ("average", "rows", False),
    ("complete", "rows", False),
    ("average", "pairs", False),
    ("complete", "pairs", False),
    ("ward", "rows", True),
)
"""Linkage, metric and whether the reward is a column; the first is the default."""


def notes_of(search: Search, samples: Samples) -> Row:
    """What a search's line holds beside its values."""
    if not search.space or search.objective != "latency" or not len(samples.actions):
        return {}
    if search.method in POLICIES:
        return _clustering(search, samples)
    if search.layer == EVOLVED and search.method in (EVERY, ONE_AGENT):
        return _evolution(search, samples)
    return {}


def _clustering(search: Search, samples: Samples) -> Row:
    """Fig. 4, and the agents that the dataset suggests."""
    data = dataset_of(search, samples)
    if int(np.isfinite(data.values).sum()) < FEWEST:
        return {}  # nothing to correlate: guarded MAESTRO refused nearly all
    found, tree = grown(data)
    count = min(AGENTS, len(data.names))
    notes: Row = {"fig4": _figures(found, tree)}
    notes["agents"] = [list(agent) for agent in tree.assign(count).agents]
    notes["ways"] = []
    for linkage, metric, reward in WAYS:
        other = grown(data, linkage, metric, reward)[1]
        similar = alike(other.assign(count), tree.assign(count))
        notes["ways"].append([other.suggested(), round(similar, 4)])
    if search.seed == 0 and search.method == "random":
        upper = found.matrix[np.triu_indices(len(found.names), 1)]
        notes["names"], notes["matrix"] = list(found.names), [round(float(r), 4) for r in upper]
    return notes


def grown(
    data: Dataset, linkage: str = "ward", metric: str = "rows", reward: bool = False
) -> tuple[Correlation, Any]:
    """Correlation and tree of a dataset's best 15 %."""
    best, values = data.best_with_values()
    found = correlate(best, data.names, data.categorical, values=values if reward else None)
    return found, cluster(found, linkage, metric, reward)


def alike(one: Assignment, other: Assignment) -> float:
    """How alike two assignments of the same parameters are: the adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    names = sorted(one.names)
    marks = [
        [next(i for i, agent in enumerate(a.agents) if name in agent) for name in names]
        for a in (one, other)
    ]
    return float(adjusted_rand_score(*marks))


def _figures(found: Correlation, tree: Any) -> Row:
    strength = np.abs(found.matrix)
    pairs = strength[np.triu_indices(len(found.names), 1)]
    place = {name: row for row, name in enumerate(found.names)}
    k, c = place.get("outer_tile_K"), place.get("outer_tile_C")
    together = [float(strength[k, c])] if k is not None and c is not None else []
    return {
        "median abs r": round(float(np.median(pairs)), 5),
        "share below 0.2": round(float((pairs < 0.2).mean()), 5),
        "K with C": [round(one, 5) for one in together],
        "strongest abs r": round(float(pairs.max()), 5),
        "agents below 0.5": len(tree.assign(threshold=0.5)),
        "agents above 2.5": len(tree.assign(threshold=2.5)),
        "agents suggested": tree.suggested(),
    }


def _evolution(search: Search, samples: Samples) -> Row:
    """Fig. 7."""
    problem = problem_of(search)
    single = Assignment.single(choosing(problem))
    one = explain(problem, samples.actions.astype(np.int64), samples.values, single)
    notes = {"names": list(one.names), "settled": float(np.median(one.settled))}
    notes |= {"ends": one.best[-1].tolist(), "steps": one.steps.tolist()}
    return {**notes, "typical": np.round(np.nan_to_num(one.typical, nan=-1.0), 4).tolist()}
