"""The policy of Stable-Baselines3's PPO with all parameters' choices in one batched law.

Imports torch and Stable-Baselines3: import it where a search begins.
"""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.distributions import MultiCategoricalDistribution
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import Tensor

IMPOSSIBLE = -1e9
"""Logit of a choice that a parameter does not have."""


class BatchedMultiCategorical(MultiCategoricalDistribution):
    """The same law as its parent's, which makes an object for each of the `P` parameters.

    With some twenty parameters that costs most of an update; here the choices are padded to the
    longest, `C`, and every figure is one product over ``(B, P, C)``.

    Args:
        action_dims: Choices of each parameter.
    """

    def __init__(self, action_dims: list[int]) -> None:
        super().__init__(action_dims)
        dims = torch.as_tensor(action_dims)
        place = torch.arange(int(dims.max()))
        first = (dims.cumsum(0) - dims)[:, None]
        self._index = torch.where(place < dims[:, None], first + place, dims.sum())

    def proba_distribution(self, action_logits: Tensor) -> BatchedMultiCategorical:
        """Take ``(B, sum of the dimensions)`` logits."""
        padded = torch.nn.functional.pad(action_logits, (0, 1), value=IMPOSSIBLE)
        self._log = torch.log_softmax(padded[:, self._index], dim=2)
        return self

    def log_prob(self, actions: Tensor) -> Tensor:
        """``(B,)`` log-probability of ``(B, P)`` actions."""
        return self._log.gather(2, actions.long()[..., None])[..., 0].sum(dim=1)

    def entropy(self) -> Tensor:
        """``(B,)`` nats."""
        return -(self._log.exp() * self._log).sum(dim=(1, 2))

    def sample(self) -> Tensor:
        """``(B, P)`` actions."""
        flat = self._log.exp().flatten(0, 1)
        return torch.multinomial(flat, 1).view(self._log.shape[:2])

    def mode(self) -> Tensor:
        """``(B, P)`` most likely actions."""
        return self._log.argmax(dim=2)


class BatchedPolicy(ActorCriticPolicy):
    """``MlpPolicy`` for a MultiDiscrete space, with :class:`BatchedMultiCategorical`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        dims = self.action_space.nvec.tolist()
        self.action_dist: BatchedMultiCategorical = BatchedMultiCategorical(dims)
