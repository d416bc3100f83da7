"""How the sampling of one training is split into shards, whoever does them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

import cost_models
from cost_models import CostModel
from mapper.pretrained.training.sampling import Batch

KEPT = 64
"""Batches a process keeps at hand: making one costs as much as a step on it."""


class Stream(IntEnum):
    """What a shard's random numbers are for."""

    PROBLEMS = 1
    PROPOSALS = 2
    SEARCHES = 3
    BETTERING = 4


@dataclass(frozen=True)
class Origin:
    """What all random numbers and prices of a training follow from.

    So a shard is the same in whatever process it is done.

    Args:
        seed: The training's.
        cost_model: Name of the cost model.
        options: Its options.
    """

    seed: int
    cost_model: str
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, model: CostModel, seed: int) -> Origin:
        """Of a training with this cost model."""
        options: dict[str, Any] = getattr(model, "options", {})
        return cls(seed, model.name, tuple(sorted(options.items())))

    def generator(self, stream: Stream, number: int, shard: int) -> np.random.Generator:
        """The random numbers of one shard of one step (or block of problems)."""
        return np.random.default_rng([self.seed, stream, number, shard])

    def model(self) -> CostModel:
        """The cost model, made once a process."""
        return _model(self.cost_model, self.options)


def sizes(count: int, shards: int) -> list[tuple[int, int]]:
    """Number and size of the shards of `count` problems, but for empty ones."""
    ends = [count * shard // shards for shard in range(shards + 1)]
    found = [(shard, end - begin) for shard, (begin, end) in enumerate(pairwise(ends))]
    return [(shard, size) for shard, size in found if size]


@lru_cache(maxsize=KEPT)
def block_of(origin: Origin, number: int, shard: int, count: int) -> Batch:
    """A shard of a block of random problems."""
    return Batch.random(count, origin.model(), origin.generator(Stream.PROBLEMS, number, shard))


@lru_cache(maxsize=4)
def _model(name: str, options: tuple[tuple[str, Any], ...]) -> CostModel:
    return cost_models.load(name, **dict(options))
