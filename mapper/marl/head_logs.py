"""Log-probabilities of the agents' heads, in groups of like width: padding costs time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NEVER = -1e9
"""Logit of what cannot be chosen."""


class HeadGroup(NamedTuple):
    """Heads of like width.

    Args:
        columns: ``(G,)`` their parameters.
        width: The longest head's choices.
    """

    columns: Tensor
    width: int


def head_groups(nvec: NDArray[np.int64]) -> tuple[HeadGroup, ...]:
    """Heads by the power of four that holds their choices; ``nvec`` is ``(P,)``."""
    powers = np.ceil(np.log2(nvec) / 2.0)
    groups = [np.flatnonzero(powers == power) for power in np.unique(powers)]
    return tuple(HeadGroup(torch.from_numpy(g), int(nvec[g].max())) for g in groups)


class HeadLogs(NamedTuple):
    """Log-probabilities of every head.

    Args:
        groups: The heads of each part.
        parts: A group's ``(G, M, C)`` each, about -1e9 on padding; `C` is its width.
    """

    groups: tuple[HeadGroup, ...]
    parts: tuple[Tensor, ...]

    def of(self, chosen: NDArray[np.int64]) -> Tensor:
        """``(P, M)`` logs of the choices ``(P, M)``."""
        places = torch.from_numpy(np.ascontiguousarray(chosen))
        return self._joined(
            [
                logs.gather(2, places[group.columns, :, None])[..., 0]
                for group, logs in zip(self.groups, self.parts, strict=True)
            ]
        )

    def without(self, current: NDArray[np.int64], kept: NDArray[np.bool_]) -> HeadLogs:
        """The same where the ``current`` choice ``(P, M)`` cannot be drawn, unless ``kept``."""
        places = torch.from_numpy(np.ascontiguousarray(current))
        moves = torch.from_numpy(np.ascontiguousarray(~kept))
        parts = []
        for group, logs in zip(self.groups, self.parts, strict=True):
            masked = torch.zeros(logs.shape, dtype=torch.bool)
            masked.scatter_(2, places[group.columns, :, None], moves[group.columns, :, None])
            parts.append(torch.log_softmax(logs.masked_fill(masked, NEVER), dim=-1))
        return HeadLogs(self.groups, tuple(parts))

    def negative_entropy(self) -> Tensor:
        """``(P, M)`` sums of p log p."""
        # padding lies at -1e9, whose exponential is slow to work out
        held = [logs.clamp_min(-30.0) for logs in self.parts]
        return self._joined([(logs.exp() * logs).sum(dim=2) for logs in held])

    def _joined(self, parts: list[Tensor]) -> Tensor:
        """``(P, M)`` of the groups' ``(G, M)``."""
        order = torch.cat([group.columns for group in self.groups])
        return torch.cat(parts)[torch.argsort(order)]
