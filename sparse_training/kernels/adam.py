"""One step of Adam for all parameters of a type, compiled for the CPU.

As functions of torch a step takes ten calls a parameter, which is most of the time of a network
that is small because it is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from marl_common import entry_point, inner_function
from sparse_training.kernels.vectors import (
    KINDS,
    address_of,
    addresses_at,
    after,
    numbers_at,
    places_at,
    stamp_of,
)
from sparse_training.moments import Moments

COUNT, WEIGHTS, SLOPES, FIRST, SECOND, COHORT, CORRECTIONS, WIDTH = range(8)
"""Columns of a :class:`StepTable`, and how many there are."""


@inner_function(error_model="numpy")
def move_moments(place: int, gradient: Any, first: Any, second: Any, decay: Any) -> None:
    """Both moments of one number."""
    keep1, add1, keep2, add2 = decay
    first[place] = keep1 * first[place] + add1 * gradient
    second[place] = keep2 * second[place] + add2 * gradient * gradient


@inner_function(error_model="numpy", fastmath={"reassoc"})
def squares_of(numbers: Any, count: int) -> float:
    """Sum of the squares of some numbers."""
    squares = 0.0
    for i in range(count):
        squares += float(numbers[i]) ** 2
    return squares


@inner_function(error_model="numpy")
def step_parameter(
    count: int, weights: Any, slopes: Any, moments: Any, of: Any, table: Any, numbers: Any
) -> None:
    """Move a parameter and its moments.

    Args:
        count: Its numbers.
        weights: The parameter.
        slopes: Its gradient.
        moments: First and second moments.
        of: Which corrections each number has, and whether they differ at all.
        table: The corrections, see :class:`StepTable`.
        numbers: What the gradient is multiplied by; decay of the moments; rest.
    """
    share, decay, (shrink, eps) = numbers
    means, squares = moments
    cohort, several = of
    rate, root = table[0], table[1]
    if several:
        for i in range(count):
            move_moments(i, slopes[i] * share, means, squares, decay)
            at = 2 * cohort[i]
            lower = math.sqrt(squares[i]) / table[at + 1] + eps
            weights[i] = weights[i] * shrink - table[at] * means[i] / lower
    else:
        for i in range(count):
            move_moments(i, slopes[i] * share, means, squares, decay)
            lower = math.sqrt(squares[i]) / root + eps
            weights[i] = weights[i] * shrink - rate * means[i] / lower


def _entries(stamp: int) -> tuple[Callable[..., float], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources.

    Both read the rows of a :class:`StepTable`.
    """

    @entry_point(error_model="numpy")
    def sum_squares(one: Any, parameters: int, rows: int) -> float:
        squares, row = 0.0, addresses_at(rows)
        for _ in range(parameters):
            squares += squares_of(numbers_at(row[SLOPES], one), row[COUNT])
            row = after(row, WIDTH)
        return squares if stamp else math.nan

    @entry_point(error_model="numpy")
    def adam_step(share: Any, parameters: int, rows: int, decay: Any, rest: Any) -> int:
        row = addresses_at(rows)
        for _ in range(parameters):
            weights, slopes = numbers_at(row[WEIGHTS], share), numbers_at(row[SLOPES], share)
            moments = numbers_at(row[FIRST], share), numbers_at(row[SECOND], share)
            of, table = places_at(row[COHORT]), numbers_at(row[CORRECTIONS], share)
            which, numbers = (of, row[COHORT] != 0), (share, decay, rest)
            step_parameter(row[COUNT], weights, slopes, moments, which, table, numbers)
            row = after(row, WIDTH)
        return stamp

    return sum_squares, adam_step


sum_squares, adam_step = _entries(stamp_of("adam"))
"""Squared norm of the gradients of a table, and a step; they release the interpreter lock."""


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


class StepTable:
    """Parameters of one type and group that compiled code steps together: a row each.

    A row is the count of its numbers, and the addresses of parameter, gradient, first and second
    moments, cohorts (0: none) and corrections. A table is for one step, as gradients move.

    Args:
        dtype: Of the parameters, one of :data:`KINDS`.
        group: Settings of the optimiser.
    """

    def __init__(self, dtype: torch.dtype, group: dict[str, Any]) -> None:
        self._group, self._kind = group, KINDS[dtype]
        self._corrections: dict[tuple[int, ...], tuple[NDArray[Any], int]] = {}
        self._rows: list[tuple[int, ...]] = []

    def add(self, parameter: Tensor, gradient: Tensor, moments: Moments) -> None:
        """Add a row.

        Args:
            parameter: One that :func:`serves` says yes to.
            gradient: Shaped as it.
            moments: Its moments, which count this step already.
        """
        born = moments.step, *moments.births
        if born not in self._corrections:
            made = np.ascontiguousarray(moments.corrections(self._group), dtype=self._kind)
            self._corrections[born] = made, made.ctypes.data
        self._rows.append((
            parameter.numel(), parameter.data_ptr(), gradient.data_ptr(),
            moments.first.data_ptr(), moments.second.data_ptr(),
            address_of(moments.cohort),
            self._corrections[born][1],
        ))  # fmt: skip

    def squared_norm(self) -> float:
        """Sum of the squares of all gradients."""
        return sum_squares(self._kind(1), len(self._rows), self._table.ctypes.data)

    def step(self, share: float) -> None:
        """Move all parameters and their moments; gradients count so many times."""
        kind, (b1, b2) = self._kind, self._group["betas"]
        decay = tuple(kind(number) for number in (b1, 1 - b1, b2, 1 - b2))
        shrink = 1 - self._group["lr"] * self._group["weight_decay"]
        rest = kind(shrink), kind(self._group["eps"])
        adam_step(kind(share), len(self._rows), self._table.ctypes.data, decay, rest)

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        """The rows, once all are added."""
        return np.array(self._rows, dtype=np.int64)
