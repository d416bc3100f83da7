"""Layout `state`: the worlds' states alone, each stored once; observations are rebuilt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError
from mpe_marl.replay import gathers
from mpe_marl.replay.layout import Layout
from mpe_marl.replay.memory import Shapes, total_bytes
from mpe_marl.replay.ring import Ring, Rows
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition
from mpe_marl.worlds.physics import observe
from mpe_marl.worlds.spec import WorldSpec

_EMPTY = np.zeros((0,), dtype=np.float32)


class StateLayout(Layout):
    """Float32 states, moves, rewards; the state after a row is the stream's next row.

    The last state of an episode goes to a table beside (``finals``) that grows when many short
    episodes need it. Observations are rebuilt as float32 differences, so they agree with stored
    ones to float32 rounding.
    """

    name = "state"

    def __init__(
        self, schema: Schema, ring: Ring, directory: Any = None, limit: Any = None
    ) -> None:
        super().__init__(schema, ring, directory, limit)
        spec = _spec(schema)
        self._sizes = spec.n_movers, spec.n_landmarks
        self.tables["final_slot"][:] = -1
        self._free = list(range(len(self.tables["finals"])))[::-1]

    @classmethod
    def spare(cls, schema: Schema) -> int:
        """One step of all streams, for the states that follow the newest transitions."""
        return schema.streams

    @classmethod
    def shapes(cls, schema: Schema, rows: int) -> Shapes:
        """Tables of states, moves, rewards, ends."""
        spec = _spec(schema)
        n, ends = schema.n_agents, rows // spec.episode_length + 2 * schema.streams
        moves = (
            ((rows, n), np.uint8) if schema.discrete else ((rows, n, schema.act_dim), np.float32)
        )
        return {
            "states": ((rows, spec.state_dim), np.float32),
            "actions": moves,
            "rewards": ((rows, n), np.float32),
            "done": ((rows,), np.uint8),
            "final_slot": ((rows,), np.int32),
            "finals": ((ends, spec.state_dim), np.float32),
        }

    def write(self, first: int, step: Transition) -> None:
        """See :meth:`Layout.write`."""
        t, w = self.tables, len(step.states)
        rows = slice(first, first + w)
        ahead = (first + w) % self.ring.rows
        t["states"][rows] = step.states
        t["states"][ahead : ahead + w] = step.next_states
        t["actions"][rows] = step.actions
        t["rewards"][rows] = step.rewards
        t["done"][rows] = step.terminated
        self._release(first, w)
        self._release(ahead, w)
        for i in np.flatnonzero(step.ended):
            self._end(first + int(i), step.next_states[i])

    def _end(self, row: int, state: NDArray[np.float32]) -> None:
        """Keep the state after a row beside, for its next row starts another episode."""
        if not self._free:
            self._grow()
        slot = self._free.pop()
        self.tables["final_slot"][row] = slot
        self.tables["finals"][slot] = state

    def cut(self) -> None:
        """See :meth:`Layout.cut`."""
        w, cursor = self.schema.streams, self.ring.cursor
        for i in range(w if self.ring.size else 0):
            row = (cursor - w + i) % self.ring.rows
            if self.tables["final_slot"][row] < 0:
                self._end(row, self.tables["states"][(cursor + i) % self.ring.rows].copy())

    def _release(self, first: int, count: int) -> None:
        """Give back the final states of rows whose transitions are gone."""
        slots = self.tables["final_slot"][first : first + count]
        self._free.extend(slots[slots >= 0].tolist())
        slots[:] = -1

    def _grow(self) -> None:
        finals = self.tables["finals"]
        self.tables["finals"] = np.concatenate([finals, np.zeros_like(finals)])
        self._free = list(range(2 * len(finals) - 1, len(finals) - 1, -1))

    def row_bytes(self) -> int:
        """Bytes read for one row: two states, moves, rewards, end marks."""
        shapes = {k: (v.shape[1:], v.dtype) for k, v in self.tables.items() if k != "finals"}
        return total_bytes(shapes) + 4 * int(self.tables["states"].shape[1])

    def gather(self, rows: Rows, states_only: bool = False) -> ReplayBatch:
        """See :meth:`Layout.gather`."""
        t, s, b = self.tables, self.schema, len(rows)
        width = t["states"].shape[1]
        now = self.scratch("states", (b, width))
        after = self.scratch("next_states", (b, width))
        gathers.gather_states(
            t["states"], t["finals"], t["final_slot"], rows, s.streams, now, after
        )
        if s.discrete:
            actions = self.scratch("actions", (b, s.n_agents, s.act_dim))
            gathers.expand_moves(t["actions"], rows, actions)
        else:
            actions = t["actions"][rows]
        obs = next_obs = _EMPTY
        if not states_only:
            obs = self.scratch("obs", (b, s.n_agents, s.obs_dim))
            next_obs = self.scratch("next_obs", (b, s.n_agents, s.obs_dim))
            observe(now, *self._sizes, obs)
            observe(after, *self._sizes, next_obs)
        return ReplayBatch(
            obs=obs,
            actions=actions,
            rewards=t["rewards"][rows],
            next_obs=next_obs,
            done=t["done"][rows].astype(np.float32),
            rows=rows,
            states=now,
            next_states=after,
        )

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """See :meth:`Layout.state_dict`."""
        beside = {"finals": self.tables["finals"], "free": np.array(self._free, dtype=np.int64)}
        return {**super().state_dict(), **beside}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """See :meth:`Layout.load_state_dict`."""
        tables = dict(tables)
        while len(self.tables["finals"]) < len(tables["finals"]):
            self._grow()
        self._free = tables.pop("free").tolist()
        self.tables["final_slot"][:] = -1
        super().load_state_dict(tables)


def _spec(schema: Schema) -> WorldSpec:
    if schema.spec is None:
        raise MpeError(
            "layout 'state' needs a world whose observations are a linear map of its state "
            "(simple_tag, simple_spread); use layout 'joint' for others."
        )
    return schema.spec
