"""The mixing layers of QMIX as one torch function: on the CPU compiled, else by torch.

Each of its arrays is read and written once; composed of torch's own functions the mixing takes
about as long as the sparse layers around it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from marl_common import compiled


class MixingWeights(NamedTuple):
    """What the state makes of the mixer, for ``rows`` states.

    Attributes:
        first: ``(N, W, rows)``, none negative.
        bias: ``(W, rows)``.
        second: ``(W, rows)``, none negative.
        offset: ``(rows,)``.
    """

    first: Tensor
    bias: Tensor
    second: Tensor
    offset: Tensor

    @classmethod
    def of(cls, stacked: Tensor, n_agents: int) -> MixingWeights:
        """The parts of ``(N W + 2 W + 1, rows)`` that hypernetworks give, one below the other."""
        width = _width(stacked, n_agents)
        first, bias, second, offset = torch.split(stacked, [n_agents * width, width, width, 1])
        return cls(first.abs().reshape(n_agents, width, -1), bias, second.abs(), offset[0])


def mixed(values: Tensor, stacked: Tensor) -> Tensor:
    """``elu(values |first| + bias) |second| + offset``.

    Args:
        values: ``(N, rows)``.
        stacked: ``(N W + 2 W + 1, rows)``: what the hypernetworks give.

    Returns:
        ``(rows,)``.
    """
    if values.device.type == "cpu":
        values = values.contiguous()
        if not torch.is_grad_enabled():  # spares the calls of a function of torch
            return _mixed(values, stacked)[1]
        made: Tensor = CompiledMixing.apply(values, stacked)  # type: ignore[no-untyped-call]
        return made
    mix = MixingWeights.of(stacked, len(values))
    inner = (values.unsqueeze(1) * mix.first).sum(dim=0) + mix.bias
    return (torch.nn.functional.elu(inner) * mix.second).sum(dim=0) + mix.offset


class CompiledMixing(torch.autograd.Function):
    """See :func:`mixed`."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, stacked: Tensor) -> Tensor:
        """Mix."""
        hidden, out = _mixed(values, stacked)
        ctx.save_for_backward(values, stacked, hidden)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """Gradients of values and weights."""
        values, stacked, hidden = ctx.saved_tensors
        found = torch.empty_like(values), torch.empty_like(stacked)
        read = gradients[0].contiguous(), values, stacked, hidden
        _mix_gradients(*(_array(tensor) for tensor in (*read, *found)))
        return found


def _mixed(values: Tensor, stacked: Tensor) -> tuple[Tensor, Tensor]:
    """The mixing layer's ``(W, rows)`` units, and the ``(rows,)`` result."""
    shape = _width(stacked, len(values)), values.shape[1]
    hidden, out = stacked.new_empty(shape), torch.empty_like(values[0])
    given = _array(stacked)
    _mix_inner(_array(values), given, _array(hidden))
    torch.nn.functional.elu(hidden, inplace=True)
    _mix_outer(_array(hidden), given, _array(out))
    return hidden, out


def _width(stacked: Tensor, n_agents: int) -> int:
    """Units ``W`` of the mixing layer."""
    return (len(stacked) - 1) // (n_agents + 2)


def _array(tensor: Tensor) -> Any:
    return tensor.detach().numpy()


@compiled
def _mix_inner(values: Any, stacked: Any, inner: Any) -> None:
    """``inner = values |first| + bias``, ``(W, rows)``."""
    agents, (width, rows) = len(values), inner.shape
    for w in range(width):
        line, bias = inner[w], stacked[agents * width + w]
        for r in range(rows):
            line[r] = bias[r]
        for n in range(agents):
            value, weight = values[n], stacked[n * width + w]
            for r in range(rows):
                line[r] += value[r] * abs(weight[r])


@compiled
def _mix_outer(hidden: Any, stacked: Any, out: Any) -> None:
    """``out = hidden |second| + offset``, ``(rows,)``."""
    width, offset = len(hidden), stacked[len(stacked) - 1]
    for r in range(len(out)):
        out[r] = offset[r]
    for w in range(width):
        line, weight = hidden[w], stacked[len(stacked) - 1 - width + w]
        for r in range(len(out)):
            out[r] += line[r] * abs(weight[r])


@compiled(error_model="numpy")
def _mix_gradients(
    above: Any, values: Any, stacked: Any, hidden: Any, for_values: Any, for_stacked: Any
) -> None:
    """Gradients of :class:`CompiledMixing`; the slope of a negative ``elu`` is itself plus 1."""
    agents, (width, rows) = len(values), hidden.shape
    for_values[:] = 0
    offset_gradient = for_stacked[len(stacked) - 1]
    for r in range(rows):  # an array's assignment takes Numba 3 s to compile
        offset_gradient[r] = above[r]
    for w in range(width):
        first, last = agents * width + w, len(stacked) - 1 - width + w
        gradient, weight, unit = for_stacked[first], stacked[last], hidden[w]
        weight_gradient = for_stacked[last]
        for r in range(rows):
            slope = 1 if unit[r] > 0 else unit[r] + 1
            gradient[r] = above[r] * abs(weight[r]) * slope
            sign = (weight[r] > 0) - (weight[r] < 0)
            weight_gradient[r] = above[r] * unit[r] * sign
        for n in range(agents):
            value, weight, value_gradient = values[n], stacked[n * width + w], for_values[n]
            weight_gradient = for_stacked[n * width + w]
            for r in range(rows):
                sign = (weight[r] > 0) - (weight[r] < 0)
                weight_gradient[r] = gradient[r] * value[r] * sign
                value_gradient[r] += gradient[r] * abs(weight[r])
