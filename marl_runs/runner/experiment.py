"""What the runner runs: anything with a budget and a seed."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from marl_runs.json_values import plain
from marl_runs.store.records import RunIdentity

if TYPE_CHECKING:
    from marl_runs.runner.context import Context


class RunFailedError(RuntimeError):
    """An experiment that failed; the store has its traceback."""


class Experiment(ABC):
    """One experiment with one budget and one seed.

    A subclass is best a frozen dataclass of plain values: it travels to worker processes, and its
    :meth:`spec` decides which run of the store it is. Everything it does must follow from the spec,
    so that doing it again gives the same samples.

    Attributes:
        kind: Kind of experiment, such as ``"search"``; one word per class.
        continues: Whether :meth:`run` continues from files it left in ``context.folder``. Others
            are done again from the start when they were interrupted, which gives the same samples.
            Such an experiment also looks at ``context.stopping`` itself; see
            :class:`marl_runs.Autosave`.
        counts: What the budget counts, such as ``"samples"``.
        before_first: What is said while there is no best value yet.
        seed: The seed.
        budget: How much it may use, in its own unit (samples, episodes).
    """

    kind: ClassVar[str]
    continues: ClassVar[bool] = False
    counts: ClassVar[str] = "samples"
    before_first: ClassVar[str] = "nothing feasible yet"
    seed: int
    budget: int

    @property
    @abstractmethod
    def name(self) -> str:
        """What people read in progress lines and lists."""

    @abstractmethod
    def spec(self) -> Mapping[str, Any]:
        """The whole definition as JSON values; seed and budget need not be repeated."""

    @property
    def open_ended(self) -> bool:
        """Whether it seldom uses its whole budget, so that a share of it says nothing."""
        return False

    @property
    def after(self) -> Sequence[str]:
        """Keys of runs that must be over before this one begins, as it takes over from them."""
        return ()

    def prepare(self) -> None:  # noqa: B027 (an experiment may have nothing to prepare)
        """Whatever must not count as the run's time, such as compiling kernels."""

    @abstractmethod
    def run(self, context: Context) -> Mapping[str, Any]:
        """Do it; the returned JSON values are stored as its result.

        Two names in the result have a meaning to every reader of the store: ``samples`` (how much
        of the budget was used) and ``best_value`` (best objective, smaller is better).
        """

    def standing(self, best: float) -> str:
        """The best value so far as a person reads it, such as ``best 39.6 kcycles``."""
        return f"best {best:.6g}"

    def identity(self) -> RunIdentity:
        """The run of the store that this experiment is."""
        spec = plain(self.spec())
        return RunIdentity(
            key=key_of(self.kind, spec, self.seed, self.budget),
            kind=self.kind,
            name=self.name,
            seed=self.seed,
            budget=self.budget,
            spec=spec,
        )


def key_of(kind: str, spec: Mapping[str, Any], seed: int, budget: int) -> str:
    """The key of a run's definition: equal for equal runs."""
    text = json.dumps([kind, spec, seed, budget], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
