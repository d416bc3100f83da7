"""The agents' networks in torch: how likely decisions were, with gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mapper.pretrained.network import Weights
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
        for choice in _choices(one):
            found.setdefault(one.decision.kind, []).append(choice)
    return {kind: _joined(parts) for kind, parts in found.items()}


def _choices(one: Taken) -> Iterator[tuple[NDArray[Any], ...]]:
    """The choices of a decision: context, options, owner, taken, row; of an order, place by place.

    Of `picks`, columns behind the legal ones say nothing.
    """
    legal = one.seen.legal.copy()
    for place in range(one.picks.shape[1]):
        keep = np.flatnonzero(legal.sum(axis=1) > 1)
        if not len(keep):
            return
        owner, column = np.nonzero(legal[keep])
        picks = one.picks[keep, place]
        number = np.cumsum(legal[keep].reshape(-1)).reshape(len(keep), -1) - 1
        taken = number[np.arange(len(keep)), picks]
        yield one.seen.context[keep], one.seen.choices[keep[owner], column], owner, taken, keep
        legal[keep, picks] = False


def _joined(parts: list[tuple[NDArray[Any], ...]]) -> Packed:
    contexts, options, owners, taken, rows = zip(*parts, strict=True)
    first = np.cumsum([0, *(len(rows) for rows in contexts[:-1])])
    begin = np.cumsum([0, *(len(each) for each in options[:-1])])
    owners = tuple(owner + n for owner, n in zip(owners, first, strict=True))
    taken = tuple(one + n for one, n in zip(taken, begin, strict=True))
    every = (contexts, options, owners, taken, rows)
    return Packed(*(torch.from_numpy(np.concatenate(part)) for part in every))


class Networks(nn.Module):
    """All agents' networks; parameters carry the names of :mod:`mapper.pretrained.network`."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._names = list(weights)
        for name, array in weights.items():
            self.register_parameter(_legal_name(name), nn.Parameter(torch.from_numpy(array.copy())))

    def weights(self) -> Weights:
        """The parameters as NumPy arrays that share their memory."""
        return {name: self._at(name).detach().numpy() for name in self._names}

    def _at(self, name: str) -> Tensor:
        parameter: Tensor = getattr(self, _legal_name(name))
        return parameter

    def _layer(self, name: str, x: Tensor) -> Tensor:
        return torch.addmm(self._at(f"{name}.bias"), x, self._at(f"{name}.weight"))

    def likelihood(self, packed: dict[str, Packed], size: int) -> Tensor:
        """``(size,)`` log-likelihood of proposals: the sum over the decisions in `packed`."""
        total = torch.zeros(size)
        for kind, part in packed.items():
            hidden = torch.relu(self._layer(f"{kind}.context1", part.context))
            hidden = torch.relu(self._layer(f"{kind}.context2", hidden))
            query = self._layer(f"{kind}.query", hidden)
            direct = self._layer(f"{kind}.direct", hidden)
            inside = part.options @ self._at(f"{kind}.choice.weight") + query[part.owner]
            scores = torch.relu(inside) @ self._at(f"{kind}.pointer")
            scores = scores + (part.options * direct[part.owner]).sum(-1)
            chosen = _log_softmax(scores, part.owner, len(part.context))[part.taken]
            total = total.index_add(0, part.row, chosen)
        return total


def _log_softmax(scores: Tensor, owner: Tensor, size: int) -> Tensor:
    """``(T,)`` log-probability of every option among those of its owner, one of `size`."""
    high = torch.full((size,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    shifted = scores - high[owner]
    return shifted - torch.zeros(size).index_add(0, owner, shifted.exp()).log()[owner]


def _legal_name(name: str) -> str:
    return name.replace(".", "__")
