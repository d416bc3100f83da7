"""Mappings worth imitating: the best that local search found, from the agents' own proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maestro_env import Evaluation, Problem
from mapper.pretrained.nest_choices import NestChoices
from mapper.pretrained.policy import MappingPolicy, Rows, replay
from mapper.pretrained.policy_proposals import search_from
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.seen_records import StateRow
from mapper.pretrained.training.streams import Origin, Stream, problems_of
from mapper.pretrained.training.torch_networks import Packed, pack
from marl_common import FloatArray, IntArray

KEPT = 4
"""Best mappings kept per problem; a step then meets the more problems."""
BLOCKS = 64
"""Blocks of problems kept."""
SHARPNESS = 0.02
"""A mapping counts by exp(-log(value / best) / SHARPNESS), and all of a problem together by 1."""


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
            None where only the problems matter.
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
    rows: Rows
    weight: FloatArray


def experts_of(task: ExpertTask) -> Experts:
    """Do a shard."""
    rng = task.origin.generator(Stream.SEARCHES, task.step, task.shard)
    found = [_searched(problem, task, rng) for problem in task.drawn()]
    which = np.repeat(np.arange(len(found)), [len(weight) for _, weight in found])
    rows, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Experts(which, rows, weight)


def _searched(
    problem: Problem, task: ExpertTask, rng: np.random.Generator
) -> tuple[Rows, FloatArray]:
    """The best mappings of one problem, and their weights."""
    problem.start()
    kept: list[tuple[IntArray, FloatArray]] = []

    def hear(actions: IntArray, evaluation: Evaluation) -> None:
        kept.append((actions, evaluation.values))

    assert task.policy is not None
    search_from(task.policy, problem, rng, hear).run(task.samples)
    actions, values = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    actions, first = np.unique(actions, axis=0, return_index=True)
    best = np.argsort(values[first], kind="stable")[:KEPT]
    best = best[np.isfinite(values[first][best])]
    weight = np.exp(-np.log(values[first][best] / problem.best_value) / SHARPNESS)
    return NestChoices(problem).rows(problem.space.decode(actions[best])), weight / weight.sum()


class ExpertMemory:
    """Mappings to imitate, in blocks of problems, of which the newest are kept."""

    def __init__(self) -> None:
        self.blocks: list[tuple[list[ExpertTask], Experts]] = []
        self._packed: list[dict[str, Packed]] = []

    def __len__(self) -> int:
        return sum(task.problems for tasks, _ in self.blocks for task in tasks)

    def add(self, tasks: Sequence[ExpertTask], parts: Sequence[Experts]) -> None:
        """Keep what shards found, as one block."""
        begins = np.cumsum([0, *(task.problems for task in tasks[:-1])])
        which = np.concatenate([part.which + n for part, n in zip(parts, begins, strict=True)])
        rows = np.concatenate([part.rows for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        if len(which):
            tasks = [ExpertTask(t.origin, t.step, t.shard, t.problems, t.samples) for t in tasks]
            self._keep(tasks, Experts(which, rows, weight))

    def _keep(self, tasks: list[ExpertTask], experts: Experts) -> None:
        arrays = arrays_of([problem for task in tasks for problem in task.drawn()])
        self.blocks.append((tasks, experts))
        self._packed.append(pack(replay(arrays, experts.which, experts.rows)))
        del self.blocks[:-BLOCKS], self._packed[:-BLOCKS]

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, Packed], FloatArray]:
        """The decisions that lead to a block's mappings, and the mappings' weights."""
        block = int(rng.integers(len(self.blocks)))
        return self._packed[block], self.blocks[block][1].weight

    def state_dict(self) -> list[dict[str, Any]]:
        """As arrays and plain values; problems follow from the training's seed."""
        return [
            {
                "tasks": [[t.step, t.shard, t.problems] for t in tasks],
                "which": experts.which,
                "rows": [experts.rows[name] for name in StateRow.names],
                "weight": experts.weight,
            }
            for tasks, experts in self.blocks
        ]

    def load_state_dict(self, blocks: list[dict[str, Any]], origin: Origin) -> None:
        """The blocks of :meth:`state_dict`."""
        self.blocks, self._packed = [], []
        for block in blocks:
            tasks = [ExpertTask(origin, step, n, m, 0) for step, n, m in block["tasks"]]
            rows = np.empty(len(block["which"]), StateRow)
            for name, part in zip(StateRow.names, block["rows"], strict=True):
                rows[name] = part
            self._keep(tasks, Experts(block["which"], rows, block["weight"]))
