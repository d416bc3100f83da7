"""The trainer: group-relative policy gradient, imitation of the best found, fine-tuning."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cost_models import CostModel
from mapper.pretrained.judge_view import look_at_whole
from mapper.pretrained.network import Weights, fresh
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.experts import EXPERT_BLOCK, ExpertMemory, improve, search_experts
from mapper.pretrained.training.pool import Pool
from mapper.pretrained.training.sampling import group_advantage
from mapper.pretrained.training.schedule import Schedule, falling
from mapper.pretrained.training.torch_networks import Networks, pack
from runs import pack_generator, unpack_generator


class PolicyTrainer:
    """Trains agents; :meth:`step` does one step of whatever stage it is in.

    Args:
        model: The cost model whose mappings are learnt.
        schedule: The stages.
        seed: Seeds everything.
        sees: See :class:`Proposer`, as `features` and `masked`.
        features: Which features of a choice are seen.
        masked: Whether tiles that the buffers cannot hold are no choices.
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
    ) -> None:
        self.model, self.schedule = model, schedule
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
        batch = self.pool.draw(plan, self.model, self.rng)
        proposals = batch.propose(self.proposer, plan.samples, self.rng, keep=True)
        values, figures = batch.price(proposals)
        self.calls += len(values)
        advantage = group_advantage(values, plan.samples, batch.best)
        likely = self.networks.likelihood(pack(proposals.decisions), len(values))
        gain = (torch.from_numpy(advantage).float() * likely.total).mean()
        bonus = plan.entropy + (plan.entropy_floor - plan.entropy) * share
        loss = -gain - bonus * likely.entropy
        seen = look_at_whole(batch.tables, proposals.which, proposals.state)
        judge_loss = self.networks.judge_loss(
            torch.from_numpy(seen), torch.from_numpy(figures).float(), plan.samples
        )
        loss = loss + judge_loss
        if beside:
            loss = loss + beside * self._imitation_loss(plan.imitation_batch // 2)
        self._descend(loss, rate)
        feasible = np.isfinite(values)
        known = np.repeat(batch.best, plan.samples)[feasible]
        return {
            "stage": 1.0 if beside == 0 else 3.0,
            "loss": float(loss.detach()),
            "entropy": float(likely.entropy.detach()),
            "judge": float(judge_loss.detach()),
            "infeasible": float(1 - feasible.mean()),
            "above_best": float(np.median(values[feasible] / known)),
        }

    def _imitation_step(self, place: int) -> dict[str, float]:
        plan = self.schedule
        searched = place * EXPERT_BLOCK
        if searched < plan.expert_problems:
            count = min(EXPERT_BLOCK, plan.expert_problems - searched)
            self.calls += search_experts(
                self.memory, count, plan.expert_samples, self.model, self.rng
            )
        elif place % plan.refresh_every == 0:
            self.calls += improve(
                self.memory, plan.refresh_problems, self.proposer, self.model, self.rng
            )
        loss = self._imitation_loss(plan.imitation_batch)
        self._descend(loss, falling(plan.imitation_rate, place / plan.imitate_steps))
        return {"stage": 2.0, "loss": float(loss.detach()), "experts": float(len(self.memory))}

    def _imitation_loss(self, size: int) -> torch.Tensor:
        tables, which, state, weight = self.memory.draw(size, self.rng)
        decisions = self.proposer.retrace(tables, which, state)
        likely = self.networks.likelihood(pack(decisions), len(which))
        scale = torch.from_numpy(weight / weight.sum()).float()
        return -(scale * likely.total).sum()

    def _descend(self, loss: torch.Tensor, rate: float) -> None:
        if not torch.isfinite(loss):
            raise FloatingPointError(f"step {self.done}: the loss is {loss.item()}")
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for part in (self.networks.agents(), self.networks.judge()):
            torch.nn.utils.clip_grad_norm_(part, 1.0)
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
        self.pool.load_state_dict(state["pool"], self.model)
        self.done, self.calls, self.cpu_s = state["done"], state["calls"], state["cpu_s"]
