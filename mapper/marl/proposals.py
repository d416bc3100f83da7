"""Worlds: where agents start from, who of them acts, and what they choose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines import Moves, inner_tiles, scattered
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites
from mapper.marl.policies import Mixture, Policies, Space
from marl_common import IntArray


class Choices(NamedTuple):
    """What the agents chose in `B` worlds, before anything is evaluated.

    Args:
        observation: ``(B, I)`` float32.
        current: ``(B, P)`` choices the world started from.
        chosen: ``(B, P)`` choices as the agents left them.
        acting: ``(B, P)`` bool, parameters that an agent chose anew.
        free: ``(B,)`` bool, worlds without an elite, where every agent chose by policy alone.
        parent: ``(B,)`` value of the elite a world started from; nan in free worlds.
    """

    observation: NDArray[np.float32]
    current: IntArray
    chosen: IntArray
    acting: NDArray[np.bool_]
    free: NDArray[np.bool_]
    parent: NDArray[np.float64]

    def rows(self, keep: NDArray[np.bool_] | IntArray) -> Choices:
        """Only some worlds: ``(B,)`` bool, or their indices."""
        fields: tuple[Any, ...] = self
        return Choices(*(field[keep] for field in fields))

    @classmethod
    def join(cls, parts: list[Choices]) -> Choices:
        """Concatenate."""
        return cls(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


class Proposals:
    """Draws the agents' choices, batched over worlds.

    Args:
        space: Parameters with a choice.
        moves: Moves of the map space (for exchanges); columns as `columns` says.
        columns: ``(P,)`` column of each parameter in an action.
        mixture: What acting agents draw from.
        config: Shares of each kind of world.
    """

    def __init__(
        self, space: Space, moves: Moves, columns: IntArray, mixture: Mixture, config: MarlConfig
    ) -> None:
        self.space, self.moves, self.columns = space, moves, columns
        self.mixture, self.config = mixture, config
        self.inner_tiles = np.flatnonzero(np.isin(columns, inner_tiles(moves.space)))

    def from_elites(
        self, policies: Policies, elites: Elites, count: int, rng: np.random.Generator
    ) -> Choices:
        """Worlds that start from an elite or a mix of two; a few parameters are chosen anew.

        In some worlds the start has two choices exchanged, before the agents see it.
        """
        config, width = self.config, len(self.space.nvec)
        parents = elites.parents(count, config.greed, rng)
        mixed = self._mixed(elites, parents, rng)
        alone = (mixed == elites.actions[parents]).all(axis=1)
        current = self._exchanged(mixed, rng)
        observation = policies.observe(elites.figures[parents], current)
        wanted = rng.poisson(config.acting, count)
        wanted = np.where(alone, np.maximum(wanted, 1), wanted)
        acting = rng.random((count, width)).argsort(axis=1).argsort(axis=1) < wanted[:, None]
        chosen = self.mixture.draw(policies, observation, current, acting, rng)
        return Choices(
            observation,
            current,
            chosen,
            acting,
            np.zeros(count, dtype=np.bool_),
            elites.values[parents],
        )

    def free(
        self,
        policies: Policies,
        figures: NDArray[np.float32],
        count: int,
        rng: np.random.Generator,
    ) -> Choices:
        """Worlds in which every agent chooses all its parameters by its policy.

        Args:
            policies: The agents' networks.
            figures: ``(count, OBSERVATION)`` what they observe.
            count: Worlds.
            rng: Randomness.
        """
        current = np.zeros((count, len(self.space.nvec)), np.int64)
        acting = np.ones(current.shape, dtype=np.bool_)
        seen = policies.observe(figures, None)
        drawn = self.mixture.draw(policies, seen, current, acting, rng, free=True)
        return Choices(
            seen,
            current,
            drawn,
            acting,
            np.ones(count, dtype=np.bool_),
            np.full(count, np.nan),
        )

    def scattered(self, policies: Policies, count: int, rng: np.random.Generator) -> Choices:
        """Random mappings; no agent acts, so none learns from them.

        See :func:`baselines.initial_population.scattered`.
        """
        share = self.config.unit_tiles
        chosen = scattered(self.space.nvec, self.inner_tiles, count, rng, share)
        return Choices(
            np.zeros((count, policies.inputs), np.float32),
            chosen,
            chosen,
            np.zeros(chosen.shape, dtype=np.bool_),
            np.zeros(count, dtype=np.bool_),
            np.full(count, np.nan),
        )

    def _mixed(self, elites: Elites, parents: IntArray, rng: np.random.Generator) -> IntArray:
        """Starts: an elite, or two mixed parameter by parameter or agent by agent."""
        count, width = len(parents), len(self.space.nvec)
        mates = rng.integers(0, len(elites.values), count)
        by_parameter = rng.random((count, width)) < 0.5
        by_agent = (rng.random((count, self.space.agents)) < 0.5)[:, self.space.agent]
        take = np.where((rng.random(count) < 0.5)[:, None], by_parameter, by_agent)
        take &= (rng.random(count) < self.config.crossover)[:, None]
        return np.where(take, elites.actions[mates], elites.actions[parents])

    def _exchanged(self, chosen: IntArray, rng: np.random.Generator) -> IntArray:
        some = rng.random(len(chosen)) < self.config.exchange
        if not some.any():
            return chosen
        full = np.zeros((len(chosen), len(self.moves.nvec)), np.int64)
        full[:, self.columns] = chosen
        return np.where(some[:, None], self.moves.exchange(full, rng)[:, self.columns], chosen)
