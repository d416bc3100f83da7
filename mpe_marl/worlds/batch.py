"""Many particle worlds stepped at once, and the interface every environment is trained through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError, at_least
from mpe_marl.worlds import physics
from mpe_marl.worlds.spec import ACT_DIM, WorldSpec
from runs import make_generator, pack_generator, unpack_generator


@dataclass(slots=True)
class Step:
    """What one step of ``W`` worlds gave.

    Attributes:
        obs: ``(W, N, D)`` float32 observations after the step, before any restart.
        rewards: ``(W, N)`` float64.
        terminated: ``(W,)`` bool: the future is worth nothing (bootstrapping stops).
        ended: ``(W,)`` bool: terminated or cut; :meth:`BatchEnv.restart` goes on.
    """

    obs: NDArray[np.float32]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    ended: NDArray[np.bool_]


class BatchEnv(Protocol):
    """What the trainer needs of an environment: ``W`` copies side by side.

    ``spec`` is set where observations are a fixed linear map of the state (our own worlds); the
    ``state`` layout and the ``folded`` update need it.
    """

    n_worlds: int
    n_agents: int
    names: list[str]
    obs_dim: int
    act_dim: int
    continuous: bool
    spec: WorldSpec | None

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Start every world anew; returns ``(W, N, D)`` observations."""
        ...

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance by one step with ``(W, N)`` moves or ``(W, N, A)`` continuous actions."""
        ...

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Start the ended worlds anew; returns the ``(W, N, D)`` observations to act on."""
        ...

    def states(self) -> NDArray[np.float32]:
        """``(W, S)`` world states; empty (``S`` 0) where there is none."""
        ...

    def available(self) -> NDArray[np.bool_] | None:
        """``(W, N, A)`` discrete actions that may be chosen now; None where always all may."""
        ...

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Where every world stands; empty where that cannot be saved."""
        ...

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Take back what :meth:`state_dict` gave; returns the observations to act on."""
        ...


class BatchWorlds:
    """``W`` compiled worlds of one :class:`WorldSpec`.

    What a step returns is reused by the next step; copy what is to be kept. A single world
    reset with a seed starts where mpe2's does with that seed.

    Args:
        spec: The world.
        n_worlds: How many, side by side.
    """

    def __init__(self, spec: WorldSpec, n_worlds: int = 1) -> None:
        self.spec: WorldSpec | None = spec
        self.n_worlds = at_least("n_worlds", n_worlds, 1)
        self.n_agents, self.obs_dim, self.act_dim = spec.n_agents, spec.obs_dim, ACT_DIM
        self.continuous, self.names = spec.continuous, spec.names
        self.t = np.zeros(n_worlds, dtype=np.int64)
        self._spec = spec
        self._rng = np.random.default_rng()
        self._state = np.zeros((n_worlds, spec.state_dim))
        self._obs = np.zeros((n_worlds, spec.n_agents, spec.obs_dim), dtype=np.float32)
        rewards, ended = np.zeros((n_worlds, spec.n_agents)), np.zeros(n_worlds, dtype=np.bool_)
        self._step = Step(self._obs, rewards, np.zeros_like(ended), ended)
        self._fixed = (
            spec.movers, spec.n_landmarks, spec.landmark_radius, spec.touch_square,
            spec.velocity_order == "openai", spec.episode_length,
            self.t, self._obs, rewards, ended,
        )  # fmt: skip
        self._shape = (n_worlds, spec.n_agents) + ((ACT_DIM,) if spec.continuous else ())
        self._dtype = np.dtype(np.float32 if spec.continuous else np.int64)

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Start every world anew, with a new generator when a seed is given."""
        if seed is not None:
            self._rng = make_generator(seed)
        return self.restart(np.ones(self.n_worlds, dtype=np.bool_))

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Start the ended worlds anew; see :class:`BatchEnv`."""
        spec, rows = self._spec, np.flatnonzero(ended)
        extent = spec.start_extent
        places = -extent + 2 * extent * self._rng.random((len(rows), extent.shape[0], 2))
        self._state[rows, : 2 * spec.n_movers] = places[:, : spec.n_movers].reshape(len(rows), -1)
        self._state[rows, 2 * spec.n_movers : 4 * spec.n_movers] = 0.0
        landmarks = places[:, spec.n_movers :].reshape(len(rows), -1)
        self._state[rows, 4 * spec.n_movers : spec.state_dim] = landmarks
        self.t[rows] = 0
        return self._observe()

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance every world by one step; see :class:`BatchEnv`.

        Raises:
            MpeError: Actions of another shape or type than ``(W, N)`` int64, or
                ``(W, N, 5)`` float32 for continuous worlds.
        """
        if actions.shape != self._shape or actions.dtype != self._dtype:
            raise MpeError(
                f"actions are {actions.shape} {actions.dtype}; expected {self._shape} "
                f"{self._dtype}. Reshape or cast them."
            )
        physics.step(self._state, actions, *self._fixed)
        return self._step

    def _observe(self) -> NDArray[np.float32]:
        physics.observe(self._state, self._spec.n_movers, self._spec.n_landmarks, self._obs)
        return self._obs

    def states(self) -> NDArray[np.float32]:
        """``(W, state_dim)`` float32 world states."""
        return self._state.astype(np.float32)

    def available(self) -> None:
        """Every move may be made."""

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Where every world stands, for a checkpoint."""
        return {"state": self._state, "t": self.t, "rng": pack_generator(self._rng)}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Take back what :meth:`state_dict` gave; returns the observations to act on."""
        self._state[:], self.t[:] = tables["state"], tables["t"]
        unpack_generator(self._rng, tables["rng"])
        return self._observe()

    @property
    def exact_states(self) -> NDArray[np.float64]:
        """``(W, state_dim)`` float64 states; writing to them moves the entities."""
        return self._state


def prey_moves(spec: WorldSpec, state: NDArray[np.float64]) -> list[int]:
    """Moves that the prey of one world make in its next step.

    Args:
        spec: The world.
        state: ``(state_dim,)``.
    """
    x, y = state[: 2 * spec.n_movers].reshape(-1, 2).T.copy()
    prey = range(spec.n_agents, spec.n_movers)
    return [physics.flee(x, y, m, spec.n_agents) for m in prey]
