"""Random problems at hand: each is met a few times, as making one costs as much as a step on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from common import FloatArray
from mapper.pretrained.training.schedule import Schedule


class Pool:
    """Numbers of blocks of problems; a fresh one replaces the oldest.

    The problems follow from the number, wherever they are needed; what is kept here of a block is
    the lowest value known of each of its problems.
    """

    def __init__(self) -> None:
        self.best: dict[int, FloatArray] = {}
        self.drawn = 0

    def draw(self, plan: Schedule, rng: np.random.Generator) -> int:
        """The block to do a step on."""
        if self.drawn % plan.visits == 0:
            self.best[self.drawn // plan.visits] = np.full(plan.problems, np.inf)
            if len(self.best) > plan.blocks:
                del self.best[min(self.best)]
        self.drawn += 1
        return sorted(self.best)[int(rng.integers(len(self.best)))]

    def state_dict(self) -> dict[str, Any]:
        """As arrays and plain values."""
        numbers = sorted(self.best)
        return {"numbers": numbers, "best": [self.best[n] for n in numbers], "drawn": self.drawn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The blocks of :meth:`state_dict`."""
        self.best = dict(zip(state["numbers"], state["best"], strict=True))
        self.drawn = state["drawn"]
