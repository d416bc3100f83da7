"""Mappings worth imitating: the best that local search found, from the agents' own proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maestro_env import Evaluation, Problem
from mapper.pretrained.local_search import ProposalSearch
from mapper.pretrained.policy import MappingPolicy
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.problem_arrays import ProblemArrays, arrays_of
from mapper.pretrained.state import State
from mapper.pretrained.training.streams import Origin, Stream, problems_of
from marl_common import FloatArray, IntArray

KEPT = 8
"""Best mappings kept per problem."""
SHARPNESS = 0.02
"""A mapping counts by exp(-log(value / best) / SHARPNESS)."""


@dataclass(frozen=True)
class ExpertTask:
    """One shard of a search for mappings to imitate, on fresh random problems.

    Args:
        origin: The training.
        step: Number of the step.
        shard: Number of the shard.
        problems: How many problems.
        samples: Samples of local search on each.
        policy: The agents as they are now, from whose proposals searches go on (expert iteration);
            None for uniform ones.
    """

    origin: Origin
    step: int
    shard: int
    problems: int
    samples: int
    policy: MappingPolicy | None = None

    def drawn(self) -> list[Problem]:
        """The problems."""
        return problems_of(self.origin, self.step, self.shard, self.problems)


class Experts(NamedTuple):
    """What a shard found: ``(B,)`` problem of each mapping, the mappings, and their weights."""

    which: IntArray
    state: State
    weight: FloatArray


def experts_of(task: ExpertTask) -> Experts:
    """Do a shard."""
    rng = task.origin.generator(Stream.SEARCHES, task.step, task.shard)
    found = [_searched(problem, task, rng) for problem in task.drawn()]
    which = np.repeat(np.arange(len(found)), [len(weight) for _, weight in found])
    state = State(*(np.concatenate(parts) for parts in zip(*(s for s, _ in found), strict=True)))
    return Experts(which, state, np.concatenate([weight for _, weight in found]))


def _searched(
    problem: Problem, task: ExpertTask, rng: np.random.Generator
) -> tuple[State, FloatArray]:
    """The best mappings of one problem, and their weights."""
    problem.start()
    kept: list[tuple[IntArray, FloatArray]] = []

    def hear(actions: IntArray, evaluation: Evaluation) -> None:
        kept.append((actions, evaluation.values))

    if task.policy is None:
        search = ProposalSearch(problem, lambda n: problem.space.sample(n, rng), rng, hear)
    else:
        search = search_from(task.policy, problem, rng, hear)
    search.run(task.samples)
    actions, values = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    actions, first = np.unique(actions, axis=0, return_index=True)
    best = np.argsort(values[first], kind="stable")[:KEPT]
    best = best[np.isfinite(values[first][best])]
    weight = np.exp(-np.log(values[first][best] / problem.best_value) / SHARPNESS)
    return State.of(problem.space.decode(actions[best])), weight


class ExpertMemory:
    """Mappings to imitate, kept in blocks of problems, because a block's choices are one table."""

    def __init__(self) -> None:
        self.blocks: list[tuple[list[ExpertTask], Experts]] = []
        self._arrays: list[ProblemArrays] = []

    def __len__(self) -> int:
        return sum(task.problems for tasks, _ in self.blocks for task in tasks)

    def add(self, tasks: Sequence[ExpertTask], parts: Sequence[Experts]) -> None:
        """Keep what shards found, as one block."""
        begins = np.cumsum([0, *(task.problems for task in tasks[:-1])])
        which = np.concatenate([part.which + n for part, n in zip(parts, begins, strict=True)])
        states = zip(*(part.state for part in parts), strict=True)
        state = State(*(np.concatenate(arrays) for arrays in states))
        weight = np.concatenate([part.weight for part in parts])
        if len(which):
            tasks = [ExpertTask(t.origin, t.step, t.shard, t.problems, t.samples) for t in tasks]
            self._keep(tasks, Experts(which, state, weight))

    def _keep(self, tasks: list[ExpertTask], experts: Experts) -> None:
        self.blocks.append((tasks, experts))
        self._arrays.append(arrays_of([problem for task in tasks for problem in task.drawn()]))

    def draw(
        self, size: int, rng: np.random.Generator
    ) -> tuple[ProblemArrays, NDArray[np.int64], State, FloatArray]:
        """Mappings to imitate, from one block drawn by its share of the problems."""
        share = np.array([sum(t.problems for t in tasks) for tasks, _ in self.blocks], np.float64)
        block = rng.choice(len(share), p=share / share.sum())
        _, (which, state, weight) = self.blocks[block]
        rows = rng.integers(0, len(which), size)
        return self._arrays[block], which[rows], state.take(rows), weight[rows]

    def state_dict(self) -> list[dict[str, Any]]:
        """As arrays and plain values; problems follow from the training's seed."""
        return [
            {
                "tasks": [[t.step, t.shard, t.problems] for t in tasks],
                "which": experts.which,
                "state": list(experts.state),
                "weight": experts.weight,
            }
            for tasks, experts in self.blocks
        ]

    def load_state_dict(self, blocks: list[dict[str, Any]], origin: Origin) -> None:
        """The blocks of :meth:`state_dict`."""
        self.blocks, self._arrays = [], []
        for block in blocks:
            tasks = [ExpertTask(origin, step, n, m, 0) for step, n, m in block["tasks"]]
            self._keep(tasks, Experts(block["which"], State(*block["state"]), block["weight"]))
