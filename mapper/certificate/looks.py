"""Mappings that the checker evaluates: those of structures, and all or random ones beside."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import cost_models
from cost_models import CostModelError
from maestro_env import Evaluation, Problem
from mapper.certificate.certificate_file import CertificateError
from marl_common import IntArray

ROUNDING = 2e-9
"""Share by which bounds and values may differ from the claim: rounding, on another machine too."""
CHUNK = 1 << 16
RANDOM = 20_000
"""Random mappings that are looked at in a space too large to enumerate."""
ENUMERATED = 10**6
"""Mappings of a space that is enumerated, at most."""
SIMULATED = 200
"""Random mappings of such a space that are executed."""
MOST_MACS = 2_000
"""MACs of a layer that is executed: some ten milliseconds a mapping."""


class Beside(NamedTuple):
    """Mappings that were looked at beside the proof.

    Args:
        enumerated: All mappings of the space; 0 where there are too many.
        random: Random mappings.
        simulated: Random mappings that cost the same in the simulator.
    """

    enumerated: int
    random: int
    simulated: int


class Looks:
    """Evaluates mappings; none may be below a claimed bound.

    Args:
        problem: The problem.
        bound: The bound; inf where no mapping is claimed to be feasible.
    """

    def __init__(self, problem: Problem, bound: float) -> None:
        self._problem, self._bound = problem, bound

    def at(self, actions: IntArray) -> None:
        """Evaluate some mappings.

        Raises:
            CertificateError: One is below the bound, or feasible where none is claimed to be.
        """
        for start in range(0, len(actions), CHUNK):
            found = self._problem.look(actions[start : start + CHUNK])
            least = float(found.values.min())
            if least < self._bound * (1 - ROUNDING):
                raise CertificateError(
                    f"bound: a mapping of the space has the value {least:.9g}, below the claimed "
                    f"bound of {self._bound:.9g}"
                )
            if math.isinf(self._bound) and self._is_any_feasible(found):
                raise CertificateError("bound: a mapping of the space is feasible")

    def _is_any_feasible(self, found: Evaluation) -> bool:
        """Whether a mapping fits and keeps the limits, by true figures: a product may overflow."""
        left = found.costs.feasible
        for name, limit in self._problem.limits.items():
            figure = found.costs.column(name.removeprefix("max_"))
            left = left & ~(np.isfinite(figure) & (figure > limit))
        return bool(left.any())

    def beside(self) -> Beside:
        """Look at all mappings of a small space, and at some in the simulator; else at random ones.

        Raises:
            CertificateError: As :meth:`at`, or the simulator's value is another.
        """
        space = self._problem.space
        if space.size > ENUMERATED:
            self.at(space.sample(RANDOM, 0))
            return Beside(0, RANDOM, 0)
        for start in range(0, space.size, CHUNK):
            numbers = np.arange(start, min(start + CHUNK, space.size))
            picks = np.unravel_index(numbers, tuple(int(n) for n in space.nvec))
            self.at(np.stack(picks, axis=1).astype(np.int64))
        return Beside(space.size, 0, self._simulate())

    def _simulate(self) -> int:
        """Execute random mappings; returns how many: none of a large layer."""
        problem = self._problem
        if problem.layer.macs > MOST_MACS:
            return 0
        options = getattr(problem.cost_model, "options", {})
        plain, truth = (
            Problem(problem.layer, problem.accelerator, problem.objective.name, model,
                    problem.space.options)
            for model in (problem.cost_model, cost_models.load("simulator", **options))
        )  # fmt: skip
        actions = problem.space.sample(SIMULATED, 1)
        count = 0
        for action, value in zip(actions, plain.look(actions).values.tolist(), strict=True):
            try:
                executed = float(truth.look(action[None]).values[0])
            except CostModelError:  # too many steps to walk
                continue
            if executed != value and not math.isclose(executed, value, rel_tol=ROUNDING):
                raise CertificateError(
                    f"value: the model gives a mapping {value:.9g}, its execution {executed:.9g}"
                )
            count += 1
        return count
