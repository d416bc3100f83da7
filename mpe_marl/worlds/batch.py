"""Many particle worlds stepped at once, and the interface every environment is trained through."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marl_common import at_least
from marl_runs import make_generator, pack_generator, unpack_generator
from mpe_marl.errors import MpeError
from mpe_marl.worlds import physics
from mpe_marl.worlds.rules import Step, WorldTables, rules_of
from mpe_marl.worlds.spec import AnySpec, WorldSpec


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
    """``W`` compiled worlds of one spec.

    What a step returns is reused by the next step; copy what is to be kept. A single world
    reset with a seed starts where mpe2's does with that seed. Where agents differ, observations
    are padded to the widest with zeros, and an action that an agent lacks is its action 0.

    Args:
        spec: The world, from :func:`mpe_marl.worlds.make_spec`.
        n_worlds: How many, side by side.

    Attributes:
        exact_states: ``(W, state_dim)`` float64 states; writing to them moves the entities.
        t: ``(W,)`` steps of each world's episode.
    """

    def __init__(self, spec: AnySpec, n_worlds: int = 1) -> None:
        self.spec: WorldSpec | None = spec if isinstance(spec, WorldSpec) else None
        self.n_worlds = at_least("n_worlds", n_worlds, 1, MpeError)
        self.n_agents, self.obs_dim, self.act_dim = spec.n_agents, spec.obs_dim, spec.act_dim
        self.act_dims, self.continuous, self.names = spec.act_dims, spec.continuous, spec.names
        self._may = what_they_have(spec, n_worlds)
        self._rng = np.random.default_rng()
        self.exact_states = np.zeros((n_worlds, spec.state_dim))
        self.t = np.zeros(n_worlds, np.int64)
        agents, flags = (n_worlds, spec.n_agents), np.zeros((2, n_worlds), np.bool_)
        self._obs = np.zeros((*agents, spec.obs_dim), np.float32)
        self._step = Step(self._obs, np.zeros(agents), *flags)
        tables = WorldTables(self.exact_states, self.t, self._step)
        self._start, self._advance, self._look = rules_of(spec, tables)
        self._shape = (n_worlds, spec.n_agents) + ((spec.act_dim,) if spec.continuous else ())
        self._dtype = np.dtype(np.float32 if spec.continuous else np.int64)

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Start every world anew, with a new generator when a seed is given."""
        if seed is not None:
            self._rng = make_generator(seed)
        return self.restart(np.ones(self.n_worlds, dtype=np.bool_))

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Start the ended worlds anew; see :class:`BatchEnv`."""
        rows = np.flatnonzero(ended)
        self.exact_states[rows] = self._start(self._rng, len(rows))
        self.t[rows] = 0
        return self._observe()

    def step(self, actions: NDArray[Any]) -> Step:
        """Advance every world by one step; see :class:`BatchEnv`.

        Raises:
            MpeError: Actions of another shape or type than ``(W, N)`` int64, or
                ``(W, N, A)`` float32 for continuous worlds.
        """
        if actions.shape != self._shape or actions.dtype != self._dtype:
            raise MpeError(
                f"actions are {actions.shape} {actions.dtype}; expected {self._shape} "
                f"{self._dtype}. Reshape or cast them."
            )
        self._advance(actions)
        return self._step

    def _observe(self) -> NDArray[np.float32]:
        self._look()
        return self._obs

    def states(self) -> NDArray[np.float32]:
        """``(W, state_dim)`` float32 world states."""
        return self.exact_states.astype(np.float32)

    def available(self) -> NDArray[np.bool_] | None:
        """``(W, N, A)`` the discrete actions that each agent has; None where all have all."""
        return self._may

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Where every world stands, for a checkpoint."""
        return {"state": self.exact_states, "t": self.t, "rng": pack_generator(self._rng)}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Take back what :meth:`state_dict` gave; returns the observations to act on."""
        self.exact_states[:], self.t[:] = tables["state"], tables["t"]
        unpack_generator(self._rng, tables["rng"])
        return self._observe()


def what_they_have(spec: AnySpec, n_worlds: int) -> NDArray[np.bool_] | None:
    """``(W, N, A)`` the discrete actions that each agent has; None where all have all."""
    counts = np.array(spec.act_dims)
    if spec.continuous or (counts == spec.act_dim).all():
        return None
    return np.tile(np.arange(spec.act_dim) < counts[:, None], (n_worlds, 1, 1))


def prey_moves(spec: WorldSpec, state: NDArray[np.float64]) -> list[int]:
    """Moves that the prey of one simple_tag make in its next step.

    Args:
        spec: The world.
        state: ``(state_dim,)``.
    """
    x, y = state[: 2 * spec.n_movers].reshape(-1, 2).T.copy()
    prey = range(spec.n_agents, spec.n_movers)
    return [physics.flee(x, y, m, spec.n_agents) for m in prey]
