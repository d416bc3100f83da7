"""A mixer: QPLEX, a duplex duelling mixer (Wang et al. 2021), with one head for each agent.

mast train --set mixer=qplex:Qplex
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from mast import LearnerPart, UpdateSize


class QplexMixer(torch.nn.Module):
    """``V_tot = sum w_i V_i + b`` and ``A_tot = sum l_i(s, a) w_i A_i``, with ``w, l > 0``.

    Args:
        n: Agents ``N``.
        a: Actions ``A``.
        s: Numbers ``S`` of a state.
        width: Units of a hidden layer.
        make: Makes layers.
    """

    def __init__(self, n: int, a: int, s: int, width: int, make: Any) -> None:
        super().__init__()
        self.hidden = make(s, width, activation="relu", reads_data=True)
        self.scales = make(width, 2 * n)  # of values and advantages, and what is added
        self.joint = make(s + n * a, width, activation="relu", reads_data=True)
        self.credits = make(width, n)

    def forward(self, values: Tensor, states: Tensor, choices: Any = None) -> Tensor:
        """``(N, rows)`` values to ``(rows,)``, with ``(S, rows)`` states."""
        weight, bias = self.scales(self.hidden(states)).chunk(2)
        weight = weight.abs() + 1e-10
        if choices is None:  # the best actions: no advantage
            return (weight * values + bias).sum(dim=0)
        total = (weight * choices.best + bias).sum(dim=0)
        done = torch.cat([states, choices.taken.flatten(0, 1)])
        credit = self.credits(self.joint(done)).sigmoid() + 1e-10
        return total + (credit * weight * (values - choices.best)).sum(dim=0)


@dataclass(frozen=True)
class Qplex(LearnerPart):
    """QPLEX.

    Attributes:
        reads_choices: It tells what was taken from what is best.
        width: Units of its hidden layers; 0: as many as a hypernetwork has.
    """

    reads_choices: ClassVar[bool] = True
    width: int = 0

    def build(self, shape: Any, widths: Any, make: Any) -> QplexMixer:
        """Its network."""
        width = self.width or widths.hyper
        return QplexMixer(shape.n_agents, shape.n_actions, shape.state_dim, width, make)

    def flops(self, size: UpdateSize) -> int:
        """Sums and products of values, advantages and credits."""
        return size.steps * size.n_agents * 11
