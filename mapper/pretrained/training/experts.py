"""Mappings worth imitating: the best that searches and the agents themselves found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import baselines
from cost_models import CostModel, MappingBatch
from maestro_env import Problem
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.state import State
from mapper.pretrained.tables import ProblemTables
from mapper.pretrained.training.sampling import Batch

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

    def add(
        self, batch: Batch, which: NDArray[np.int64], state: State, values: NDArray[np.float64]
    ) -> None:
        """Keep mappings of a block of problems."""
        weight = np.exp(-np.log(values / batch.best[which]) / SHARPNESS)
        self.blocks.append((batch, which, state, weight))

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


def search_experts(
    memory: ExpertMemory, count: int, samples: int, model: CostModel, rng: np.random.Generator
) -> int:
    """Fill the memory by a genetic algorithm on random problems; returns samples spent."""
    batch = Batch.random(count, model, rng)
    spent, found = 0, []
    for number in range(count):
        top = _Top()
        problem = _problem(batch, number)
        problem.on_evaluate = top.take
        baselines.load("ga").search(problem, samples, int(rng.integers(2**31)))
        spent += problem.samples
        found.append((number, problem, top))
    _keep(memory, batch, found)
    return spent


def improve(
    memory: ExpertMemory,
    count: int,
    proposer: Proposer,
    model: CostModel,
    rng: np.random.Generator,
) -> int:
    """Expert iteration: the agents' own proposals, bettered by mutation; returns samples spent."""
    from baselines import Moves

    batch = Batch.random(count, model, rng)
    proposals = batch.propose(proposer, POLICY_SAMPLES, rng)
    spent, found = 0, []
    for number in range(count):
        problem, top = _problem(batch, number), _Top()
        problem.on_evaluate = top.take
        moves = Moves(problem.space)
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
        spent += problem.samples
        found.append((number, problem, top))
    _keep(memory, batch, found)
    return spent


def _problem(batch: Batch, number: int) -> Problem:
    given = batch.problems[number]
    return Problem(
        given.layer, given.accelerator, given.objective, batch.model, batch.cases[number].space
    )


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


def _keep(memory: ExpertMemory, batch: Batch, found: list[tuple[int, Problem, _Top]]) -> None:
    which, parts, values = [], [], []
    for number, problem, top in found:
        if top.actions is None:
            continue
        batch.best[number] = top.values[0]
        parts.append(problem.space.decode(top.actions))
        values.append(top.values)
        which.append(np.full(len(top.values), number))
    if parts:
        memory.add(batch, np.concatenate(which), _state(parts), np.concatenate(values))


def _state(parts: list[MappingBatch]) -> State:
    return State(
        np.concatenate([p.parallel for p in parts]).astype(np.int64),
        np.concatenate([p.cluster_size for p in parts]).astype(np.int64),
        np.concatenate([p.tiles for p in parts]).astype(np.int64),
        np.concatenate([p.orders for p in parts]).astype(np.int64),
    )
