"""What a search has asked for, so that no loop nest costs it a second sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baselines.nest_memory import NestMemory
from cost_models import ChainBatch, MappingBatch, capabilities_of
from maestro_env import Problem, nest_keys
from marl_common import BoolArray, IntArray

ATTEMPTS = 8
"""Draws after which :meth:`Dedup.fill` takes what it gets."""


class Dedup:
    """The loop nests that were asked for; mappings that run the same nest count as one.

    After millions of them the oldest are forgotten, see :class:`NestMemory`.

    Args:
        problem: Its layer, accelerator and cost model say which mappings are the same nest.

    Attributes:
        known: Keys of the nests, see :func:`maestro_env.symmetry.keys`.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._symmetry = capabilities_of(problem.cost_model).symmetry
        self.known = NestMemory()

    def __len__(self) -> int:
        return len(self.known)

    def nests(self, mappings: MappingBatch | ChainBatch) -> list[int]:
        """What tells the loop nests of `B` mappings apart."""
        problem = self.problem
        found = nest_keys(problem.layer, problem.accelerator, mappings, self._symmetry)
        nests: list[int] = found.tolist()
        return nests

    def fresh(self, actions: IntArray, most: int | None = None) -> BoolArray:
        """Which rows are new: not asked for before, nor earlier in the batch. They are known now.

        Args:
            actions: ``(B, P)``.
            most: Rows to take at most; those behind stay unknown.

        Returns:
            ``(B,)`` bool.
        """
        result = np.zeros(len(actions), dtype=np.bool_)
        left = len(actions) if most is None else most
        for row, nest in enumerate(self.nests(self.problem.space.decode(actions))):
            if left == 0:
                break
            if nest not in self.known:
                self.known.add(nest)
                result[row] = True
                left -= 1
        return result

    def distinct(self, mappings: MappingBatch | ChainBatch, repeats: bool = False) -> IntArray:
        """A row for each nest that was not asked for before; nothing becomes known.

        Args:
            mappings: `B` mappings; of several that run one nest the last one is taken.
            repeats: Take nests that were asked for before, too.
        """
        rows: dict[int, int] = {}
        for row, nest in enumerate(self.nests(mappings)):
            if repeats or nest not in self.known:
                rows[nest] = row
        return np.fromiter(rows.values(), np.int64, len(rows))

    def fill(
        self,
        draw: Callable[[int], IntArray],
        count: int,
        spare: Callable[[int], IntArray],
        least: int = 1,
    ) -> IntArray:
        """Fresh actions from a generator; `spare` fills up when it keeps repeating itself.

        Args:
            draw: Gives `n` candidates.
            count: How many actions to return.
            spare: Gives `n` candidates that are taken even if known (a space may be used up).
            least: Candidates to draw at least; those that are too many stay unknown.
        """
        kept: list[IntArray] = []
        missing = count
        for _ in range(ATTEMPTS):
            candidates = draw(max(missing, least))
            candidates = candidates[self.fresh(candidates, missing)]
            kept.append(candidates)
            missing -= len(candidates)
            if missing == 0:
                break
        if missing:
            kept.append(spare(missing))
        return np.concatenate(kept)
