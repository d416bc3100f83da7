"""The agents' networks in torch: how likely decisions were, with gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mapper.pretrained.policy import Taken


class Packed(NamedTuple):
    """Choices of one kind of decision, each among options, the legal ones of all in one list.

    An order of loops is a choice a place, among the loops that are left (Plackett, 1975; Luce,
    1959).

    Args:
        context: ``(N, CONTEXT_FEATURES)``.
        options: ``(T, CHOICE_FEATURES)``.
        owner: ``(T,)`` the choice that each option belongs to.
        taken: ``(N,)`` index into `options` of the one that was taken.
        row: ``(N,)`` the proposal that each choice belongs to.
    """

    context: Tensor
    options: Tensor
    owner: Tensor
    taken: Tensor
    row: Tensor


def pack(taken: Iterable[Taken]) -> dict[str, Packed]:
    """Decisions by kind, without those in which there was nothing to choose."""
    found: dict[str, list[tuple[NDArray[Any], ...]]] = {}
    for one in taken:
        found.setdefault(one.decision.kind, []).extend(_choices(one))
    return {kind: _joined(parts) for kind, parts in found.items() if parts}


def _joined(parts: list[tuple[NDArray[Any], ...]]) -> Packed:
    context, options, count, chosen, row = map(np.concatenate, zip(*parts, strict=True))
    owner, taken = np.repeat(np.arange(len(count)), count), np.cumsum(count) - count + chosen
    return Packed(*map(torch.from_numpy, (context, options, owner, taken, row)))


def _choices(one: Taken) -> Iterator[tuple[NDArray[Any], ...]]:
    """The choices of a decision: context, options, how many, the one taken, row.

    An order is chosen place by place. Of `picks`, columns behind the legal ones say nothing.
    """
    legal = one.choices["legal"].copy()
    for picks in one.picks.T:
        keep = np.flatnonzero(legal.sum(axis=1) > 1)
        if not len(keep):
            return
        some, picked = legal[keep], (np.arange(len(keep)), picks[keep])
        options = one.choices["features"]["every"][keep][some]
        yield one.context[keep], options, some.sum(axis=1), some.cumsum(axis=1)[picked] - 1, keep
        legal[keep, picks[keep]] = False


def likelihood(weights: dict[str, Tensor], packed: dict[str, Packed], size: int) -> Tensor:
    """``(size,)`` log-likelihood of proposals: the sum over the decisions in `packed`.

    Args:
        weights: All agents' networks, by the names of :mod:`mapper.pretrained.network`.
        packed: The decisions, by kind.
        size: Proposals.
    """
    total = torch.zeros(size)
    for kind, part in packed.items():

        def layer(name: str, x: Tensor, kind: str = kind) -> Tensor:
            own = f"{kind}.{name}"
            return torch.addmm(weights[f"{own}.bias"], x, weights[f"{own}.weight"])

        hidden = torch.relu(layer("context2", torch.relu(layer("context1", part.context))))
        query, direct = layer("query", hidden), layer("direct", hidden)
        inside = part.options @ weights[f"{kind}.choice.weight"] + query[part.owner]
        scores = torch.relu(inside) @ weights[f"{kind}.pointer"]
        scores = scores + (part.options * direct[part.owner]).sum(-1)
        chosen = _log_softmax(scores, part.owner, len(part.context))[part.taken]
        total = total.index_add(0, part.row, chosen)
    return total


def _log_softmax(scores: Tensor, owner: Tensor, size: int) -> Tensor:
    """``(T,)`` log-probability of every option among those of its owner, one of `size`."""
    high = torch.full((size,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    shifted = scores - high[owner]
    return shifted - torch.zeros(size).index_add(0, owner, shifted.exp()).log()[owner]
