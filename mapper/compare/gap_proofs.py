"""The optima that gaps refer to: from the library, or else proven beside a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mapper.compare.entry import Optima, fingerprint
from mapper.compare.plan import Plan
from mapper.search.problem_spec import ProblemSpec
from mapper.search.search_run import SearchRun
from marl_runs import Reporter, Store, plain, run_all

BUDGET = 3_001
"""Samples of a proof: its first value, and the proven mapping."""


def library_optima(problems: Iterable[Mapping[str, Any]]) -> Optima:
    """The optima that the library has of some problems; stale entries are left out.

    Args:
        problems: As :meth:`ProblemSpec.to_dict` gives them; those that cannot be built any more are
            left out.
    """
    from baselines import OptimaError, known_optimum

    found: Optima = {}
    for data in {repr(plain(data)): data for data in problems}.values():
        try:
            known = known_optimum(ProblemSpec.from_dict(data).build())
        except (OptimaError, ValueError, KeyError, TypeError):
            continue
        if known is not None and known.proven:
            found[fingerprint(data)] = known.value
    return found


def prove_gaps(
    plan: Plan,
    store: Store,
    timeout: float,
    *,
    workers: int = 1,
    reporter: Reporter | None = None,
) -> None:
    """Prove the optimum of every problem of a plan that has bounds and is not in the library.

    The proofs are searches of the method ``optimal`` in the same store, so they resume and are made
    once.
    """
    wanted = [
        SearchRun(problem, "optimal", BUDGET, 0, {"timeout": timeout})
        for problem in _unknown(plan.problems)
    ]
    if wanted:
        run_all(wanted, store, workers=workers, reporter=reporter)


def _unknown(problems: Iterable[ProblemSpec]) -> Iterator[ProblemSpec]:
    from baselines import OptimaError, can_prove, known_optimum

    for spec in problems:
        problem = spec.build()
        if can_prove(problem) is not None:
            continue
        try:
            known = known_optimum(problem)
        except OptimaError:
            known = None
        if known is None or not known.proven:
            yield spec
