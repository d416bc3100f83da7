"""Draws that repeat a sampled loop nest: they cost no sample, and the agents learn from them.

Refusing them without a word would force agents away from the choices that they like best: they
would learn from another law than they draw from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines import Dedup, NestMemory
from cost_models import ChainBatch, MappingBatch
from mapper.marl.proposals import Choices
from marl_common import FloatArray


class Repeats:
    """Values of what was sampled, and the draws of the present turn that repeat it.

    Args:
        dedup: Says which mappings run the same loop nest.
    """

    def __init__(self, dedup: Dedup) -> None:
        self.dedup = dedup
        self.values = NestMemory()
        self._drawn: list[tuple[Choices, list[int]]] = []

    def learn(self, mappings: MappingBatch | ChainBatch, values: FloatArray) -> None:
        """Keep the values of evaluated mappings."""
        for nest, value in zip(self.dedup.nests(mappings), values.tolist(), strict=True):
            self.values.add(nest, value)

    def add(self, choices: Choices, mappings: MappingBatch | ChainBatch) -> None:
        """Keep draws that were refused; those whose nest is in evaluation get its value, too."""
        if len(choices.chosen):
            self._drawn.append((choices, self.dedup.nests(mappings)))

    def take(self) -> list[tuple[Choices, FloatArray]]:
        """The draws since the last call, as far as their values are known."""
        taken = []
        for choices, nests in self._drawn:
            values = np.array([self.values.value(nest, np.nan) for nest in nests])
            known = ~np.isnan(values)
            taken.append((choices.rows(known), values[known]))
        self._drawn = []
        return taken

    def state_dict(self) -> dict[str, Any]:
        """The values by nest; between turns no draw waits."""
        nests = np.fromiter(self.values, np.uint64, len(self.values))
        values = [self.values.value(nest, np.nan) for nest in self.values]
        return {"nests": nests, "values": np.array(values)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.values = NestMemory()
        for nest, value in zip(state["nests"].tolist(), state["values"].tolist(), strict=True):
            self.values.add(nest, value)
