"""MAST's two buffers: a fixed share of every batch from the newest episodes, the rest from all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mast.buffers.buffer import BUFFERS, EpisodeBuffer
from mpe_marl import Recent, Ring, SamplingLaw


class FixedShares(Recent):
    """A fixed number of slots holds on-policy episodes, none of them twice, as do the others.

    Both buffers take in every episode, so over one ring the small one is the newest rows. Chances
    are those of :class:`mpe_marl.Recent` where shares of a batch come out whole.

    Args:
        newest: Episodes ``R`` of the on-policy buffer.
        share: Share of a batch that is drawn from it.
    """

    name = "two"

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw without replacement from each; with, where one holds fewer than its slots."""
        young, new = round(self.share * batch), min(self.newest, ring.size)
        recent = rng.choice(new, young, replace=young > new) + ring.size - new
        old = rng.choice(ring.size, batch - young, replace=batch - young > ring.size)
        return ring.physical(np.concatenate([recent, old]))


@BUFFERS.add("two")
@dataclass(frozen=True)
class TwoBuffer(EpisodeBuffer):
    """An on-policy buffer of the newest episodes, and a large one.

    Attributes:
        recent: Episodes of the on-policy buffer.
        q: Share of a batch that is drawn from it.
    """

    recent: int
    q: float

    def law(self) -> SamplingLaw:
        """See :class:`EpisodeBuffer`."""
        return FixedShares(self.recent, self.q)
