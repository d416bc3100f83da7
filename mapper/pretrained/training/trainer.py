"""The trainer: imitation of the best mappings found, with expert iteration."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.training.experts import ExpertMemory, ExpertTask, experts_of, joined
from mapper.pretrained.training.schedule import Schedule
from mapper.pretrained.training.torch_networks import likelihood
from marl_runs import Crew, pack_generator, unpack_generator

EXPERT_BLOCK = 100
"""Problems searched at a time."""


class PolicyTrainer:
    """Trains agents.

    Args:
        cost_model: Name of the cost model whose mappings are learnt.
        schedule: How long and how.
        seed: Seeds everything.
        begin: Agents to go on from; else untrained ones.
        crew: Who does the searches; the agents are the same whoever does.
    """

    def __init__(
        self,
        cost_model: str,
        schedule: Schedule,
        seed: int,
        begin: Weights | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.cost_model, self.schedule, self.seed = cost_model, schedule, seed
        self.crew, self.rng = crew or Crew(), np.random.default_rng(seed)
        first = begin or fresh(self.rng, schedule.hidden)
        self._tensors = {n: torch.tensor(array, requires_grad=True) for n, array in first.items()}
        self.optimiser = torch.optim.Adam(self._tensors.values(), lr=schedule.learning_rate)
        # arrays that share the tensors' memory
        self.weights = {n: t.detach().numpy() for n, t in self._tensors.items()}
        self.memory = ExpertMemory()
        self.done = self.calls = 0
        self.cpu_s = 0.0

    def step(self) -> None:
        """Find mappings to imitate where it is time to, and imitate some of those that are kept.

        Raises:
            FloatingPointError: The loss is not finite.
        """
        plan, place = self.schedule, self.done
        self.done += 1
        searched = place * EXPERT_BLOCK
        if searched < plan.expert_problems:
            self._find_experts(min(EXPERT_BLOCK, plan.expert_problems - searched))
        elif place % plan.refresh_every == 0:
            self._find_experts(plan.refresh_problems)
        packed, weight = self.memory.draw(self.rng)
        shares = torch.from_numpy(weight / weight.sum()).float()
        loss = -(shares * likelihood(self._tensors, packed, len(weight))).sum()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"step {self.done}: the loss is {float(loss.detach())}")
        self.optimiser.zero_grad()
        loss.backward()
        falling = 0.5 * (1 + math.cos(math.pi * (place / plan.steps)))
        self.optimiser.param_groups[0]["lr"] = plan.learning_rate * (0.05 + 0.95 * falling)
        torch.nn.utils.clip_grad_norm_(self._tensors.values(), 1.0)
        self.optimiser.step()

    def _find_experts(self, count: int) -> None:
        plan = self.schedule
        ends = sorted({count * shard // plan.shards for shard in range(plan.shards + 1)})
        tasks = [
            ExpertTask(
                self.cost_model, (self.seed, self.done, n), end - first, first, plan.samples,
                self.weights,
            )
            for n, (first, end) in enumerate(pairwise(ends))
        ]  # fmt: skip
        self.memory.add(tasks, joined(self.crew.share_out(experts_of, tasks)))
        self.calls += count * plan.samples

    def state_dict(self) -> dict[str, Any]:
        """Everything that a continued training needs; see :data:`runs.State`."""
        return {
            "networks": self._tensors,
            "optimiser": self.optimiser.state_dict(),
            "generator": pack_generator(self.rng),
            "memory": self.memory.state_dict(),
            "counters": [self.done, self.calls, self.cpu_s],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from :meth:`state_dict`."""
        with torch.no_grad():
            for name, tensor in self._tensors.items():
                tensor.copy_(state["networks"][name])
        self.optimiser.load_state_dict(state["optimiser"])
        unpack_generator(self.rng, state["generator"])
        self.memory.load_state_dict(state["memory"], self.cost_model)
        self.done, self.calls, self.cpu_s = state["counters"]
