"""The trainer: imitation of the best mappings found, then group-relative policy gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from cost_models import CostModel
from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.policy import Policy, replay
from mapper.pretrained.training.experts import ExpertMemory, ExpertTask, experts_of
from mapper.pretrained.training.gradient import Gradient, GradientTask, gradient_of
from mapper.pretrained.training.pool import Pool
from mapper.pretrained.training.schedule import Schedule, falling
from mapper.pretrained.training.streams import Origin, sizes
from mapper.pretrained.training.torch_networks import Networks, pack
from runs import Crew, pack_generator, unpack_generator

EXPERT_BLOCK = 50
"""Problems searched at a time."""


class PolicyTrainer:
    """Trains agents; :meth:`step` does one step of whatever stage it is in.

    Args:
        model: The cost model whose mappings are learnt.
        schedule: The stages.
        seed: Seeds everything.
        crew: Who does the sampling; the agents are the same whoever does.
    """

    def __init__(
        self, model: CostModel, schedule: Schedule, seed: int, crew: Crew | None = None
    ) -> None:
        self.model, self.schedule = model, schedule
        self.origin, self.crew = Origin.of(model, seed), crew or Crew()
        self.rng = np.random.default_rng(seed)
        self.networks = Networks(fresh(self.rng, schedule.hidden))
        self.optimiser = torch.optim.Adam(self.networks.parameters(), lr=schedule.refine_rate)
        self.policy = Policy(self.networks.weights())
        self.memory = ExpertMemory()
        self.pool = Pool()
        self.done = self.calls = 0
        self.cpu_s = 0.0

    @property
    def weights(self) -> Weights:
        """The agents as they are now."""
        return {name: array.copy() for name, array in self.networks.weights().items()}

    def step(self) -> None:
        """One step."""
        plan, place = self.schedule, self.done
        self.done += 1
        if place < plan.imitate_steps:
            self._imitation_step(place)
        else:
            self._gradient_step((place - plan.imitate_steps) / plan.refine_steps)

    def _gradient_step(self, share: float) -> None:
        plan = self.schedule
        block = self.pool.draw(plan, self.rng)
        best = self.pool.best[block]
        bonus = plan.entropy + (plan.entropy_floor - plan.entropy) * share
        parts = sizes(plan.problems, plan.shards)
        bests = np.split(best, np.cumsum(parts)[:-1])
        tasks = [
            GradientTask(
                self.origin, self.done, shard, block, plan.samples, known, self.policy, bonus
            )
            for shard, known in enumerate(bests)
        ]
        coming = self.crew.share_out(gradient_of, tasks)
        # while the workers sample
        beside = self._imitation_loss(plan.imitation_batch // 2) if len(self.memory) else None
        found = list(coming)
        self._begin(None if beside is None else plan.beside * beside)
        self._add(found, [size / plan.problems for size in parts])
        self._descend(falling(plan.refine_rate, share))
        best[:] = np.concatenate([part.best for part in found])
        self.calls += plan.problems * plan.samples

    def _imitation_step(self, place: int) -> None:
        plan = self.schedule
        searched = place * EXPERT_BLOCK
        if searched < plan.expert_problems:
            self._find_experts(min(EXPERT_BLOCK, plan.expert_problems - searched), None)
        elif place % plan.refresh_every == 0:
            self._find_experts(plan.refresh_problems, self.policy)
        self._begin(self._imitation_loss(plan.imitation_batch))
        self._descend(falling(plan.imitation_rate, place / plan.imitate_steps))

    def _find_experts(self, count: int, policy: Policy | None) -> None:
        plan = self.schedule
        samples = plan.expert_samples if policy is None else plan.refresh_samples
        tasks = [
            ExpertTask(self.origin, self.done, shard, size, samples, policy)
            for shard, size in enumerate(sizes(count, plan.shards))
        ]
        self.memory.add(tasks, list(self.crew.share_out(experts_of, tasks)))
        self.calls += count * samples

    def _imitation_loss(self, size: int) -> torch.Tensor:
        arrays, which, state, weight = self.memory.draw(size, self.rng)
        likely = self.networks.likelihood(pack(replay(arrays, which, state)), len(which))
        scale = torch.from_numpy(weight / weight.sum()).float()
        return -(scale * likely.total).sum()

    def _begin(self, loss: torch.Tensor | None) -> None:
        """The gradient of a loss, in place of whatever was there."""
        self.optimiser.zero_grad()
        if loss is not None:
            self._check(float(loss.detach()))
            loss.backward()  # type: ignore[no-untyped-call]

    def _add(self, found: Iterable[Gradient], shares: Iterable[float]) -> None:
        """Add the gradients of shards, always in their order, as sums of floats hang on it."""
        for part, share in zip(found, shares, strict=True):
            self._check(part.loss)
            for parameter, array in zip(self.networks.parameters(), part.parts, strict=True):
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad.add_(torch.from_numpy(array), alpha=share)

    def _check(self, loss: float) -> None:
        if not np.isfinite(loss):
            raise FloatingPointError(f"step {self.done}: the loss is {loss}")

    def _descend(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        torch.nn.utils.clip_grad_norm_(self.networks.parameters(), 1.0)
        self.optimiser.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything that a continued training needs; see :data:`runs.State`."""
        return {
            "networks": self.networks.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": pack_generator(self.rng),
            "memory": self.memory.state_dict(),
            "pool": self.pool.state_dict(),
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
        self.pool.load_state_dict(state["pool"])
        self.done, self.calls, self.cpu_s = state["done"], state["calls"], state["cpu_s"]
