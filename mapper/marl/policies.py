"""The agents' policies and value functions: all networks in one module, batched over agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

OBSERVATION = 4
"""Figures an agent sees: latency, power, energy, area (log-scaled, of the world's start)."""


class Space(NamedTuple):
    """What the policies need to know of a map space; `P` counts parameters with a choice.

    Args:
        nvec: ``(P,)`` choices.
        ordinal: ``(P,)`` whether neighbouring choices are alike.
        agent: ``(P,)`` the agent that owns each parameter, 0..A-1.
    """

    nvec: NDArray[np.int64]
    ordinal: NDArray[np.bool_]
    agent: NDArray[np.int64]

    @property
    def agents(self) -> int:
        """Number of agents."""
        return int(self.agent.max()) + 1


class Policies(nn.Module):
    """One policy and value network an agent; nothing is shared between agents.

    An agent's hidden layer feeds one categorical head for each of its parameters. Heads are padded
    to the longest and masked, so that all agents run in three batched products.

    Args:
        space: Parameters, choices and owners.
        hidden: Width of each hidden layer.
        seed: Seed of the weights.
        own_choice: Heads add a learned row for the parameter's current choice.
        smoothing: Width (in choices) over which an ordered parameter's logits are shared.
    """

    def __init__(
        self, space: Space, hidden: int, seed: int, own_choice: bool, smoothing: float
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        count, width, agents = len(space.nvec), int(space.nvec.max()), space.agents

        def weights(*shape: int, scale: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator) * scale)

        self.trunk = weights(agents, OBSERVATION, hidden, scale=OBSERVATION**-0.5)
        self.trunk_bias = nn.Parameter(torch.zeros(agents, 1, hidden))
        self.head = weights(count, hidden, width, scale=0.01)
        self.head_bias = nn.Parameter(torch.zeros(count, 1, width))
        self.value = weights(agents, hidden, 1, scale=0.01)
        self.value_bias = nn.Parameter(torch.zeros(agents, 1, 1))
        self.table = nn.Parameter(torch.zeros(count, width, width)) if own_choice else None
        self.owner: Tensor
        self.padding: Tensor
        self.kernel: Tensor | None
        self.register_buffer("owner", torch.from_numpy(space.agent), persistent=False)
        padding = torch.arange(width) >= torch.from_numpy(space.nvec)[:, None]
        self.register_buffer("padding", padding[:, None], persistent=False)
        kernel = smoothing_kernel(space, smoothing) if smoothing else None
        self.register_buffer("kernel", kernel, persistent=False)

    def forward(self, observation: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities and values.

        Args:
            observation: ``(B, OBSERVATION)``.
            current: ``(P, B)`` current choices.

        Returns:
            ``(P, B, C)`` log-probabilities, about -1e9 on padding, and ``(A, B)`` values.
        """
        hidden = torch.tanh(torch.matmul(observation, self.trunk) + self.trunk_bias)
        logits = torch.baddbmm(self.head_bias, hidden[self.owner], self.head)
        if self.table is not None:
            rows = torch.arange(len(self.table))[:, None]
            logits = logits + self.table[rows, current]
        if self.kernel is not None:
            logits = torch.bmm(logits, self.kernel)
        logits = logits.masked_fill(self.padding, -1e9)
        values = torch.baddbmm(self.value_bias, hidden, self.value)[..., 0]
        return torch.log_softmax(logits, dim=-1), values


def smoothing_kernel(space: Space, width: float) -> Tensor:
    """``(P, C, C)``: Gaussian in the distance of choices; the identity for categories."""
    count = int(space.nvec.max())
    index = torch.arange(count, dtype=torch.float32)
    near = torch.exp(-0.5 * ((index[:, None] - index) / width) ** 2)
    near = near / near.norm(dim=1, keepdim=True)
    eye = torch.eye(count)
    return torch.stack([near if ordered else eye for ordered in space.ordinal])


class Mixture:
    """What an acting agent draws from: its policy, neighbouring choices and any choice.

    The current choice is masked, so an acting parameter always moves. The mixture is part of the
    policy whose ratio PPO clips: its density is exact, no sample is off-policy.

    Args:
        space: Parameters, choices and owners.
        local: Share on neighbouring choices (steps of 1 and 2, the farther one half as likely).
        uniform: Share spread evenly.
        policy: Whether agents learn; otherwise their share is spread evenly too.
    """

    def __init__(self, space: Space, local: float, uniform: float, policy: bool) -> None:
        self.own = 1.0 - local - uniform if policy else 0.0
        width = int(space.nvec.max())
        legal = np.arange(width) < space.nvec[:, None]
        even = legal / space.nvec[:, None]
        self.fixed = local * _neighbours(space, width) + (1.0 - local - self.own) * even[:, None]
        self.fixed_t = torch.from_numpy(self.fixed.astype(np.float32))
        self._rows = np.arange(len(space.nvec))

    def draw(
        self,
        probabilities: NDArray[np.float64],
        current: NDArray[np.int64] | None,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw a choice for every parameter of every world.

        Args:
            probabilities: ``(B, P, C)`` of the policies.
            current: ``(B, P)`` current choices, never drawn; None draws from the policies alone.
            rng: Randomness.

        Returns:
            ``(B, P)``.
        """
        weights = probabilities
        if current is not None:
            weights = self.own * probabilities + self.fixed[self._rows, current]
            np.put_along_axis(weights, current[..., None], 0.0, axis=2)
        running = np.cumsum(weights, axis=2)
        mark = rng.random(running.shape[:2])[..., None] * running[..., -1:]
        drawn: NDArray[np.int64] = (running <= mark).sum(axis=2)
        return drawn

    def log_density(
        self, log_probabilities: Tensor, chosen: Tensor, current: Tensor, free: Tensor
    ) -> Tensor:
        """``(P, B)`` log-probability of each choice.

        Args:
            log_probabilities: ``(P, B, C)`` of the policies.
            chosen: ``(P, B)``.
            current: ``(P, B)``.
            free: ``(B,)`` bool, worlds in which all agents drew from the policies alone.
        """
        own = log_probabilities.gather(2, chosen[..., None])[..., 0]
        stay = log_probabilities.gather(2, current[..., None])[..., 0].exp()
        rows = torch.arange(len(chosen))[:, None]
        mixed = self.own * own.exp() + self.fixed_t[rows, current, chosen]
        left = 1.0 - self.own * stay - self.fixed_t[rows, current, current]
        moved = torch.log(mixed.clamp_min(1e-9)) - torch.log(left.clamp_min(1e-6))
        return torch.where(free, own, moved)


def _neighbours(space: Space, width: int) -> NDArray[np.float64]:
    """``(P, C, C)``: from each choice to the ones within two steps; to any other for categories."""
    table = np.zeros((len(space.nvec), width, width))
    for row, count in enumerate(space.nvec):
        for choice in range(count):
            near = table[row, choice]
            if space.ordinal[row]:
                for step in (-2, -1, 1, 2):
                    if 0 <= choice + step < count:
                        near[choice + step] = 1.0 / abs(step)
            else:
                near[:count] = 1.0
                near[choice] = 0.0
            near /= near.sum()
    return table
