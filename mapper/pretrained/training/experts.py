"""Mappings worth imitating: the best that searches and the agents themselves found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import baselines
from cost_models import CostModel
from maestro_env import MapSpace, Problem
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.training.random_problems import RandomProblem, draw
from mapper.pretrained.training.sampling import Batch, FloatArray
from mapper.pretrained.training.shards import Origin, Stream

EXPERT_BLOCK = 50
"""Problems searched at a time."""
KEPT = 8
"""Best mappings kept per problem."""
SHARPNESS = 0.02
"""A mapping counts by exp(-log(value / best) / SHARPNESS)."""
POLICY_SAMPLES = 48
"""Proposals of the agents from which an expert's search goes on."""
ROUNDS = 6
CHILDREN = 96


class ExpertMemory:
    """Problems with their best mappings.

    Problems are kept in blocks, because the choices of a block are one table.
    """

    def __init__(self) -> None:
        self.blocks: list[tuple[Batch, NDArray[np.int64], State, NDArray[np.float64]]] = []

    def __len__(self) -> int:
        return sum(len(batch.problems) for batch, *_ in self.blocks)

    def add(self, parts: Iterable[Experts], model: CostModel) -> int:
        """Keep what shards found, as one block; returns the samples they spent."""
        found = list(parts)
        batch = Batch.of([problem for part in found for problem in part.problems], model)
        begins = np.cumsum([0, *(len(part.problems) for part in found)])
        which = np.concatenate([part.which + n for part, n in zip(found, begins, strict=False)])
        values = np.concatenate([part.values for part in found])
        if len(which):
            np.minimum.at(batch.best, which, values)
            weight = np.exp(-np.log(values / batch.best[which]) / SHARPNESS)
            self.blocks.append((batch, which, _joined([part.state for part in found]), weight))
        return sum(part.spent for part in found)

    def draw(
        self, size: int, rng: np.random.Generator
    ) -> tuple[ProblemTables, NDArray[np.int64], State, NDArray[np.float64]]:
        """Mappings to imitate, from one block drawn by its share of the problems."""
        sizes = np.array([len(batch.problems) for batch, *_ in self.blocks], np.float64)
        batch, which, state, weight = self.blocks[rng.choice(len(sizes), p=sizes / sizes.sum())]
        rows = rng.integers(0, len(which), size)
        return batch.tables, which[rows], State(*(part[rows] for part in state)), weight[rows]

    def state_dict(self) -> list[dict[str, Any]]:
        """As arrays and plain values."""
        return [
            {**batch.state_dict(), "which": which, "state": list(state), "weight": weight}
            for batch, which, state, weight in self.blocks
        ]

    def load_state_dict(self, blocks: list[dict[str, Any]], model: CostModel) -> None:
        """The blocks of :meth:`state_dict`."""
        self.blocks = [
            (
                Batch.from_state(block, model),
                block["which"],
                State(*block["state"]),
                block["weight"],
            )
            for block in blocks
        ]


@dataclass(frozen=True)
class ExpertTask:
    """One shard of a search for mappings to imitate, on fresh random problems.

    Args:
        origin: The training.
        step: Number of the step.
        shard: Number of the shard.
        problems: How many problems.
        samples: Samples of the genetic algorithm on each.
        proposer: The agents as they are now: their own proposals are bettered by mutation (expert
            iteration) instead of a search from nothing.
    """

    origin: Origin
    step: int
    shard: int
    problems: int
    samples: int = 0
    proposer: Proposer | None = None


class Experts(NamedTuple):
    """What a shard found.

    Args:
        problems: Its `M` problems.
        which: ``(B,)`` problem of each mapping.
        state: The mappings.
        values: ``(B,)`` what they cost.
        spent: Samples.
    """

    problems: list[RandomProblem]
    which: NDArray[np.int64]
    state: State
    values: FloatArray
    spent: int


def experts_of(task: ExpertTask) -> Experts:
    """Do a shard."""
    if task.proposer is None:
        return _searched(task)
    return _bettered(task, task.proposer)


def _searched(task: ExpertTask) -> Experts:
    rng = task.origin.generator(Stream.SEARCHES, task.step, task.shard)
    given = [draw(rng) for _ in range(task.problems)]
    found = []
    for one in given:
        problem, top = _problem(one, task.origin.model()), _Top()
        problem.on_evaluate = top.take
        baselines.load("ga").search(problem, task.samples, int(rng.integers(2**31)))
        found.append((problem, top))
    return _kept(given, found)


def _bettered(task: ExpertTask, proposer: Proposer) -> Experts:
    rng = task.origin.generator(Stream.BETTERING, task.step, task.shard)
    batch = Batch.random(task.problems, task.origin.model(), rng)
    proposals = batch.propose(proposer, POLICY_SAMPLES, rng)
    found = []
    for number, one in enumerate(batch.problems):
        problem, top = _problem(one, batch.model), _Top()
        problem.on_evaluate = top.take
        moves = baselines.Moves(problem.space)
        actions = problem.space.encode(
            proposals.mappings(np.flatnonzero(proposals.which == number))
        )
        problem.evaluate(actions)
        for _ in range(ROUNDS):
            if top.actions is None:
                break
            parents = top.actions[rng.integers(0, len(top.actions), CHILDREN)]
            mates = top.actions[rng.integers(0, len(top.actions), CHILDREN)]
            children = moves.mutate(moves.crossover(parents, mates, rng), rng)
            problem.evaluate(problem.space.canonical(children))
        found.append((problem, top))
    return _kept(batch.problems, found)


def _problem(given: RandomProblem, model: CostModel) -> Problem:
    space = MapSpace(given.layer, given.accelerator)
    return Problem(given.layer, given.accelerator, given.objective, model, space)


class _Top:
    """The best distinct samples of a search."""

    def __init__(self) -> None:
        self.actions: NDArray[np.int64] | None = None
        self.values = np.empty(0)

    def take(self, actions: NDArray[np.int64], evaluation: Any) -> None:
        """A problem's hook."""
        good = np.flatnonzero(np.isfinite(evaluation.values))
        if not len(good):
            return
        good = good[np.argsort(evaluation.values[good], kind="stable")[: 2 * KEPT]]
        mine = (
            actions[good] if self.actions is None else np.concatenate([self.actions, actions[good]])
        )
        values = np.concatenate([self.values, evaluation.values[good]])
        _, first = np.unique(mine, axis=0, return_index=True)
        keep = first[np.argsort(values[first], kind="stable")[:KEPT]]
        self.actions, self.values = mine[keep], values[keep]


def _kept(given: list[RandomProblem], found: list[tuple[Problem, _Top]]) -> Experts:
    which = [np.empty(0, np.int64)]
    states, values = [], [np.empty(0)]
    for number, (problem, top) in enumerate(found):
        if top.actions is not None:
            states.append(State.of(problem.space.decode(top.actions)))
            values.append(top.values)
            which.append(np.full(len(top.values), number))
    spent = sum(problem.samples for problem, _ in found)
    return Experts(given, np.concatenate(which), _joined(states), np.concatenate(values), spent)


def _joined(states: list[State]) -> State:
    """One after another; empty arrays, whatever their shapes, count for nothing."""
    some = [state for state in states if len(state.cluster)]
    if not some:
        return State(*(np.empty(0, np.int64) for _ in State._fields))
    return State(*(np.concatenate(parts) for parts in zip(*some, strict=True)))
