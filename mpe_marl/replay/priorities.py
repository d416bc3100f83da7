"""Prioritised sampling over a sum tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError
from mpe_marl.replay import gathers
from mpe_marl.replay.law import Float, SamplingLaw
from mpe_marl.replay.ring import Ring, Rows


class Prioritised(SamplingLaw):
    """Transitions in proportion to (|temporal-difference error| + floor) ** alpha.

    Proportional prioritisation of Schaul et al., "Prioritized Experience Replay" (2016): new
    transitions get the largest priority so far, a batch is drawn one a stratum, and importance
    weights (size * p) ** -beta, scaled to at most 1, undo the bias. One tree serves all trainers,
    each with its own draw; errors are averaged over trainers by the caller.

    Args:
        alpha: 0 is uniform, 1 fully proportional.
        beta: 1 removes the whole bias.
        floor: Added to every error so that none is never drawn again.
    """

    name = "prioritised"

    def __init__(self, alpha: float = 0.6, beta: float = 0.4, floor: float = 1e-3) -> None:
        if not (0 <= alpha <= 1 and 0 <= beta <= 1 and floor > 0):
            raise MpeError(
                f"alpha={alpha}, beta={beta}, floor={floor}; expected alpha and beta in [0, 1] "
                "and floor > 0."
            )
        self.alpha, self.beta, self.floor = alpha, beta, floor
        self._tree = np.zeros(2)
        self._top = 1.0

    def written(self, ring: Ring, rows: Rows) -> None:
        """Give new transitions the top priority and vacant rows none."""
        if len(self._tree) < 2 * ring.rows:
            self._tree = np.zeros(2 * 2 ** int(np.ceil(np.log2(max(ring.rows, 2)))))
        vacant = ring.vacant()
        gathers.tree_set(self._tree, vacant, np.zeros(len(vacant)))
        gathers.tree_set(self._tree, rows, np.full(len(rows), self._top))

    def update(self, rows: Rows, errors: Float) -> None:
        """Set the priorities of drawn rows from their errors."""
        values = (np.abs(errors).astype(np.float64) + self.floor) ** self.alpha
        live = self._tree[len(self._tree) // 2 + rows] > 0.0
        self._top = max(self._top, float(values.max(initial=0.0)))
        gathers.tree_set(self._tree, rows[live], values[live])

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw one row from each of ``batch`` equal strata of the priorities' sum."""
        strata = (np.arange(batch) + rng.random(batch)) / batch
        mass = strata * self._tree[1]
        rows = np.empty(batch, dtype=np.int64)
        gathers.tree_find(self._tree, mass, rows)
        return rows

    def weights(self, ring: Ring, rows: Rows) -> NDArray[np.float32]:
        """Importance weights, the batch's largest being 1."""
        p = self._tree[len(self._tree) // 2 + rows] / self._tree[1]
        w = (ring.size * p) ** -self.beta
        scaled: NDArray[np.float32] = (w / w.max()).astype(np.float32)
        return scaled

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """See :meth:`SamplingLaw.state_dict`."""
        return {"tree": self._tree, "top": np.array([self._top])}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """See :meth:`SamplingLaw.load_state_dict`."""
        self._tree, self._top = tables["tree"].copy(), float(tables["top"][0])
