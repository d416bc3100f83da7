"""One step of Adam for all numbers of a parameter, compiled for the CPU.

As functions of torch a step takes ten calls a parameter, which is most of the time of a network
that is small because it is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from common import FloatArray, entry_point, inner_function, source_stamp
from sparse_training.kernels.vectors import KINDS, numbers_at, places_at


@inner_function(error_model="numpy")
def move_moments(place: int, gradient: Any, first: Any, second: Any, decay: Any) -> None:
    """Both moments of one number."""
    keep1, add1, keep2, add2 = decay
    first[place] = keep1 * first[place] + add1 * gradient
    second[place] = keep2 * second[place] + add2 * gradient * gradient


def _entries(stamp: int) -> tuple[Callable[..., float], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources."""

    @entry_point(error_model="numpy", fastmath={"reassoc"})
    def sum_squares(one: Any, count: int, gradient: int) -> float:
        numbers, squares = numbers_at(gradient, one), 0.0
        for i in range(count):
            squares += float(numbers[i]) ** 2
        return squares if stamp else math.nan

    @entry_point(error_model="numpy")
    def adam_step(
        share: Any, count: int, parameter: int, gradient: int, first: int, second: int,
        cohort: int, corrections: int, decay: Any, rest: Any,
    ) -> int:  # fmt: skip
        weights, slopes = numbers_at(parameter, share), numbers_at(gradient, share)
        means, squares = numbers_at(first, share), numbers_at(second, share)
        table, of = numbers_at(corrections, share), places_at(cohort)
        shrink, eps = rest
        rate, root = table[0], table[1]
        if cohort == 0:
            for i in range(count):
                move_moments(i, slopes[i] * share, means, squares, decay)
                lower = math.sqrt(squares[i]) / root + eps
                weights[i] = weights[i] * shrink - rate * means[i] / lower
        else:
            for i in range(count):
                move_moments(i, slopes[i] * share, means, squares, decay)
                at = 2 * of[i]
                lower = math.sqrt(squares[i]) / table[at + 1] + eps
                weights[i] = weights[i] * shrink - table[at] * means[i] / lower
        return stamp

    return sum_squares, adam_step


sum_squares, adam_step = _entries(
    source_stamp(Path(__file__).with_name(f"{name}.py") for name in ("adam", "vectors"))
)
"""Squared norm of a gradient, and a step; they release the interpreter lock."""


def serves(parameter: Tensor, gradient: Tensor) -> bool:
    """Whether compiled steps are for this parameter and gradient."""
    return (
        parameter.is_cpu
        and parameter.dtype in KINDS
        and gradient.dtype == parameter.dtype
        and parameter.is_contiguous()
        and gradient.is_contiguous()
        and not gradient.is_sparse
    )


def squared_norm(gradient: Tensor) -> float:
    """Sum of the squares of a contiguous gradient."""
    return sum_squares(KINDS[gradient.dtype](1), gradient.numel(), gradient.data_ptr())


class StepNumbers(NamedTuple):
    """The numbers of a step, alike for parameters of the same type and births.

    Attributes:
        corrections: ``(cohorts, 2)``: step size, and the root that second moments are divided by.
        address: Where they are.
        decay: What moments and gradients are multiplied by.
        rest: What weights are multiplied by, and eps.
    """

    corrections: NDArray[Any]
    address: int
    decay: tuple[Any, ...]
    rest: tuple[Any, ...]

    @classmethod
    def of(cls, corrections: FloatArray, dtype: torch.dtype, group: dict[str, Any]) -> StepNumbers:
        """The numbers of a group of parameters, in their type."""
        kind = KINDS.get(dtype, np.float64)
        b1, b2 = group["betas"]
        shrink = 1 - group["lr"] * group["weight_decay"]
        table = np.ascontiguousarray(corrections, dtype=kind)
        decay = tuple(kind(number) for number in (b1, 1 - b1, b2, 1 - b2))
        return cls(table, table.ctypes.data, decay, (kind(shrink), kind(group["eps"])))


def step_parameter(
    parameter: Tensor,
    gradient: Tensor,
    moments: tuple[Tensor, Tensor, Tensor | None],
    numbers: StepNumbers,
    share: float,
) -> None:
    """Move a parameter and its moments.

    Args:
        parameter: Of a type and place that :func:`serves` says yes to; so are all tensors.
        gradient: Shaped as it.
        moments: First and second moments, and the cohort of each weight or None.
        numbers: Of this step, in the parameter's type.
        share: What the gradient is multiplied by.
    """
    first, second, cohort = moments
    adam_step(
        KINDS[parameter.dtype](share), parameter.numel(), parameter.data_ptr(),
        gradient.data_ptr(), first.data_ptr(), second.data_ptr(),
        0 if cohort is None else cohort.data_ptr(), numbers.address, numbers.decay, numbers.rest,
    )  # fmt: skip
