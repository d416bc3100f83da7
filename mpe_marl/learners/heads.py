"""From a policy network's output to an action: discrete or continuous, MADDPG or MASAC."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from mpe_marl.acting import LOG_STD
from mpe_marl.learners.bank import NEVER
from mpe_marl.learners.config import LearnerConfig

# TD3's 0.2 and 0.5 are of actions in [-1, 1]
_SMOOTHING, _SMOOTH_CLIP = 0.1, 0.25
_TINY = 1e-12  # keeps a uniform draw of zero finite


class Head:
    """Turns outputs ``(..., out)`` and noise ``(..., A)`` into actions ``(..., A)``.

    Discrete actions are one-hot; their gradient is that of the Gumbel-softmax at temperature 1
    (straight through). Continuous actions lie in [0, 1].

    Args:
        config: The learner's settings.
        act_dim: Numbers ``A`` in an action.
        discrete: Actions are one of ``A`` moves.
        partial: Some agents have fewer than ``A``.
    """

    def __init__(
        self, config: LearnerConfig, act_dim: int, discrete: bool, partial: bool = False
    ) -> None:
        self._partial = partial
        self.soft = config.soft
        self._smooth = config.algorithm == "matd3" and not discrete
        self.act_dim, self.discrete = act_dim, discrete
        self.out_dim = 2 * act_dim if self.soft and not discrete else act_dim
        self._penalty, self._entropy = config.logit_penalty, config.entropy

    @property
    def noisy(self) -> bool:
        """Whether targets and losses draw noise (a continuous MADDPG policy does not)."""
        return self.discrete or self.soft or self._smooth

    def draw(self, out: Tensor, generator: torch.Generator) -> None:
        """Fill ``out`` with the noise this head takes: Gumbel or normal."""
        if self.discrete:
            out.uniform_(generator=generator).clamp_min_(_TINY).log_().neg_().log_().neg_()
        elif self.noisy:
            out.normal_(generator=generator)

    def act(self, output: Tensor, noise: Tensor) -> Tensor:
        """Sample an action; differentiable in ``output``."""
        if self.discrete:
            if output.requires_grad:
                # torch has no type for what a Function applies.
                hard: Tensor = _StraightThrough.apply(output, noise)  # type: ignore[no-untyped-call]
                return hard
            return _likeliest(output + noise)
        if self.soft:
            mean, log_std = self.gaussian(output)
            return torch.sigmoid(mean + log_std.exp() * noise)
        if self._smooth and not output.requires_grad:  # a target's action
            near = (_SMOOTHING * noise).clamp(-_SMOOTH_CLIP, _SMOOTH_CLIP)
            return (torch.sigmoid(output) + near).clamp(0.0, 1.0)
        return torch.sigmoid(output)

    def bonus(self, output: Tensor, noise: Tensor) -> Tensor:
        """``(...)`` what a value gains beside the critic's: MASAC's weighted entropy, else 0.

        The exact entropy of a discrete policy; ``-log pi`` of the sample of a continuous one.
        """
        if not self.soft:
            return output.new_zeros(output.shape[:-1])
        if self.discrete:
            log_p = torch.log_softmax(output, dim=-1)
            return -self._entropy * (log_p.exp() * log_p).sum(-1)
        mean, log_std = self.gaussian(output)
        u = mean + log_std.exp() * noise
        normal = -0.5 * noise.square() - log_std - 0.5 * torch.log(u.new_tensor(2 * torch.pi))
        slope = functional.logsigmoid(u) + functional.logsigmoid(-u)  # log d sigmoid / d u
        return -self._entropy * (normal - slope).sum(-1)

    def penalty(self, output: Tensor) -> Tensor:
        """``(...)`` openai/maddpg's penalty on large outputs (p_train, ``p_reg``); MASAC 0."""
        if self.soft:
            return output.new_zeros(output.shape[:-1])
        if self._partial:  # an action that an agent has not is no large output
            output = output * (output > NEVER / 2)
        return self._penalty * output.square().mean(-1)

    def gaussian(self, output: Tensor) -> tuple[Tensor, Tensor]:
        """``(..., A)`` means and logarithms of standard deviations of a soft policy."""
        mean, log_std = output.chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD)


def _likeliest(scores: Tensor) -> Tensor:
    """One-hot rows of the largest scores."""
    return functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


class _StraightThrough(torch.autograd.Function):
    """One-hot sample forwards, Gumbel-softmax at temperature 1 backwards.

    PyTorch's softmax over five numbers takes longer than a layer of the network, so the softmax is
    written out and computed once.
    """

    @staticmethod
    def forward(ctx: Any, output: Tensor, noise: Tensor) -> Tensor:
        scores = output + noise
        soft = (scores - scores.amax(-1, keepdim=True)).exp_()
        soft /= soft.sum(-1, keepdim=True)
        ctx.save_for_backward(soft)
        return _likeliest(scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (soft,) = ctx.saved_tensors
        weighted = gradients[0] * soft
        return weighted - soft * weighted.sum(-1, keepdim=True), None
