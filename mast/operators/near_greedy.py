"""RES: a softmax over the joint actions next to the greedy one (Pan et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from mast.mixers.qmix import MixingWeights
from mast.operators.maximum import greedy_actions


def near_greedy_value(
    target: Tensor,
    online: Tensor,
    target_mix: MixingWeights,
    online_mix: MixingWeights,
    available: Tensor | None,
    beta: float,
) -> Tensor:
    """``sum_u p(u) Qbar_tot(u)`` with ``p = softmax(beta Q_tot)`` over ``N A`` joint actions.

    For each agent they are the greedy joint action with that agent's action replaced by each of
    its available ones; so the greedy one itself counts once for each agent, as in the authors'
    code.

    Args:
        target: ``(A, N, rows)`` values of the target agents.
        online: ``(A, N, rows)`` values of the online agents.
        target_mix: The target mixer's weights at these states.
        online_mix: The online mixer's.
        available: ``(A, N, rows)`` bool, or None.
        beta: Inverse temperature.

    Returns:
        ``(rows,)``.
    """
    greedy = greedy_actions(online, available).unsqueeze(0)
    known = _joint_values(online, greedy, online_mix)
    if available is not None:
        known = known.masked_fill(~available, -torch.inf)
    a, n, rows = known.shape
    weights = torch.softmax(beta * known.reshape(a * n, rows), dim=0)
    worth = _joint_values(target, greedy, target_mix).reshape(a * n, rows)
    return (weights * worth).sum(dim=0)


def _joint_values(values: Tensor, greedy: Tensor, mix: MixingWeights) -> Tensor:
    """``(A, N, rows)`` joint values where agent ``n`` alone plays ``a`` instead of its greedy one.

    A mixer is linear up to its hidden layer, where one agent's change adds
    ``(Q_n(a) - Q_n(greedy)) w_n``.
    """
    chosen = values.gather(0, greedy)
    base = (chosen[0].unsqueeze(1) * mix.first).sum(dim=0) + mix.bias
    change = (values - chosen).unsqueeze(2) * mix.first
    inner = torch.nn.functional.elu(base + change)  # (A, N, W, rows)
    return (inner * mix.second).sum(dim=2) + mix.offset
