"""One shard of a policy-gradient step: proposals, their prices, and the gradient that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mapper.pretrained.proposer import Proposer
from mapper.pretrained.training.sampling import FloatArray, group_advantage
from mapper.pretrained.training.shards import Origin, Stream, block_of
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
        proposer: The agents as they are now.
        bonus: Weight of the entropy bonus.
    """

    origin: Origin
    step: int
    shard: int
    block: int
    samples: int
    best: FloatArray
    proposer: Proposer
    bonus: float


class Gradient(NamedTuple):
    """What came of a shard.

    Args:
        parts: The gradient of `loss`, a parameter each.
        values: ``(M * samples,)`` what the proposals cost; inf where infeasible.
        best: ``(M,)`` lowest value known of each problem.
        loss: Mean over the shard.
        entropy: Per decision [nat].
    """

    parts: list[NDArray[np.float32]]
    values: FloatArray
    best: FloatArray
    loss: float
    entropy: float


def gradient_of(task: GradientTask) -> Gradient:
    """Do a shard."""
    torch.set_num_threads(1)
    problems = block_of(task.origin, task.block, task.shard, len(task.best))
    batch = replace(problems, best=task.best.copy())
    rng = task.origin.generator(Stream.PROPOSALS, task.step, task.shard)
    proposals = batch.propose(task.proposer, task.samples, rng, keep=True)
    values = batch.price(proposals)
    networks = Networks(task.proposer.weights)
    likely = networks.likelihood(pack(proposals.decisions), len(values))
    advantage = group_advantage(values, task.samples, batch.best)
    gain = (torch.from_numpy(advantage).float() * likely.total).mean()
    loss = -gain - task.bonus * likely.entropy
    loss.backward()  # type: ignore[no-untyped-call]
    parts = [
        np.zeros(tuple(p.shape), np.float32) if p.grad is None else p.grad.numpy()
        for p in networks.parameters()
    ]
    shown = (float(figure.detach()) for figure in (loss, likely.entropy))
    return Gradient(parts, values, batch.best, *shown)
