"""What a sampling law is.

A law draws physical rows; it knows nothing of how transitions are laid out.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.replay.ring import Ring, Rows

Float = NDArray[np.float64]
NEIGHBORS = 3
"""Neighbours on each side in the papers."""


class SamplingLaw:
    """Base of all laws.

    Attributes:
        name: Name in the registry.
        shared: All trainers of an update use one draw.
    """

    name = "law"
    shared = False

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> Rows:
        """Draw ``(batch,)`` physical rows."""
        raise NotImplementedError  # every law has its own

    def draw_list(self, ring: Ring, batch: int, rng: random.Random) -> list[int]:
        """Draw as the papers' code does, index by index in Python; the same law."""
        seeded = np.random.Generator(np.random.PCG64(rng.getrandbits(64)))
        drawn: list[int] = self.draw(ring, batch, seeded).tolist()
        return drawn

    def weights(self, ring: Ring, rows: Rows) -> NDArray[np.float32] | None:
        """``(batch,)`` importance weights of drawn rows; None when all are 1."""
        return None

    def written(self, ring: Ring, rows: Rows) -> None:
        """Learn that ``rows`` hold new transitions."""

    def update(self, rows: Rows, errors: Float) -> None:
        """Learn the ``(batch,)`` absolute temporal-difference errors of drawn rows."""

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """What the law has learnt, for a checkpoint."""
        return {}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave."""
