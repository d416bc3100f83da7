"""MAST's two buffers: a fixed share of every batch from the newest episodes, the rest from all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mast.buffers.buffer import BUFFERS, EpisodeBuffer
from mpe_marl import Ring, SamplingLaw


class FixedShares(SamplingLaw):
    """A fixed number of slots holds on-policy episodes, none of them twice, as do the others.

    Both buffers take in every episode, so over one ring the small one is the newest rows.

    Args:
        newest: Episodes ``R`` of the on-policy buffer.
        share: Share of a batch that is drawn from it.
    """

    name = "two"

    def __init__(self, newest: int, share: float) -> None:
        self.newest, self.share = newest, share

    def draw(self, ring: Ring, batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw without replacement from each; with, where one holds fewer than its slots."""
        young, new = round(self.share * batch), min(self.newest, ring.size)
        recent = rng.choice(new, young, replace=young > new) + ring.size - new
        old = rng.choice(ring.size, batch - young, replace=batch - young > ring.size)
        return ring.physical(np.concatenate([recent, old]))

    def inclusion(self, ring: Ring) -> NDArray[np.float64]:
        """See :class:`mpe_marl.SamplingLaw`; shares of a batch that come out whole."""
        new = min(self.newest, ring.size)
        chances = np.full(ring.size, (1 - self.share) / ring.size)
        chances[ring.size - new :] += self.share / new
        p = np.zeros(ring.rows)
        p[ring.physical(np.arange(ring.size))] = chances
        return p


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
