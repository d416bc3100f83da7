"""Which limit leaves a box without a mapping: a buffer's capacity, or a limit of the problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from cost_models import LowerBounds, Structures, lower_bounds_of
from maestro_env import Problem
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.replay import CheckedLevel
from marl_common import IntArray

FIGURE = ("latency_cycles",)
"""What is bounded: it is finite wherever a mapping keeps the limits, unlike a product of prices."""
CAPACITY = "buffers"


class NamedLimits:
    """Bounds of a problem under one limit at a time, where no limit may be beside it.

    Args:
        problem: The problem.
        structures: Its allocations and tiles.
    """

    def __init__(self, problem: Problem, structures: Structures) -> None:
        self._problem = problem
        self._structures = structures
        self._bounds: dict[str, LowerBounds | None] = {}
        self.counts: Counter[str] = Counter()

    def check(self, level: CheckedLevel, boxes: IntArray) -> None:
        """Name the limit that rules out each of some boxes of a level.

        Raises:
            CertificateError: A box is ruled out by none.
        """
        left = boxes
        sets: dict[str, Mapping[str, float]] = {CAPACITY: {}}
        sets |= {name: {name: limit} for name, limit in self._problem.limits.items()}
        if len(sets) > 2:
            sets["limits together"] = self._problem.limits
        for name, limits in sets.items():
            bounds = self._of(name, limits)
            if bounds is None or not len(left):
                continue
            out = np.isinf(bounds.bounds(level.which[left], level.ranges[left]))
            self.counts[name] += int(out.sum())
            left = left[~out]
        if len(left):
            raise CertificateError(
                f"tree: {len(left):,} boxes are said to have no feasible mapping, but neither the "
                "buffers nor a limit of the problem rules them out; prove again"
            )

    def _of(self, name: str, limits: Mapping[str, float]) -> LowerBounds | None:
        if name not in self._bounds:
            problem = self._problem
            self._bounds[name] = lower_bounds_of(
                problem.cost_model,
                problem.layer,
                problem.accelerator,
                FIGURE,
                limits,
                self._structures,
            )
        return self._bounds[name]
