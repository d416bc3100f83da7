"""The interface of a searcher, what all of them share, and the registry of those installed."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from common import brief, suggest
from maestro_env import BudgetExhausted, Problem
from maestro_env.map_space import IntArray

ENTRY_POINT_GROUP = "mapper.searchers"


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
        proves_optimum: It visits the whole space if the budget allows, and refuses one too large.
        warm_up: Samples that reach every part of it which is imported or compiled late, for those
            who measure its time.
    """

    batch: bool = True
    extra: str | None = None
    max_samples: int | None = None
    guided: bool = True
    proves_optimum: bool = False
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
    """

    best_action: IntArray | None
    best_value: float
    samples: int
    improvements: tuple[tuple[int, float], ...]
    proven: bool = False

    @classmethod
    def of(cls, problem: Problem, proven: bool = False) -> SearchResult:
        """The result that a problem's counters hold."""
        best = None if problem.best_action is None else problem.best_action.copy()
        return cls(best, problem.best_value, problem.samples, tuple(problem.improvements), proven)


LARGEST_OPTION = 1e15
"""No number among a searcher's options reaches this."""


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

    def search(
        self, problem: Problem, budget: int, seed: int, recorded: tuple[Any, Any] | None = None
    ) -> SearchResult:
        """See :meth:`Searcher.search`."""
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


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a finite number"),
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
}
"""Plain types of config fields: what a value is, and what a message says."""


def check_types(config: type[Any], options: Mapping[str, Any]) -> None:
    """Check options against the plain types of a config's fields; other fields check themselves.

    Raises:
        ValueError: A value is of another type, infinite or not a number.
    """
    for field in fields(config):
        if field.name not in options or field.type not in _KINDS:
            continue
        value = options[field.name]
        kind, expected = _KINDS[str(field.type)]
        if not isinstance(value, kind) or (isinstance(value, bool) and field.type != "bool"):
            raise ValueError(f"{field.name}: got {brief(value)}, expected {expected}")
        if isinstance(value, int | float) and not abs(value) < LARGEST_OPTION:
            raise ValueError(f"{field.name}: got {brief(value)}, expected below {LARGEST_OPTION:g}")


def positive(**values: float) -> None:
    """Check config fields in a ``__post_init__``.

    Raises:
        ValueError: A value is no positive number.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{name}: got {value!r}, expected a number above 0")


def share(**values: float) -> None:
    """Check config fields that are shares or probabilities.

    Raises:
        ValueError: A value is not between 0 and 1.
    """
    for name, value in values.items():
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"{name}: got {value!r}, expected a number from 0 to 1")


def names() -> list[str]:
    """Names of the installed searchers, sorted."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def load(name: str, **config: Any) -> Searcher:
    """Load a searcher by name.

    Args:
        name: A name of :func:`names`, such as ``"ga"``.
        config: Fields of that searcher's config.

    Raises:
        SearcherError: The name is unknown, an optional dependency is missing, or the searcher does
            not take an option.
    """
    points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in points:
        hint = suggest(name, points)
        raise SearcherError(
            f"searcher {name!r} is not known; expected one of {', '.join(sorted(points))}.{hint}"
        )
    searcher: Searcher = points[name].load()(**config)
    return searcher
