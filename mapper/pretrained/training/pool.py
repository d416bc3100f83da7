"""Random problems at hand: each is met a few times, as making one costs as much as a step on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cost_models import CostModel
from mapper.pretrained.training.sampling import Batch
from mapper.pretrained.training.schedule import Schedule


class Pool:
    """Blocks of problems, the oldest first; a fresh one takes the oldest's place in turn."""

    def __init__(self) -> None:
        self.blocks: list[Batch] = []
        self.drawn = 0

    def draw(self, plan: Schedule, model: CostModel, rng: np.random.Generator) -> Batch:
        """A block to do a step on."""
        if self.drawn % plan.visits == 0 or not self.blocks:
            self.blocks = self.blocks[-(plan.blocks - 1) :] if plan.blocks > 1 else []
            self.blocks.append(Batch.random(plan.problems, model, rng))
        self.drawn += 1
        return self.blocks[int(rng.integers(len(self.blocks)))]

    def state_dict(self) -> dict[str, Any]:
        """As arrays and plain values."""
        return {"blocks": [batch.state_dict() for batch in self.blocks], "drawn": self.drawn}

    def load_state_dict(self, state: dict[str, Any], model: CostModel) -> None:
        """The blocks of :meth:`state_dict`."""
        self.blocks = [Batch.from_state(block, model) for block in state["blocks"]]
        self.drawn = state["drawn"]
