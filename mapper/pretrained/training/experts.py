"""Mappings worth imitating: the best that local search found, from the agents' own proposals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cost_models
from maestro_env import Problem
from mapper.pretrained.nest_choices import NestChoices
from mapper.pretrained.network import Weights
from mapper.pretrained.policy import Rows, replay
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.seen_records import StateRow
from mapper.pretrained.training.random_problems import draw
from marl_common import FloatArray

KEPT = 4
"""Best mappings kept per problem; a step then meets the more problems."""
BLOCKS = 64
"""Blocks of problems kept."""
SHARPNESS = 0.02
"""A mapping counts by exp(-log(value / best) / SHARPNESS), and all of a problem together by 1."""
PROBLEMS, SEARCHES = 1, 2
"""What a shard's random numbers are for."""


@dataclass(frozen=True)
class ExpertTask:
    """One shard of a search for mappings to imitate, on fresh random problems.

    It is the same in whatever process it is done.

    Args:
        cost_model: Name of the cost model.
        place: The training's seed, the step and the shard.
        problems: How many problems.
        first: How many problems the shards before it have.
        samples: Samples of local search on each.
        weights: The agents as they are now, from whose proposals searches go on (expert iteration);
            none where only the problems matter.
    """

    cost_model: str
    place: tuple[int, int, int]
    problems: int
    first: int = 0
    samples: int = 0
    weights: Weights = field(default_factory=dict)

    @cached_property
    def drawn(self) -> list[Problem]:
        """The problems."""
        model, rng = cost_models.load(self.cost_model), self.generator(PROBLEMS)
        return [draw(rng, model) for _ in range(self.problems)]

    def generator(self, purpose: int) -> np.random.Generator:
        """The random numbers for a purpose."""
        seed, step, shard = self.place
        return np.random.default_rng([seed, purpose, step, shard])


class Experts(NamedTuple):
    """What shards found: ``(B,)`` mappings, each with its problem's number, and their weights."""

    rows: Rows
    weight: FloatArray


def experts_of(task: ExpertTask) -> Experts:
    """Do a shard."""
    rng = task.generator(SEARCHES)
    return joined([_searched(task, number, rng) for number in range(task.problems)])


def joined(parts: Iterable[Experts]) -> Experts:
    """What was found on several lots of problems as of one."""
    return Experts(*map(np.concatenate, zip(*parts, strict=True)))


def _searched(task: ExpertTask, number: int, rng: np.random.Generator) -> Experts:
    """The best mappings of one of a shard's problems."""
    problem = task.drawn[number]
    problem.start()
    batches = search_from(task.weights, problem, rng).batches(task.samples)
    kept = [(actions, evaluation.values) for actions, evaluation in batches]
    actions, values = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    actions, first = np.unique(actions, axis=0, return_index=True)
    values = values[first]
    best = np.argsort(values, kind="stable")[:KEPT]
    best = best[np.isfinite(values[best])]
    weight = np.exp(-np.log(values[best] / problem.best_value) / SHARPNESS)
    rows = NestChoices(problem).rows(problem.space.decode(actions[best]))
    rows["problem"] = task.first + number
    rows["turned"] = rng.integers(2, size=len(rows))
    return Experts(rows, weight / weight.sum())


class ExpertMemory:
    """Mappings to imitate, in blocks of problems, of which the newest are kept."""

    def __init__(self) -> None:
        self._blocks: list[tuple[list[list[int]], Experts, dict[str, Any]]] = []

    def add(self, tasks: Sequence[ExpertTask], experts: Experts) -> None:
        """Keep what was found on the problems of shards, as one block."""
        from mapper.pretrained.training.torch_networks import pack  # workers need no torch

        if len(experts.rows):
            arrays = arrays_of([problem for task in tasks for problem in task.drawn])
            packed = pack(replay(arrays, experts.rows))
            drawn = [[*task.place, task.problems] for task in tasks]
            self._blocks = [*self._blocks, (drawn, experts, packed)][-BLOCKS:]

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, Any], FloatArray]:
        """The decisions that lead to a block's mappings, packed by kind, and their weights."""
        _, experts, packed = self._blocks[int(rng.integers(len(self._blocks)))]
        return packed, experts.weight

    def state_dict(self) -> list[dict[str, Any]]:
        """As arrays and plain values; problems follow from the training's seed."""
        return [
            {"tasks": drawn, "found": [_cast(experts.rows, np.int64), experts.weight]}
            for drawn, experts, _ in self._blocks
        ]

    def load_state_dict(self, blocks: list[dict[str, Any]], cost_model: str) -> None:
        """The blocks of :meth:`state_dict`."""
        self._blocks = []
        for block in blocks:
            rows, weight = block["found"]
            tasks = [ExpertTask(cost_model, (a, b, c), n) for a, b, c, n in block["tasks"]]
            self.add(tasks, Experts(_cast(rows, StateRow), weight))


def _cast(rows: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The same bytes as another type."""
    return np.frombuffer(bytearray(rows.tobytes()), dtype)
