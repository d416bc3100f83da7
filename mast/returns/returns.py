"""What returns are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mast.episodes import EpisodeBatch
from mast.parts import LearnerPart, Registry


class Moment(NamedTuple):
    """Where a run is.

    Attributes:
        done: Steps of the environment so far.
        total: Steps of the whole run.
        gamma: Discount a step.
    """

    done: int
    total: int
    gamma: float


class Returns(LearnerPart):
    """What each step should be worth."""

    def __call__(
        self, batch: EpisodeBatch, rewards: NDArray[np.float64], after: NDArray[np.floating],
        moment: Moment,
    ) -> NDArray[np.floating]:  # fmt: skip
        """The targets of a batch.

        Args:
            batch: The episodes.
            rewards: ``(B, T)`` their rewards, standardised.
            after: ``(B, T)`` what each next step is worth.
            moment: Where the run is.

        Returns:
            ``(B, T)``.
        """
        raise NotImplementedError  # every kind has its own


RETURNS: Registry[Returns] = Registry("returns", "mast.returns", ("__call__", "flops"))
