"""QMIX: a network that is monotone in each agent's value, its weights made from the state.

Rashid et al. 2018. The widths are those of EPyMARL: hypernetworks of one hidden layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mast.mixers.mixer import MIXERS, JointChoice, Mixer
from mast.mixers.mixing import MixingWeights, mixed
from mast.nets import MakeLayer
from mast.parts import UpdateSize
from sparse_training import FusedLayers

if TYPE_CHECKING:
    from mast.episodes import TaskShape
    from mast.widths import NetworkWidths


class QmixMixer(torch.nn.Module):
    """The monotone mixer. The hidden layers of its hypernetworks are one layer, cut in three.

    Args:
        n_agents: ``N``.
        state_dim: ``S``.
        width: Units ``W`` of the mixing layer.
        hyper_width: Units of a hypernetwork's hidden layer.
        make: Makes layers.
    """

    def __init__(
        self, n_agents: int, state_dim: int, width: int, hyper_width: int, make: MakeLayer
    ) -> None:
        super().__init__()
        self.n_agents, self.width, self._cuts = n_agents, width, [hyper_width, hyper_width, width]
        self.hidden = make(state_dim, 2 * hyper_width + width, activation="relu", reads_data=True)
        self.first = make(hyper_width, n_agents * width)
        self.bias = make(state_dim, width, reads_data=True)
        self.second = make(hyper_width, width)
        self.offset = make(width, 1)
        self._fused = FusedLayers(
            (self.hidden, self.first, self.bias, self.second, self.offset),
            (0, state_dim, 0, state_dim + hyper_width, state_dim + 2 * hyper_width),
            results=4,
        )

    def weights(self, states: Tensor) -> MixingWeights:
        """The mixer's weights for ``(S, rows)`` states."""
        return MixingWeights.of(self._stacked(states), self.n_agents)

    def _stacked(self, states: Tensor) -> Tensor:
        """What the hypernetworks give, one below the other."""
        stacked = self._fused(states)
        if stacked is not None:
            return stacked
        first, second, offset = torch.split(self.hidden(states), self._cuts)
        return torch.cat(
            [self.first(first), self.bias(states), self.second(second), self.offset(offset)]
        )

    def forward(self, values: Tensor, states: Tensor, choices: JointChoice | None = None) -> Tensor:
        """``(N, rows)`` values to ``(rows,)``, with ``(S, rows)`` states."""
        return mixed(values, self._stacked(states))


@MIXERS.add("qmix")
@dataclass(frozen=True)
class Qmix(Mixer):
    """The monotone mixer."""

    def build(self, shape: TaskShape, widths: NetworkWidths, make: Any) -> QmixMixer:
        """See :class:`Mixer`."""
        return QmixMixer(shape.n_agents, shape.state_dim, widths.mixer, widths.hyper, make)

    def flops(self, size: UpdateSize) -> int:
        """Magnitudes, two sums of products, and `elu`."""
        return size.steps * size.mixer * (3 * size.n_agents + 6)
