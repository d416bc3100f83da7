"""How a search's parameters evolved: what the best mapping held at each point, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maestro_env import Problem
from mapper.clustering.assignment import Assignment
from marl_common import IntArray
from marl_runs import Store, StoredRun, panel_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Evolution:
    """The history of every parameter that has a choice.

    Args:
        names: The `P` parameters.
        agents: ``(P,)`` which agent chose each, 0 for all where one method chose them.
        steps: ``(S,)`` samples after which the columns below are taken.
        best: ``(S, P)`` choices of the best mapping so far; -1 before the first feasible one.
        typical: ``(S, P)`` mean choice of the feasible samples since the step before, as a share of
            the largest one (0 to 1); nan without any.
        settled: ``(P,)`` the sample from which on the best mapping's choice never changed again.
        values: Text of each choice, by parameter.
    """

    names: tuple[str, ...]
    agents: IntArray
    steps: IntArray
    best: IntArray
    typical: NDArray[np.float64]
    settled: IntArray
    values: tuple[tuple[str, ...], ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row a parameter: agent, the best value at each step, and when it settled."""
        order = np.lexsort((self.settled, self.agents))
        return [self._row(int(column)) for column in order]

    def _row(self, column: int) -> dict[str, Any]:
        texts = [
            "-" if choice < 0 else self.values[column][choice] for choice in self.best[:, column]
        ]
        shown = {f"@{step:,}": text for step, text in zip(self.steps, texts, strict=True)}
        return {
            "agent": int(self.agents[column]),
            "parameter": self.names[column],
            **shown,
            "settled": int(self.settled[column]),
        }


def explain(
    problem: Problem, actions: IntArray, values: NDArray[np.float64], assignment: Assignment | None
) -> Evolution:
    """The evolution of a search's parameters.

    Args:
        problem: What was searched.
        actions: ``(n, P)`` samples in order.
        values: ``(n,)`` objective values; inf where infeasible.
        assignment: Which agent owned which parameter; None for a method without agents.
    """
    parameters = problem.space.parameters
    columns = [c for c, parameter in enumerate(parameters) if len(parameter) > 1]
    names = tuple(parameters[c].name for c in columns)
    owners = {name: i for i, a in enumerate(assignment.agents) for name in a} if assignment else {}
    chosen = actions[:, columns]
    steps = np.unique(np.geomspace(min(100, len(values)), len(values), 6).round().astype(np.int64))
    holder = _holders(values)
    held = holder[steps - 1]
    best = np.where(held[:, None] >= 0, chosen[held], -1)
    return Evolution(
        names,
        np.array([owners.get(name, 0) for name in names], dtype=np.int64),
        steps,
        best,
        _typical(chosen, values, steps, problem.space.nvec[columns]),
        _settled(chosen, holder),
        tuple(tuple(str(choice) for choice in parameters[c].choices) for c in columns),
    )


def of_run(store: Store, text: str) -> tuple[StoredRun, Evolution]:
    """The evolution of a stored search.

    Raises:
        StoreError: The run is not in the store, is no search, or has no samples.
    """
    from mapper.search.problem_spec import ProblemSpec
    from mapper.search.search_run import KIND
    from marl_runs import StoreError

    run = store.run(text)
    if run.kind != KIND:
        raise StoreError(f"run {run.id}: is a {run.kind}, expected a {KIND}")
    actions, values = store.samples(run.id)
    if not len(values):
        raise StoreError(f"run {run.id}: holds no samples; search again")
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    assignment = None
    if run.spec["method"] == "marl":
        from mapper.marl.agents import resolve

        assignment = resolve(run.spec["config"]["agents"], problem)
    return run, explain(problem, actions, values, assignment)


def _holders(values: NDArray[np.float64]) -> IntArray:
    """``(n,)``: row of the best sample so far after each sample; -1 before the first feasible."""
    best = np.minimum.accumulate(values)
    new = np.concatenate([[np.isfinite(values[0])], best[1:] < best[:-1]])
    rows = np.where(new, np.arange(len(values)), -1)
    holders: IntArray = np.maximum.accumulate(rows).astype(np.int64)
    return holders


def _settled(chosen: IntArray, holder: IntArray) -> IntArray:
    """``(P,)``: the first sample since which the best mapping keeps its choice; 0 if none is."""
    if holder[-1] < 0:
        return np.zeros(chosen.shape[1], np.int64)
    rows = np.unique(holder[holder >= 0])
    same = (chosen[rows] == chosen[rows[-1]])[::-1]
    lasting = np.minimum.accumulate(same, axis=0).sum(axis=0)
    settled: IntArray = rows[len(rows) - lasting] + 1
    return settled


def _typical(
    chosen: IntArray, values: NDArray[np.float64], steps: IntArray, nvec: IntArray
) -> NDArray[np.float64]:
    share = chosen / np.maximum(nvec - 1, 1)
    result = np.full((len(steps), chosen.shape[1]), np.nan)
    for row, (begin, end) in enumerate(zip([0, *steps[:-1]], steps, strict=True)):
        feasible = np.isfinite(values[begin:end])
        if feasible.any():
            result[row] = share[begin:end][feasible].mean(axis=0)
    return result


def plot(evolutions: dict[str, Evolution]) -> Figure:
    """The typical choice of each parameter over samples, one row a parameter, a line a run."""
    names = next(iter(evolutions.values())).names
    figure, axes = panel_grid(len(names), 4, (3.0, 1.7), sharex=True)
    for place, name in enumerate(names):
        for label, evolution in evolutions.items():
            line = evolution.typical[:, evolution.names.index(name)]
            axes[place].plot(evolution.steps, line, marker=".", label=label)
        axes[place].set_title(name, fontsize=8)
        axes[place].set_xscale("log")
        axes[place].set_ylim(-0.05, 1.05)
        axes[place].tick_params(labelsize=7)
    axes[0].legend(fontsize=7)
    figure.supxlabel("samples", fontsize=9)
    figure.supylabel("mean choice, first (0) to last (1)", fontsize=9)
    return figure
