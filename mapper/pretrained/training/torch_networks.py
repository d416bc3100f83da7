"""The agents' networks in torch: how likely decisions were, with gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mapper.pretrained.network import Weights
from mapper.pretrained.proposer import Decision
from mapper.pretrained.turns import KINDS


class Picked(NamedTuple):
    """Decisions of one kind that are no orders, legal choices only, one after another.

    Args:
        context: ``(N, CONTEXT_FEATURES)``.
        choices: ``(T, CHOICE_FEATURES)`` the legal choices of all decisions.
        owner: ``(T,)`` the decision of each choice.
        taken: ``(N,)`` index into `choices` of the one that was taken.
        row: ``(N,)`` the proposal that each decision belongs to.
    """

    context: Tensor
    choices: Tensor
    owner: Tensor
    taken: Tensor
    row: Tensor


class Ranked(NamedTuple):
    """Orders of one kind, loops by rank.

    Args:
        context: ``(N, CONTEXT_FEATURES)``.
        choices: ``(N, C, CHOICE_FEATURES)`` in the order that was taken, outermost first.
        legal: ``(N, C)`` loops that iterate; they lead.
        row: ``(N,)`` the proposal that each decision belongs to.
    """

    context: Tensor
    choices: Tensor
    legal: Tensor
    row: Tensor


Packed = dict[str, Picked | Ranked]


def pack(decisions: tuple[Decision, ...]) -> Packed:
    """Decisions by kind, without those in which there was nothing to choose."""
    found: Packed = {}
    for kind in KINDS:
        parts = [d for d in decisions if d.turn.kind == kind and d.open.any()]
        if not parts:
            continue
        if parts[0].turn.is_order:
            found[kind] = _ranked(parts[0])
        else:
            found[kind] = _picked(parts)
    return found


def _picked(parts: list[Decision]) -> Picked:
    contexts, choices, owners, taken, rows = [], [], [], [], []
    decisions = total = 0
    for part in parts:
        keep = np.flatnonzero(part.open)
        legal = part.view.legal[keep]
        owner, column = np.nonzero(legal)
        place = np.cumsum(legal.reshape(-1)).reshape(legal.shape) - 1
        contexts.append(part.view.context[keep])
        choices.append(part.view.choices[keep[owner], column])
        owners.append(owner + decisions)
        taken.append(place[np.arange(len(keep)), part.picks[keep, 0]] + total)
        rows.append(keep)
        decisions += len(keep)
        total += len(owner)
    return Picked(
        *(torch.from_numpy(np.concatenate(x)) for x in (contexts, choices, owners, taken, rows))
    )


def _ranked(part: Decision) -> Ranked:
    keep = np.flatnonzero(part.open)
    picks = part.picks[keep]
    choices = np.take_along_axis(part.view.choices[keep], picks[:, :, None], axis=1)
    legal = np.take_along_axis(part.view.legal[keep], picks, axis=1)
    return Ranked(*(torch.from_numpy(x) for x in (part.view.context[keep], choices, legal, keep)))


class Likelihood(NamedTuple):
    """How likely proposals were.

    Args:
        total: ``(B,)`` log-likelihood of each proposal: the sum over its decisions.
        entropy: Mean entropy per decision that picks one choice [nat].
    """

    total: Tensor
    entropy: Tensor


class Networks(nn.Module):
    """All agents' networks; parameters carry the names of :mod:`mapper.pretrained.network`."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._names = list(weights)
        for name, array in weights.items():
            self.register_parameter(_legal_name(name), nn.Parameter(torch.from_numpy(array.copy())))

    def weights(self) -> Weights:
        """The parameters as NumPy arrays (views of them)."""
        return {name: self._at(name).detach().numpy() for name in self._names}

    def _at(self, name: str) -> Tensor:
        parameter: Tensor = getattr(self, _legal_name(name))
        return parameter

    def _layer(self, name: str, x: Tensor) -> Tensor:
        return torch.addmm(self._at(f"{name}.bias"), x, self._at(f"{name}.weight"))

    def likelihood(self, packed: Packed, size: int) -> Likelihood:
        """Log-likelihood of `size` proposals whose decisions are `packed`."""
        total = torch.zeros(size)
        entropies, decisions = torch.zeros(()), 0
        for kind, part in packed.items():
            hidden = torch.relu(self._layer(f"{kind}.context1", part.context))
            hidden = torch.relu(self._layer(f"{kind}.context2", hidden))
            query = self._layer(f"{kind}.query", hidden)
            direct = self._layer(f"{kind}.direct", hidden)
            inside = part.choices @ self._at(f"{kind}.choice.weight")
            pointer = self._at(f"{kind}.pointer")
            if isinstance(part, Picked):
                found = torch.relu(inside + query[part.owner]) @ pointer
                found = found + (part.choices * direct[part.owner]).sum(-1)
                chosen, entropy = _softmax(found, part.owner, part.taken, len(part.context))
                entropies = entropies + entropy.sum()
                decisions += len(part.context)
            else:
                found = torch.relu(inside + query[:, None]) @ pointer
                found = found + (part.choices * direct[:, None]).sum(-1)
                chosen = _plackett_luce(found, part.legal)
            total = total.index_add(0, part.row, chosen)
        return Likelihood(total, entropies / max(decisions, 1))


def _softmax(found: Tensor, owner: Tensor, taken: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Log-likelihood of the choices taken and entropies, over choices owned by `size` decisions."""
    high = torch.full((size,), -torch.inf).scatter_reduce(0, owner, found.detach(), "amax")
    shifted = found - high[owner]
    weight = shifted.exp()
    whole = torch.zeros(size).index_add(0, owner, weight)
    log_whole = whole.log()
    mean = torch.zeros(size).index_add(0, owner, weight * shifted) / whole
    return shifted[taken] - log_whole, log_whole - mean


def _plackett_luce(found: Tensor, legal: Tensor) -> Tensor:
    """Log-likelihood of the order in which the loops stand (Plackett, 1975; Luce, 1959)."""
    found = found.masked_fill(~legal, -1e9)
    left = torch.logcumsumexp(found.flip(1), dim=1).flip(1)
    return ((found - left) * legal).sum(dim=1)


def _legal_name(name: str) -> str:
    return name.replace(".", "__")
