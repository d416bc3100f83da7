"""Worlds whose agents have roles: what each of them is, sees, does and says.

Sizes, speeds and what is observed follow mpe2 1.1.1, ``make_world`` of each scenario.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mpe_marl.errors import MpeError
from mpe_marl.worlds.moves import ACT_DIM

ACCEL = 5.0  # simple_env.py _set_action: sensitivity of an agent without `accel`


@dataclass(frozen=True)
class Role:
    """What agents of one kind are.

    Attributes:
        team: Their names but for the number.
        radius: Their radius.
        accel: Acceleration of a full push; 0: they cannot move.
        top_speed: Largest speed.
        words: Words they can say; 0: they are silent.
    """

    team: str
    radius: float
    accel: float = ACCEL
    top_speed: float = np.inf
    words: int = 0

    @property
    def moves(self) -> int:
        """Moves they can make."""
        return ACT_DIM if self.accel else 0

    @property
    def choices(self) -> int:
        """Discrete actions: every move with every word."""
        return max(self.moves, 1) * max(self.words, 1)


@dataclass(frozen=True)
class Mark:
    """A landmark: its radius, half width of the square it starts in, whether agents bump into it.

    ``redrawn``: mpe2 draws its place a second time.
    """

    radius: float
    extent: float = 1.0
    solid: bool = False
    redrawn: bool = False


@dataclass(frozen=True)
class RoleSpec:
    """One scenario whose agents differ.

    The state of a world is one row: positions of all agents, their velocities, positions of the
    landmarks, every entry an (x, y) pair; then the numbers of the goals, then what was said last.

    Attributes:
        scenario: Its name in mpe2.
        roles: One an agent.
        marks: One a landmark; those that agents bump into come first.
        goals: Goals that a world has, each the number of a landmark.
        solid: Agents bump into each other.
        continuous: Actions are numbers in [0, 1]: five pushes, then words.
        episode_length: Steps until an episode is cut [steps].
        velocity_order: See :class:`mpe_marl.worlds.WorldSpec`.
    """

    scenario: str
    roles: tuple[Role, ...]
    marks: tuple[Mark, ...]
    goals: int
    solid: bool = False
    continuous: bool = False
    episode_length: int = 25
    velocity_order: str = "mpe2"

    @property
    def n_agents(self) -> int:
        """Agents, all of which learn."""
        return len(self.roles)

    @property
    def n_movers(self) -> int:
        """As :attr:`n_agents`."""
        return len(self.roles)

    @property
    def n_landmarks(self) -> int:
        """Landmarks."""
        return len(self.marks)

    @property
    def n_good(self) -> int:
        """Agents of the last role."""
        return sum(role.team == self.roles[-1].team for role in self.roles)

    @property
    def first_team(self) -> int:
        """How many agents, from the first, are drawn in the first colour."""
        return self.n_agents - self.n_good or self.n_agents

    @cached_property
    def names(self) -> list[str]:
        """Agents, as mpe2 calls them."""
        teams = [role.team for role in self.roles]
        return [f"{team}_{teams[:i].count(team)}" for i, team in enumerate(teams)]

    @cached_property
    def movers(self) -> NDArray[np.float64]:
        """``(N, 3)`` radius, acceleration and top speed of each agent."""
        return np.array([[r.radius, r.accel, r.top_speed] for r in self.roles])

    @property
    def landmark_radii(self) -> NDArray[np.float64]:
        """``(L,)`` radii."""
        return np.array([mark.radius for mark in self.marks])

    @property
    def body_radii(self) -> NDArray[np.float64]:
        """``(B,)`` radii of what pushes: agents, then the landmarks that are solid."""
        if not self.solid:
            return np.zeros(0)
        radii = [role.radius for role in self.roles]
        return np.array(radii + [mark.radius for mark in self.marks if mark.solid])

    @cached_property
    def word_columns(self) -> NDArray[np.int64]:
        """``(N, 2)`` first state column of each agent's words, and how many it has."""
        first = 4 * self.n_agents + 2 * self.n_landmarks + self.goals
        words = np.array([role.words for role in self.roles], dtype=np.int64)
        return np.stack([first + np.cumsum(words) - words, words], axis=1)

    @property
    def state_dim(self) -> int:
        """Numbers in one world's state."""
        return int(self.word_columns[-1].sum())

    @cached_property
    def act_dims(self) -> tuple[int, ...]:
        """Each agent's discrete actions, or numbers in its continuous one."""
        if self.continuous:
            return tuple(role.moves + role.words for role in self.roles)
        return tuple(role.choices for role in self.roles)

    @property
    def act_dim(self) -> int:
        """The largest of :attr:`act_dims`."""
        return max(self.act_dims)

    @cached_property
    def obs_dims(self) -> tuple[int, ...]:
        """Numbers that each agent observes."""
        return tuple(_WIDTHS[self.scenario](self, i) for i in range(self.n_agents))

    @property
    def obs_dim(self) -> int:
        """The largest of :attr:`obs_dims`."""
        return max(self.obs_dims)


