"""The replay store: a layout, a law, a cursor and two seeded generators."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import at_least, check_name
from marl_runs import make_generator, pack_generator, unpack_generator
from mpe_marl.errors import MpeError
from mpe_marl.replay.arrays import Arrays
from mpe_marl.replay.joint import Joint
from mpe_marl.replay.law import SamplingLaw
from mpe_marl.replay.laws import make_law
from mpe_marl.replay.layout import Layout
from mpe_marl.replay.lists import Lists
from mpe_marl.replay.ring import Ring
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition
from mpe_marl.replay.state import StateLayout

LAYOUTS: dict[str, type[Layout]] = {cls.name: cls for cls in (Lists, Arrays, Joint, StateLayout)}


class Replay:
    """Transitions of all agents and the draws from them.

    Args:
        schema: What a transition holds.
        capacity: Transitions kept.
        layout: Name in :data:`LAYOUTS`.
        law: A law, or a name in :data:`mpe_marl.replay.laws.LAWS`.
        batch: Transitions in a mini-batch.
        seed: Seeds the draws: the same seed and transitions give the same batches anywhere.
        directory: Folder for memory-mapped files when memory is short.
        limit: Memory that may be used [B]; None: 80 % of what is free.

    Raises:
        MpeError: An unknown name.
        ReplayMemoryError: There is no room; the message says how much is needed.
    """

    def __init__(
        self,
        schema: Schema,
        capacity: int = 1_000_000,
        layout: str = "joint",
        law: str | SamplingLaw = "uniform",
        batch: int = 1024,
        seed: int = 0,
        directory: str | os.PathLike[str] | None = None,
        limit: int | None = None,
    ) -> None:
        check_name("replay layout", layout, LAYOUTS, MpeError)
        cls = LAYOUTS[layout]
        self.schema = schema
        self.law = make_law(law) if isinstance(law, str) else law
        self.batch = at_least("batch", batch, 1, MpeError)
        self.ring = Ring(capacity, schema.streams, cls.spare(schema))
        self.layout = cls(schema, self.ring, directory, limit)
        self.rng = make_generator(seed)
        self._random = random.Random(seed)  # the papers' draws, index by index

    def __len__(self) -> int:
        return self.ring.size

    @property
    def nbytes(self) -> int:
        """Bytes of the store when full."""
        return self.layout.nbytes

    def add(self, step: Transition) -> None:
        """Store one step of all streams.

        Raises:
            MpeError: Another number of streams than the schema's.
        """
        if len(step.obs) != self.schema.streams:
            raise MpeError(f"{len(step.obs)} worlds wrote; expected {self.schema.streams}.")
        first = self.ring.advance()
        self.layout.write(first, step)
        self.law.written(self.ring, np.arange(first, first + len(step.obs), dtype=np.int64))

    def sample(self, states_only: bool = False, draws: int = 1) -> ReplayBatch:
        """Draw and fetch mini-batches.

        Args:
            states_only: Leave observations out where the layout holds states.
            draws: How many mini-batches, one after the other in the arrays.

        Raises:
            MpeError: Nothing is stored yet.
        """
        if not self.ring.size:
            raise MpeError("sampling from an empty replay store; add transitions first.")
        if isinstance(self.layout, Lists):
            index: list[int] = []
            for _ in range(draws):
                index += self.law.draw_list(self.ring, self.batch, self._random)
            batch = self.layout.gather(index)
        else:
            rows = [self.law.draw(self.ring, self.batch, self.rng) for _ in range(draws)]
            batch = self.layout.gather(rows[0] if draws == 1 else np.concatenate(rows), states_only)
        weights = [
            self.law.weights(self.ring, batch.rows[k * self.batch : (k + 1) * self.batch])
            for k in range(draws)
        ]
        found = [w for w in weights if w is not None]
        return replace(batch, weights=np.concatenate(found) if found else None)

    def cut(self) -> None:
        """Say that every stream starts a new episode now, unmarked (its worlds were reset)."""
        self.layout.cut()

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """The store's tables, cursor and generators, as arrays of numbers."""
        tables = {f"table.{k}": v for k, v in self.layout.state_dict().items()}
        tables |= {f"law.{k}": v for k, v in self.law.state_dict().items()}
        ring = self.ring
        place = [ring.cursor, ring.size, ring.rows, ring.streams]
        tables["ring"] = np.array(place, dtype=np.int64)
        tables["rng"] = pack_generator(self.rng)
        version, key, gauss = self._random.getstate()
        tables["random"] = np.array([version, *key], dtype=np.int64)
        assert gauss is None  # no draw here is Gaussian
        return tables

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave.

        Raises:
            MpeError: The store it is from had another capacity or number of streams.
        """
        ring = self.ring
        cursor, size, rows, streams = (int(v) for v in tables["ring"])
        if (rows, streams) != (ring.rows, ring.streams):
            raise MpeError(
                f"the checkpoint's replay has {rows} rows from {streams} worlds, this one "
                f"{ring.rows} from {ring.streams}; continue with the capacity, layout and worlds "
                "it was made with."
            )
        ring.cursor, ring.size = cursor, size
        self.layout.load_state_dict(under("table.", tables))
        self.law.load_state_dict(under("law.", tables))
        unpack_generator(self.rng, tables["rng"])
        key = [int(v) for v in tables["random"]]
        self._random.setstate((key[0], tuple(key[1:]), None))


def under(head: str, tables: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Tables whose names begin so, by the rest of their names."""
    return {k[len(head) :]: v for k, v in tables.items() if k.startswith(head)}
