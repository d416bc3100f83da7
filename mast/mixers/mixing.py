"""The mixing layers of QMIX as one torch function: on the CPU compiled, else by torch.

Each of its arrays is read and written once; composed of torch's own functions the mixing takes
about as long as the sparse layers around it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from common import compiled


class RawWeights(NamedTuple):
    """What the hypernetworks give, for ``rows`` states; magnitudes of the two weights count.

    Attributes:
        first: ``(N * W, rows)``.
        bias: ``(W, rows)``.
        second: ``(W, rows)``.
        offset: ``(1, rows)``.
    """

    first: Tensor
    bias: Tensor
    second: Tensor
    offset: Tensor


def mixed(values: Tensor, raw: RawWeights) -> Tensor:
    """``elu(values |first| + bias) |second| + offset``.

    Args:
        values: ``(N, rows)``.
        raw: What the hypernetworks give.

    Returns:
        ``(rows,)``.
    """
    if values.device.type == "cpu":
        made: Tensor = CompiledMixing.apply(values.contiguous(), *raw)  # type: ignore[no-untyped-call]
        return made
    first = raw.first.abs().reshape(len(values), -1, values.shape[1])
    inner = (values.unsqueeze(1) * first).sum(dim=0) + raw.bias
    outer = torch.nn.functional.elu(inner) * raw.second.abs()
    return outer.sum(dim=0) + raw.offset[0]


class CompiledMixing(torch.autograd.Function):
    """See :func:`mixed`."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, first: Tensor, bias: Tensor, second: Tensor, offset: Tensor
    ) -> Tensor:
        """Mix."""
        inner, out = torch.empty_like(bias), torch.empty_like(offset[0])
        _mix_inner(_array(values), _array(first), _array(bias), _array(inner))
        hidden = torch.nn.functional.elu(inner)
        _mix_outer(_array(hidden), _array(second), _array(offset), _array(out))
        ctx.save_for_backward(values, first, second, inner, hidden)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """Gradients of values, weights, biases and offset."""
        values, first, second, inner, hidden = ctx.saved_tensors
        above = gradients[0].contiguous()
        found = [torch.empty_like(t) for t in (values, first, inner, second)]
        given = (above, values, first, second, inner, hidden)
        _mix_gradients(*(_array(t) for t in given), *(_array(t) for t in found))
        return (*found, above.unsqueeze(0))


def _array(tensor: Tensor) -> Any:
    return tensor.detach().numpy()


@compiled
def _mix_inner(values: Any, first: Any, bias: Any, inner: Any) -> None:
    """``inner = values |first| + bias``, ``(W, rows)``."""
    width, rows = bias.shape
    for w in range(width):
        line = inner[w]
        for r in range(rows):
            line[r] = bias[w, r]
        for n in range(values.shape[0]):
            value, weight = values[n], first[n * width + w]
            for r in range(rows):
                line[r] += value[r] * abs(weight[r])


@compiled
def _mix_outer(hidden: Any, second: Any, offset: Any, out: Any) -> None:
    """``out = hidden |second| + offset``, ``(rows,)``."""
    for r in range(len(out)):
        out[r] = offset[0, r]
    for w in range(hidden.shape[0]):
        line, weight = hidden[w], second[w]
        for r in range(len(out)):
            out[r] += line[r] * abs(weight[r])


@compiled(error_model="numpy")
def _mix_gradients(
    above: Any,
    values: Any,
    first: Any,
    second: Any,
    inner: Any,
    hidden: Any,
    for_values: Any,
    for_first: Any,
    for_inner: Any,
    for_second: Any,
) -> None:
    """Gradients of :class:`CompiledMixing`; the slope of a negative ``elu`` is itself plus 1."""
    width, rows = inner.shape
    for_values[:] = 0
    for w in range(width):
        gradient, weight, unit = for_inner[w], second[w], hidden[w]
        before, weight_gradient = inner[w], for_second[w]
        for r in range(rows):
            slope = 1 if before[r] > 0 else unit[r] + 1
            gradient[r] = above[r] * abs(weight[r]) * slope
            sign = (weight[r] > 0) - (weight[r] < 0)
            weight_gradient[r] = above[r] * unit[r] * sign
        for n in range(values.shape[0]):
            value, weight, value_gradient = values[n], first[n * width + w], for_values[n]
            weight_gradient = for_first[n * width + w]
            for r in range(rows):
                sign = (weight[r] > 0) - (weight[r] < 0)
                weight_gradient[r] = gradient[r] * value[r] * sign
                value_gradient[r] += gradient[r] * abs(weight[r])
