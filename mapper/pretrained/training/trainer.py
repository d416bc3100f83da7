"""The trainer: imitation of the best mappings found, with expert iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from cost_models import CostModel
from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.policy import MappingPolicy
from mapper.pretrained.training.experts import ExpertMemory, ExpertTask, experts_of
from mapper.pretrained.training.schedule import Schedule, falling
from mapper.pretrained.training.streams import Origin, sizes
from mapper.pretrained.training.torch_networks import Networks
from marl_runs import Crew, pack_generator, unpack_generator

EXPERT_BLOCK = 100
"""Problems searched at a time."""


class PolicyTrainer:
    """Trains agents.

    Args:
        model: The cost model whose mappings are learnt.
        schedule: How long and how.
        seed: Seeds everything.
        begin: Agents to go on from; else untrained ones.
        crew: Who does the searches; the agents are the same whoever does.
    """

    def __init__(
        self,
        model: CostModel,
        schedule: Schedule,
        seed: int,
        begin: Weights | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.model, self.schedule = model, schedule
        self.origin, self.crew = Origin.of(model, seed), crew or Crew()
        self.rng = np.random.default_rng(seed)
        self.networks = Networks(begin or fresh(self.rng, schedule.hidden))
        self.optimiser = torch.optim.Adam(self.networks.parameters(), lr=schedule.learning_rate)
        self.policy = MappingPolicy(self.networks.weights())
        self.memory = ExpertMemory()
        self.done = self.calls = 0
        self.cpu_s = 0.0

    @property
    def weights(self) -> Weights:
        """The agents as they are now."""
        return {name: array.copy() for name, array in self.networks.weights().items()}

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
        loss = self._loss()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"step {self.done}: the loss is {float(loss.detach())}")
        self.optimiser.zero_grad()
        loss.backward()
        for group in self.optimiser.param_groups:
            group["lr"] = falling(plan.learning_rate, place / plan.steps)
        torch.nn.utils.clip_grad_norm_(self.networks.parameters(), 1.0)
        self.optimiser.step()

    def _find_experts(self, count: int) -> None:
        plan = self.schedule
        samples = plan.samples
        tasks = [
            ExpertTask(self.origin, self.done, shard, size, samples, self.policy)
            for shard, size in enumerate(sizes(count, plan.shards))
        ]
        self.memory.add(tasks, list(self.crew.share_out(experts_of, tasks)))
        self.calls += count * samples

    def _loss(self) -> torch.Tensor:
        packed, weight = self.memory.draw(self.rng)
        likely = self.networks.likelihood(packed, len(weight))
        return -(torch.from_numpy(weight / weight.sum()).float() * likely).sum()

    def state_dict(self) -> dict[str, Any]:
        """Everything that a continued training needs; see :data:`runs.State`."""
        return {
            "networks": self.networks.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": pack_generator(self.rng),
            "memory": self.memory.state_dict(),
            "done": self.done,
            "calls": self.calls,
            "cpu_s": self.cpu_s,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from :meth:`state_dict`."""
        self.networks.load_state_dict(state["networks"])
        self.optimiser.load_state_dict(state["optimiser"])
        unpack_generator(self.rng, state["generator"])
        self.memory.load_state_dict(state["memory"], self.origin)
        self.done, self.calls, self.cpu_s = state["done"], state["calls"], state["cpu_s"]
