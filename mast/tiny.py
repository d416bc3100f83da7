"""Tiny networks: dense ones whose training costs what a sparse one's does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np

from marl_common import FloatArray
from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.errors import MastError
from mast.flops import layer_costs, run_cost, sparse_counterpart
from mast.widths import NetworkWidths

CLOSE = 0.02
"""Share by which the operations of training may differ."""
STEPS = 300_000
"""Steps of the run that is counted; topology steps are a share of it that hardly varies."""
_NEAR = 3  # how far widths may be from those that suit one network by itself
_UNLIKE = 0.1  # what a width that is out of proportion counts against a cost that is


def widths_of(config: MastConfig, shape: TaskShape) -> NetworkWidths:
    """Widths of a configuration's networks: its own, or those of the tiny one of equal cost.

    Raises:
        MastError: No dense network is as small as that.
    """
    if not config.targets.kind.tiny:
        return NetworkWidths.of(config)
    return _tiny(replace(config, backend="masked", arm="tiny", without=()), shape)


@lru_cache(maxsize=64)
def _tiny(config: MastConfig, shape: TaskShape) -> NetworkWidths:
    """Agents and mixer each near their share of the cost, both together within `CLOSE` of it."""
    sparse, whole = sparse_counterpart(config), NetworkWidths.of(config)
    aim = run_cost(sparse, shape, STEPS).training.theoretical.total
    shares = np.array(_by_network(sparse, shape, whole), dtype=np.float64)
    updates = run_cost(config, shape, STEPS).training.theoretical.total / sum(
        _by_network(config, shape, whole)
    )
    shares *= aim / updates / shares.sum()
    agents = _candidates(config, shape, 0, float(shares[0]))
    mixers = _candidates(config, shape, 1, float(shares[1]))
    costs = _costs(config, shape, 0, agents), _costs(config, shape, 1, mixers)
    total = costs[0][:, None] + costs[1]
    ratio = config.hyper_width / config.mixer_width
    off = _off(costs[0], shares[0], [w.hidden / w.second for w in agents])[:, None]
    off = off + _off(costs[1], shares[1], [w.hyper / w.mixer / ratio for w in mixers])
    off[abs(total * updates / aim - 1) > CLOSE] = np.inf
    best = np.unravel_index(int(off.argmin()), off.shape)
    if not np.isfinite(off[best]):
        raise MastError(
            f"sparsity={config.sparsity}: no dense network of whole widths costs within "
            f"{CLOSE:.0%} of the sparse one's training; lower the sparsity or raise the widths."
        )
    one, other = agents[int(best[0])], mixers[int(best[1])]
    return replace(other, hidden=one.hidden, second=one.second)


def _candidates(
    config: MastConfig, shape: TaskShape, place: int, share: float
) -> list[NetworkWidths]:
    """Widths of the agents (0) or the mixer (1) around those in proportion that cost the share."""
    lowest = NetworkWidths(1, 1, 1, 1)
    if share == 0:
        return [lowest]
    if place == 0:
        one, other, widest, ratio = "hidden", "second", config.hidden, 1.0
    else:
        one, other, widest = "hyper", "mixer", config.hyper_width
        ratio = config.mixer_width / widest

    def made(pairs: Iterable[tuple[int, int]]) -> list[NetworkWidths]:
        return [replace(lowest, **{one: a, other: b}) for a, b in pairs if min(a, b) > 0]

    line = made((y, max(1, round(y * ratio))) for y in range(1, widest + 1))
    near = line[int(abs(np.log(_costs(config, shape, place, line) / share)).argmin())]
    first, second = (
        range(getattr(near, name) - _NEAR, getattr(near, name) + _NEAR + 1) for name in (one, other)
    )
    return made(product(first, second))


def _off(costs: FloatArray, share: float, ratios: Sequence[float]) -> FloatArray:
    """How far costs are from a share of the whole, and a little of how odd the widths' ratios."""
    if share == 0:
        return np.zeros(len(costs))
    return np.asarray(abs(np.log(costs / share)) + _UNLIKE * abs(np.log(ratios)))


def _costs(
    config: MastConfig, shape: TaskShape, place: int, widths: Sequence[NetworkWidths]
) -> FloatArray:
    return np.array([_by_network(config, shape, w)[place] for w in widths], dtype=np.float64)


def _by_network(config: MastConfig, shape: TaskShape, widths: NetworkWidths) -> tuple[int, int]:
    """Operations of an update of the agents, and of the mixers."""
    parts = [0, 0]
    for name, layer in layer_costs(config, shape, widths).items():
        place = 0 if name.partition(".")[0].endswith("agents") else 1
        parts[place] += layer.update().theoretical.total
    return parts[0], parts[1]
