"""One shard of a policy-gradient step: proposals, their prices, and the gradient that follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from common import FloatArray
from mapper.pretrained.policy import Policy, Taken
from mapper.pretrained.training.problem_batch import group_advantage
from mapper.pretrained.training.streams import Origin, Stream, problems_of
from mapper.pretrained.training.torch_networks import Networks, pack


@dataclass(frozen=True)
class GradientTask:
    """What a shard needs.

    Args:
        origin: The training.
        step: Number of the step.
        shard: Number of the shard.
        block: Number of the block of problems.
        samples: Proposals per problem.
        best: ``(M,)`` lowest value known of each problem of the shard.
        policy: The agents as they are now.
        bonus: Weight of the entropy bonus.
    """

    origin: Origin
    step: int
    shard: int
    block: int
    samples: int
    best: FloatArray
    policy: Policy
    bonus: float


class Gradient(NamedTuple):
    """What came of a shard.

    Args:
        parts: The gradient of `loss`, a parameter each.
        best: ``(M,)`` lowest value known of each problem.
        loss: Mean over the shard.
    """

    parts: list[NDArray[np.float32]]
    best: FloatArray
    loss: float


def gradient_of(task: GradientTask) -> Gradient:
    """Do a shard."""
    torch.set_num_threads(1)
    count = len(task.best)
    batch = problems_of(task.origin, Stream.PROBLEMS, task.block, task.shard, count)
    batch.best = task.best.copy()
    rng = task.origin.generator(Stream.PROPOSALS, task.step, task.shard)
    which, taken = np.repeat(np.arange(count), task.samples), list[Taken]()
    values = batch.price(which, task.policy.propose(batch.arrays, which, rng, kept=taken))
    networks = Networks(task.policy.weights)
    likely = networks.likelihood(pack(taken), len(values))
    advantage = group_advantage(values, task.samples, batch.best)
    gain = (torch.from_numpy(advantage).float() * likely.total).mean()
    loss = -gain - task.bonus * likely.entropy
    loss.backward()  # type: ignore[no-untyped-call]
    parts = [
        np.zeros(tuple(p.shape), np.float32) if p.grad is None else p.grad.numpy()
        for p in networks.parameters()
    ]
    return Gradient(parts, batch.best, float(loss.detach()))
