"""Episodes as they are played, many worlds side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mast.episodes import Episode, TaskShape


class Recorder:
    """Takes in the steps of ``W`` worlds and hands out whole episodes.

    Args:
        shape: The task's.
        n_worlds: Worlds ``W``.
        dtype: Of observations and states.
    """

    def __init__(self, shape: TaskShape, n_worlds: int, dtype: str) -> None:
        self.shape, real = shape, np.dtype(dtype)
        n, t, w = shape.n_agents, shape.length, n_worlds
        self._tables: dict[str, NDArray[Any]] = {
            "obs": np.zeros((w, shape.obs_dim, n, t + 1), real),
            "states": np.zeros((w, shape.state_dim, t + 1), real),
            "actions": np.zeros((w, n, t), np.int64),
            "rewards": np.zeros((w, t)),
            "t": np.zeros(w, np.int64),
        }
        if shape.masked:
            self._tables["available"] = np.zeros((w, shape.n_actions, n, t + 1), np.bool_)
        self._worlds = np.arange(w)

    @property
    def t(self) -> NDArray[np.int64]:
        """``(W,)`` steps of the episode that each world is in."""
        return self._tables["t"]

    def see(
        self, obs: NDArray[Any], states: NDArray[Any], available: NDArray[np.bool_] | None
    ) -> None:
        """Take in what every world shows now.

        Args:
            obs: ``(W, N, D)``.
            states: ``(W, S)``.
            available: ``(W, N, A)``, or None.
        """
        at, t = self._worlds, self.t
        self._tables["obs"][at, :, :, t] = obs.swapaxes(1, 2)
        self._tables["states"][at, :, t] = states
        if available is not None:
            self._tables["available"][at, :, :, t] = available.swapaxes(1, 2)

    def act(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Take in ``(W, N)`` actions and the team's ``(W,)`` rewards of a step."""
        self._tables["actions"][self._worlds, :, self.t] = actions
        self._tables["rewards"][self._worlds, self.t] = rewards
        self.t[:] += 1

    def ended(self, ended: NDArray[np.bool_], terminated: NDArray[np.bool_]) -> Iterator[Episode]:
        """Hand out the episodes of worlds that have ended; these begin anew.

        Args:
            ended: ``(W,)``.
            terminated: ``(W,)``: they were not merely cut.
        """
        tables = self._tables
        for w in np.flatnonzero(ended).tolist():
            parts: dict[str, Any] = {name: table[w].copy() for name, table in tables.items()}
            steps, ends = int(parts.pop("t")), bool(terminated[w])
            yield Episode(**{"available": None, **parts}, steps=steps, terminated=ends)
            for table in tables.values():
                table[w] = 0

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Episodes under way, for a checkpoint."""
        return self._tables

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave."""
        for name, table in self._tables.items():
            table[...] = tables[name]
