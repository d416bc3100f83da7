"""SMAX (JaxMARL): battles in the way of SMAC, all worlds in one compiled batch.

SMAX is no SMAC: units, physics and enemies are its own, so returns of one say nothing of the other.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mast.errors import MastError
from mast.tasks.task import Task
from mpe_marl import Step, WorldSpec

SCENARIOS = ("3m", "2s3z")


def smax_task(name: str) -> Task:
    """The task ``smax-3m`` or ``smax-2s3z``.

    Raises:
        MastError: No such scenario, or JaxMARL is not installed.
    """
    scenario = name.removeprefix("smax-")
    if scenario not in SCENARIOS:
        raise MastError(
            f"task {name!r} is not known; expected one of "
            f"{', '.join(f'smax-{known}' for known in SCENARIOS)}."
        )
    length = int(_battle(scenario).env.max_steps)
    return Task(name, length, partial(SmaxWorlds, scenario), at_once=128)


class Battle(NamedTuple):
    """A scenario and its functions over many battles, which are compiled once in a process."""

    env: Any
    reset: Any
    advance: Any
    masks: Any


@lru_cache(maxsize=len(SCENARIOS))
def _battle(scenario: str) -> Battle:
    try:
        import jax
        from jaxmarl import make
        from jaxmarl.environments.smax import map_name_to_scenario
    except ImportError:
        raise MastError(
            "SMAX needs JaxMARL, which is not installed; install it with: "
            "pip install 'marl-mapper[smax]'"
        ) from None
    env = make("HeuristicEnemySMAX", scenario=map_name_to_scenario(scenario))
    made = (jax.jit(jax.vmap(part)) for part in (env.reset, env.step_env, env.get_avail_actions))
    return Battle(env, *made)


class SmaxWorlds:
    """``W`` battles against the heuristic enemy, stepped by one call.

    Args:
        scenario: Name in :data:`SCENARIOS`.
        n_worlds: ``W``.
    """

    def __init__(self, scenario: str, n_worlds: int = 1) -> None:
        import jax

        self._jax, (env, self._reset, self._advance, self._masks) = jax, _battle(scenario)
        self.names: list[str] = list(env.agents)
        self.n_worlds, self.n_agents = n_worlds, len(self.names)
        self.obs_dim = int(env.observation_space(self.names[0]).shape[0])
        self.act_dim = int(env.action_space(self.names[0]).n)
        self.continuous = False
        self.spec: WorldSpec | None = None
        self._limit = int(env.max_steps)
        self._key = jax.random.PRNGKey(0)
        self._t = np.zeros(n_worlds, np.int64)
        self._obs: Any = None
        self._states: Any = None

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """See :class:`mpe_marl.BatchEnv`."""
        if seed is not None:
            self._key = self._jax.random.PRNGKey(seed)
        self._obs, self._states = self._reset(self._keys())
        self._t[:] = 0
        return self._agents(self._obs)

    def step(self, actions: NDArray[Any]) -> Step:
        """See :class:`mpe_marl.BatchEnv`."""
        moves = {name: actions[:, i] for i, name in enumerate(self.names)}
        self._obs, self._states, rewards, done, _ = self._advance(self._keys(), self._states, moves)
        self._t += 1
        ended = np.array(done["__all__"], dtype=np.bool_)
        cut = self._t >= self._limit
        earned = np.stack([np.asarray(rewards[name]) for name in self.names], axis=1)
        return Step(self._agents(self._obs), earned.astype(np.float64), ended & ~cut, ended | cut)

    def restart(self, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See :class:`mpe_marl.BatchEnv`."""
        numpy = self._jax.numpy

        def chosen(new: Any, old: Any) -> Any:
            return numpy.where(ended.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        fresh = self._reset(self._keys())
        pair = (self._obs, self._states)
        self._obs, self._states = self._jax.tree_util.tree_map(chosen, fresh, pair)
        self._t[ended] = 0
        return self._agents(self._obs)

    def states(self) -> NDArray[np.float32]:
        """``(W, S)`` what JaxMARL calls the world's state."""
        return np.array(self._obs["world_state"], dtype=np.float32)

    def available(self) -> NDArray[np.bool_]:
        """``(W, N, A)`` what living units can do; a dead one may do nothing but stand."""
        masks = self._masks(self._states)
        return np.stack([np.asarray(masks[a]) for a in self.names], axis=1).astype(np.bool_)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Battles cannot be saved: a continued run starts new ones."""
        return {}

    def load_state_dict(self, tables: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Start every battle anew."""
        return self.reset()

    def _keys(self) -> Any:
        self._key, *keys = self._jax.random.split(self._key, self.n_worlds + 1)
        return self._jax.numpy.stack(keys)

    def _agents(self, obs: Any) -> NDArray[np.float32]:
        return np.stack([np.asarray(obs[a]) for a in self.names], axis=1).astype(np.float32)
