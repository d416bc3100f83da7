"""One search, watched and stoppable: what ``mapper search`` runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baselines import Searcher, SearchResult
from runs import StopFlag, catch_interrupt

if TYPE_CHECKING:
    from maestro_env import Problem


class Stopped(Exception):  # noqa: N818 - the person asked for it, it is no error
    """Ends a search between two batches, so that the problem's counters are whole."""


@dataclass(frozen=True)
class Outcome:
    """A finished or stopped search.

    Args:
        result: Best action and value, samples spent, improvements.
        seconds: Wall time of the search itself [s].
        feasible_share: Share of the samples that had a value, 0 to 1; 0 without samples.
        interrupted: Whether the person stopped it before its budget was spent.
    """

    result: SearchResult
    seconds: float
    feasible_share: float
    interrupted: bool


def run_search(
    problem: Problem,
    searcher: Searcher,
    budget: int,
    seed: int,
    on_batch: Callable[[Problem], None] = lambda problem: None,
) -> Outcome:
    """Run a search; the first Ctrl-C (or SIGTERM) ends it after the batch in flight.

    Args:
        problem: What is searched; its counters hold the result afterwards.
        searcher: The method.
        budget: Samples to spend at most.
        seed: Seed of the searcher.
        on_batch: Called after every batch, with the counters up to date.

    Raises:
        KeyboardInterrupt: A second Ctrl-C came before the batch in flight was over.
    """
    before = problem.on_evaluate
    begin = time.perf_counter()
    interrupted = False
    stop = StopFlag()
    with catch_interrupt(stop, lambda: None):

        def hook(actions: Any, evaluation: Any) -> None:
            if before is not None:
                before(actions, evaluation)
            on_batch(problem)
            if stop:
                raise Stopped

        problem.on_evaluate = hook
        try:
            result = searcher.search(problem, budget, seed)
        except Stopped:
            result, interrupted = SearchResult.of(problem), True
        finally:
            problem.on_evaluate = before
    share = problem.feasible_samples / problem.samples if problem.samples else 0.0
    return Outcome(result, time.perf_counter() - begin, share, interrupted)
