"""Running a comparison and reading its outcome."""

from __future__ import annotations

from mapper.compare.entry import boards, collect, of_stored, optima
from mapper.compare.gap_proofs import library_optima
from mapper.compare.plan import Plan
from mapper.compare.summary import TARGET, Summary
from mapper.search.search_run import KIND
from marl_runs import Reporter, RunSummary, Store, run_all


def run_plan(
    plan: Plan,
    store: Store,
    *,
    workers: int = 1,
    ray_address: str | None = None,
    reporter: Reporter | None = None,
) -> RunSummary:
    """Do every search of a plan that the store does not hold yet; see :func:`run_all`."""
    return run_all(
        list(plan.runs()), store, workers=workers, ray_address=ray_address, reporter=reporter
    )


def summarise(plan: Plan, store: Store, target: float = TARGET) -> list[Summary]:
    """The figures of a plan's searches, one summary for each board."""
    entries = collect(plan, store)
    known = library_optima(problem.to_dict() for problem in plan.problems)
    known |= optima(map(of_stored, store.runs(kind=KIND)))
    return [Summary(board, found, target, known) for board, found in boards(entries).items()]
