"""What looks on while a problem is searched: a callback, and ends other than the budget's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real

from maestro_env import BudgetExhausted, Evaluation, Problem
from marl_common import IntArray, brief

OnBatch = Callable[[Problem], object]
"""Called with the problem after every batch of samples; what it raises ends the search."""


class WatchError(ValueError):
    """A patience or a timeout that makes no sense."""


@dataclass(frozen=True)
class Ends:
    """Ends of a search other than its budget's, each as if the budget were spent.

    Args:
        patience: Samples in a row without a lower value; None for no such end.
        timeout: Wall time of the search [s]; None likewise.

    Raises:
        WatchError: One of them is no positive number, or the patience is not whole.
    """

    patience: int | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        patience, timeout = self.patience, self.timeout
        if patience is not None and not (_is(patience, Integral) and patience >= 1):
            raise WatchError(
                f"patience: got {brief(patience)}, expected a whole number of samples, at least 1"
            )
        if timeout is not None and not (_is(timeout, Real) and 0 < timeout < float("inf")):
            raise WatchError(f"timeout: got {brief(timeout)}, expected a number of seconds above 0")


def _is(value: object, kind: type) -> bool:
    """Whether a value is a number of a kind, NumPy's too; True is none."""
    return isinstance(value, kind) and not isinstance(value, bool)


@contextmanager
def watched(problem: Problem, ends: Ends, on_batch: OnBatch | None = None) -> Iterator[None]:
    """Look on while the problem is searched; a hook that it has already is called first.

    Args:
        problem: What will be searched.
        ends: When the search ends before its budget is spent.
        on_batch: See :data:`OnBatch`.
    """
    hook, began = problem.on_evaluate, time.perf_counter()

    def look(actions: IntArray, evaluation: Evaluation) -> None:
        if hook is not None:
            hook(actions, evaluation)
        if on_batch is not None:
            on_batch(problem)
        if ends.timeout is not None and time.perf_counter() - began >= ends.timeout:
            raise BudgetExhausted(f"{ends.timeout:g} s are over")
        last = problem.improvements[-1][0] if problem.improvements else 0
        if ends.patience is not None and problem.samples - last >= ends.patience:
            raise BudgetExhausted(f"nothing better in {ends.patience:,} samples")

    problem.on_evaluate = look
    try:
        yield
    finally:
        problem.on_evaluate = hook
