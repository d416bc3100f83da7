"""The judge alone, fitted to what finished agents propose; their policies stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from cost_models import CostModel
from mapper.pretrained.judge_view import look_at_whole
from mapper.pretrained.network import Weights, fresh, hidden_width
from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.sampling import Batch
from mapper.pretrained.training.schedule import falling
from mapper.pretrained.training.torch_networks import Networks


@dataclass(frozen=True)
class JudgeFit:
    """How the judge is fitted.

    Args:
        problems: Random problems.
        samples: Proposals per problem.
        steps: Steps of Adam.
        batch: Problems a step.
        rate: Adam's step; it falls by a cosine to a twentieth.
    """

    problems: int = 3840
    samples: int = 16
    steps: int = 4000
    batch: int = 48
    rate: float = 2e-3

    def fit(
        self, proposer: Proposer, model: CostModel, seed: int
    ) -> tuple[Weights, dict[str, Any]]:
        """Fit a judge from nothing.

        Args:
            proposer: The agents; whatever they have of a judge is replaced.
            model: Prices proposals.
            seed: Seeds problems, proposals, and the judge's first weights.

        Returns:
            The networks with their judge, and how it was fitted.
        """
        rng = np.random.default_rng(seed)
        agents = proposer.weights
        new = fresh(rng, hidden_width(agents))
        new |= {name: array for name, array in agents.items() if not name.startswith("judge")}
        seen, figures = self._proposals(proposer.with_weights(new), model, rng)
        networks = Networks(new)
        optimiser = torch.optim.Adam(networks.judge(), lr=self.rate)
        losses: list[float] = []
        for step in range(self.steps):
            for group in optimiser.param_groups:
                group["lr"] = falling(self.rate, step / self.steps)
            chosen = torch.from_numpy(rng.integers(0, len(seen), self.batch))
            loss = networks.judge_loss(
                seen[chosen].flatten(0, 1), figures[chosen].flatten(0, 1), self.samples
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(networks.judge(), 1.0)
            optimiser.step()
            losses.append(float(loss.detach()))
        return networks.weights(), {
            "seed": seed,
            "cost_model_calls": self.problems * self.samples,
            "loss": round(float(np.mean(losses[-max(1, self.steps // 10) :])), 6),
        }

    def _proposals(
        self, proposer: Proposer, model: CostModel, rng: np.random.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What the judge sees ``(problems, samples, F)``, and latency and energy ``(..., 2)``."""
        seen, figures = [], []
        for first in range(0, self.problems, self.batch):
            batch = Batch.random(min(self.batch, self.problems - first), model, rng)
            proposals = batch.propose(proposer, self.samples, rng)
            seen.append(look_at_whole(batch.tables, proposals.which, proposals.state))
            figures.append(batch.price(proposals).figures.astype(np.float32))
        parts = (np.concatenate(part) for part in (seen, figures))
        views, prices = (x.reshape(-1, self.samples, x.shape[-1]) for x in parts)
        return torch.from_numpy(views), torch.from_numpy(prices)
