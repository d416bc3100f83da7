"""Many small networks held together: parameters, targets and optimisers.

A network is two ReLU layers and a linear one. A bank of ``M`` keeps six stacked tensors, weights
``(M, in, out)`` and biases ``(M, out)``; parts of the bank are views of it that are trained
together, so the same numbers serve every update mode and every checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from marl_common import compiled

_WIDE = (0, 2)
_KINDS = ("online", "target", "mean", "square")
NEVER = -1e4
"""Logit of an action that an agent has not: its probability is 0, to rounding."""
NAMES = ("w1", "b1", "w2", "b2", "w3", "b3")


class Bank:
    """``M`` networks, their slowly following targets and their Adam states.

    Args:
        count: Networks ``M``.
        sizes: Widths (input, hidden, output).
        generator: Draws the start: Xavier uniform weights, zero biases, as openai/maddpg's layers.
        dtype: Type of the numbers.
        device: Where they live.
        wide: Keep the first layer as ``(in, M, hidden)``, one matrix for one input of all.
    """

    def __init__(
        self,
        count: int,
        sizes: tuple[int, int, int],
        generator: torch.Generator,
        dtype: torch.dtype,
        device: torch.device,
        *,
        wide: bool = False,
    ) -> None:
        n_in, hidden, n_out = sizes
        self.count, self.wide = count, wide
        self.online: list[Tensor] = []
        for rows, columns in ((n_in, hidden), (hidden, hidden), (hidden, n_out)):
            weight = torch.rand((count, rows, columns), generator=generator, dtype=torch.float64)
            weight = (2 * weight - 1) * math.sqrt(6 / (rows + columns))
            self.online += [weight, torch.zeros((count, columns))]
        if wide:
            self.online[0] = self.online[0].transpose(0, 1).contiguous()
        self.online = [p.to(device=device, dtype=dtype) for p in self.online]
        self.target = [p.clone() for p in self.online]
        self.mean = [torch.zeros_like(p) for p in self.online]
        self.square = [torch.zeros_like(p) for p in self.online]
        self.parts: list[Part] = []
        self._masks: dict[int, Tensor] = {}
        self._steps = torch.zeros((), dtype=torch.float32)

    def restrict(self, inputs: Tensor) -> None:
        """Make each network see a part of its inputs only, drawn as one that has no others.

        Args:
            inputs: ``(M, in)`` ones and zeros; before :meth:`split`.
        """
        weight = self._turned("w1", self.online[0])
        mask = inputs.to(weight).unsqueeze(2)
        rows, seen, columns = inputs.shape[1], inputs.sum(1), weight.shape[2]
        scale = torch.sqrt((rows + columns) / (seen + columns)).to(weight)
        weight.mul_(mask * scale.view(-1, 1, 1))
        self._turned("w1", self.target[0]).copy_(weight)
        self._masks[0] = mask.transpose(0, 1) if self.wide else mask

    def forbid(self, outputs: Tensor) -> None:
        """Keep some outputs of each network at :data:`NEVER`, whatever it sees or learns.

        Args:
            outputs: ``(M, out)`` zeros where an output is kept so, else ones; before :meth:`split`.
        """
        for weight, bias in ((p[4], p[5]) for p in (self.online, self.target)):
            keep = outputs.to(weight)
            weight.mul_(keep.unsqueeze(1))
            bias.copy_((1 - keep) * NEVER)
        self._masks |= {4: keep.unsqueeze(1), 5: keep}

    def split(self, slices: Sequence[slice | int], lr: float, clip: float) -> None:
        """Make the parts that are trained together; an index gives one plain network.

        A wide bank has one part, the whole.
        """
        for s in slices:
            kinds = [self.online, self.target, self.mean, self.square]
            views = [kind if self.wide else [p[s] for p in kind] for kind in kinds]
            dims = [
                _norm_dims(p, isinstance(s, int), self.wide and not i)
                for i, p in enumerate(views[0])
            ]
            masks = {k: mask if self.wide else mask[s] for k, mask in self._masks.items()}
            self.parts.append(Part(views, dims, lr, clip, self._steps, masks))

    def follow(self, tau: float) -> None:
        """Move every target towards its network: target += tau * (online - target)."""
        torch._foreach_lerp_(self.target, self.online, tau)

    def state_dict(self, head: str) -> dict[str, Tensor]:
        """Every tensor, the first layer always as ``(M, in, hidden)``."""
        tensors = {
            f"{head}.{kind}.{name}": self._turned(name, value).clone()
            for kind in _KINDS
            for name, value in zip(NAMES, getattr(self, kind), strict=True)
        }
        steps = self.parts[0].steps if self.parts else self._steps
        return {**tensors, f"{head}.steps": steps.cpu().clone()}

    def load_state_dict(self, head: str, tensors: dict[str, Tensor]) -> None:
        """Take back what :meth:`state_dict` gave, also that of another update mode."""
        for kind in _KINDS:
            for name, value in zip(NAMES, getattr(self, kind), strict=True):
                self._turned(name, value).copy_(tensors[f"{head}.{kind}.{name}"])
        self._steps.copy_(tensors[f"{head}.steps"])
        for part in self.parts:
            part.set_steps(tensors[f"{head}.steps"])

    def _turned(self, name: str, value: Tensor) -> Tensor:
        return value.transpose(0, 1) if self.wide and name == "w1" else value


class Part:
    """Networks of a bank that are trained together.

    Attributes:
        leaves: The six tensors gradients are taken of; views of the bank.
        targets: The same of the targets.
        steps: Adam steps done, a scalar tensor.
    """

    def __init__(
        self,
        views: list[list[Tensor]],
        dims: list[tuple[int, ...]],
        lr: float,
        clip: float,
        steps: Tensor,
        masks: Mapping[int, Tensor] | None = None,
    ) -> None:
        self._masks = masks or {}
        online, self.targets, means, squares = views
        self.leaves = [p.detach().requires_grad_() for p in online]
        self._dims, self._clip = dims, clip
        self._adam = torch.optim.Adam(self.leaves, lr=lr, eps=1e-8, fused=True)
        for leaf, mean, square in zip(self.leaves, means, squares, strict=True):
            state = {"step": steps.to(leaf.device).clone(), "exp_avg": mean, "exp_avg_sq": square}
            self._adam.state[leaf] = state
        self.steps = self._adam.state[self.leaves[0]]["step"]

    def step(self, loss: Tensor) -> None:
        """One Adam step on the gradients of ``loss``, each network's variable clipped by norm."""
        gradients = list(torch.autograd.grad(loss, self.leaves))
        for place, mask in self._masks.items():
            gradients[place] = gradients[place] * mask
        for leaf, gradient, dims in zip(self.leaves, gradients, self._dims, strict=True):
            norm = _norm(gradient, dims)
            if gradient.is_cuda or bool((norm > self._clip).any()):  # asking would wait for a GPU
                gradient = gradient.mul_(self._clip / norm.clamp_min(self._clip))
            leaf.grad = gradient
        self._adam.step()

    def set_steps(self, steps: Tensor) -> None:
        """Set the number of Adam steps done."""
        for leaf in self.leaves:
            self._adam.state[leaf]["step"].copy_(steps)


def _norm(gradient: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Norm over some dimensions, which stay with extent 1.

    PyTorch runs across the memory of a wide layer, one network after the other; on the CPU one
    pass along it is several times faster.
    """
    if dims != _WIDE or gradient.device.type != "cpu":
        norm: Tensor = torch.linalg.vector_norm(gradient, dim=dims, keepdim=True)
        return norm
    _, m, hidden = gradient.shape
    squares = np.zeros(m * hidden)
    _add_squares(gradient.flatten(1).numpy(), squares)
    norms = np.sqrt(squares.reshape(1, m, hidden).sum(2, keepdims=True))
    return torch.from_numpy(norms).to(gradient.dtype)


@compiled
def _add_squares(table: NDArray[Any], squares: NDArray[np.float64]) -> None:
    """Add every column's squares to ``squares``."""
    for row in range(table.shape[0]):
        for c in range(table.shape[1]):
            squares[c] += table[row, c] * table[row, c]


def _norm_dims(p: Tensor, plain: bool, wide: bool) -> tuple[int, ...]:
    """Dimensions of one network's variable in a leaf."""
    if plain:
        return tuple(range(p.dim()))
    return _WIDE if wide else tuple(range(1, p.dim()))
