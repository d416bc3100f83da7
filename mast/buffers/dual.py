"""MAST's dual buffer, by a coin a slot: one of the newest episodes, or any."""

from __future__ import annotations

from dataclasses import dataclass

from mast.buffers.buffer import BUFFERS, EpisodeBuffer
from mpe_marl import Recent, SamplingLaw


@BUFFERS.add("dual")
@dataclass(frozen=True)
class DualBuffer(EpisodeBuffer):
    """Each slot of a batch asks for one of the newest episodes with probability ``q``.

    Attributes:
        recent: Newest episodes ``R``.
        q: Probability.
    """

    recent: int
    q: float

    def law(self) -> SamplingLaw:
        """See :class:`EpisodeBuffer`."""
        return Recent(self.recent, self.q)
