"""What was played since the last update: the store of learners that learn from nothing older."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError
from mpe_marl.replay.schema import Schema, Transition


class Rollout:
    """``T`` steps of ``W`` worlds in the order in which they were played.

    Args:
        schema: What a transition holds.
        steps: Steps ``T`` between two updates.
        batch: Transitions in a mini-batch.
    """

    def __init__(self, schema: Schema, steps: int, batch: int) -> None:
        self.schema, self.batch = schema, batch
        shape = (steps, schema.streams)
        n, d, a = schema.n_agents, schema.obs_dim, schema.act_dim
        moves = np.zeros((*shape, n), np.int64)
        pushes = np.zeros((*shape, n, a), np.float32)
        self._tables: dict[str, NDArray[Any]] = {
            "obs": np.zeros((*shape, n, d), np.float32),
            "actions": moves if schema.discrete else pushes,
            "rewards": np.zeros((*shape, n)),
            "next_obs": np.zeros((*shape, n, d), np.float32),
            "terminated": np.zeros(shape, np.bool_),
            "ended": np.zeros(shape, np.bool_),
        }
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, step: Transition) -> None:
        """Store one step of all streams.

        Raises:
            MpeError: The rollout is full: nobody learnt from it.
        """
        if self._count == len(self._tables["ended"]):
            raise MpeError(f"a rollout of {self._count} steps is full; expected an update.")
        for name, table in self._tables.items():
            table[self._count] = getattr(step, name)
        self._count += 1

    def played(self) -> dict[str, NDArray[Any]]:
        """Tables ``(T, W, ...)`` of what was played; :meth:`clear` them when learnt."""
        return {name: table[: self._count] for name, table in self._tables.items()}

    def clear(self) -> None:
        """Begin anew."""
        self._count = 0

    def cut(self) -> None:
        """Say that every stream starts a new episode now, unmarked (its worlds were reset)."""
        if self._count:
            self._tables["ended"][self._count - 1] = True

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """What was played, as arrays."""
        return {name: table.copy() for name, table in self.played().items()}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave.

        Raises:
            MpeError: It is of another number of worlds, or longer.
        """
        count, worlds = tables["ended"].shape
        steps, streams = self._tables["ended"].shape
        if worlds != streams or count > steps:
            raise MpeError(
                f"the checkpoint's rollout is of {count} steps of {worlds} worlds, this one of "
                f"{steps} of {streams}; continue with the settings it was made with."
            )
        self._count = count
        for name, table in self._tables.items():
            table[:count] = tables[name]
