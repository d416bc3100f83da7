"""What a transition and a mini-batch hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.worlds.batch import BatchEnv
from mpe_marl.worlds.spec import WorldSpec

Rows = NDArray[np.int64]
Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Schema:
    """Shapes of what is stored.

    Attributes:
        n_agents: Agents ``N``.
        obs_dim: Numbers ``D`` in one agent's observation.
        act_dim: Numbers ``A`` in one agent's action; of discrete actions, how many there are.
        discrete: Actions are stored as one-hot rows of one of ``A`` moves.
        streams: Worlds ``W`` that write side by side, one row each, every step.
        spec: The world, where observations are a fixed linear map of its state.
        act_dims: Each agent's own number of discrete actions, where these differ.
    """

    n_agents: int
    obs_dim: int
    act_dim: int
    discrete: bool = True
    streams: int = 1
    spec: WorldSpec | None = None
    act_dims: tuple[int, ...] | None = None

    @classmethod
    def of(cls, env: BatchEnv) -> Schema:
        """The shapes of an environment's transitions.

        Environments whose agents differ in their actions say how many each has by ``act_dims``.
        """
        own = tuple(getattr(env, "act_dims", ()))
        differ = len(set(own)) > 1 and not env.continuous
        return cls(
            env.n_agents, env.obs_dim, env.act_dim, not env.continuous, env.n_worlds, env.spec,
            own if differ else None,
        )  # fmt: skip

    @property
    def record_width(self) -> int:
        """Numbers in one joint transition: both observations, actions, rewards, done."""
        return self.n_agents * (2 * self.obs_dim + self.act_dim + 1) + 1


@dataclass(slots=True)
class Transition:
    """One step of ``W`` worlds.

    Attributes:
        obs: ``(W, N, D)`` observations acted on.
        actions: ``(W, N)`` moves, or ``(W, N, A)`` continuous actions.
        rewards: ``(W, N)``.
        next_obs: ``(W, N, D)`` observations after the step, before any restart.
        terminated: ``(W,)`` bool: no bootstrapping beyond.
        ended: ``(W,)`` bool: the next row of this stream starts another episode.
        states: ``(W, S)`` world states before the step; empty where there are none.
        next_states: ``(W, S)`` world states after it.
    """

    obs: Float32
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    next_obs: Float32
    terminated: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    states: Float32
    next_states: Float32


Column = NDArray[Any] | tuple[NDArray[Any], ...]


@dataclass(slots=True)
class ReplayBatch:
    """``B`` transitions; arrays are reused by the next draw, so copy what is to be kept.

    Layouts that keep agents apart give ``obs``, ``actions``, ``rewards`` and ``next_obs`` as
    tuples of ``N`` arrays; :meth:`joined` stacks them.

    Attributes:
        obs: ``(B, N, D)``; of size 0 when only states were asked for.
        actions: ``(B, N, A)``, one-hot when discrete.
        rewards: ``(B, N)``.
        next_obs: ``(B, N, D)``; of size 0 when only states were asked for.
        done: ``(B,)``, 1 where the world terminated.
        rows: ``(B,)`` physical rows drawn.
        weights: ``(B,)`` importance weights, or None where all are 1.
        obs_actions: ``(B, N * (D + A))`` view of observations then actions, where the layout
            holds them side by side.
        states: ``(B, S)`` world states, where the layout holds them.
        next_states: ``(B, S)`` the states after.
    """

    obs: Column
    actions: Column
    rewards: Column
    next_obs: Column
    done: NDArray[Any]
    rows: Rows
    weights: Float32 | None = None
    obs_actions: Float32 | None = None
    states: Float32 | None = None
    next_states: Float32 | None = None

    def joined(self) -> ReplayBatch:
        """The same batch with every column one float32 array."""
        return replace(
            self,
            obs=_join(self.obs),
            actions=_join(self.actions),
            rewards=_join(self.rewards),
            next_obs=_join(self.next_obs),
            done=self.done.astype(np.float32, copy=False),
        )


def _join(column: Column) -> Float32:
    array = np.stack(column, axis=1) if isinstance(column, tuple) else column
    return array.astype(np.float32, copy=False)
