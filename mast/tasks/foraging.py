"""Level-based foraging (lbforaging 2.0) as a PettingZoo world."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from mast.errors import MastError
from mast.tasks.task import Task
from mpe_marl import AnyWorlds

PLACE = re.compile(r"lbf-(\d{1,2})x\1-(\d)p-(\d)f(-coop)?")


def foraging_task(name: str) -> Task:
    """The task ``lbf-SxS-Pp-Ff`` or ``lbf-SxS-Pp-Ff-coop``: field, players, food.

    Raises:
        MastError: No such field, or lbforaging is not installed.
    """
    if PLACE.fullmatch(name) is None:
        raise MastError(
            f"task {name!r}: expected lbf-SxS-Pp-Ff or lbf-SxS-Pp-Ff-coop, such as "
            "lbf-8x8-2p-2f-coop."
        )
    place = f"Foraging-{name.removeprefix('lbf-')}-v3"
    world = Foraging(place)
    return Task(name, world.length, partial(AnyWorlds, partial(Foraging, place)), "sum", at_once=32)


class Foraging:
    """One field with PettingZoo's ParallelEnv face.

    ## Action Space
    ``Discrete(6)``: none, north, south, west, east, load; masked to what is possible.

    ## Observation Space
    Place and level of all food and players, the agent itself first among these.

    ## Rewards
    A share of all food's levels for each loading, among those who took part; all food is 1 in sum.

    ## Episode End
    Terminated when no food is left, truncated after 50 steps.

    ## Arguments
    ``place``: a name that lbforaging registers.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "foraging_v3"}

    def __init__(self, place: str) -> None:
        try:
            import gymnasium
            import lbforaging  # noqa: F401 (registers its fields)
        except ImportError:
            raise MastError(
                "foraging needs lbforaging, which is not installed; install it with: "
                "pip install 'marl-mapper[mast]'"
            ) from None
        try:
            made: Any = gymnasium.make(place, disable_env_checker=True)
        except gymnasium.error.Error as error:
            raise MastError(f"field {place!r}: {error}") from None
        self._inner: Any = made.unwrapped
        self.possible_agents = [f"player_{i}" for i in range(len(self._inner.players))]
        self.agents: list[str] = []
        self.length = int(self._inner._max_episode_steps)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space."""
        space: Any = self._inner.observation_space
        return space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space."""
        space: Any = self._inner.action_space
        return space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new episode."""
        obs, _ = self._inner.reset(seed=seed)
        self.agents = self.possible_agents[:]
        return self._named(obs), self._infos()

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Advance by one step."""
        moves = [actions[agent] for agent in self.agents]
        obs, rewards, over, _, _ = self._inner.step(moves)
        eaten = self._inner.field.sum() == 0
        agents = self.agents
        step = (
            self._named(obs), self._named(rewards), dict.fromkeys(agents, bool(eaten)),
            dict.fromkeys(agents, bool(over and not eaten)), self._infos(),
        )  # fmt: skip
        if over:
            self.agents = []
        return step

    def _named(self, values: Any) -> dict[str, Any]:
        return dict(zip(self.possible_agents, values, strict=True))

    def _infos(self) -> dict[str, dict[str, Any]]:
        inner = self._inner
        n = int(inner.action_space[0].n)
        masks = [np.isin(np.arange(n), [a.value for a in inner._valid_actions[p]])
                 for p in inner.players]  # fmt: skip
        return {a: {"action_mask": m} for a, m in zip(self.possible_agents, masks, strict=True)}
