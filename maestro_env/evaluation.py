"""What an evaluation of actions returns: values, costs, and why rows are infeasible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import CostBatch, Infeasible, ReasonCode
from maestro_env.objective import beyond, unit_of
from marl_common import FloatArray


class Evaluation:
    """Results of `B` actions.

    Args:
        values: ``(B,)`` objective values to minimise; inf where infeasible or over a limit.
        mappings: The `B` mappings, a :class:`MappingBatch`; of a chain a :class:`ChainBatch`.
        costs: The `B` costs, or a function that computes them when they are asked for.
        limits: The problem's limits, ``max_`` and a figure.
    """

    def __init__(
        self,
        values: FloatArray,
        mappings: Any,
        costs: CostBatch | Callable[[], CostBatch],
        limits: Mapping[str, float],
    ) -> None:
        self.values = values
        self.mappings = mappings
        self._costs = costs
        self._limits = limits

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def costs(self) -> CostBatch:
        """The costs; figures of rows over a limit are there, those of infeasible rows are inf."""
        return self._costs() if callable(self._costs) else self._costs

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """``(B,)`` bool: has a cost, and is within all limits."""
        return np.isfinite(self.values)

    @property
    def reason(self) -> NDArray[np.int8]:
        """``(B,)`` :class:`ReasonCode`: the cost model's, or ``LIMIT``."""
        reason = self.costs.reason.copy()
        reason[(reason == 0) & ~self.feasible] = ReasonCode.LIMIT
        return reason

    def infeasible(self, row: int) -> Infeasible | None:
        """Why a row has no value; None where it has one."""
        if self.costs.reason[row] != 0:
            return self.costs[row].infeasible
        for name, limit in self._limits.items():
            figure = name.removeprefix("max_")
            demand = float(self.costs.column(figure)[row])
            if demand > limit:
                unit = unit_of(figure)
                said = f"{figure} is {demand:.6g} {unit}, the problem's limit {limit:.6g}"
                return beyond(name, demand, limit, said, (f"raise {name} to {demand:.6g}",))
        return None


def within_limits(costs: CostBatch, limits: Mapping[str, float]) -> NDArray[np.bool_]:
    """``(B,)`` bool: whether every limited figure stays below its limit."""
    within = np.ones(len(costs), dtype=np.bool_)
    for name, limit in limits.items():
        within &= costs.column(name.removeprefix("max_")) <= limit
    return within
