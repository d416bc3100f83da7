"""A layer's weight as torch holds it: one parameter whose shape changes with the structure."""

from __future__ import annotations

import torch
from torch import Tensor


class VaryingParameter(torch.nn.Parameter):
    """A parameter of any shape for programs that torch compiles.

    They take the shape of a plain one to be fixed. Small products take a microsecond longer, so
    that layers of columns do without.
    """


def rebind(weight: Tensor, values: Tensor, *, varies: bool) -> None:
    """Give a parameter other values, of any shape; it stays the same object.

    Args:
        weight: The parameter.
        values: Its values from now on.
        varies: Whether compiled programs take any number of them.
    """
    weight.grad = None
    if values.shape != weight.shape:
        # torch forgets the node that adds gradients up, which expects the former shape and lives
        # as long as a loss of before
        other = torch.float32 if values.dtype == torch.float64 else torch.float64
        weight.data = values.new_empty(0, dtype=other)
    weight.data = values
    weight.__class__ = VaryingParameter if varies else torch.nn.Parameter
    if varies:
        torch._dynamo.maybe_mark_dynamic(weight, 0)
