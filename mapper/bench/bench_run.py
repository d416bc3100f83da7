"""One search of ``mapper bench``, audited: what it evaluates, spends and returns is compared."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import baselines
from cost_models import Chain, load_chip
from layers import get
from maestro_env import BenchProblem, Problem, bench_problems
from mapper.search.search_run import SearchRun
from marl_common import brief
from marl_runs import Context, Experiment

if TYPE_CHECKING:
    from baselines import Searcher, SearchResult

SPARE = 10
"""Mappings that a searcher may look at beyond its samples, such as its result."""


class BenchError(ValueError):
    """A searcher that breaks the rules, or a result file that cannot be read."""


@dataclass(frozen=True)
class BenchRun(Experiment):
    """One searcher on one problem of the list.

    Args:
        number: The problem's number.
        method: Name of the searcher, or ``module:Class``.
        budget: Samples it may spend.
        seed: Its seed.
        options: Options that are not its defaults.
    """

    kind: ClassVar[str] = "bench"
    number: int
    method: str
    budget: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def case(self) -> BenchProblem:
        """The problem."""
        return bench_problems()[self.number - 1]

    @property
    def search(self) -> SearchRun:
        """The search without its audit."""
        from mapper.search.problem_spec import ProblemSpec

        case = self.case
        chip = load_chip(case.accelerator)
        spec = ProblemSpec(get(case.layer), case.layer, chip, case.accelerator, case.objective)
        return SearchRun(spec, self.method, self.budget, self.seed, self.options)

    @property
    def name(self) -> str:
        """Such as ``ga on mobilenetv2.2, edp, edge, 100 samples, seed 3``."""
        case = self.case
        where = f"{case.layer}, {case.objective}, {case.accelerator}"
        return f"{self.search.label} on {where}, {self.budget:,} samples, seed {self.seed}"

    def spec(self) -> dict[str, Any]:
        """See :class:`Experiment`."""
        search = self.search
        return {
            "problem": self.number,
            "optimum": self.case.optimum,
            "label": search.label,
            "config": search.config,
        }

    def prepare(self) -> None:
        """See :class:`Experiment`."""
        self.search.prepare()

    def run(self, context: Context) -> dict[str, Any]:
        """See :class:`Experiment`, and :meth:`found`."""
        return self.found()

    def found(self) -> dict[str, Any]:
        """Search, and check what the searcher says.

        Raises:
            BenchError: It returns a value that none of its samples has, or evaluates more mappings
                than it may.
        """
        problem = self.case.build()
        searcher = baselines.load(self.method, **self.options)
        if isinstance(problem.accelerator, Chain) and not searcher.capabilities.any_depth:
            return {"samples": 0, "best_value": None, "best_action": None, "search_cpu_s": 0.0}
        return audited(searcher, problem, self.budget, self.seed)


def audited(searcher: Searcher, problem: Problem, budget: int, seed: int) -> dict[str, Any]:
    """Search a problem, counting every mapping that its cost model is asked for.

    Raises:
        BenchError: See :meth:`BenchRun.found`.
    """
    asked = 0
    model = copy.copy(problem.cost_model)
    evaluate_batch = model.evaluate_batch

    def counted(layer: Any, chip: Any, mappings: Any) -> Any:
        nonlocal asked
        asked += len(mappings)
        return evaluate_batch(layer, chip, mappings)

    vars(model)["evaluate_batch"] = counted  # of this copy alone
    fresh, problem.cost_model = problem.fork(), model
    began = time.process_time()
    found = searcher.search(problem, budget, seed)
    seconds = time.process_time() - began
    spent = max(problem.samples, asked - SPARE)
    if spent > budget:
        raise BenchError(
            f"it evaluated {spent:,} mappings, expected at most {budget:,}, its budget"
        )
    _check_best(found, problem, fresh)
    return {
        "samples": problem.samples,
        "best_value": None if found.best_action is None else float(found.best_value),
        "best_action": None if found.best_action is None else found.best_action.tolist(),
        "search_cpu_s": seconds,
    }


def _check_best(found: SearchResult, problem: Problem, fresh: Problem) -> None:
    """Compare what a search returns with the best of its samples, and with that mapping's value.

    Raises:
        BenchError: They differ.
    """
    best = float("inf") if found.best_action is None else float(found.best_value)
    if best != problem.best_value:
        raise BenchError(
            f"it returned the value {brief(found.best_value)}, but the best of its "
            f"{problem.samples:,} samples is {problem.best_value:.9g}"
        )
    if found.best_action is not None:
        again = float(fresh.look(found.best_action[None]).values[0])
        if again != best:
            raise BenchError(f"it returned the value {best:.9g}, but its mapping has {again:.9g}")
