"""The interface of a layout: how stored transitions lie in memory."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpe_marl.replay.memory import Shapes, allocate, total_bytes
from mpe_marl.replay.ring import Ring, Rows
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition

FIELDS = ("obs", "actions", "rewards", "next_obs", "done")
"""Columns of a transition."""


class Layout:
    """Base of all layouts.

    Args:
        schema: What a transition holds.
        ring: Rows and cursor.
        directory: Folder for memory-mapped files; None: memory only.
        limit: Memory that may be used [B]; None: 80 % of what is free.

    Raises:
        ReplayMemoryError: There is no room.
    """

    name: ClassVar[str]

    def __init__(
        self,
        schema: Schema,
        ring: Ring,
        directory: str | os.PathLike[str] | None = None,
        limit: int | None = None,
    ) -> None:
        self.schema, self.ring = schema, ring
        self.tables, self.mapped = allocate(self.shapes(schema, ring.rows), directory, limit)
        self._scratch: dict[tuple[str, int], NDArray[Any]] = {}

    @classmethod
    def spare(cls, schema: Schema) -> int:
        """Rows needed beyond the capacity."""
        return 0

    @classmethod
    def shapes(cls, schema: Schema, rows: int) -> Shapes:
        """Shape and type of every table for a ring of ``rows`` rows."""
        raise NotImplementedError  # every layout has its own

    def write(self, first: int, step: Transition) -> None:
        """Store one step of all streams at rows ``first .. first + W - 1``."""
        raise NotImplementedError  # every layout has its own

    def gather(self, rows: Rows, states_only: bool = False) -> ReplayBatch:
        """Fetch ``(B,)`` rows.

        Args:
            rows: Physical rows.
            states_only: Leave observations out where the layout holds states.
        """
        raise NotImplementedError  # every layout has its own

    def cut(self) -> None:
        """Learn that every stream goes on with a new episode although none was marked ended."""

    def row_bytes(self) -> int:
        """Bytes a gather reads for one row."""
        return total_bytes({k: (t.shape[1:], t.dtype) for k, t in self.tables.items()})

    @property
    def nbytes(self) -> int:
        """Bytes of all tables, written or not."""
        return sum(t.nbytes for t in self.tables.values())

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Everything stored, for a checkpoint: the rows written so far."""
        return {name: table[: self.ring.used] for name, table in self.tables.items()}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave."""
        for name, table in self.tables.items():
            table[: len(tables[name])] = tables[name]

    def scratch(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """A float32 array that the next gather of as many rows reuses."""
        key = (name, shape[0])
        if key not in self._scratch:
            self._scratch[key] = np.zeros(shape, dtype=np.float32)
        array: NDArray[np.float32] = self._scratch[key]
        return array


def one_hot(step: Transition, schema: Schema) -> NDArray[np.float32]:
    """``(W, N, A)`` actions; discrete moves as one-hot rows."""
    if schema.discrete:
        return np.asarray(np.eye(schema.act_dim, dtype=np.float32)[step.actions])
    return step.actions.astype(np.float32, copy=False)
