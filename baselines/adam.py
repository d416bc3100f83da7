"""Adam by torch's own function, without its optimizer class."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adam import adam


class Adam:
    """The steps of ``torch.optim.Adam``, bit for bit.

    Making or stepping any ``torch.optim.Optimizer`` imports torch's compiler (``torch._dynamo``),
    which takes over a second of every search and is never used.

    Args:
        parameters: What is learned; a parameter must have a gradient at every step.
        learning_rate: Adam's step.
    """

    BETAS = (0.9, 0.999)
    EPSILON = 1e-5

    def __init__(self, parameters: list[nn.Parameter], learning_rate: float) -> None:
        self.parameters, self.learning_rate = parameters, learning_rate
        self.means = [torch.zeros_like(p) for p in parameters]
        self.squares = [torch.zeros_like(p) for p in parameters]
        self.steps = [torch.tensor(0.0) for _ in parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter against its gradient.

        Raises:
            ValueError: A parameter has no gradient.
        """
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        if len(gradients) < len(self.parameters):
            raise ValueError("a parameter has no gradient: the loss does not depend on it")
        adam(
            list[Tensor](self.parameters),
            gradients,
            self.means,
            self.squares,
            [],
            self.steps,
            foreach=True,
            amsgrad=False,
            beta1=self.BETAS[0],
            beta2=self.BETAS[1],
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=self.EPSILON,
            maximize=False,
        )

    def state_dict(self) -> dict[str, list[Tensor]]:
        """Running moments and step counts."""
        return {"means": self.means, "squares": self.squares, "steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        for name, mine in self.state_dict().items():
            for tensor, value in zip(mine, state[name], strict=True):
                tensor.copy_(value)
