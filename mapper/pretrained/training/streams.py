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
from maestro_env import Problem
from mapper.pretrained.training.random_problems import draw

KEPT = 64
"""Shards whose problems a process keeps at hand."""


class Stream(IntEnum):
    """What a shard's random numbers are for."""

    PROBLEMS = 1
    SEARCHES = 2


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
        """The random numbers of one shard of one step."""
        return np.random.default_rng([self.seed, stream, number, shard])


def sizes(count: int, shards: int) -> list[int]:
    """Sizes of the shards of `count` problems; no shard is empty."""
    ends = [count * shard // shards for shard in range(shards + 1)]
    return [end - begin for begin, end in pairwise(ends) if end > begin]


@lru_cache(maxsize=KEPT)
def problems_of(origin: Origin, step: int, shard: int, count: int) -> list[Problem]:
    """A shard of the random problems of a step."""
    model = cost_models.load(origin.cost_model, **dict(origin.options))
    rng = origin.generator(Stream.PROBLEMS, step, shard)
    return [draw(rng, model) for _ in range(count)]
