"""Layout `lists`: the papers' baseline, one Python list of tuples an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import ReplayMemoryError
from mpe_marl.replay.layout import FIELDS, Layout, one_hot
from mpe_marl.replay.memory import Shapes, available_bytes, readable
from mpe_marl.replay.ring import Rows
from mpe_marl.replay.schema import ReplayBatch, Schema, Transition

_ARRAY = 112  # bytes of an array object beside its data
_TUPLE = 88 + 24  # bytes of a five-tuple, its slot in the list and its reward

Entry = tuple[NDArray[np.float64], NDArray[np.float64], float, NDArray[np.float64], float]
Fields = tuple[NDArray[Any], ...]


class Lists(Layout):
    """Float64 tuples (observation, action, reward, next observation, done), gathered in Python.

    As openai/maddpg keeps them (``maddpg/trainer/replay_buffer.py`` ReplayBuffer): a list for each
    agent, an index walked through five growing lists, five ``np.array`` calls at the end. An
    observation object is shared by the two transitions that hold it, as there.
    """

    name = "lists"

    def __init__(self, schema: Schema, ring: Any, directory: Any = None, limit: Any = None) -> None:
        super().__init__(schema, ring, None, limit)
        floats = schema.obs_dim + schema.act_dim
        need = ring.rows * schema.n_agents * (8 * floats + 2 * _ARRAY + _TUPLE)
        room = available_bytes() if limit is None else limit
        if need > room:
            raise ReplayMemoryError(
                f"replay needs {readable(need)} as Python lists; memory allows {readable(room)} "
                "and lists cannot be mapped to files. Lower the capacity or use another layout."
            )
        self._need = int(need)
        self.storage: list[list[Entry]] = [[] for _ in range(schema.n_agents)]
        self._last: dict[tuple[int, int], NDArray[np.float64]] = {}

    @classmethod
    def shapes(cls, schema: Schema, rows: int) -> Shapes:
        """No tables."""
        return {}

    @property
    def nbytes(self) -> int:
        """Bytes of the lists when full (objects and data)."""
        return self._need

    def cut(self) -> None:
        """See :meth:`Layout.cut`."""
        self._last.clear()

    def row_bytes(self) -> int:
        """Bytes of numbers a gather reads for one row."""
        s = self.schema
        return int(8 * s.n_agents * (2 * s.obs_dim + s.act_dim + 2))

    def write(self, first: int, step: Transition) -> None:
        """See :meth:`Layout.write`."""
        actions = one_hot(step, self.schema).astype(np.float64)
        for w in range(len(step.obs)):
            done = float(step.terminated[w])
            for i, storage in enumerate(self.storage):
                obs = self._last.pop((w, i), None)
                if obs is None:
                    obs = step.obs[w, i].astype(np.float64)
                after = step.next_obs[w, i].astype(np.float64)
                self._last[w, i] = after
                entry = (obs, actions[w, i].copy(), float(step.rewards[w, i]), after, done)
                if first + w < len(storage):
                    storage[first + w] = entry
                else:
                    storage.append(entry)
        for world in np.flatnonzero(step.ended).tolist():
            for i in range(self.schema.n_agents):
                del self._last[world, i]

    def encode(self, agent: int, rows: Sequence[int]) -> Fields:
        """One agent's arrays for a list of rows (ReplayBuffer._encode_sample)."""
        storage = self.storage[agent]
        obs_t, actions, rewards, obs_tp1, dones = [], [], [], [], []
        for i in rows:
            obs, action, reward, after, done = storage[i]
            obs_t.append(np.asarray(obs))  # NumPy 2's spelling of np.array(..., copy=False)
            actions.append(np.asarray(action))
            rewards.append(reward)
            obs_tp1.append(np.asarray(after))
            dones.append(done)
        return tuple(map(np.array, (obs_t, actions, rewards, obs_tp1, dones)))

    def gather(self, rows: Rows | Sequence[int], states_only: bool = False) -> ReplayBatch:
        """See :meth:`Layout.gather`; float64, one :meth:`encode` an agent."""
        index = rows if isinstance(rows, list) else [int(r) for r in rows]
        agents = [self.encode(i, index) for i in range(self.schema.n_agents)]
        obs, actions, rewards, after, done = zip(*agents, strict=True)
        index_array = np.asarray(index, dtype=np.int64)
        return ReplayBatch(obs, actions, rewards, after, done[0], index_array)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """See :meth:`Layout.state_dict`."""
        rows = list(range(len(self.storage[0])))
        tables: dict[str, NDArray[Any]] = {}
        for i in range(self.schema.n_agents):
            for name, column in zip(FIELDS, self.encode(i, rows), strict=True):
                tables[f"{name}.{i}"] = column
        return tables

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """See :meth:`Layout.load_state_dict`."""
        for i in range(self.schema.n_agents):
            columns = [tables[f"{name}.{i}"] for name in FIELDS]
            self.storage[i] = [
                (obs, action, float(reward), after, float(done))
                for obs, action, reward, after, done in zip(*columns, strict=True)
            ]
        self._last.clear()
