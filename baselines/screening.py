"""Screening: a surrogate picks, of many candidates, the few that are worth a sample."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from baselines.dedup import Dedup
from baselines.extras import require
from baselines.features import nest_features
from baselines.torch_threads import one_thread
from cost_models import ChainBatch, MappingBatch
from maestro_env import Problem
from marl_common import FloatArray, IntArray

if TYPE_CHECKING:
    from baselines.surrogate import Surrogate


class Screening:
    """The surrogate of one search, and when it is asked.

    Args:
        problem: What is searched.
        dedup: What was asked for; picks become known to it.
        samples: Samples after which screening ends.
        repeats: Whether mappings that were asked for before may be picked.
    """

    SAMPLES = 2_000
    START = 64
    """Random mappings of the first population of a search that screens."""
    PICKED = 4
    """Samples a call while it screens: few, so that it learns soon."""
    CANDIDATES = 64
    """Candidates of which they are picked."""

    def __init__(
        self, problem: Problem, dedup: Dedup, samples: int = SAMPLES, repeats: bool = False
    ) -> None:
        from baselines.surrogate import Surrogate

        self.problem, self.dedup = problem, dedup
        self.samples, self.repeats = samples, repeats
        any_mapping = problem.space.decode(np.zeros((1, len(problem.space.nvec)), np.int64))
        self.surrogate: Surrogate = Surrogate(nest_features(problem, any_mapping).shape[1])

    @property
    def learns(self) -> bool:
        """Whether it still takes samples."""
        return self.surrogate.taken < self.samples

    @property
    def ready(self) -> bool:
        """Whether it can pick now."""
        return self.learns and self.surrogate.ready

    def learn(self, mappings: MappingBatch | ChainBatch, values: FloatArray) -> None:
        """Take `B` mappings and their ``(B,)`` values, as long as it learns."""
        if self.learns:
            self.surrogate.add(nest_features(self.problem, mappings), values)

    def pick(self, mappings: MappingBatch | ChainBatch, rng: np.random.Generator) -> IntArray:
        """``(PICKED,)`` rows of `B` candidates; none where too few of them are new."""
        rows = self.dedup.distinct(mappings, self.repeats)
        if len(rows) < self.PICKED:
            return rows[:0]
        features = nest_features(self.problem, mappings.take(rows))
        picked = rows[self.surrogate.pick(features, self.PICKED, rng)]
        self.dedup.known.update(self.dedup.nests(mappings.take(picked)))
        return picked


@contextmanager
def screening_of(
    problem: Problem, dedup: Dedup, searcher: str, screened: bool
) -> Iterator[Screening | None]:
    """The screening of a searcher that has the option `screened`; None where it is not set.

    Raises:
        SearcherError: It is set, and torch is not installed.
    """
    if not screened:
        yield None
        return
    require("torch", f"{searcher}:screened=true", "rl")
    with one_thread():
        yield Screening(problem, dedup)
