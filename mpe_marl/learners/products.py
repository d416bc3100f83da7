"""Products of matrices: which library's, by type and device.

PyTorch's own product of float32 matrices is MKL's, which on processors of other makers leaves their
widest vectors alone; oneDNN, which PyTorch brings too, uses them, and is twice as fast there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_NARROW = 4  # columns up to which MKL's product takes less time than a call of oneDNN


def _linear() -> Any:
    """The layer of oneDNN, ``None`` where PyTorch was built without it."""
    if torch.backends.mkldnn.is_available():
        return getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    return None


_LINEAR = _linear()


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """One layer, without gradients.

    Args:
        x: ``(B, in)``.
        weight: ``(in, out)``.
        bias: ``(out,)``.
        relu: Cut what is negative.

    Returns:
        ``(B, out)``.
    """
    wide = min(weight.shape) > _NARROW
    if _LINEAR is not None and wide and x.dtype is torch.float32 and x.device.type == "cpu":
        turned = weight.t()
        if not (turned.is_contiguous() or weight.is_contiguous()):
            turned = turned.contiguous()  # of rows that lie apart oneDNN is slow beyond measure
        found: Tensor = _LINEAR(x, turned, bias, "relu" if relu else "none", [], "")
        return found
    found = torch.mm(x, weight) if bias is None else torch.addmm(bias, x, weight)
    return found.relu_() if relu else found


def slopes(x: Tensor, after: Tensor) -> Tensor:
    """``(in, out)`` gradient of a layer's weights: ``x (B, in)`` times ``after (B, out)``."""
    if x.is_contiguous() and after.shape[1] <= x.shape[1]:
        return product(after.t(), x).t()  # turns the narrower one
    return torch.mm(x.t(), after)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        (x,), (after,) = ctx.saved_tensors, gradients
        return None, slopes(x, after).contiguous(), after.sum(0)


def layer(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """One layer of data: ``x (B, in)`` needs no gradient, ``weight (in, out)`` and ``bias`` do."""
    found: Tensor = _Layer.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return found
