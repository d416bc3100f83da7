"""What a buffer is, and the plain one."""

from __future__ import annotations

from dataclasses import dataclass

from mast.parts import LearnerPart, Registry
from mpe_marl import SamplingLaw, make_law


class EpisodeBuffer(LearnerPart):
    """A way to draw episodes."""

    def law(self) -> SamplingLaw:
        """The law of the draws; all episodes lie in one ring, oldest first."""
        raise NotImplementedError  # every buffer has its own


BUFFERS: Registry[EpisodeBuffer] = Registry("buffer", "mast.buffers", ("law", "flops"))


@BUFFERS.add("uniform")
@dataclass(frozen=True)
class UniformBuffer(EpisodeBuffer):
    """Any stored episode, each as likely as the others."""

    def law(self) -> SamplingLaw:
        """See :class:`EpisodeBuffer`."""
        return make_law("uniform")
