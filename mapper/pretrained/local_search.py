"""Draw, price, improve: proposals are evaluated, and the best of them improved by local search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from baselines import Moves
from maestro_env import Evaluation, Problem
from marl_common import FloatArray, IntArray

Draw = Callable[[IntArray], IntArray]
"""Gives ``(n, P)`` actions for the numbers of draws, `n` at most as many as these."""

FIRST = 32
"""Proposals of the first batch; a first value comes soon."""
PROPOSALS = 64
"""Proposals before local search begins, and of a restart."""
PARENTS = 8
CHILDREN = 32
"""Children evaluated at a time; chosen on random problems, as all numbers here."""
BIAS = 1.5
"""Exponent of the rank-biased selection of parents."""
CROSSED, EXCHANGED = 0.5, 0.5
"""Shares of children with two parents, and with a move of two parameters at once."""


class ProposalSearch:
    """Samples proposals and then children of the best; no action is sampled twice.

    Args:
        problem: Evaluates and counts the samples.
        draw: Draws proposals.
        rng: Randomness.
    """

    def __init__(self, problem: Problem, draw: Draw, rng: np.random.Generator) -> None:
        self.problem, self.draw, self.rng = problem, draw, rng
        self._moves = Moves(problem.space)
        self._known: set[bytes] = set()
        self._parents: IntArray = np.empty((0, len(problem.space.nvec)), np.int64)
        self._values: FloatArray = np.empty(0)
        self._drawn = 0
        self._drawing = True

    def batches(self, count: int) -> Iterator[tuple[IntArray, Evaluation]]:
        """Evaluate `count` samples, batch by batch as they are asked for.

        Raises:
            BudgetExhausted: The problem's budget is smaller.
        """
        while count > 0:
            actions = self._batch(count)
            count -= len(actions)
            yield actions, self._evaluate(actions)

    def _batch(self, most: int) -> IntArray:
        """Up to `most` new actions; uniform ones, old or new, where nothing new was found."""
        if self._drawn % PROPOSALS or self._drawing or not len(self._parents):
            self._drawing = False
            wanted = PROPOSALS - self._drawn % PROPOSALS if self._drawn else FIRST
            numbers = np.arange(self._drawn, self._drawn + min(wanted, most))
            self._drawn += len(numbers)
            found = self._new(self.draw(numbers), most)
        else:
            self._drawing = True  # unless a child is the best so far
            found = self._new(self._breed(), most)
        return found if len(found) else self.problem.space.sample(min(CHILDREN, most), self.rng)

    def _breed(self) -> IntArray:
        """``(CHILDREN, P)`` children of the best samples."""
        rng, parents = self.rng, self._parents
        likely, any_of = rng.random(CHILDREN) ** BIAS, rng.random(CHILDREN)
        first, second = (parents[(len(parents) * u).astype(np.int64)] for u in (likely, any_of))
        crossed = self._moves.crossover(first, second, rng)
        children = np.where((rng.random(CHILDREN) < CROSSED)[:, None], crossed, first)
        children = self._moves.mutate(children, rng)
        exchanged = self._moves.exchange(children, rng)
        children = np.where((rng.random(CHILDREN) < EXCHANGED)[:, None], exchanged, children)
        return np.asarray(self.problem.space.canonical(children))

    def _new(self, actions: IntArray, most: int) -> IntArray:
        """The first rows, at most so many, that were not sampled before; now they were."""
        rows: list[int] = []
        for row, action in enumerate(actions):
            name = action.tobytes()
            if len(rows) < most and name not in self._known:
                self._known.add(name)
                rows.append(row)
        return actions[rows]

    def _evaluate(self, actions: IntArray) -> Evaluation:
        evaluation = self.problem.evaluate(actions)
        feasible = np.isfinite(evaluation.values)
        values = np.concatenate([self._values, evaluation.values[feasible]])
        every = np.concatenate([self._parents, actions[feasible]])
        best = np.argsort(values, kind="stable")[:PARENTS]
        if values.min(initial=np.inf) < self._values.min(initial=np.inf):
            self._drawing = False
        self._parents, self._values = every[best], values[best]
        return evaluation
