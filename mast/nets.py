"""Agents: what an agent sees, to the value of each of its actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mast.agents import AgentKind
from mast.episodes import TaskShape
from sparse_training import FusedLayers, SparseLinear


class NetLayer(SparseLinear):
    """A sparse layer that says whether what it reads needs no gradient: observations or states.

    Args:
        *sizes: Inputs and outputs.
        reads_data: It does.
        **options: See :class:`sparse_training.SparseLinear`.
    """

    def __init__(self, *sizes: int, reads_data: bool = False, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.reads_data = reads_data


MakeLayer = Callable[..., NetLayer]
"""Makes a layer from its inputs and outputs, with backend, type and generator set."""


class MlpNet(torch.nn.Module):
    """Two ReLU layers and a linear one, over time steps apart.

    Args:
        inputs: ``F``.
        hidden: Widths of its hidden layers.
        actions: ``A``.
        make: Makes its layers.
    """

    def __init__(self, inputs: int, hidden: tuple[int, int], actions: int, make: MakeLayer) -> None:
        super().__init__()
        self.first = make(inputs, hidden[0], activation="relu", reads_data=True)
        self.second = make(*hidden, activation="relu")
        self.values = make(hidden[1], actions)
        layers = self.first, self.second, self.values
        self._fused = FusedLayers(layers, (0, inputs, inputs + hidden[0]))

    def forward(self, x: Tensor, hidden: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """See :meth:`mast.agents.AgentKind.build`; it remembers nothing."""
        seen = x.reshape(len(x), -1)
        y = self._fused(seen)
        if y is None:
            y = self.values(self.second(self.first(seen)))
        return y.reshape(-1, *x.shape[1:]), None


class GruNet(torch.nn.Module):
    """A ReLU layer, a gated recurrent unit (Cho et al. 2014, as `torch.nn.GRUCell`), a linear one.

    Args:
        inputs: ``F``.
        hidden: Width of its first layer, and ``H`` of what it remembers.
        actions: ``A``.
        make: Makes its layers.
    """

    def __init__(self, inputs: int, hidden: tuple[int, int], actions: int, make: MakeLayer) -> None:
        super().__init__()
        self.width = h = hidden[1]
        self.first = make(inputs, hidden[0], activation="relu", reads_data=True)
        self.gates = make(hidden[0], 3 * h)
        self.memory = make(h, 3 * h)
        self.values = make(h, actions)

    def forward(self, x: Tensor, hidden: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """See :meth:`mast.agents.AgentKind.build`."""
        rows, steps = x.shape[1:]
        seen = self.gates(self.first(x.reshape(len(x), -1))).reshape(-1, rows, steps)
        by_step = seen.permute(2, 0, 1).contiguous()
        state = x.new_zeros(self.width, rows) if hidden is None else hidden
        states = []
        for t in range(steps):
            state = self._cell(by_step[t], self.memory(state), state)
            states.append(state)
        all_states = torch.stack(states, dim=2)
        y: Tensor = self.values(all_states.reshape(self.width, -1))
        return y.reshape(-1, rows, steps), state

    def _cell(self, seen: Tensor, known: Tensor, state: Tensor) -> Tensor:
        """``(3H, rows)`` of reset, update and candidate, to the next ``(H, rows)`` state."""
        h = self.width
        gates = torch.sigmoid(seen[: 2 * h] + known[: 2 * h])
        candidate = torch.tanh(seen[2 * h :] + gates[:h] * known[2 * h :])
        return candidate + gates[h:] * (state - candidate)


class TeamAgents(torch.nn.Module):
    """All agents of a team: one network for all, or one each.

    Args:
        kind: Makes a network.
        shape: The task's.
        hidden: Widths of a network's two hidden layers.
        share: One network for all, which reads the agent's number too.
        make: Makes layers.
    """

    def __init__(
        self, kind: AgentKind, shape: TaskShape, hidden: tuple[int, int], share: bool,
        make: MakeLayer,
    ) -> None:  # fmt: skip
        super().__init__()
        n = shape.n_agents
        inputs = shape.obs_dim + n * share
        made = [kind.build(inputs, hidden, shape.n_actions, make) for _ in range(1 if share else n)]
        self.nets = torch.nn.ModuleList(made)

    def forward(
        self, x: Tensor, hidden: list[Tensor | None] | None = None
    ) -> tuple[Tensor, list[Tensor | None]]:
        """Values of all actions.

        Args:
            x: ``(F, N, B, T)`` inputs.
            hidden: What each network remembers; None at the start of episodes.

        Returns:
            ``(A, N, B, T)`` values, and what each network remembers now.
        """
        before = hidden or [None] * len(self.nets)
        if len(self.nets) == 1:
            f, n, b, t = x.shape
            y, state = self.nets[0](x.reshape(f, n * b, t), before[0])
            return y.reshape(-1, n, b, t), [state]
        made = [
            net(x[:, i].contiguous(), state)
            for i, (net, state) in enumerate(zip(self.nets, before, strict=True))
        ]
        return torch.stack([y for y, _ in made], dim=1), [h for _, h in made]
