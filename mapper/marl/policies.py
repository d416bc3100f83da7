"""The agents' policies and value functions: all networks in one module, batched over agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mapper.marl import policy_sampling
from mapper.marl.head_logs import NEVER, HeadLogs, head_groups
from mapper.marl.policy_sampling import Weights
from marl_common import Float32Array

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

    An agent's hidden layer feeds one categorical head for each of its parameters. Heads of like
    width run in one batched product, padded to the longest of them and masked.

    Args:
        space: Parameters, choices and owners.
        hidden: Width of each hidden layer.
        seed: Seed of the weights.
        own_choice: Agents observe the current choices of their own parameters too.
        autoregressive: An agent chooses its parameters one after the other: each head also sees
            the choices of those before it, as learned rows added to the hidden layer's input.
        facts: ``(F,)`` what every agent observes of the layer and the chip; none by default.
    """

    def __init__(
        self,
        space: Space,
        hidden: int,
        seed: int,
        own_choice: bool,
        autoregressive: bool = False,
        facts: Float32Array | None = None,
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        count, width, agents = len(space.nvec), int(space.nvec.max()), space.agents
        self.facts = np.zeros(0, np.float32) if facts is None else facts
        self.common = OBSERVATION + len(self.facts)
        self.inputs = self.common + (count if own_choice else 0)
        self.space = space
        self.groups = head_groups(space.nvec)

        def weights(*shape: int, scale: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator) * scale)

        self.trunk = weights(agents, self.inputs, hidden, scale=OBSERVATION**-0.5)
        self.trunk_bias = nn.Parameter(torch.zeros(agents, 1, hidden))
        self.head = weights(count, hidden, width, scale=0.01)
        self.head_bias = nn.Parameter(torch.zeros(count, 1, width))
        self.value = weights(agents, hidden, 1, scale=0.01)
        self.value_bias = nn.Parameter(torch.zeros(agents, 1, 1))
        shape = (count, width, hidden)
        self.earlier = nn.Parameter(torch.zeros(shape)) if autoregressive else None
        self.owner: Tensor
        self.padding: Tensor
        self.seen: Tensor
        self.register_buffer("owner", torch.from_numpy(space.agent), persistent=False)
        padding = torch.arange(width) >= torch.from_numpy(space.nvec)[:, None]
        self.register_buffer("padding", padding[:, None], persistent=False)
        seen = torch.ones(agents, self.inputs, 1)
        if own_choice:
            seen[:, self.common :, 0] = self.owner == torch.arange(agents)[:, None]
        self.register_buffer("seen", seen, persistent=False)
        with torch.no_grad():
            self.trunk.mul_(seen)

    def observe(
        self, figures: NDArray[np.float32], current: NDArray[np.int64] | None
    ) -> NDArray[np.float32]:
        """``(B, I)`` inputs: figures, facts, and the current choices in [-1, 1] if seen.

        Args:
            figures: ``(B, OBSERVATION)``.
            current: ``(B, P)`` choices, or None where there are none yet.
        """
        if self.inputs == OBSERVATION:
            return figures
        seen = np.zeros((len(figures), self.inputs), np.float32)
        seen[:, :OBSERVATION] = figures
        seen[:, OBSERVATION : self.common] = self.facts
        if current is not None and self.inputs > self.common:
            seen[:, self.common :] = 2.0 * current / np.maximum(self.space.nvec - 1, 1) - 1.0
        return seen

    def forward(
        self, observation: Tensor, rows: Tensor, chosen: NDArray[np.int64]
    ) -> tuple[HeadLogs, Tensor]:
        """Log-probabilities and values.

        Args:
            observation: ``(B, I)``.
            rows: ``(P, M)`` observations that each parameter's head is asked for.
            chosen: ``(B, P)`` choices; an autoregressive head sees those made before its own.

        Returns:
            Log-probabilities of all heads' choices, and ``(A, B)`` values.
        """
        entering = torch.matmul(observation, self.trunk * self.seen) + self.trunk_bias
        hidden = torch.tanh(entering)
        if self.earlier is None:
            asked = hidden[self.owner[:, None], rows]
        else:
            asked = torch.tanh(entering[self.owner[:, None], rows] + self._context(rows, chosen))
        parts = []
        for columns, width in self.groups:
            head, bias = self.head[columns, :, :width], self.head_bias[columns, :, :width]
            logits = torch.baddbmm(bias, asked[columns], head)
            logits = logits.masked_fill(self.padding[columns, :, :width], NEVER)
            parts.append(torch.log_softmax(logits, dim=-1))
        values = torch.baddbmm(self.value_bias, hidden, self.value)[..., 0]
        return HeadLogs(self.groups, tuple(parts)), values

    def _context(self, rows: Tensor, chosen: NDArray[np.int64]) -> Tensor:
        """``(P, M, H)``: what the choices before each parameter's own, in its agent, add."""
        assert self.earlier is not None
        columns = torch.arange(len(rows))[:, None]
        added = self.earlier[columns, torch.from_numpy(np.ascontiguousarray(chosen.T))]
        before = torch.tril(self.owner[:, None] == self.owner, diagonal=-1).to(added.dtype)
        return torch.einsum("qp,pbh->qbh", before, added)[columns, rows]

    def weights(self) -> Weights:
        """The weights as arrays; they change as the networks learn."""
        none = np.empty((0, 0, 0), np.float32)
        return Weights(
            self.trunk.detach().numpy(),
            self.trunk_bias.detach().numpy(),
            self.head.detach().numpy(),
            self.head_bias.detach().numpy(),
            none if self.earlier is None else self.earlier.detach().numpy(),
            self.space.agent,
            self.space.nvec,
        )


