"""The unrestricted mixer of WQMIX: any function of state and values (Rashid et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.nets import MakeLayer


class CentralMixer(torch.nn.Module):
    """Two ReLU layers and a linear one over the state and the agents' values.

    Args:
        n_agents: ``N``.
        state_dim: ``S``.
        hidden: Width of its layers.
        make: Makes layers.
    """

    def __init__(self, n_agents: int, state_dim: int, hidden: int, make: MakeLayer) -> None:
        super().__init__()
        self.first = make(state_dim + n_agents, hidden, activation="relu")
        self.second = make(hidden, hidden, activation="relu")
        self.value = make(hidden, 1)

    def forward(self, values: Tensor, states: Tensor) -> Tensor:
        """``(N, rows)`` values to ``(rows,)``, with ``(S, rows)`` states."""
        y: Tensor = self.value(self.second(self.first(torch.cat([states, values]))))
        return y[0]
