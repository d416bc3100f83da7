"""VDN: the joint value is the sum (Sunehag et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mast.mixers.mixer import MIXERS, JointChoice, Mixer
from mast.parts import UpdateSize

if TYPE_CHECKING:
    from mast.episodes import TaskShape
    from mast.widths import NetworkWidths


class VdnMixer(torch.nn.Module):
    """Adds the agents' values up; it has no weights."""

    def forward(self, values: Tensor, states: Tensor, choices: JointChoice | None = None) -> Tensor:
        """``(N, rows)`` values to ``(rows,)``; states are not looked at."""
        return values.sum(dim=0)


@MIXERS.add("vdn")
@dataclass(frozen=True)
class Vdn(Mixer):
    """The sum of the agents' values."""

    def build(self, shape: TaskShape, widths: NetworkWidths, make: Any) -> VdnMixer:
        """See :class:`Mixer`."""
        return VdnMixer()

    def flops(self, size: UpdateSize) -> int:
        """See :class:`mast.parts.LearnerPart`."""
        return size.steps * (size.n_agents - 1)