class Mixture:
    """What an acting agent draws from: its policy, neighbouring choices and a uniform one.

    In a world that starts from an elite the current choice is masked, in each of the three, so an
    acting parameter always moves. The agents learn from all draws, weighted by how much likelier
    their policies make each than the mixture does (importance sampling).

    Args:
        space: Parameters, choices and owners.
        share: Share of the policies.
        local: Share of the rest on neighbouring choices (steps of 1 and 2, the farther one half
            as likely); any other choice gets what is left.
    """

    def __init__(self, space: Space, share: float, local: float) -> None:
        self.own = share
        width = int(space.nvec.max())
        legal = (np.arange(width) < space.nvec[:, None])[:, None]
        moves = np.broadcast_to(legal & ~np.eye(width, dtype=np.bool_), (len(legal), width, width))
        even = moves / np.maximum(space.nvec - 1, 1)[:, None, None]
        self.fixed = (1.0 - share) * (local * _neighbours(space, width) + (1.0 - local) * even)

    def draw(
        self,
        policies: Policies,
        observation: NDArray[np.float32],
        current: NDArray[np.int64],
        acting: NDArray[np.bool_],
        rng: np.random.Generator,
        free: bool = False,
    ) -> NDArray[np.int64]:
        """Draw a choice for every acting parameter of every world.

        Args:
            policies: The agents' networks.
            observation: ``(B, I)``.
            current: ``(B, P)`` current choices; an acting parameter never draws its own.
            acting: ``(B, P)``.
            rng: Randomness.
            free: Draw from the policies alone, which may keep a current choice.

        Returns:
            ``(B, P)`` choices, the current ones where no agent acts.
        """
        marks = np.where(acting, rng.random(acting.shape), -1.0)
        shares = self.own, self.fixed
        return policy_sampling.draw(policies.weights(), observation, current, marks, shares, free)

    def log_policy(
        self,
        logs: HeadLogs,
        chosen: NDArray[np.int64],
        current: NDArray[np.int64],
        free: NDArray[np.bool_],
    ) -> Tensor:
        """``(P, M)`` log-probability of each choice under the policies.

        Args:
            logs: Of all heads.
            chosen: ``(P, M)``.
            current: ``(P, M)``, masked where the draw was not free.
            free: ``(P, M)`` bool, where the choice was drawn from the policies alone.
        """
        return (logs if free.all() else logs.without(current, free)).of(chosen)

    def log_weight(
        self,
        log_policy: Tensor,
        chosen: NDArray[np.int64],
        current: NDArray[np.int64],
        free: NDArray[np.bool_],
    ) -> Tensor:
        """``(P, M)`` log of how much likelier a draw is by policy alone; 0 where it was free.

        Args:
            log_policy: ``(P, M)``, see :meth:`log_policy`.
            chosen: ``(P, M)``.
            current: ``(P, M)``.
            free: ``(P, M)``.
        """
        columns = np.arange(len(chosen))[:, None]
        shares = torch.from_numpy(self.fixed[columns, current, chosen].astype(np.float32))
        mixed = torch.log((self.own * log_policy.exp() + shares).clamp_min(1e-9))
        return torch.where(torch.from_numpy(free), 0.0, log_policy - mixed)


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
