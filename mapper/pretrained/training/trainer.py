"""The trainer: group-relative policy gradient, imitation of the best found, fine-tuning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cost_models import CostModel
from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.experts import EXPERT_BLOCK, ExpertMemory, ExpertTask, experts_of
from mapper.pretrained.training.gradient import Gradient, GradientTask, gradient_of
from mapper.pretrained.training.pool import Pool
from mapper.pretrained.training.schedule import Schedule, falling
from mapper.pretrained.training.shards import Origin, sizes
from mapper.pretrained.training.torch_networks import Networks, pack
from runs import Crew, pack_generator, unpack_generator


class PolicyTrainer:
    """Trains agents; :meth:`step` does one step of whatever stage it is in.

    Args:
        model: The cost model whose mappings are learnt.
        schedule: The stages.
        seed: Seeds everything.
        sees: See :class:`Proposer`, as `features` and `masked`.
        features: Which features of a choice are seen.
        masked: Whether tiles that the buffers cannot hold are no choices.
        crew: Who does the sampling; the agents are the same whoever does.
    """

    def __init__(
        self,
        model: CostModel,
        schedule: Schedule,
        seed: int,
        sees: NDArray[np.float32] | None = None,
        *,
        features: NDArray[np.float32] | None = None,
        masked: bool = True,
        crew: Crew | None = None,
    ) -> None:
        self.model, self.schedule = model, schedule
        self.origin, self.crew = Origin.of(model, seed), crew or Crew()
        self.rng = np.random.default_rng(seed)
        self.networks = Networks(fresh(self.rng, schedule.hidden))
        self.optimiser = torch.optim.Adam(self.networks.parameters(), lr=schedule.learning_rate)
        self.proposer = Proposer(self.networks.weights(), sees, features=features, masked=masked)
        self.memory = ExpertMemory()
        self.pool = Pool()
        self.done = 0
        self.calls = 0
        self.cpu_s = 0.0

    @property
    def weights(self) -> Weights:
        """The agents as they are now."""
        return {name: array.copy() for name, array in self.networks.weights().items()}

    def step(self) -> dict[str, float]:
        """One step; returns its figures."""
        plan, place = self.schedule, self.done
        self.done += 1
        if place < plan.explore_steps:
            share = place / plan.explore_steps
            return self._gradient_step(falling(plan.learning_rate, share), share, 0.0)
        place -= plan.explore_steps
        if place < plan.imitate_steps:
            return self._imitation_step(place)
        place -= plan.imitate_steps
        share = place / plan.refine_steps
        return self._gradient_step(falling(plan.refine_rate, share), share, plan.beside)

    def _gradient_step(self, rate: float, share: float, beside: float) -> dict[str, float]:
        plan = self.schedule
        block = self.pool.draw(plan, self.rng)
        best = self.pool.best[block]
        bonus = plan.entropy + (plan.entropy_floor - plan.entropy) * share
        split = sizes(plan.problems, plan.shards)
        bests = np.split(best, np.cumsum([size for _, size in split])[:-1])
        tasks = [
            GradientTask(
                self.origin, self.done, shard, block, plan.samples, known, self.proposer, bonus
            )
            for (shard, _), known in zip(split, bests, strict=True)
        ]
        coming = self.crew.share_out(gradient_of, tasks)
        # while the workers sample
        beside_loss = self._imitation_loss(plan.imitation_batch // 2) if beside else None
        found = list(coming)
        shares = [size / plan.problems for _, size in split]
        self._begin(None if beside_loss is None else beside * beside_loss)
        self._add(found, shares)
        self._descend(rate)
        best[:] = np.concatenate([part.best for part in found])
        values = np.concatenate([part.values for part in found])
        self.calls += len(values)
        feasible = np.isfinite(values)
        known = np.repeat(best, plan.samples)[feasible]
        of_loss, of_entropy = (
            float(np.dot(shares, column))
            for column in zip(*((p.loss, p.entropy) for p in found), strict=True)
        )
        return {
            "stage": 1.0 if beside == 0 else 3.0,
            "loss": of_loss,
            "entropy": of_entropy,
            "infeasible": float(1 - feasible.mean()),
            "above_best": float(np.median(values[feasible] / known)),
        }

    def _imitation_step(self, place: int) -> dict[str, float]:
        plan = self.schedule
        searched = place * EXPERT_BLOCK
        if searched < plan.expert_problems:
            self._find_experts(min(EXPERT_BLOCK, plan.expert_problems - searched), None)
        elif place % plan.refresh_every == 0:
            self._find_experts(plan.refresh_problems, self.proposer)
        loss = self._imitation_loss(plan.imitation_batch)
        self._begin(loss)
        self._descend(falling(plan.imitation_rate, place / plan.imitate_steps))
        return {"stage": 2.0, "loss": float(loss.detach()), "experts": float(len(self.memory))}

    def _find_experts(self, count: int, proposer: Proposer | None) -> None:
        samples = self.schedule.expert_samples
        tasks = [
            ExpertTask(self.origin, self.done, shard, size, samples, proposer)
            for shard, size in sizes(count, self.schedule.shards)
        ]
        self.calls += self.memory.add(self.crew.share_out(experts_of, tasks), self.model)

    def _imitation_loss(self, size: int) -> torch.Tensor:
        tables, which, state, weight = self.memory.draw(size, self.rng)
        decisions = self.proposer.retrace(tables, which, state)
        likely = self.networks.likelihood(pack(decisions), len(which))
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
        self.memory.load_state_dict(state["memory"], self.model)
        self.pool.load_state_dict(state["pool"])
        self.done, self.calls, self.cpu_s = state["done"], state["calls"], state["cpu_s"]
