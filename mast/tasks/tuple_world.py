"""Gymnasium worlds whose spaces are tuples, one space an agent, as PettingZoo worlds."""

from __future__ import annotations

from typing import Any, ClassVar

from gymnasium import spaces

from mast.errors import MastError


class TupleWorld:
    """One world with PettingZoo's ParallelEnv face; a subclass adds masks and ends.

    Args:
        place: A name that a package registers.
        package: What the package is called, which registers names when it is imported.
        extra: The extra that brings it.
        agents: What agents are called before their numbers.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "tuple_world_v0"}

    def __init__(self, place: str, package: str, extra: str, agents: str) -> None:
        try:
            from importlib import import_module

            import gymnasium

            import_module(package)
        except ImportError:
            raise MastError(
                f"{place!r} needs {package}, which is not installed; install it with: "
                f"pip install 'marl-mapper[{extra}]'"
            ) from None
        try:
            made: Any = gymnasium.make(place, disable_env_checker=True)
        except gymnasium.error.Error as error:
            raise MastError(f"{place!r}: {error}") from None
        self.inner: Any = made.unwrapped
        self.possible_agents = [f"{agents}_{i}" for i in range(len(self.inner.action_space))]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space."""
        space: Any = self.inner.observation_space
        return space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space."""
        space: Any = self.inner.action_space
        return space[self.possible_agents.index(agent)]  # type: ignore[no-any-return]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new episode."""
        obs, _ = self.inner.reset(seed=seed)
        self.agents = self.possible_agents[:]
        return self._named(obs), self._infos()

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Advance by one step."""
        agents = self.agents
        obs, rewards, done, cut, _ = self.inner.step([actions[agent] for agent in agents])
        over, solved = bool(done or cut), self._solved()
        step = (
            self._named(obs), self._named(rewards), dict.fromkeys(agents, solved),
            dict.fromkeys(agents, over and not solved), self._infos(),
        )  # fmt: skip
        if over:
            self.agents = []
        return step

    def _solved(self) -> bool:
        """Whether nothing is left to do, so that the future is worth nothing."""
        return False

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: {} for agent in self.possible_agents}

    def _named(self, values: Any) -> dict[str, Any]:
        return dict(zip(self.possible_agents, values, strict=True))
