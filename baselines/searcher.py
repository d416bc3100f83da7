"""The interface of a searcher, and what all of them share."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from baselines.checks import check_types
from cost_models import Chain, Cost
from maestro_env import BudgetExhausted, Problem
from marl_common import IntArray, html_table, suggest

if TYPE_CHECKING:
    from baselines.optimal.proof import Proof


class SearcherError(ValueError):
    """A searcher that is not known or installed, or a config that it does not take."""


@dataclass(frozen=True)
class Capabilities:
    """What a searcher can do.

    Args:
        batch: It evaluates many samples a call; otherwise one at a time.
        extra: The optional dependencies it needs (``pip install 'marl-mapper[bo]'``), or None.
        max_samples: Samples after which it stops by itself, its own cost growing too fast; or None.
        guided: Its samples depend on the values of earlier ones.
        fixed: It tries a few mappings of its own making, whatever the budget, and stops.
        proves_optimum: It can prove that its best value is the optimum of the space.
        enumerates: It visits the whole space, which may take hundreds of millions of samples, and
            refuses one too large.
        on_request: It takes minutes where the others take seconds: a comparison of all searchers
            leaves it out unless it is named.
        any_depth: It takes chips that are a list of levels; otherwise those of L2 and L1 alone.
        warm_up: Samples that reach every part of it which is imported late, for those who measure
            its time.
    """

    batch: bool = True
    extra: str | None = None
    max_samples: int | None = None
    guided: bool = True
    fixed: bool = False
    proves_optimum: bool = False
    on_request: bool = False
    enumerates: bool = False
    any_depth: bool = True
    warm_up: int = 300


@dataclass(frozen=True)
class SearchResult:
    """The end of one search.

    Args:
        best_action: ``(P,)`` action of the lowest value; None if no sample was feasible.
        best_value: Lowest value, in the objective's unit; inf if no sample was feasible.
        samples: Samples spent.
        improvements: ``(n, value)`` for every sample `n` (from 1) that lowered the best value.
        proven: Whether the whole space was searched, so that `best_value` is its optimum.
        mapping: The mapping of `best_action`, a :class:`Mapping` or of a chain a
            :class:`ChainMapping`; None if a searcher does not give it.
        cost: Its cost; None likewise.
        bound: No mapping of the space has a lower value, in the objective's unit; None where
            nothing is known.
        proof: What a proof of the whole space found; None where none was tried.
    """

    best_action: IntArray | None
    best_value: float
    samples: int
    improvements: tuple[tuple[int, float], ...]
    proven: bool = False
    mapping: Any = None
    cost: Cost | None = None
    bound: float | None = None
    proof: Proof | None = None

    @property
    def gap(self) -> float | None:
        """How far above the optimum `best_value` may be, as a share; 0 where it is proven."""
        if self.proven and math.isfinite(self.best_value):
            return 0.0
        if self.bound is None or not self.bound > 0 or not math.isfinite(self.best_value):
            return None
        return self.best_value / self.bound - 1.0

    def _repr_html_(self) -> str:
        known = "not known" if self.gap is None else f"{self.gap:.2%}"
        rows = [
            ("best value", f"{self.best_value:.6g}"),
            ("bound", "not known" if self.bound is None else f"{self.bound:.6g}"),
            ("gap to the optimum", "0 (proven optimal)" if self.gap == 0 else known),
            ("samples", f"{self.samples:,}"),
        ]
        parts = [html_table((), rows)]
        for part in (self.cost, self.mapping):
            shown = getattr(part, "_repr_html_", None)
            parts += [shown()] if shown else []
        return "".join(parts)

    @classmethod
    def of(
        cls,
        problem: Problem,
        proven: bool = False,
        bound: float | None = None,
        proof: Proof | None = None,
    ) -> SearchResult:
        """The result that a problem's counters hold.

        Args:
            problem: What was searched.
            proven: Whether its best value is the optimum.
            bound: A lower bound that the search proved; otherwise the physical one is given, or
                the value itself where it is proven.
            proof: The proof, where one was tried.
        """
        if bound is None:
            bound = problem.best_value if proven else problem.bound
        counted = problem.best_value, problem.samples, tuple(problem.improvements), proven
        if problem.best_action is None:
            return cls(None, *counted, bound=bound, proof=proof)
        best = problem.best_action.copy()
        found = problem.look(best[None])
        return cls(best, *counted, found.mappings[0], found.costs[0], bound, proof)


@runtime_checkable
class Searcher(Protocol):
    """What every searcher offers; one object may run many searches, one after another."""

    name: str
    capabilities: Capabilities

    @property
    def config(self) -> Any:
        """The frozen dataclass of its options."""

    def search(
        self, problem: Problem, budget: int, seed: int, recorded: tuple[Any, Any] | None = None
    ) -> SearchResult:
        """Minimise a problem's objective.

        Args:
            problem: Its counters are reset, and hold the same result afterwards.
            budget: Samples to spend at most.
            seed: The same seed asks for the same samples, in any process.
            recorded: Actions and values of an interrupted run, see :meth:`Problem.start`.
        """


class BaseSearcher(ABC):
    """A searcher as a plain loop: subclasses write :meth:`_run` without a word about budgets.

    Args:
        options: Fields of the searcher's config.

    Raises:
        SearcherError: An option is unknown or has an illegal value.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    """Where the method is described."""
    Config: ClassVar[type[Any]]
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, **options: Any) -> None:
        known = [field.name for field in fields(self.Config)]
        for option in options:
            if option not in known:
                hint = suggest(option, known)
                raise SearcherError(
                    f"searcher {self.name!r}: unknown option {option!r}; "
                    f"expected one of {', '.join(known) or 'none'}.{hint}"
                )
        try:
            check_types(self.Config, options)
            self.config = self.Config(**options)
        except (TypeError, ValueError) as error:
            raise SearcherError(f"searcher {self.name!r}: {error}") from error

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in asdict(self.config).items())
        return f"{type(self).__name__}({options})"

    def doubts(self, problem: Problem) -> Sequence[str]:
        """What the user should know before this search of a problem, a sentence each.

        Raises:
            SearcherError: The searcher does not take such a chip.
        """
        self.check_depth(problem)
        return ()

    def check_depth(self, problem: Problem) -> None:
        """Find out whether the searcher takes a problem's chip.

        Raises:
            SearcherError: It is a list of levels, and the searcher knows L2 and L1 alone.
        """
        if isinstance(problem.accelerator, Chain) and not self.capabilities.any_depth:
            raise SearcherError(
                f"searcher {self.name!r}: takes chips of two levels, L2 and L1, but the "
                "accelerator is a list of levels; use another method, such as ga or marl"
            )

    def search(
        self, problem: Problem, budget: int, seed: int, recorded: tuple[Any, Any] | None = None
    ) -> SearchResult:
        """See :meth:`Searcher.search`.

        Raises:
            SearcherError: The searcher does not take such a chip.
        """
        self.check_depth(problem)
        cap = self.capabilities.max_samples
        problem.start(budget if cap is None else min(budget, cap), recorded)
        ended = False
        with contextlib.suppress(BudgetExhausted):
            self._run(problem, np.random.default_rng(seed))
            ended = True
        return SearchResult.of(problem, proven=ended and self.capabilities.proves_optimum)

    @abstractmethod
    def _run(self, problem: Problem, rng: np.random.Generator) -> None:
        """Ask `problem` for samples until it raises BudgetExhausted, or until done."""
