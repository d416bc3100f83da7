"""Whole episodes, kept so that a batch of them comes out as the networks read it.

Networks take one column a time step and agent, and features as rows. So every episode is kept
features first, and a batch is put together from pieces of whole episodes, without any transposing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marl_common import compiled
from marl_runs import make_generator, pack_generator, unpack_generator
from mast.errors import MastError
from mpe_marl import Ring, SamplingLaw, allocate, make_law

Float = NDArray[np.floating[Any]]


class TaskShape(NamedTuple):
    """Shapes of a task.

    Attributes:
        n_agents: Agents ``N``.
        obs_dim: Numbers ``D`` in an observation.
        state_dim: Numbers ``S`` in a state.
        n_actions: Actions ``A``.
        length: Steps ``T`` of the longest episode.
        masked: Some actions are not always available.
    """

    n_agents: int
    obs_dim: int
    state_dim: int
    n_actions: int
    length: int
    masked: bool = False


@dataclass(slots=True)
class Episode:
    """One episode of ``L <= T`` steps; what lies beyond is zero.

    Attributes:
        obs: ``(D, N, T + 1)``.
        states: ``(S, T + 1)``.
        actions: ``(N, T)``.
        rewards: ``(T,)`` of the team.
        available: ``(A, N, T + 1)``, or None where all actions always are.
        steps: ``L``.
        terminated: The future after its end is worth nothing; else it was cut.
    """

    obs: Float
    states: Float
    actions: NDArray[np.int64]
    rewards: Float
    available: NDArray[np.bool_] | None
    steps: int
    terminated: bool


@dataclass(slots=True)
class EpisodeBatch:
    """``B`` episodes; arrays are reused by the next draw.

    Attributes:
        obs: ``(F, N, B, T + 1)``: observations, and below them the agents' numbers one-hot where
            the store adds them.
        states: ``(S, B, T)`` before each step.
        next_states: ``(S, B, T)`` after it.
        actions: ``(N, B, T + 1)``; the last is no action.
        rewards: ``(B, T)``.
        available: ``(A, N, B, T + 1)``, or None.
        steps: ``(B,)`` steps of each episode.
        terminated: ``(B,)``.
        valid: ``(B, T)``, 1 where there is a step.
    """

    obs: Float
    states: Float
    next_states: Float
    actions: NDArray[np.int64]
    rewards: Float
    available: NDArray[np.bool_] | None
    steps: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    valid: Float


class EpisodeStore:
    """The latest episodes, drawn uniformly or by the law of the dual buffer.

    Args:
        shape: The task's.
        capacity: Episodes kept.
        batch: Episodes in a batch.
        law: Which episodes a batch holds; None: any.
        numbered: Add the agents' numbers to the observations.
        dtype: Of observations, states and rewards.
        seed: Seeds the draws.

    Raises:
        ReplayMemoryError: There is no room for so many episodes.
    """

    def __init__(
        self,
        shape: TaskShape,
        capacity: int,
        batch: int,
        law: SamplingLaw | None = None,
        *,
        numbered: bool = True,
        dtype: str = "float32",
        seed: int = 0,
    ) -> None:
        self.shape, self.batch = shape, batch
        self.ring = Ring(capacity)
        self.law = law or make_law("uniform")
        self.rng = make_generator(seed, 5)
        n, t, real = shape.n_agents, shape.length, np.dtype(dtype)
        tables: dict[str, tuple[tuple[int, ...], Any]] = {
            "obs": ((capacity, shape.obs_dim, n, t + 1), real),
            "states": ((capacity, shape.state_dim, t + 1), real),
            "actions": ((capacity, n, t), np.int16),
            "rewards": ((capacity, t), np.float64),
            "steps": ((capacity,), np.int64),
            "terminated": ((capacity,), np.bool_),
        }
        if shape.masked:
            tables["available"] = ((capacity, shape.n_actions, n, t + 1), np.bool_)
        self._tables, _ = allocate(tables)
        self._out = _empty_batch(shape, batch, real, numbered)

    def __len__(self) -> int:
        return self.ring.size

    def add(self, episode: Episode) -> None:
        """Keep an episode, in place of the oldest where there is no more room."""
        row = self.ring.advance()
        for name, table in self._tables.items():
            table[row] = getattr(episode, name)
        self.law.written(self.ring, np.array([row], dtype=np.int64))

    def sample(self) -> EpisodeBatch:
        """Draw and fetch a batch.

        Raises:
            MastError: Nothing is stored yet.
        """
        if not self.ring.size:
            raise MastError("sampling from a store without episodes; play some first.")
        rows, tables, out = self.law.draw(self.ring, self.batch, self.rng), self._tables, self._out
        _gather(tables["obs"], rows, out.obs)
        _gather_states(tables["states"], rows, out.states, out.next_states)
        _gather(tables["actions"][:, None], rows, out.actions[None])
        if out.available is not None:
            _gather(tables["available"], rows, out.available)
        out.rewards[:] = tables["rewards"][rows]
        out.steps[:], out.terminated[:] = tables["steps"][rows], tables["terminated"][rows]
        np.less(np.arange(self.shape.length), out.steps[:, None], out=out.valid, casting="unsafe")
        return out

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Episodes, cursor and generator, for a checkpoint."""
        used = {name: table[: self.ring.used] for name, table in self._tables.items()}
        place = np.array([self.ring.cursor, self.ring.size], dtype=np.int64)
        return {**used, "ring": place, "rng": pack_generator(self.rng)}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> None:
        """Take back what :meth:`state_dict` gave."""
        for name, table in self._tables.items():
            table[: len(tables[name])] = tables[name]
        self.ring.cursor, self.ring.size = (int(v) for v in tables["ring"])
        unpack_generator(self.rng, tables["rng"])


def _empty_batch(shape: TaskShape, batch: int, real: np.dtype[Any], numbered: bool) -> EpisodeBatch:
    n, t = shape.n_agents, shape.length
    obs = np.zeros((shape.obs_dim + n * numbered, n, batch, t + 1), real)
    if numbered:
        obs[shape.obs_dim :] = np.eye(n)[:, :, None, None]
    masks = np.zeros((shape.n_actions, n, batch, t + 1), np.bool_) if shape.masked else None
    return EpisodeBatch(
        obs=obs,
        states=np.zeros((shape.state_dim, batch, t), real),
        next_states=np.zeros((shape.state_dim, batch, t), real),
        actions=np.zeros((n, batch, t + 1), np.int64),
        rewards=np.zeros((batch, t), np.float64),
        available=masks,
        steps=np.zeros(batch, np.int64),
        terminated=np.zeros(batch, np.bool_),
        valid=np.zeros((batch, t), real),
    )


@compiled
def _gather(table: Any, rows: Any, out: Any) -> None:
    """``(E, D, N, T)`` episodes to ``(D.., N, B, T)``, pieces of ``T`` numbers at a time.

    What of the batch is beyond them stays as it is.
    """
    for d in range(table.shape[1]):
        for n in range(table.shape[2]):
            for b in range(len(rows)):
                row = rows[b]
                for t in range(table.shape[3]):
                    out[d, n, b, t] = table[row, d, n, t]


@compiled
def _gather_states(table: Any, rows: Any, now: Any, after: Any) -> None:
    """``(E, S, T + 1)`` states to those before and those after each step."""
    for s in range(table.shape[1]):
        for b in range(len(rows)):
            row = rows[b]
            for t in range(now.shape[2]):
                now[s, b, t] = table[row, s, t]
                after[s, b, t] = table[row, s, t + 1]
