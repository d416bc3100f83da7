"""The mapping problem: the one place where a sample is evaluated and counted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cost_models import (
    Accelerator,
    Chain,
    ChainBatch,
    ChainMapping,
    CostModel,
    Infeasible,
    LowerBounds,
    MappingBatch,
    Structures,
    capabilities_of,
    check_depth,
    check_objective,
    lower_bounds_of,
)
from cost_models import Mapping as TwoLevelMapping
from layers import Layer
from maestro_env.action_space import ActionError, ActionSpace
from maestro_env.bounds import figure_bounds
from maestro_env.emptiness import why_empty
from maestro_env.evaluation import Evaluation, within_limits
from maestro_env.map_space import checked_options
from maestro_env.objective import Objective, checked_limits
from maestro_env.paper_space import check_cost_model
from maestro_env.parameters import MapSpaceError
from maestro_env.problem_parts import ProblemError, accelerator_of, cost_model_of, layer_of
from maestro_env.spaces import make_space, on_its_chip
from marl_common import FloatArray, IntArray

Hook = Callable[[IntArray, Evaluation], None]


class BudgetExhausted(Exception):  # noqa: N818 - it ends a search, it is no error
    """The budget is used up; every sample that fitted was evaluated and recorded."""


class Problem:
    """Layer, accelerator, cost model, map space and objective, with a counter of samples.

    Args:
        layer: A layer, or its name as :func:`layers.parse` takes it.
        accelerator: A chip of two levels or of any number, or a preset's name or YAML file.
        objective: See :class:`Objective`; figures are minimised.
        cost_model: A cost model or its name. A model without its guard is refused: its impossible
            points are what a search would find.
        space: A map space of this layer, its options as a dict, the name of one of the paper's
            (:data:`maestro_env.PAPER_SPACES`), or None for the default: a :class:`MapSpace`, or a
            :class:`ChainSpace` where the chip is a list of levels. With ``uneven`` or ``axis_dims``
            a chip of two levels is taken as its list of levels, with ``axis_dims=3`` where nothing
            is said of that.
        limits: Such as ``{"max_latency_cycles": 1e6}``; a mapping over a limit has the value inf.
        budget: Samples that :meth:`evaluate` may spend; None for no end.

    Attributes:
        samples: Samples evaluated so far.
        feasible_samples: How many of them had a finite value.
        best_value: Lowest value so far; inf before the first feasible sample.
        best_action: ``(P,)`` action of `best_value`, or None.
        improvements: ``(n, value)`` for every sample `n` (from 1) that lowered the best value.
        on_evaluate: Called after every batch with its recorded actions and evaluation.

    Raises:
        ProblemError: A part is of a wrong type, the cost model has no guard, or the space belongs
            to another layer.
    """

    def __init__(
        self,
        layer: Layer | str,
        accelerator: Accelerator | Chain | str = "edge",
        objective: str = "edp",
        cost_model: CostModel | str = "exact",
        space: ActionSpace | Mapping[str, Any] | str | None = None,
        limits: Mapping[str, float] | None = None,
        budget: int | None = None,
    ) -> None:
        self.layer = layer_of(layer)
        self.accelerator: Any
        self.accelerator, space = on_its_chip(accelerator_of(accelerator), space)
        self.objective = Objective.parse(objective)
        cost_model = cost_model_of(cost_model)
        if not capabilities_of(cost_model).sound:
            raise ProblemError(
                f"cost_model: {cost_model.name!r} may give impossible figures, and a search would "
                "find exactly those; load maestro with guard=True, or another model"
            )
        self.cost_model: CostModel = cost_model
        check_depth(cost_model, self.accelerator)
        self.doubts = check_objective(cost_model, self.accelerator, self.objective.figures)
        """Why a search for this objective finds little of use, one sentence each."""
        self.space: Any = self._checked_space(space)
        self.limits = checked_limits(limits, self.accelerator)
        self.on_evaluate: Hook | None = None
        self.start(budget)

    def _checked_space(self, space: ActionSpace | Mapping[str, Any] | str | None) -> ActionSpace:
        check_cost_model(space, self.cost_model.name)
        repeated = capabilities_of(self.cost_model).repeated
        if not isinstance(space, ActionSpace):
            given = {} if space is None else space
            try:
                if not isinstance(self.accelerator, Chain) and self.layer.repeats > 1:
                    given = {"repeat": repeated, **checked_options(given)}
                space = make_space(self.layer, self.accelerator, given)
            except TypeError as error:
                raise MapSpaceError(f"space: {error}") from error
        mapped = [dim for dim in repeated if dim in space.moving]
        if mapped:
            raise ProblemError(
                f"space: it maps {' and '.join(mapped)}, which cost model "
                f"{self.cost_model.name!r} only repeats the nest for; expected "
                f"MapSpace(repeat={''.join(mapped)!r})"
            )
        if space.full and "bypass" not in capabilities_of(self.cost_model).mapping_fields:
            raise ProblemError(
                f"space: full=True, but cost model {self.cost_model.name!r} understands no second "
                "parallel dimension and no bypass; leave full out, or use cost model 'exact'"
            )
        if space.layer != self.layer or not self._may_be_on(space.accelerator):
            raise ProblemError(
                f"space: it maps layer {space.layer.name!r} on {_shown(space.accelerator)}, "
                f"expected {self.layer.name!r} on at most {_shown(self.accelerator)}"
            )
        return space

    def _may_be_on(self, other: Any) -> bool:
        """Whether mappings on another chip are mappings on this one."""
        if isinstance(self.accelerator, Chain) or isinstance(other, Chain):
            return bool(other == self.accelerator)
        return bool(other.num_pes <= self.accelerator.num_pes)

    def start(
        self,
        budget: int | None = None,
        recorded: tuple[Any, Any] | None = None,
    ) -> None:
        """Begin a run: reset all counters.

        Args:
            budget: Samples of the run; None for no end.
            recorded: Actions ``(n, P)`` and values ``(n,)`` of an interrupted run of the same
                searcher, config and seed. :meth:`evaluate` answers from them, checking that the
                same actions are asked, before it calls the cost model again: so the run continues
                as if it had not been interrupted.

        Raises:
            ProblemError: The budget is no positive number, or the record has another shape.
        """
        whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
        if budget is not None and (not whole or budget < 1):
            raise ProblemError(
                f"budget: got {budget!r}, expected a whole number of at least 1, or None"
            )
        self.budget = None if budget is None else int(budget)
        self._record = self._checked_record(recorded)
        self.samples = 0
        self.feasible_samples = 0
        self.best_value = float("inf")
        self.best_action: IntArray | None = None
        self.improvements: list[tuple[int, float]] = []

    def extend(self, budget: int) -> None:
        """Let a run that has begun spend `budget` samples in all; its counters stay."""
        self.budget = int(budget)

    def _checked_record(self, recorded: tuple[Any, Any] | None) -> tuple[IntArray, FloatArray]:
        if recorded is None:
            return np.empty((0, len(self.space.nvec)), np.int64), np.empty(0)
        actions, values = self.space.check(recorded[0]), np.asarray(recorded[1], dtype=np.float64)
        if values.shape != (len(actions),):
            raise ProblemError(
                f"recorded: got {len(actions)} actions and values of shape {values.shape}, "
                f"expected ({len(actions)},)"
            )
        return actions, values

    def fork(self) -> Problem:
        """The same problem with counters of its own and no hook."""
        other = copy.copy(self)
        other.on_evaluate = None
        other.start(self.budget)
        return other

    def with_space(self, space: ActionSpace) -> Problem:
        """The same problem on another space, with counters of its own and no hook."""
        return Problem(
            self.layer,
            self.accelerator,
            self.objective.name,
            self.cost_model,
            space,
            self.limits,
            self.budget,
        )

    def why_infeasible(self) -> Infeasible | None:
        """Why no mapping is feasible, found without a sample; None: some may be."""
        return why_empty(self)

    def why_empty(self) -> str | None:
        """The same in one line."""
        found = self.why_infeasible()
        return None if found is None else f"{found.message}; {', or '.join(found.levers)}"

    @property
    def remaining(self) -> int | None:
        """Samples left; None without a budget."""
        return None if self.budget is None else self.budget - self.samples

    @cached_property
    def figure_bounds(self) -> dict[str, float]:
        """Physical lower bounds by figure, of those that have one."""
        pes = self.space.parameters[-1]
        fewest = int(pes.choices[0]) if pes.kind == "num_pes" else None
        return figure_bounds(
            self.cost_model, self.layer, self.accelerator, fewest, bypass=self.space.full
        )

    @property
    def bound(self) -> float | None:
        """Physical lower bound of the objective; None where there is none."""
        return self.objective.bound(self.figure_bounds)

    def lower_bounds_of(self, structures: Structures) -> LowerBounds | None:
        """The objective's bounds over sets of mappings of the space; None where there are none.

        Args:
            structures: The space's allocations and tiles.
        """
        return lower_bounds_of(
            self.cost_model,
            self.layer,
            self.accelerator,
            self.objective.figures,
            self.limits,
            structures,
        )

    def evaluate(self, actions: Any) -> Evaluation:
        """Evaluate and count samples.

        Args:
            actions: ``(B, P)`` integers.

        Returns:
            Values ``(B,)`` to minimise, inf = infeasible, and the costs.

        Raises:
            BudgetExhausted: Fewer than `B` samples remain; those that fit were evaluated and
                recorded. A batch that fits exactly returns; the next call raises.
            ActionError: See :meth:`MapSpace.check`.
        """
        checked = self.space.check(actions)
        if len(checked) == 0:
            raise ActionError("actions: got an empty batch, expected at least one row")
        fitting = checked if self.remaining is None else checked[: self.remaining]
        if len(fitting) == 0:
            raise BudgetExhausted(f"all {self.budget} samples are used up")
        evaluation = self._answer(fitting)
        self._count(fitting, evaluation.values)
        if self.on_evaluate is not None:
            self.on_evaluate(fitting, evaluation)
        if len(fitting) < len(checked):
            raise BudgetExhausted(f"all {self.budget} samples are used up")
        return evaluation

    def action_of(self, mapping: TwoLevelMapping | ChainMapping) -> IntArray:
        """``(1, P)``: a mapping as an action; the nearest one where the space lacks it.

        Raises:
            MappingError: The mapping is not one of the chip.
            MapSpaceError: The space has no mapping near it.
        """
        batch: Any
        if isinstance(mapping, ChainMapping):
            batch = ChainBatch.from_mappings([mapping], self.accelerator)
        else:
            batch = MappingBatch.from_mappings([mapping], self.layer.extents)
        action: IntArray = self.space.encode(batch)
        return action

    def look(self, actions: Any) -> Evaluation:
        """Evaluate without counting: for reports on results, never inside a search."""
        return self._evaluate(self.space.check(actions))

    def _evaluate(self, actions: IntArray) -> Evaluation:
        mappings = self.space.decode_checked(actions)
        costs = self.cost_model.evaluate_batch(self.layer, self.accelerator, mappings)
        values = self.objective.values(costs)
        if self.limits:
            values[~within_limits(costs, self.limits)] = np.inf
        return Evaluation(values, mappings, costs, self.limits)

    def _answer(self, actions: IntArray) -> Evaluation:
        known_actions, known_values = self._record
        known = min(len(known_values) - self.samples, len(actions))
        if known <= 0:
            return self._evaluate(actions)
        rows = slice(self.samples, self.samples + known)
        different = np.flatnonzero((known_actions[rows] != actions[:known]).any(axis=1))
        if len(different):
            raise ProblemError(
                f"recorded sample {self.samples + int(different[0]) + 1} is another action than "
                "the searcher asks for; resume with the same searcher, config, seed and versions"
            )
        values = known_values[rows]
        if known < len(actions):
            values = np.concatenate([values, self._evaluate(actions[known:]).values])
        mappings = self.space.decode_checked(actions)
        return Evaluation(
            values.copy(),
            mappings,
            lambda: self.cost_model.evaluate_batch(self.layer, self.accelerator, mappings),
            self.limits,
        )

    def _count(self, actions: IntArray, values: FloatArray) -> None:
        if values.min(initial=np.inf) < self.best_value:
            running = np.minimum.accumulate(np.concatenate([[self.best_value], values]))
            for row in np.flatnonzero(running[1:] < running[:-1]):
                self.improvements.append((self.samples + int(row) + 1, float(values[row])))
                self.best_value = float(values[row])
                self.best_action = actions[row].copy()
        self.samples += len(actions)
        self.feasible_samples += int(np.count_nonzero(np.isfinite(values)))

    def state_dict(self) -> dict[str, Any]:
        """The counters: samples, and the best of them."""
        return {
            "samples": self.samples,
            "feasible_samples": self.feasible_samples,
            "best_value": self.best_value,
            "best_action": self.best_action,
            "improvements": self.improvements,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave; budget and hook stay as they are."""
        best = state["best_action"]
        self.samples = int(state["samples"])
        self.feasible_samples = int(state["feasible_samples"])
        self.best_value = float(state["best_value"])
        self.best_action = None if best is None else np.array(best, dtype=np.int64)
        self.improvements = [(int(n), float(value)) for n, value in state["improvements"]]

    def __repr__(self) -> str:
        chip = _shown(self.accelerator)
        if isinstance(self.accelerator, Accelerator):
            chip = f"num_pes={self.accelerator.num_pes}"
        spent = f"{self.samples}" if self.budget is None else f"{self.samples} of {self.budget}"
        return (
            f"Problem({self.layer.name!r}, objective={self.objective.name!r}, "
            f"cost_model={self.cost_model.name!r}, {chip}, "
            f"space of {self.space.size:.3g}, {spent} samples)"
        )

    def describe(self) -> dict[str, Any]:
        """The definition as plain values, for a manifest."""
        return {
            "layer": self.layer.name,
            "accelerator": self.accelerator.to_dict(),
            "objective": self.objective.name,
            "cost_model": self.cost_model.name,
            "cost_model_options": dict(getattr(self.cost_model, "options", {})),
            "space": self.space.options,
            "limits": self.limits,
        }


def _shown(chip: Accelerator | Chain) -> str:
    if isinstance(chip, Chain):
        return f"{chip.name or 'a chip'} of {chip.peak_macs_per_cycle} MACs"
    return f"{chip.num_pes} PEs"
