"""What a step of some worlds gave: values, costs, reasons and mappings, world by world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Cost, Infeasible, ReasonCode
from maestro_env.evaluation import Evaluation
from marl_common import FloatArray, IntArray

ALL = slice(None)


class StepResult:
    """What a step of some worlds gave, one row a world.

    Args:
        size: How many worlds stepped.
        parts: The evaluations of worlds that share a layer, with their rows; `ALL` where there is
            one layer only.
    """

    def __init__(self, size: int, parts: Sequence[tuple[IntArray | slice, Evaluation]]) -> None:
        self._size = size
        self._parts = parts

    def __len__(self) -> int:
        return self._size

    def _gather(self, arrays: list[NDArray[Any]]) -> NDArray[Any]:
        if len(arrays) == 1:
            return arrays[0]
        joined = np.empty(self._size, dtype=arrays[0].dtype)
        for (rows, _), array in zip(self._parts, arrays, strict=True):
            joined[rows] = array
        return joined

    @property
    def values(self) -> FloatArray:
        """Objective values; inf = infeasible."""
        return self._gather([evaluation.values for _, evaluation in self._parts])

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether each world's mapping has a value."""
        return np.isfinite(self.values)

    @property
    def reason(self) -> NDArray[np.int8]:
        """:class:`ReasonCode` of every world; 0 = feasible."""
        return self._gather([evaluation.reason for _, evaluation in self._parts])

    def figure(self, name: str) -> FloatArray:
        """A figure of the costs, by its name in `FIGURES`."""
        return self._gather([evaluation.costs.figures[name] for _, evaluation in self._parts])

    def cost(self, row: int) -> Cost:
        """The cost of one world's mapping, which is worked out when a field of it is read."""
        return Cost.later(lambda _: vars(self._cost(row)))

    def infeasible(self, row: int, code: ReasonCode | None = None) -> Infeasible | None:
        """Why one world's mapping has no value, which is written when it is read.

        Args:
            row: The world's row.
            code: Its :attr:`reason`, where that is known.
        """
        if code is None:
            code = ReasonCode(int(self.reason[row]))
        if code is ReasonCode.FEASIBLE:
            return None
        return Infeasible.when_asked(code, lambda: self._infeasible(row))

    def _cost(self, row: int) -> Cost:
        evaluation, place = self._find(row)
        return evaluation.costs[place]

    def _infeasible(self, row: int) -> Infeasible:
        evaluation, place = self._find(row)
        report = evaluation.infeasible(place)
        assert report is not None
        return report

    def mapping(self, row: int) -> Any:
        """The mapping of one world, a :class:`Mapping`; of a chain a :class:`ChainMapping`."""
        evaluation, place = self._find(row)
        return evaluation.mappings[place]

    def _find(self, row: int) -> tuple[Evaluation, int]:
        for rows, evaluation in self._parts:
            if isinstance(rows, slice):
                return evaluation, row
            place = np.flatnonzero(rows == row)
            if len(place):
                return evaluation, int(place[0])
        raise IndexError(f"row {row} of an outcome of {self._size} worlds")