def _adversary(spec: RoleSpec, agent: int) -> int:
    return 2 * spec.n_landmarks + 2 * (spec.n_agents - 1) + 2 * (agent > 0)


def _world_comm(spec: RoleSpec, agent: int) -> int:
    hunters = spec.n_agents - spec.n_good
    good = agent >= hunters
    places = 4 + 2 * spec.n_landmarks + 2 * (spec.n_agents - 1)
    return places + 2 * (spec.n_good - good) + _FORESTS + (0 if good else spec.roles[0].words)


_WIDTHS: dict[str, Callable[[RoleSpec, int], int]] = {
    "simple_adversary": _adversary,
    "simple_push": lambda _, agent: 19 if agent else 8,
    "simple_speaker_listener": lambda _, agent: 11 if agent else 3,
    "simple_reference": lambda *_: 21,
    "simple_world_comm": _world_comm,
}
ROLE_SCENARIOS = tuple(_WIDTHS)
FOOD = _FORESTS = 2
USUAL_AGENTS = {"simple_adversary": 3, "simple_world_comm": 6}
"""Agents of the worlds that come in several sizes, as mpe2 makes them; the others have two."""


def cast(scenario: str, n_agents: int | None) -> tuple[tuple[Role, ...], tuple[Mark, ...], int]:
    """Roles, landmarks and goals of a scenario.

    Args:
        scenario: One of :data:`ROLE_SCENARIOS`.
        n_agents: All agents; None: as many as mpe2's.

    Raises:
        MpeError: The scenario has another number of agents.
    """
    n = USUAL_AGENTS.get(scenario, 2) if n_agents is None else n_agents
    least = {"simple_adversary": 2, "simple_world_comm": 3}.get(scenario)
    if n != 2 if least is None else n < least:
        expected = "2" if least is None else f"at least {least}"
        raise MpeError(f"{scenario} with n_agents={n}; expected {expected} agents. Change it.")
    if scenario == "simple_adversary":
        hidden, seen = Role("adversary", 0.15), Role("agent", 0.15)
        return (hidden, *[seen] * (n - 1)), (Mark(0.08),) * (n - 1), 1
    if scenario == "simple_push":
        return (Role("adversary", 0.05), Role("agent", 0.05)), (Mark(0.05),) * 2, 1
    if scenario == "simple_speaker_listener":
        speaker = Role("speaker", 0.075, accel=0.0, words=3)
        return (speaker, Role("listener", 0.075)), (Mark(0.04),) * 3, 1
    if scenario == "simple_reference":
        return (Role("agent", 0.05, words=10),) * 2, (Mark(0.05),) * 3, 2
    return _world_comm_cast(n)


def _world_comm_cast(n: int) -> tuple[tuple[Role, ...], tuple[Mark, ...], int]:
    """One leader that speaks, its followers, and a third of all as good agents."""
    good = max(1, n // 3)
    leader = Role("leadadversary", 0.075, 3.0, 1.0, words=4)
    others = [Role("adversary", 0.075, 3.0, 1.0)] * (n - good - 1)
    prey = [Role("agent", 0.045, 4.0, 1.3)] * good
    food = [Mark(0.03, 0.9, redrawn=True)] * FOOD
    forests = [Mark(0.3, 0.9, redrawn=True)] * _FORESTS
    return (leader, *others, *prey), (Mark(0.2, 0.9, solid=True), *food, *forests), 0
